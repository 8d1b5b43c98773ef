package fixes

import (
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// Guard is the fix that runs code under no_grad: a decorator on a function or a
// with statement around a loop or statement. Of the regions, outermost first,
// it takes the first that can be guarded without a look at it, else the first
// that can be guarded at all.
func Guard(regions []flow.Region) []rules.Fix { return guardFirst(regions, "") }

// GuardEvaluation is the fix of an evaluation that records a graph. A model whose
// code was not seen may take gradients of its own in its forward, as models of
// forces do.
func GuardEvaluation(u flow.Unguarded) []rules.Fix {
	if u.Sure < flow.Certain {
		return guardFirst(u.Regions, "check that the model takes no gradients in its forward")
	}
	return guardFirst(u.Regions, "")
}

// guardFirst is the fix that guards the first of some regions that it can, with what
// a person has to check in any case.
func guardFirst(regions []flow.Region, caution string) []rules.Fix {
	var unsafe []rules.Fix
	for _, region := range regions {
		fix, ok := guard(region)
		if !ok {
			continue
		}
		caution := caution
		switch {
		case asksForGraph(region.Location):
			caution = "the code around it asks what has a graph: check that"
		case region.Opaque:
			caution = "check that nothing in it needs a gradient"
		}
		if caution == "" {
			return []rules.Fix{fix}
		}
		if unsafe == nil {
			fix.Safety = rules.Unsafe
			fix.Title += " (" + caution + ")"
			unsafe = []rules.Fix{fix}
		}
	}
	return unsafe
}

// asksForGraph reports whether the function around a location, or that at it,
// reads what tells tensors with a graph from those without.
func asksForGraph(l flow.Location) bool {
	t := l.Module.Tree
	function := l.Node
	for function > t.Root() && t.Kind(function) != syntax.FunctionDefinition {
		function = t.Parent(function)
	}
	for n := function; n < t.End(function); n++ {
		if t.Kind(n) != syntax.Attribute {
			continue
		}
		switch t.Text(t.Child(n, syntax.FieldAttribute)) {
		case "requires_grad", "grad_fn", "is_leaf", "is_grad_enabled", "is_inference_mode_enabled", "retains_grad":
			if p := t.Parent(n); t.Kind(p) != syntax.Assignment || t.Role(n) != syntax.FieldLeft {
				return true
			}
		}
	}
	return false
}

// isScripted reports whether a node is in a function, or is one, that TorchScript
// compiles: it does not read guards.
func isScripted(t *syntax.Tree, n syntax.NodeID) bool {
	for ; n > t.Root(); n = t.Parent(n) {
		if t.Kind(n) != syntax.DecoratedDefinition {
			continue
		}
		for d := range t.Children(n) {
			if t.Kind(d) == syntax.Decorator && strings.Contains(t.Text(d), "jit") {
				return true
			}
		}
	}
	return false
}

func guard(region flow.Region) (rules.Fix, bool) {
	alias, ok := torchAlias(region.Location)
	t := region.Module.Tree
	if !ok || isScripted(t, region.Node) || t.Damaged(t.Root()) { // a new line may change how half-typed text is read
		return rules.Fix{}, false
	}
	noGrad := alias.name + ".no_grad()"
	fix := rules.Fix{Safety: rules.Safe}
	var edits []text.Edit
	switch region.Kind() {
	case syntax.FunctionDefinition:
		fix.Title = fmt.Sprintf("Run `%s` under `%s`", t.Text(t.Child(region.Node, syntax.FieldName)), noGrad)
		edits, ok = decorate(region.Location, noGrad)
	case syntax.ForStatement, syntax.WhileStatement:
		fix.Title = fmt.Sprintf("Run this loop under `%s`", noGrad)
		edits, ok = enclose(region.Location, "with "+noGrad+":")
	default:
		fix.Title = fmt.Sprintf("Run this statement under `%s`", noGrad)
		edits, ok = enclose(region.Location, "with "+noGrad+":")
	}
	for _, edit := range append(alias.edits, edits...) {
		fix.Edits = append(fix.Edits, rules.FileEdit{Path: region.Module.Path, Edit: edit})
	}
	return fix, ok
}

// decorate puts a decorator directly above a function, below those that it has:
// they get the guarded function, whatever they make of it. The guard is left
// before the body of an async function runs: those are left alone.
func decorate(function flow.Location, decorator string) ([]text.Edit, bool) {
	t := function.Module.Tree
	scope := function.Module.Scope(function.Node)
	if scope == nil || scope.Async {
		return nil, false
	}
	start := function.Span().Start
	indent, ok := indentation(t, function.Node)
	if !ok {
		return nil, false
	}
	return []text.Edit{insertion(start, "@"+decorator+"\n"+indent)}, true
}

// enclose puts a statement, with the comments that belong to it, below a header
// of its own: each line gets deeper by one level. Lines within strings stay as
// they are. A statement that suspends its function would take the guard to
// whatever runs meanwhile.
func enclose(statement flow.Location, header string) ([]text.Edit, bool) {
	t := statement.Module.Tree
	src := t.Source()
	span := statement.Span()
	indent, ok := indentation(t, statement.Node)
	if !ok || suspends(t, statement.Node) || !endsLine(src, span.End) {
		return nil, false
	}
	unit := level(t, statement.Node, indent)
	edits := []text.Edit{insertion(span.Start, header+"\n"+indent+unit)}
	return append(edits, indentLines(t, span, indent, unit)...), true
}

// indentLines makes the lines of a span deeper by one level, but for its first,
// with the comments below that stand deeper than indent.
func indentLines(t *syntax.Tree, span text.Span, indent, unit string) []text.Edit {
	src := t.Source()
	inString := map[int]bool{} // starts of lines
	for n := t.Root(); int(n) < t.Len(); n++ {
		if s := t.Span(n); t.Kind(n) == syntax.String && s.Start < span.End && span.Start < s.End {
			for i := s.Start; i < s.End; i++ {
				if src[i] == '\n' {
					inString[i+1] = true
				}
			}
		}
	}
	var edits []text.Edit
	for at := nextLine(src, span.Start); at >= 0 && at < len(src); at = nextLine(src, at) {
		line, _, _ := strings.Cut(src[at:], "\n")
		code := strings.TrimSpace(line)
		if at >= span.End {
			deeper := strings.HasPrefix(line, indent) && len(line) > len(indent) && (line[len(indent)] == ' ' || line[len(indent)] == '\t')
			if code != "" && !(strings.HasPrefix(code, "#") && deeper) {
				break
			}
		}
		if code != "" && !inString[at] {
			edits = append(edits, insertion(at, unit))
		}
	}
	return edits
}

func insertion(at int, s string) text.Edit {
	return text.Edit{Span: text.Span{Start: at, End: at}, New: s}
}

// nextLine is where the line after the one at i starts, or -1.
func nextLine(src string, i int) int {
	k := strings.IndexByte(src[i:], '\n')
	if k < 0 {
		return -1
	}
	return i + k + 1
}

// endsLine reports whether nothing but a comment follows on the line.
func endsLine(src string, end int) bool {
	rest, _, _ := strings.Cut(src[end:], "\n")
	rest = strings.TrimSpace(rest)
	return rest == "" || strings.HasPrefix(rest, "#")
}

// level is what one level of indentation is where n stands.
func level(t *syntax.Tree, n syntax.NodeID, indent string) string {
	if body := t.Child(n, syntax.FieldBody); body >= 0 {
		if first := t.First(body); first >= 0 {
			if inner, ok := indentation(t, first); ok && len(inner) > len(indent) && strings.HasPrefix(inner, indent) {
				return inner[len(indent):]
			}
		}
	}
	for at := t.Parent(n); at >= 0; at = t.Parent(at) {
		if outer, ok := indentation(t, at); ok && len(outer) < len(indent) && strings.HasPrefix(indent, outer) {
			return indent[len(outer):]
		}
	}
	return "    "
}

// suspends reports whether n, or code in it that is not a function of its own,
// yields or awaits.
func suspends(t *syntax.Tree, n syntax.NodeID) bool {
	for c := n; c < t.End(n); c++ {
		switch t.Kind(c) {
		case syntax.Yield, syntax.Await:
		case syntax.ForStatement, syntax.WithStatement:
			if !strings.HasPrefix(t.Text(c), "async") {
				continue
			}
		default:
			continue
		}
		at := c
		for at > n && t.Kind(at) != syntax.FunctionDefinition && t.Kind(at) != syntax.Lambda {
			at = t.Parent(at)
		}
		if at == n {
			return true
		}
	}
	return false
}

// alias is how code names the torch package, with the edits that make it known.
type alias struct {
	name  string
	edits []text.Edit
}

// torchAlias is how the code at a location can name the torch package; ok is
// false where its name means something else.
func torchAlias(l flow.Location) (a alias, ok bool) {
	t := l.Module.Tree
	firstImport := syntax.NoNode // of something of torch, at the top of the module
	for n := t.Root(); n < l.Node; n++ {
		k := t.Kind(n)
		if k != syntax.ImportStatement && k != syntax.ImportFromStatement {
			continue
		}
		if t.Parent(n) == t.Root() && firstImport < 0 && strings.Contains(t.Text(n), "torch") {
			firstImport = n
		}
		if k != syntax.ImportStatement {
			continue
		}
		for c := range t.Children(n) {
			name := torchName(t, c)
			if name != "" && scopeAt(l.Module, l.Node).Lookup(name) == scopeAt(l.Module, n) {
				return alias{name: name}, true
			}
		}
	}
	if s := scopeAt(l.Module, l.Node).Lookup("torch"); s != l.Module.Scope(t.Root()) || s.Binds("torch") {
		return alias{}, false
	}
	if firstImport < 0 {
		firstImport = afterPreamble(t)
	}
	if firstImport < 0 {
		return alias{}, false
	}
	if before, _ := indentation(t, firstImport); strings.TrimPrefix(before, "\ufeff") != "" {
		return alias{}, false
	}
	return alias{"torch", []text.Edit{insertion(t.Span(firstImport).Start, "import torch\n")}}, true
}

// afterPreamble is the first statement of a module behind its docstring and its
// imports from __future__, which have to come first.
func afterPreamble(t *syntax.Tree) syntax.NodeID {
	first := true
	for n := range t.Children(t.Root()) {
		switch t.Kind(n) {
		case syntax.Comment:
			continue
		case syntax.ExpressionStatement:
			if first && t.Kind(t.First(n)) == syntax.String {
				first = false
				continue
			}
		case syntax.FutureImportStatement:
			continue
		}
		return n
	}
	return syntax.NoNode
}

// torchName is the name that one clause of an import statement gives to the
// torch package, or empty.
func torchName(t *syntax.Tree, clause syntax.NodeID) string {
	if name := t.Child(clause, syntax.FieldAlias); name >= 0 {
		if t.Text(t.Child(clause, syntax.FieldName)) == "torch" {
			return t.Text(name)
		}
		return ""
	}
	if s := t.Text(clause); s == "torch" || strings.HasPrefix(s, "torch.") {
		return "torch"
	}
	return ""
}

// scopeAt is the scope of the code at n. A function's own name and decorators
// belong to the scope around it.
func scopeAt(m *names.Module, n syntax.NodeID) *names.Scope {
	if k := m.Tree.Kind(n); k == syntax.FunctionDefinition || k == syntax.ClassDefinition {
		n = m.Tree.Parent(n)
	}
	for ; n > 0; n = m.Tree.Parent(n) {
		if s := m.Scope(n); s != nil {
			return s
		}
	}
	return m.Scope(m.Tree.Root())
}

// EnterGuard is the fix of a guard that is a statement of its own: a with
// statement around what follows in its block.
func EnterGuard(guard flow.Location) []rules.Fix {
	t := guard.Module.Tree
	statement := t.Parent(guard.Node)
	indent, ok := indentation(t, statement)
	first := t.Next(statement)
	if !ok || first < 0 || !endsLine(t.Source(), t.Span(statement).End) {
		return nil
	}
	last := first
	for n := first; n >= 0; n = t.Next(n) {
		if last = n; suspends(t, n) {
			return nil
		}
	}
	span := guard.Span()
	edits := []text.Edit{insertion(span.Start, "with "), insertion(span.End, ":")}
	edits = append(edits, indentLines(t, text.Span{Start: span.End, End: t.Span(last).End}, indent, level(t, first, indent))...)
	fix := rules.Fix{Title: "Guard what follows with it (check that nothing in it needs a gradient)", Safety: rules.Unsafe}
	for _, edit := range edits {
		fix.Edits = append(fix.Edits, rules.FileEdit{Path: guard.Module.Path, Edit: edit})
	}
	return []rules.Fix{fix}
}
