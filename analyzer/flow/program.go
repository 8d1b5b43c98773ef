// Package flow finds out which tensors a Python program keeps alive. It is an
// abstract interpreter: it runs the code over values of which it knows only
// whether they carry an autograd graph, which operations made that graph, and
// which values at the header of a loop they depend on. A place grows in a loop
// when what an iteration leaves there depends both on what the last one left
// and on a graph made in between.
//
// Values (value.go) say what they were made from by atoms (atom.go). They are
// kept at places, the fields of objects (heap.go), whose contents at a point of
// the program are a state (state.go, bindings.go). Loops run to a fixpoint (loops.go) and
// judge at their end which stores grew (growth.go, addends.go, resets.go).
// Statements and expressions run one by one (statements.go, control.go,
// assignments.go, expressions.go, operators.go, displays.go), and what libraries
// do stands in package torch (library.go, methods.go, modules.go, tensors.go,
// roles.go). What libraries call is run as they would run it (hosts.go), and
// single steps of a training as a loop would (steps.go).
//
// Calls of functions of the analysed file are inlined within a budget (calls.go,
// budget.go): where its growth is told, precision is worth the time. What a
// function or class of an imported file does is summarised once for the whole
// workspace (workspace.go, summary.go), for each signature of arguments that it
// is called with (signature.go): its result, down to the objects that it holds,
// is copied out of the analysis that found it (snapshot.go) and made anew for
// each call (template.go). A function that changes what was there before has no
// summary and is inlined too.
//
// What a backward reached (backward.go) decides in the end what is told, and how
// (facts.go).
package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// maxImportDepth is how far imports are followed in search of PyTorch: a script
// imports a trainer, which imports a model.
const maxImportDepth = 3

// mayUseTorch reports whether a module, or one that it imports from the
// workspace, mentions PyTorch or something built on it.
func (in *interpreter) mayUseTorch(m *names.Module, depth int, seen map[*names.Module]bool) bool {
	if seen[m] {
		return false
	}
	seen[m] = true
	if m.Mentions(torch.Mentions) {
		return true
	}
	if depth == maxImportDepth {
		return false
	}
	return slices.ContainsFunc(m.Imports(), func(name names.ImportedName) bool {
		if first, _, _ := strings.Cut(name.Dotted, "."); name.Level == 0 && (torch.Frameworks[first] || in.workspace.claims.Within(first)) {
			return true
		}
		imported := in.resolve(m, name.Level, name.Dotted)
		return imported.Module != nil && in.mayUseTorch(imported.Module, depth+1, seen)
	})
}

// root is a function that runs on its own because no known code calls it.
type root struct {
	class ObjectID // of a method
	code  *code
	calls map[string]bool // the names it calls
	name  string
	at    syntax.NodeID // what stands for it in the main module
	// fills are, of an inherited method, the methods of the class that it calls:
	// it runs for their sake.
	fills []*root
	ran   bool
}

// waits reports whether nothing has run a root yet.
func (in *interpreter) waits(r *root) bool {
	if len(r.fills) > 0 {
		return !r.ran && slices.ContainsFunc(r.fills, in.waits)
	}
	return !in.visited[r.key()]
}

func (r *root) key() codeKey { return codeKey{r.code.module, r.code.node} }

// runRoots runs what no known code runs: first what libraries call, then the
// functions that did not run yet, callers first.
func (in *interpreter) runRoots() {
	in.runNested()
	module := in.frame
	base := in.state
	begin := func() { in.execution = execution{frame: module, state: base.push(), limit: maxSteps} }
	roots, classes := in.definitions(base)
	for _, class := range classes {
		if host := in.hostOf(class); host != nil && !in.stopped {
			begin()
			in.runHost(class, host)
		}
	}
	for {
		var waiting []*root
		for _, r := range roots {
			if in.waits(r) {
				waiting = append(waiting, r)
			}
		}
		if len(waiting) == 0 || in.stopped {
			break
		}
		next := waiting[0]
		for _, r := range waiting {
			if !slices.ContainsFunc(waiting, func(o *root) bool { return o != r && o.calls[r.name] }) {
				next = r
				break
			}
		}
		begin()
		in.runRoot(next, roots)
		in.runNested()
		in.visited[next.key()] = true
		next.ran = true
	}
	in.frame, in.state = module, base
}

// definitions are the functions, methods and classes of the main module.
func (in *interpreter) definitions(base *state) (roots []*root, classes []ObjectID) {
	add := func(id, class ObjectID, name string) {
		if info := in.objects[id]; info.kind == objectFunction && info.code.module == in.main {
			roots = append(roots, &root{class: class, code: info.code, name: name, at: info.code.node, calls: calledNames(in.main.Tree, info.code.node)})
		}
	}
	module := in.frame.object
	for _, f := range in.objects[module].fields {
		v := base.get(Place{module, f})
		if v == nil {
			continue
		}
		for _, id := range v.objects {
			add(id, 0, in.symbolNames[f])
			info := in.objects[id]
			if info.kind != objectClass || info.at.module != in.main {
				continue
			}
			classes = append(classes, id)
			own := len(roots)
			for _, m := range info.fields {
				if mv := base.get(Place{id, m}); mv != nil {
					for _, mid := range mv.objects {
						add(mid, id, in.symbolNames[m])
					}
				}
			}
			roots = in.inherit(id, id, roots, own, map[Symbol]bool{}, 0)
		}
	}
	for _, r := range in.displaced {
		r.calls = calledNames(in.main.Tree, r.at)
	}
	return append(roots, in.displaced...), classes
}

