package leaks

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Changes of a program's text whose effect on the findings is known.

func parse(t testing.TB, src string) *syntax.Tree {
	t.Helper()
	tree, err := syntax.Parse([]byte(src))
	require.NoError(t, err)
	return tree
}

func apply(t *testing.T, src string, edits []text.Edit) string {
	t.Helper()
	out, err := text.Apply([]byte(src), edits)
	require.NoError(t, err)
	return string(out)
}

// statements are the first statements of their lines, with the indentation.
func statements(tree *syntax.Tree, yield func(n syntax.NodeID, line int, indent string)) {
	src := tree.Source()
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		switch tree.Kind(tree.Parent(max(n, 0))) {
		case syntax.Block, syntax.Module:
		default:
			continue
		}
		if k := tree.Kind(n); n == tree.Root() || k == syntax.Comment || k == syntax.CaseClause {
			continue
		}
		start := tree.Span(n).Start
		line := strings.LastIndexByte(src[:start], '\n') + 1
		if indent := src[line:start]; strings.TrimSpace(indent) == "" {
			yield(n, line, indent)
		}
	}
}

// renamedVariables gives every variable, function and class of a module a name
// that says nothing; where other files know its names, every variable of a
// function. Names that are also used as keywords of calls keep theirs, as do
// imported ones.
func renamedVariables(tree *syntax.Tree, alone bool) []text.Edit {
	module := names.NewModule("", tree)
	fixed := map[string]bool{"self": true}
	var identifiers []syntax.NodeID
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		switch tree.Kind(n) {
		case syntax.KeywordArgument:
			fixed[tree.Text(tree.Child(n, syntax.FieldName))] = true
		case syntax.ImportStatement, syntax.ImportFromStatement:
			for c := n; c < tree.End(n); c++ {
				fixed[tree.Text(c)] = true
			}
		case syntax.ClassDefinition: // attributes of a class are read with a dot
			body := tree.Child(n, syntax.FieldBody)
			for c := range tree.Children(body) {
				for d := c; d < tree.End(c) && tree.Kind(c) != syntax.FunctionDefinition; d++ {
					fixed[tree.Text(d)] = true
				}
			}
		case syntax.Identifier:
			identifiers = append(identifiers, n)
		}
	}
	fresh := map[string]string{}
	var edits []text.Edit
	for _, n := range identifiers {
		name, parent := tree.Text(n), tree.Parent(n)
		switch {
		case fixed[name], tree.Kind(parent) == syntax.Attribute && tree.Role(n) == syntax.FieldAttribute:
			continue
		case tree.Kind(parent) == syntax.FunctionDefinition && tree.Role(n) == syntax.FieldName && inClass(tree, parent):
			continue // a method
		}
		scope := scopeAt(module, n)
		if owner := scope.Lookup(name); !owner.Binds(name) || !alone && owner.Node == tree.Root() {
			continue // a builtin, or known to other files
		}
		if fresh[name] == "" {
			fresh[name] = fmt.Sprintf("v%d", len(fresh))
		}
		edits = append(edits, text.Edit{Span: tree.Span(n), New: fresh[name]})
	}
	return edits
}

// renamedAttributes gives the attributes that methods give to self names that
// say nothing. Those that a library or another file may know keep theirs.
func renamedAttributes(tree *syntax.Tree, alone bool) []text.Edit {
	if !alone {
		return nil
	}
	assigned, fixed := map[string]bool{}, map[string]bool{}
	var places []syntax.NodeID
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		switch tree.Kind(n) {
		case syntax.Attribute:
			name := tree.Child(n, syntax.FieldAttribute)
			places = append(places, name)
			if tree.Text(tree.Child(n, syntax.FieldObject)) == "self" && tree.Role(n) == syntax.FieldLeft {
				assigned[tree.Text(name)] = true
			}
		case syntax.ClassDefinition:
			for base := range tree.Children(tree.Child(n, syntax.FieldSuperclasses)) {
				if b := tree.Text(base); b != "nn.Module" && b != "NamedTuple" {
					return nil // it may come from a library
				}
			}
		case syntax.FunctionDefinition, syntax.KeywordArgument:
			fixed[tree.Text(tree.Child(n, syntax.FieldName))] = true
		case syntax.Assignment: // in a class
			if left := tree.Child(n, syntax.FieldLeft); tree.Kind(left) == syntax.Identifier {
				fixed[tree.Text(left)] = true
			}
		case syntax.String:
			fixed[strings.Trim(tree.Text(n), `"'`)] = true
		}
	}
	var edits []text.Edit
	for _, n := range places {
		name := tree.Text(n)
		if _, method := torch.Method(name); assigned[name] && !fixed[name] && !method && !torch.ModuleMethods[name] && torch.ModuleEffects[name] == 0 {
			edits = append(edits, text.Edit{Span: tree.Span(n), New: "a_" + strconv.Itoa(int(crc32.ChecksumIEEE([]byte(name))))})
		}
	}
	return edits
}

