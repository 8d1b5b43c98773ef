package flow

import (
	"maps"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// root is a function that runs on its own because no known code calls it.
type root struct {
	class ObjectID // of a method
	code  *code
	calls map[string]bool // the names it calls
	name  string
	at    syntax.NodeID // what stands for it in the main module
	// fills are, of an inherited method, the methods of the class that it calls:
	// it runs for their sake.
	fills   []*root
	ran     bool
	visited *bool // whether anything has run it
}

// waits reports whether nothing has run a root yet.
func (in *interpreter) waits(r *root) bool {
	if len(r.fills) > 0 {
		return !r.ran && slices.ContainsFunc(r.fills, in.waits)
	}
	if r.visited == nil {
		r.visited = in.visited.of(r.key())
	}
	return !*r.visited
}

// An agenda is the roots of a group or a program, of which those that no other seems
// to call run first.
type agenda struct {
	roots   []*root
	callers map[string][]*root // by the name of what they call
}

func newAgenda(roots []*root) *agenda {
	a := &agenda{roots: roots, callers: map[string][]*root{}}
	for _, r := range roots {
		for name := range r.calls {
			a.callers[name] = append(a.callers[name], r)
		}
	}
	return a
}

// next is the root that is to run next, nil when none waits.
func (a *agenda) next(in *interpreter) *root {
	var first *root
	for _, r := range a.roots {
		if in.stopped || !in.waits(r) {
			continue
		}
		if !slices.ContainsFunc(a.callers[r.name], func(o *root) bool { return o != r && in.waits(o) }) {
			return r
		}
		if first == nil {
			first = r
		}
	}
	return first
}

func (r *root) key() codeKey { return codeKey{r.code.module, r.code.node} }

// definitions are the functions, methods and classes of the main module.
func (in *interpreter) definitions(base *state) (roots []*root, classes []ObjectID) {
	add := func(id, class ObjectID, name string) {
		if info := in.objects[id]; info.kind == objectFunction && info.code.module == in.main {
			roots = append(roots, &root{class: class, code: info.code, name: name, at: info.code.node, calls: calledNames(in.main.Tree, info.code.node)})
		}
	}
	module := in.namespace(in.main).objects[0]
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

// guarded reports whether a function runs without recording graphs: it says so
// itself, or all methods of its class do that call it by its name.
func (r *root) guarded(roots []*root, depth int) bool {
	if r.code.grad != torch.GradUnchanged || r.class == 0 || depth > maxBases {
		return r.code.grad == torch.GradOff
	}
	called := false
	for _, o := range roots {
		if o == r || o.class != r.class || !o.calls[r.name] {
			continue
		}
		if called = true; !o.guarded(roots, depth+1) {
			return false
		}
	}
	return called
}

// runRoot runs one function with arguments of which nothing is known.
func (in *interpreter) runRoot(r *root, roots []*root) {
	in.off = r.guarded(roots, 0)
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