// inherit adds the methods that a class inherits and that call its own: a loop
// over the data in one class calls the step that another defines. The class's
// own methods are roots from index own on.
func (in *interpreter) inherit(class, from ObjectID, roots []*root, own int, seen map[Symbol]bool, depth int) []*root {
	if depth > maxBases {
		return roots
	}
	for _, f := range in.objects[from].fields {
		v := in.state.get(Place{from, f})
		if from == class || seen[f] || v == nil {
			seen[f] = true
			continue
		}
		seen[f] = true
		for _, id := range v.objects {
			info := in.objects[id]
			if info.kind != objectFunction || in.symbolNames[f] == "__init__" {
				continue
			}
			r := &root{class: class, code: info.code, name: in.symbolNames[f], at: in.objects[class].at.node, calls: calledNames(info.code.module.Tree, info.code.node)}
			for _, o := range roots[own:] {
				if o.class == class && len(o.fills) == 0 && r.calls[o.name] {
					r.fills = append(r.fills, o)
				}
			}
			if len(r.fills) > 0 {
				roots = append(roots, r)
			}
		}
	}
	for _, base := range in.objects[from].bases {
		for _, id := range base.objects {
			if in.objects[id].kind == objectClass {
				roots = in.inherit(class, id, roots, own, seen, depth+1)
			}
		}
	}
	return roots
}

// calledNames are the last names of what a function calls.
func calledNames(t *syntax.Tree, n syntax.NodeID) map[string]bool {
	out := map[string]bool{}
	for c := n; c < t.End(n); c++ {
		if t.Kind(c) != syntax.Call {
			continue
		}
		f := t.Child(c, syntax.FieldFunction)
		if t.Kind(f) == syntax.Attribute {
			f = t.Child(f, syntax.FieldAttribute)
		}
		out[t.Text(f)] = true
	}
	return out
}

// runRoot runs one function with arguments of which nothing is known.
func (in *interpreter) runRoot(r *root, roots []*root) {
	receiver := in.receiver(r)
	if in.state == nil || r.name == "__init__" && receiver != nil {
		return
	}
	if r.class != 0 && in.isModuleClass(r.class) && r.name == "forward" {
		in.runRepeatedly(r, receiver, roots, func() arguments { return in.activations(r.code) })
		return
	}
	if in.calledEachStep(r) != torch.NotCalled {
		in.runRepeatedly(r, receiver, roots, func() arguments { return in.strangers(r.code) })
		return
	}
	before, seeds := in.state, maps.Clone(in.seeds)
	in.state = before.push()
	in.activate(r, receiver, arguments{})
	in.usedLater(r, receiver, roots)
	if in.backwards && in.optimizes && len(r.fills) == 0 {
		in.seeds = seeds
		in.state = before
		in.runRepeatedly(r, receiver, roots, func() arguments { return in.strangers(r.code) })
	}
}

// receiver is what a method that runs on its own is called on, nil for a
// function.
func (in *interpreter) receiver(r *root) *Value {
	if r.class == 0 || r.code.kind == staticMethod {
		return nil
	}
	if r.code.kind == classMethod {
		return object(r.class)
	}
	v := in.instantiate(r.at, r.class, arguments{})
	if in.state != nil {
		in.state = in.state.push()
	}
	return v
}

// activate runs a root once. What it returns, somebody else may backward.
func (in *interpreter) activate(r *root, receiver *Value, args arguments) {
	result, yields := in.run(r.at, r.code, receiver, args, maxSteps)
	if in.state != nil && in.calledEachStep(r) == torch.TrainingStep {
		in.backward(r.at, r.at, in.lossOf(result), arguments{})
		in.optimizerSteps()
	}
	if in.state != nil {
		in.mark(in.escaped, in.throughCalls(in.reach(result)))
		in.mark(in.escaped, in.throughCalls(in.reach(yields)))
		in.leaves(result, yields)
		in.giveBack(result, yields, receiver)
	}
}

// activations are the arguments of forward: in training they usually come from
// other modules and carry a graph.
func (in *interpreter) activations(c *code) arguments {
	t := c.module.Tree
	var args arguments
	first := true
	for p := range t.Children(t.Child(c.node, syntax.FieldParameters)) {
		if first {
			first = false // self
			continue
		}
		if k := t.Kind(p); k != syntax.Identifier && k != syntax.TypedParameter {
			break
		}
		x := in.newOrigin(site{module: c.module, node: p, frame: in.frame.call}, recorded{saves: true, sure: Likely})
		args.positional = append(args.positional, &Value{kinds: KindUnknown, atoms: atoms{x}})
	}
	return args
}