func inClass(tree *syntax.Tree, function syntax.NodeID) bool {
	for at := tree.Parent(function); at >= 0; at = tree.Parent(at) {
		switch tree.Kind(at) {
		case syntax.ClassDefinition:
			return true
		case syntax.FunctionDefinition, syntax.Module:
			return false
		}
	}
	return false
}

func scopeAt(module *names.Module, n syntax.NodeID) *names.Scope {
	for at := n; at > 0; at = module.Tree.Parent(at) {
		if s := module.Scope(at); s != nil {
			return s
		}
	}
	return module.Scope(module.Tree.Root())
}

// parenthesised puts what is assigned and returned in parentheses.
func parenthesised(t *testing.T, src string) string {
	tree := parse(t, src)
	var edits []text.Edit
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		value := syntax.NoNode
		switch tree.Kind(n) {
		case syntax.Assignment, syntax.AugmentedAssignment:
			value = tree.Child(n, syntax.FieldRight)
		case syntax.ReturnStatement:
			value = tree.First(n)
		}
		if value < 0 || tree.Kind(value) == syntax.Assignment {
			continue
		}
		s := tree.Span(value)
		edits = append(edits, text.Edit{Span: text.Span{Start: s.Start, End: s.Start}, New: "("}, text.Edit{Span: text.Span{Start: s.End, End: s.End}, New: ")"})
	}
	slices.SortStableFunc(edits, func(a, b text.Edit) int { return a.Span.Start - b.Span.Start })
	return apply(t, src, edits)
}

// indented replaces the four spaces of each level of indentation.
func indentedBy(level string) func(*testing.T, string) string {
	return func(_ *testing.T, src string) string {
		lines := strings.Split(src, "\n")
		for i, l := range lines {
			code := strings.TrimLeft(l, " ")
			depth := len(l) - len(code)
			lines[i] = strings.Repeat(level, depth/4) + strings.Repeat(" ", depth%4) + code
		}
		return strings.Join(lines, "\n")
	}
}

// lineAt is the index of the line of an offset.
func lineAt(src string, at int) int { return strings.Count(src[:at], "\n") }

// indentOf is the indentation of a line.
func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }

