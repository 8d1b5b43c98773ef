package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Unguarded is a call that, in each iteration of a loop, records the graph of a
// model in evaluation mode, which no backward reaches: work and a peak of memory
// for nothing.
type Unguarded struct {
	Call Location
	// Loop is the statement or comprehension that repeats the call.
	Loop Location
	// Evaluation is where the model was put in evaluation mode.
	Evaluation Location
	// Sure is how certain it is that the call records a graph.
	Sure Certainty
	// Regions are the pieces of code around the call in which nothing was seen
	// that needs a gradient: the function, the loop, the statement.
	Regions []Region
}

// Region is a statement or a function definition.
type Region struct {
	Location
	// Opaque says that code in it was not seen that could run a backward of its
	// own, or that a value made in it is returned with its graph.
	Opaque bool
}

// evaluations is what an analysis learns about models in evaluation mode.
type evaluations struct {
	// asked says that the checked module's own code may put a model in it.
	asked bool
	// at is where a model was put in evaluation mode last.
	at map[ObjectID]site
	// calls are the origins that models recorded, with where the model was put in
	// evaluation mode, or nowhere when it was not in it each time.
	calls map[Atom]site
	// trained are calls that record the graph of a model in training mode, with
	// all calls that led there.
	trained map[codeKey]bool
	// differentiates are the expressions that run a backward or ask for a
	// gradient, with all calls that led there.
	differentiates map[codeKey]bool
	// lent are graphs given to code that was not seen, which gave something
	// back; handed are those of which it gave nothing back, or that it got
	// together with the model: it may run a backward on them.
	lent, handed map[Atom]bool
	// returned are the graphs that functions of the program return.
	returned map[codeKey]map[Atom]bool
	// unseen are calls of code that was not seen and may train by itself.
	unseen map[codeKey]bool
}

func newEvaluations() evaluations {
	return evaluations{
		at: map[ObjectID]site{}, calls: map[Atom]site{}, trained: map[codeKey]bool{}, differentiates: map[codeKey]bool{},
		lent: map[Atom]bool{}, handed: map[Atom]bool{}, returned: map[codeKey]map[Atom]bool{}, unseen: map[codeKey]bool{},
	}
}

// observes reports whether it matters what becomes of graphs: some model is put in
// evaluation mode, here, maybe later, or maybe where a summary will be used, and this
// is no dry run.
func (in *interpreter) observes() bool {
	return !in.dry && !in.off && (in.main == nil || in.evaluations.asked || len(in.evaluations.at) > 0)
}

// setMode puts a module, with all its parts, in training or evaluation mode.
func (in *interpreter) setMode(n syntax.NodeID, module ObjectID, training bool) {
	if !in.constructs() {
		in.state.set(Place{modes, evaluating}, boolean(!training))
	}
	in.eachPart(module, map[ObjectID]bool{}, func(id ObjectID) {
		p := Place{id, evaluating}
		if in.initial.values.find(p) < 0 {
			in.initial.set(p, plainFalse) // on paths that do not come here it trains
		}
		in.state.set(p, boolean(!training)) // no change of what it holds
		if !training {
			in.evaluations.at[id] = in.site(n)
		}
	})
}

// constructs reports whether the constructor of a class runs: a part that it puts
// in evaluation mode stays so while the rest trains.
func (in *interpreter) constructs() bool {
	for f := in.frame; f != nil; f = f.caller {
		if f.code != nil && f.code.class != 0 && f.module.Tree.Text(f.module.Tree.Child(f.code.node, syntax.FieldName)) == "__init__" {
			return true
		}
	}
	return false
}

// forgetMode notes that a module is made anew: it is in training mode.
func (in *interpreter) forgetMode(module ObjectID) {
	if len(in.evaluations.at) > 0 {
		in.state.set(Place{module, evaluating}, nil)
	}
}

// inEvaluation is the module, or the one of which it is a part, that was put in
// evaluation mode; 0 when that is not so or not sure.
func (in *interpreter) inEvaluation(module ObjectID) ObjectID {
	for range maxReach {
		if v := in.state.get(Place{module, evaluating}); v != nil {
			if v.literal == true {
				return module
			}
			return 0
		}
		info := in.objects[module]
		if info.kind != objectUnknown && info.kind != objectModule || info.parent == 0 {
			return 0
		}
		module = info.parent
	}
	return 0
}

// evaluated is the module in evaluation mode that calls this one or is it; 0
// when there is none.
func (in *interpreter) evaluated(module ObjectID) ObjectID {
	if m := in.inEvaluation(module); m != 0 {
		return m
	}
	for f := in.frame; f != nil; f = f.caller {
		if f.code == nil || f.code.class == 0 || !in.isModuleClass(f.code.class) {
			continue
		}
		self := in.state.get(Place{f.object, in.firstParameter(f.code)})
		if self == nil {
			continue
		}
		for _, id := range self.objects {
			if m := in.inEvaluation(id); m != 0 {
				return m
			}
		}
	}
	return 0
}

