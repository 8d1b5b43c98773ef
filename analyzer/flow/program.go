// Package flow finds out which tensors a Python program keeps alive. It is an
// abstract interpreter: it runs the code over values of which it knows only
// whether they carry an autograd graph, which operations made that graph, and
// which values at the header of a loop they depend on. A place grows in a loop
// when what an iteration leaves there depends both on what the last one left
// and on a graph made in between.
//
// Values (value.go) say what they were made from by atoms (atom.go). They are
// kept at places, the fields of objects (heap.go), whose contents at a point of
// the program are a state (state.go). Loops run to a fixpoint (loops.go) and
// judge at their end which stores grew (growth.go, addends.go, resets.go).
// Statements and expressions run one by one (statements.go, control.go,
// assignments.go, expressions.go, operators.go, displays.go), calls inline the
// program's own functions within a budget (calls.go, budget.go) and read what
// libraries do from package torch (library.go, methods.go, modules.go,
// tensors.go). What a backward reached (backward.go) decides in the end what is
// told, and how (facts.go).
package flow

import (
	"context"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Analyze runs main, what it takes from other files of the workspace, then each
// function of main that no known code calls. A program that has nothing to do
// with PyTorch is not run.
func Analyze(ctx context.Context, resolver *names.Resolver, main *names.Module) (*Facts, error) {
	in := &interpreter{main: main, analysis: newAnalysis(ctx, resolver)}
	if !in.mayUseTorch(main, 0, map[*names.Module]bool{}) {
		return &Facts{}, ctx.Err()
	}
	in.initial = &state{in: in}
	in.execution = execution{state: in.initial, frame: in.moduleFrame(main), limit: maxSteps}
	in.block(main.Tree.Root())
	in.execution = execution{state: in.initial, frame: in.moduleFrame(main)}
	in.runRoots()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return in.facts(), nil
}

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
		if first, _, _ := strings.Cut(name.Dotted, "."); name.Level == 0 && torch.Frameworks[first] {
			return true
		}
		imported := in.resolver.Resolve(in.ctx, m, name.Level, name.Dotted)
		return imported.Module != nil && in.mayUseTorch(imported.Module, depth+1, seen)
	})
}

// root is a function that runs on its own because no known code calls it.
type root struct {
	function ObjectID
	class    ObjectID // of a method
	code     *code
	calls    map[string]bool // the names it calls
	name     string
}

// runRoots runs the functions that did not run yet, callers first.
func (in *interpreter) runRoots() {
	module := in.frame
	base := in.state
	var roots []*root
	add := func(id, class ObjectID, name string) {
		info := in.objects[id]
		if info.kind != objectFunction || info.code.module != in.main {
			return
		}
		roots = append(roots, &root{function: id, class: class, code: info.code, name: name, calls: calledNames(in.main.Tree, info.code.node)})
	}
	for _, f := range in.objects[module.object].fields {
		v := base.get(Place{module.object, f})
		if v == nil {
			continue
		}
		for _, id := range v.objects {
			add(id, 0, in.symbolNames[f])
			if info := in.objects[id]; info.kind == objectClass && info.at.module == in.main {
				for _, m := range info.fields {
					if mv := base.get(Place{id, m}); mv != nil {
						for _, mid := range mv.objects {
							add(mid, id, in.symbolNames[m])
						}
					}
				}
			}
		}
	}
	for {
		var waiting []*root
		for _, r := range roots {
			if !in.visited[codeKey{r.code.module, r.code.node}] {
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
		in.execution = execution{frame: module, state: base.push(), limit: maxSteps}
		in.runRoot(next)
		in.visited[codeKey{next.code.module, next.code.node}] = true
	}
	in.frame, in.state = module, base
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
func (in *interpreter) runRoot(r *root) {
	n := r.code.node
	var receiver *Value
	if r.class != 0 && r.code.kind != staticMethod {
		receiver = object(r.class)
		if r.code.kind != classMethod {
			receiver = in.instantiate(n, r.class, arguments{})
			if in.state == nil {
				return
			}
			in.state = in.state.push()
		}
	}
	if r.name == "__init__" && receiver != nil {
		return
	}
	var args arguments
	run := func() {
		result, yields := in.run(n, r.code, receiver, args, maxSteps)
		if in.state != nil {
			in.mark(in.escaped, in.throughCalls(in.reach(result)))
			in.mark(in.escaped, in.throughCalls(in.reach(yields)))
		}
	}
	if r.class != 0 && in.isModuleClass(r.class) && r.name == "forward" {
		in.iterate(n, false, forLoop, func() {
			args = in.activations(r.code)
			run()
		})
		return
	}
	run()
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