// guarded indents the bodies of all functions, and of the loops outside of
// functions, under no_grad.
func guarded(t *testing.T, src string) string {
	tree := parse(t, src)
	guards := map[int][]string{} // line → the with statements before it
	deeper := map[int]int{}      // line → how many levels deeper
	lines := strings.Split(src, "\n")
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		switch k := tree.Kind(n); {
		case k == syntax.FunctionDefinition:
		case (k == syntax.ForStatement || k == syntax.WhileStatement) && !inFunction(tree, n):
		default:
			continue
		}
		body := tree.Span(tree.Child(n, syntax.FieldBody))
		first, last := lineAt(src, body.Start), lineAt(src, body.End)
		if lineAt(src, tree.Span(n).Start) == first {
			continue // on one line
		}
		guards[first] = append(guards[first], strings.Repeat("    ", deeper[first])+indentOf(lines[first])+"with torch.no_grad():")
		for i := first; i <= last; i++ {
			deeper[i]++
		}
	}
	out := []string{"import torch"}
	for i, l := range lines {
		out = append(out, guards[i]...)
		if l != "" {
			l = strings.Repeat("    ", deeper[i]) + l
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

func inFunction(tree *syntax.Tree, n syntax.NodeID) bool {
	for at := tree.Parent(n); at >= 0; at = tree.Parent(at) {
		if tree.Kind(at) == syntax.FunctionDefinition {
			return true
		}
	}
	return false
}

// half is a function that can be split: its statements up to the line cut can
// become a function of their own, as can the others.
type half struct {
	top        int // the line of the statement of the module in which it stands
	def        int // its own line
	first, cut int // lines of its body
	last       int
	indent     string   // of the function
	given      []string // what the first half reads of the parameters
	handed     []string // what the second half reads of the parameters and of the first half
	made       []string // what it reads that the first half binds
	returns    bool     // the first half may end the function
}

// unsplittable is text that ties a function's statements together.
var unsplittable = regexp.MustCompile(`\b(yield|await|async|global|nonlocal|super|del|lambda)\b|\.__`)

// customFunction is the head of a class of custom autograd functions.
var customFunction = regexp.MustCompile(`^class \w+\((?:\w+\.)*Function\)`)

// halves finds the functions of a module and the methods of its classes that
// can be split.
func halves(t *testing.T, src string) []half {
	tree := parse(t, src)
	module := names.NewModule("", tree)
	lines := strings.Split(src, "\n")
	var out []half
	for top := range tree.Children(tree.Root()) {
		for f := top; f < tree.End(top); f++ {
			if tree.Kind(f) != syntax.FunctionDefinition || inFunction(tree, f) || unsplittable.MatchString(tree.Text(f)) {
				continue
			}
			if customFunction.MatchString(tree.Text(top)) {
				continue // what it keeps is looked for in the text of its forward
			}
			var body []syntax.NodeID
			for s := range tree.Children(tree.Child(f, syntax.FieldBody)) {
				if tree.Kind(s) != syntax.Comment {
					body = append(body, s)
				}
			}
			line := func(n syntax.NodeID) int { return lineAt(src, tree.Span(n).Start) }
			h := half{top: line(top), def: line(f), last: lineAt(src, tree.Span(f).End)}
			if len(body) < 2 || line(body[0]) == h.def || line(body[0]) == line(body[len(body)/2]) {
				continue
			}
			cut := body[len(body)/2]
			h.first, h.cut, h.indent = line(body[0]), line(cut), indentOf(lines[h.def])
			scope := module.Scope(f)
			params := tree.Child(f, syntax.FieldParameters)
			firstHalf := func(n syntax.NodeID) bool { return n >= body[0] && n < cut }
			seen := map[string][3]bool{} // in the parameters, in either half
			closes := false
			for n := f + 1; n < tree.End(f); n++ {
				switch {
				case tree.Kind(n) == syntax.FunctionDefinition && firstHalf(n):
					closes = true
				case tree.Kind(n) == syntax.ReturnStatement && firstHalf(n):
					h.returns = true
				}
				name := tree.Text(n)
				if tree.Kind(n) != syntax.Identifier || tree.Role(n) == syntax.FieldAttribute || !scope.Binds(name) {
					continue
				}
				in := seen[name]
				in[0] = in[0] || n >= params && n < tree.End(params)
				in[1] = in[1] || firstHalf(n)
				in[2] = in[2] || n >= cut
				if seen[name] = in; n == tree.End(f)-1 {
					break
				}
			}
			if closes {
				continue // what a function sees of the other half may change
			}
			for name, in := range seen {
				if in[0] && in[1] {
					h.given = append(h.given, name)
				}
				if in[2] && (in[0] || in[1]) {
					h.handed = append(h.handed, name)
				}
				if in[2] && in[1] {
					h.made = append(h.made, name)
				}
			}
			slices.Sort(h.given)
			slices.Sort(h.handed)
			slices.Sort(h.made)
			out = append(out, h)
		}
	}
	return out
}

// withFirstHalvesApart moves the first half of each function into one of its
// own, which gives back what the second half needs.
func withFirstHalvesApart(t *testing.T, src string) string {
	return rebuilt(src, halves(t, src), func(i int, h half, lines []string) (apart, body []string) {
		if h.returns {
			return nil, lines[h.first : h.last+1]
		}
		name := fmt.Sprintf("first_half_%d", i)
		apart = append(apart, fmt.Sprintf("def %s(%s):", name, strings.Join(h.given, ", ")))
		apart = append(apart, dedented(lines[h.first:h.cut], h.indent)...)
		call := fmt.Sprintf("%s(%s)", name, strings.Join(h.given, ", "))
		if len(h.made) > 0 {
			apart = append(apart, "    return "+strings.Join(h.made, ", "))
			call = strings.Join(h.made, ", ") + " = " + call
		}
		return append(apart, ""), append([]string{h.indent + "    " + call}, lines[h.cut:h.last+1]...)
	})
}

// withSecondHalvesApart moves the second half of each function into one of its
// own, which is handed what the first half made.
func withSecondHalvesApart(t *testing.T, src string) string {
	return rebuilt(src, halves(t, src), func(i int, h half, lines []string) (apart, body []string) {
		call := fmt.Sprintf("second_half_%d(%s)", i, strings.Join(h.handed, ", "))
		apart = append(apart, "def "+call+":")
		apart = append(apart, dedented(lines[h.cut:h.last+1], h.indent)...)
		return append(apart, ""), append(slices.Clone(lines[h.first:h.cut]), h.indent+"    return "+call)
	})
}

func dedented(lines []string, indent string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimPrefix(l, indent))
	}
	return out
}

// rebuilt puts the program together again. change gives what to put before the
// statement of the module that holds a function, and its new body.
func rebuilt(src string, hs []half, change func(i int, h half, lines []string) (apart, body []string)) string {
	lines := strings.Split(src, "\n")
	before := map[int][]string{}
	bodies := map[int][]string{}
	skip := map[int]bool{}
	for i, h := range hs {
		apart, body := change(i, h, lines)
		before[h.top] = append(before[h.top], apart...)
		bodies[h.first] = body
		for l := h.first; l <= h.last; l++ {
			skip[l] = true
		}
	}
	var out []string
	for i, l := range lines {
		out = append(out, before[i]...)
		out = append(out, bodies[i]...)
		if !skip[i] {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