// modelCall notes that a module with parameters recorded the graph x of what it
// was given.
func (in *interpreter) modelCall(module ObjectID, x Atom, operands atoms) {
	if !in.observes() {
		return
	}
	in.atoms[x].model = true
	if in.main == nil {
		l := repeating(in.loop, in.frame.call)
		in.atoms[x].repeated = in.atoms[x].repeated || l != nil && (l.frame.code == nil || l.frame.code.class == 0 || !in.isModuleClass(l.frame.code.class))
		return
	}
	in.noteModelCall(x, in.evaluated(module), operands)
}

// summarisedCall notes the graphs that modules recorded in a call that a summary
// stands for.
func (in *interpreter) summarisedCall(xs []Atom, sig *signature) {
	if len(xs) == 0 || !in.observes() || in.main == nil {
		return
	}
	var m ObjectID
	trained := false
	var operands atoms
	for _, leaf := range sig.leaves {
		if leaf == nil {
			continue
		}
		operands = operands.union(leaf.atoms)
		for _, id := range leaf.objects {
			in.eachPart(id, map[ObjectID]bool{}, func(part ObjectID) {
				if in.evaluated(part) != 0 {
					m = part
				} else if v := in.state.get(Place{part, evaluating}); v != nil {
					trained = true
				}
			})
		}
	}
	if trained {
		m = 0
	}
	for _, x := range xs {
		in.noteModelCall(x, m, operands)
	}
}

// noteModelCall notes the graph x that was recorded by a part of module m, which
// is in evaluation mode, or by one that is not when m is 0.
func (in *interpreter) noteModelCall(x Atom, m ObjectID, operands atoms) {
	e := &in.evaluations
	if m == 0 {
		for at := range callers(in.atoms[x].at) {
			e.trained[at] = true
		}
		e.calls[x] = site{}
		return
	}
	if slices.ContainsFunc(operands, func(y Atom) bool { return in.atoms[y].leaf && !in.atoms[y].parameter }) {
		return // its input requires a gradient: somebody wants one
	}
	if earlier, known := e.calls[x]; !known || earlier.module != nil {
		e.calls[x] = e.at[m]
	}
}

// callers are the expression at a site and the calls that led to it.
func callers(at site) func(yield func(codeKey) bool) {
	return func(yield func(codeKey) bool) {
		if !yield(codeKey{at.module, at.node}) {
			return
		}
		for c := at.frame; c != nil; c = c.caller {
			if !yield(codeKey{c.module, c.node}) {
				return
			}
		}
	}
}

// differentiate notes that the expression n runs a backward or asks for a
// gradient.
func (in *interpreter) differentiate(n syntax.NodeID) {
	for at := range callers(in.site(n)) {
		in.evaluations.differentiates[at] = true
	}
}

// giveAway notes what a call of code that was not seen is given.
func (in *interpreter) giveAway(n syntax.NodeID, f *Value, args arguments, graphs atoms) {
	if !in.observes() {
		return
	}
	e := &in.evaluations
	statement := in.tree().Kind(in.tree().Parent(n)) == syntax.ExpressionStatement && !torch.Loggers[in.calleeName(n)]
	trains := in.mayDifferentiate(f)
	for _, v := range args.values() {
		trains = trains || in.isModel(v) || in.callable(v)
	}
	if statement || trains {
		e.unseen[codeKey{in.frame.module, n}] = true
		in.mark(e.handed, graphs)
	}
	if !torch.Loggers[in.calleeName(n)] {
		in.mark(e.lent, graphs)
	}
}

// isModel reports whether v may be a module.
func (in *interpreter) isModel(v *Value) bool {
	return v != nil && slices.ContainsFunc(v.objects, func(id ObjectID) bool {
		switch info := in.objects[id]; info.kind {
		case objectModule:
			return true
		case objectInstance:
			return in.isModuleClass(info.class)
		case objectBound:
			return in.isModel(object(info.parent))
		case objectUnknown:
			return info.model
		}
		return false
	})
}

// mayDifferentiate reports whether what is called was made elsewhere out of a
// module: an explainer, an attack, a trainer.
func (in *interpreter) mayDifferentiate(f *Value) bool {
	for _, id := range f.objects {
		for range maxReach {
			info := in.objects[id]
			if info.kind != objectUnknown || info.model {
				break
			}
			if info.hasModel {
				return true
			}
			id = info.parent
		}
	}
	return false
}

// giveOut notes that the running function returns v.
func (in *interpreter) giveOut(v *Value) {
	if !in.observes() || in.frame.code == nil {
		return
	}
	function := codeKey{in.frame.module, in.frame.code.node}
	if in.evaluations.returned[function] == nil {
		in.evaluations.returned[function] = map[Atom]bool{}
	}
	in.mark(in.evaluations.returned[function], in.reach(v))
}

// giveBack notes what a function that nothing known calls leaves to its caller:
// what it returns and yields, and what its object holds.
func (in *interpreter) giveBack(values ...*Value) {
	if len(in.evaluations.at) > 0 {
		in.mark(in.evaluations.handed, in.throughCalls(in.reachAll(values)))
	}
}

// unguardedCalls are those that record the graph of a model in evaluation mode
// for nothing, one for each loop and function. told are the growths that are
// findings of their own.
func (in *interpreter) unguardedCalls(told map[*growth]bool) []Unguarded {
	e := &in.evaluations
	silenced := map[Atom][]*loop{} // loops in which a place keeps the origin, maybe for a reason
	for _, g := range in.growths {
		if told[g] || !g.event.collect && in.objects[g.event.place.object].kind == objectUnknown {
			continue
		}
		for _, x := range g.fresh {
			silenced[x] = append(silenced[x], g.loop)
		}
	}
	// One finding for each loop of a function, or for the whole function when a
	// loop around its calls repeats it.
	type key struct{ function, loop syntax.NodeID }
	found := map[key]*Unguarded{}
	wanted := map[key]bool{}
	models := in.moduleClasses()
	origins := make([]Atom, 0, len(e.calls))
	for x, mode := range e.calls {
		if mode.module != nil {
			origins = append(origins, x)
		}
	}
	slices.Sort(origins)
	for _, x := range origins {
		at, l := in.evaluatingCall(x, models)
		if l == nil {
			continue
		}
		k := key{in.functionAround(at), syntax.NoNode}
		if in.inFunction(l, k.function) {
			k.loop = l.at.node
		}
		kept := slices.ContainsFunc(silenced[x], func(g *loop) bool { return g.encloses(l) })
		if kept || in.needed[x] || e.handed[x] || e.lent[x] && l.trains || in.enablesGrad(at) {
			wanted[k] = true
			continue
		}
		if u, ok := found[k]; ok {
			u.Sure = max(u.Sure, in.atoms[x].sure)
			if at < u.Call.Node {
				u.Call.Node = at
			}
			continue
		}
		mode := e.calls[x]
		found[k] = &Unguarded{
			Call: Location{in.main, at}, Loop: Location{l.at.module, l.at.node},
			Evaluation: Location{mode.module, mode.node}, Sure: in.atoms[x].sure,
		}
	}
	var out []Unguarded
	for k, u := range found {
		whole := key{k.function, syntax.NoNode}
		if wanted[k] || wanted[whole] || k != whole && found[whole] != nil {
			continue
		}
		u.Regions = in.regions(u.Call.Node, k.function, k.loop)
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Unguarded) int { return cmp.Compare(a.Call.Node, b.Call.Node) })
	return out
}

// evaluatingCall is the call in the checked module by which the code that
// evaluates a model makes the origin x, and the loop that repeats it. Code of
// the model itself does not evaluate, unless it has the loop, nor does code that
// trains the model as well.
func (in *interpreter) evaluatingCall(x Atom, models map[codeKey]bool) (syntax.NodeID, *loop) {
	info := &in.atoms[x]
	frame := info.at.frame
	for at := range callers(info.at) {
		t := at.module.Tree
		if t.Kind(at.node) != syntax.FunctionDefinition && !isForward(t, at.node) {
			l := repeating(info.loop, frame)
			own := l != nil && l.at.frame == frame
			switch ofModel := isMethodOf(models, at); {
			case at.module != in.main:
				if info.repeated || own && !ofModel {
					return syntax.NoNode, nil // a finding of that file
				}
			case l != nil && (own || !ofModel) && !in.evaluations.trained[at]:
				return at.node, l
			}
		}
		if frame != nil {
			frame = frame.caller
		}
	}
	return syntax.NoNode, nil
}

// repeating is the innermost loop among l and those around it that runs in a
// frame or in one that led there, and takes many steps.
func repeating(l *loop, frame *callSite) *loop {
	for ; l != nil; l = l.parent {
		if l.steps.few || l.implicit || isForward(l.at.module.Tree, l.at.node) {
			continue
		}
		for c := frame; ; c = c.caller {
			if c == l.at.frame {
				return l
			}
			if c == nil {
				break
			}
		}
	}
	return nil
}

// moduleClasses are the definitions of classes of modules.
func (a *analysis) moduleClasses() map[codeKey]bool {
	out := map[codeKey]bool{}
	for id, info := range a.objects {
		if info.kind == objectClass && a.isModuleClass(ObjectID(id)) {
			out[codeKey{info.at.module, info.at.node}] = true
		}
	}
	return out
}

// isMethodOf reports whether the innermost function around a node is a method of
// one of the classes.
func isMethodOf(classes map[codeKey]bool, at codeKey) bool {
	t := at.module.Tree
	inFunction := false
	for n := t.Parent(at.node); n >= 0; n = t.Parent(n) {
		switch t.Kind(n) {
		case syntax.FunctionDefinition:
			if inFunction {
				return false
			}
			inFunction = true
		case syntax.ClassDefinition:
			return inFunction && classes[codeKey{at.module, n}]
		}
	}
	return false
}

// isForward reports whether n is in a method that calling a module runs.
func isForward(t *syntax.Tree, n syntax.NodeID) bool {
	for n = t.Parent(n); n >= 0; n = t.Parent(n) {
		if t.Kind(n) != syntax.FunctionDefinition {
			continue
		}
		if name := t.Text(t.Child(n, syntax.FieldName)); name == "forward" || name == "__call__" {
			return true
		}
	}
	return false
}

// inFunction reports whether a loop is in a function of the checked module, or
// in no function.
func (in *interpreter) inFunction(l *loop, function syntax.NodeID) bool {
	return l.at.module == in.main && in.functionAround(l.at.node) == function
}

// functionAround is the function of the checked module whose code n is.
func (in *interpreter) functionAround(n syntax.NodeID) syntax.NodeID {
	t := in.main.Tree
	for n = t.Parent(n); n >= 0; n = t.Parent(n) {
		if k := t.Kind(n); k == syntax.FunctionDefinition || k == syntax.Lambda {
			return n
		}
	}
	return syntax.NoNode
}

// enablesGrad reports whether the code around n asks for a graph to be
// recorded.
func (in *interpreter) enablesGrad(n syntax.NodeID) bool {
	t := in.main.Tree
	for ; n >= 0; n = t.Parent(n) {
		k := t.Kind(n)
		for c := range t.Children(n) {
			asks := k == syntax.WithStatement && t.Kind(c) == syntax.WithClause || t.Kind(c) == syntax.Decorator
			for d := c; asks && d < t.End(c); d++ {
				if in.evaluations.differentiates[codeKey{in.main, d}] {
					return true
				}
			}
		}
	}
	return false
}

// regions are the function, the loop and the statement around a call, those in
// which nothing needs a gradient.
func (in *interpreter) regions(call, function, loop syntax.NodeID) []Region {
	t := in.main.Tree
	statement := call
	for k := t.Kind(t.Parent(statement)); k != syntax.Block && k != syntax.Module; k = t.Kind(t.Parent(statement)) {
		statement = t.Parent(statement)
	}
	if k := t.Kind(loop); k != syntax.ForStatement && k != syntax.WhileStatement {
		loop = syntax.NoNode
	}
	var out []Region
	for _, n := range []syntax.NodeID{function, loop, statement} {
		if n < 0 || t.Kind(n) == syntax.Lambda || in.needsGradient(n) {
			continue
		}
		out = append(out, Region{Location{in.main, n}, in.isOpaque(n, function)})
	}
	return out
}

// within are the nodes of the checked module at or below n.
func (in *interpreter) within(at codeKey, n syntax.NodeID) bool {
	return at.module == in.main && n <= at.node && at.node < in.main.Tree.End(n)
}

// madeInCode reports whether an origin was made by the code of n or by what that
// calls.
func (in *interpreter) madeInCode(x Atom, n syntax.NodeID) bool {
	for at := range callers(in.atoms[x].at) {
		if in.within(at, n) && in.main.Tree.Kind(at.node) != syntax.FunctionDefinition {
			return true
		}
	}
	return false
}

// needsGradient reports whether something in the code of n needs a graph that is
// made there.
func (in *interpreter) needsGradient(n syntax.NodeID) bool {
	e := &in.evaluations
	for at := range e.differentiates {
		if in.within(at, n) {
			return true
		}
	}
	t := in.main.Tree
	for c := n; c < t.End(n); c++ {
		if t.Kind(c) == syntax.Attribute && torch.GradientAttributes[t.Text(t.Child(c, syntax.FieldAttribute))] {
			return true
		}
	}
	for x := range in.atoms {
		x := Atom(x)
		if in.atoms[x].kind == atomOrigin && in.atoms[x].at.module != nil && (in.needed[x] || e.handed[x]) && in.madeInCode(x, n) {
			return true
		}
	}
	return false
}

// isOpaque reports whether code in n may train without being seen, or n makes a
// graph that its function returns.
func (in *interpreter) isOpaque(n, function syntax.NodeID) bool {
	e := &in.evaluations
	for at := range e.unseen {
		if in.within(at, n) {
			return true
		}
	}
	for x := range e.returned[codeKey{in.main, function}] {
		if in.atoms[x].kind == atomOrigin && in.madeInCode(x, n) {
			return true
		}
	}
	return false
}
