package flow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// A Pile is a collection that keeps tensors of every iteration of a loop, and no
// graph with them.
type Pile struct {
	// Kept is the stored expression, Store the statement or call that stores
	// it, Target the collection.
	Kept, Store, Target Location
	// Loop is the statement whose iterations add to the collection. For code
	// that a framework calls once a step it is the function.
	Loop     Location
	Implicit bool
	// Draws says that the loop goes over data: it is as long as there is data.
	Draws bool
	// Around is a loop around that one in which nothing empties the collection
	// either, if there is one.
	Around *Location
	// Lasts says that no loop around those empties the collection.
	Lasts bool
	// Fills says that the loop does nothing but to store: what it stores is the
	// same each time.
	Fills bool
	// Readings are where the collection is read in Around, but not in Loop: what
	// is computed there covers all that was ever stored.
	Readings []Location
	// Emptied is a method of the object that holds the collection which would
	// empty it, if its class has one. Call is the call in Loop through which the
	// object stores, if it is another's.
	Emptied, Call *Location
	// Tensors are those that the text of Kept shows, else Kept itself. Scalars
	// are those of one element.
	Tensors, Scalars []Piled
	// Escapes says that the collection is handed to code that was not seen.
	Escapes bool
	// Memo says that an entry is made only for a key that has none yet: the
	// collection remembers results. ByIdentity says that a key equals only
	// itself, such as a tensor or an address.
	Memo, ByIdentity bool
}

// Piled is a tensor that a pile takes in.
type Piled struct {
	Location
	Device torch.Device
	Extent Extent
	// Part says that it is a small view, which keeps the storage of a tensor of
	// the given extent; Whole is that tensor.
	Part  bool
	Whole *Location
	// Alone says that the expression is the tensor, and not something that
	// holds it.
	Alone bool
	// Tensor says that it is a tensor each time.
	Tensor bool
	// From is where a model gave it or where it was moved to its device, if
	// that is in the text.
	From *Location
}

// piled is a tensor of a store.
type piled struct {
	expr   syntax.NodeID
	memory *memory
	alone  bool
	scalar bool
	tensor bool
	// held are the collections in it.
	held []ObjectID
}

// pile is a store that makes a collection grow in a loop by tensors without a
// graph.
type pile struct {
	event *storeEvent
	loop  *loop
	order int
	// readings are where the collection is read outside of loops within this
	// one that add to it.
	readings []syntax.NodeID
}

// piledIn finds the tensors without a graph in a stored expression.
func (in *interpreter) piledIn(n syntax.NodeID, found []piled, depth int) []piled {
	t := in.tree()
	switch t.Kind(n) {
	case syntax.Tuple, syntax.List, syntax.ExpressionList, syntax.ParenthesizedExpression:
		for c := range t.Children(n) {
			if depth < 4 {
				found = in.piledIn(c, found, depth+1)
			}
		}
		return found
	case syntax.Dictionary:
		for c := range t.Children(n) {
			if t.Kind(c) == syntax.Pair && depth < 4 {
				found = in.piledIn(t.Child(c, syntax.FieldValue), found, depth+1)
			}
		}
		return found
	}
	v := in.valueOf(n)
	if v == nil {
		return found
	}
	if m := in.heldMemory(v, 0); m != nil {
		found = append(found, piled{n, m, len(v.elements) == 0 && v.is(KindTensor|KindUnknown), v.size == torch.Scalar, v.isTensor() || in.isIndexed(n), v.objects})
	}
	return found
}

// notePile notes that a store makes a collection grow in l by what it stores.
func (in *interpreter) notePile(l *loop, e *storeEvent) {
	if len(e.piled) == 0 || l.steps.few || in.sure(e.added) >= Likely {
		return
	}
	key := growthKey{l, e.at, e.expr, e.target}
	p := &pile{event: e, loop: l, order: len(in.piles)}
	if earlier, ok := in.piles[key]; ok {
		p.order = earlier.order
	}
	in.piles[key] = p
	in.noteReadings(p)
}

// pileFacts are the piles that are to be told, each once.
func (in *interpreter) pileFacts() []Pile {
	all := make([]*pile, 0, len(in.piles))
	for _, p := range in.piles {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pile) int { return cmp.Compare(a.order, b.order) })
	type store struct {
		at   site
		expr syntax.NodeID
	}
	loops := map[store][]*pile{} // in which a store grows
	var stores []store
	for _, p := range all {
		s := store{p.event.at, p.event.expr}
		if len(loops[s]) == 0 {
			stores = append(stores, s)
		}
		loops[s] = append(loops[s], p)
	}
	var out []Pile
	for _, s := range stores {
		f, ok := in.pileFact(loops[s])
		if !ok {
			continue
		}
		if i := slices.IndexFunc(out, func(o Pile) bool { return o.Store == f.Store && o.Kept == f.Kept }); i < 0 {
			out = append(out, f)
		} else if out[i].weight() < f.weight() {
			out[i] = f
		}
	}
	slices.SortStableFunc(out, func(a, b Pile) int { return cmp.Compare(a.Kept.Node, b.Kept.Node) })
	return out
}

// weight orders what a store is in several calling contexts by what it costs.
func (p Pile) weight() int {
	w := 0
	for _, t := range p.Tensors {
		w = max(w, 4*int(t.Device)+int(t.Extent))
	}
	if p.Around != nil {
		w += 16
	}
	return w
}

// pileFact is what a store adds up to in the loops in which it grows.
func (in *interpreter) pileFact(ps []*pile) (Pile, bool) {
	var inner *pile // the innermost loop that goes over data, else the innermost
	for _, p := range ps {
		switch goes := p.loop.overData || p.loop.implicit; {
		case inner == nil, goes && !inner.loop.overData && !inner.loop.implicit:
			inner = p
		case goes == (inner.loop.overData || inner.loop.implicit) && inner.loop.encloses(p.loop):
			inner = p
		}
	}
	e, l := inner.event, inner.loop
	m := e.at.module
	f := Pile{
		Kept: Location{m, e.expr}, Store: Location{m, e.at.node}, Target: Location{m, e.target},
		Loop: Location{l.at.module, l.at.node}, Implicit: l.implicit, Draws: l.overData || l.implicit,
		Escapes: in.escaped[in.header(atomCarried, l, e.place)] || in.objects[e.place.object].kind == objectUnknown,
	}
	if in.objects[e.place.object].name == "queue.Queue" {
		return Pile{}, false // whoever takes from it empties it
	}
	if in.isDrawn(e.place.object) || in.withinForward(l.frame) && !l.implicit || in.endsEarly(e, l) {
		return Pile{}, false
	}
	f.Memo, f.ByIdentity, f.Fills = in.isMemo(e), e.keyed, onlyStores(l, e)
	for _, p := range ps {
		f.Lasts = f.Lasts || p.loop.parent == nil
		if p.loop != l && p.loop.encloses(l) {
			f.Around = &Location{p.loop.at.module, p.loop.at.node}
			f.Readings = p.readingsOf(l, in.main)
		}
	}
	f.Emptied, f.Call = in.emptier(e), in.callWithin(e, l)
	if f.Call != nil {
		f.Readings = slices.DeleteFunc(f.Readings, func(r Location) bool { return r == *f.Call })
	}
	if m != in.main && (f.Emptied == nil || f.Call == nil || f.Call.Module != in.main) {
		return Pile{}, false // another file, whose object is not told to empty it
	}
	for _, part := range e.piled {
		mem := part.memory
		if !l.encloses(mem.made) || in.isPile(part.held) {
			continue
		}
		tensor := Piled{Location: Location{m, part.expr}, Device: mem.device, Extent: mem.extent, Part: mem.part, Alone: part.alone,
			Tensor: part.tensor || in.usedAs(Location{m, part.expr}, true) || part.expr == e.expr && in.joinedLater(Location{m, e.target}, Location{m, part.expr})}
		if mem.at.module != nil {
			tensor.From = &Location{mem.at.module, mem.at.node}
		}
		if mem.part && mem.whole.module != nil {
			tensor.Whole = &Location{mem.whole.module, mem.whole.node}
		}
		if part.scalar {
			f.Scalars = append(f.Scalars, tensor)
			continue
		}
		f.Tensors = append(f.Tensors, tensor)
	}
	return f, len(f.Tensors) > 0 || len(f.Scalars) > 0 && f.Around != nil
}

// isPile reports whether one of some collections is a pile itself: what it holds is
// told where it takes it in.
func (in *interpreter) isPile(ids []ObjectID) bool {
	for _, p := range in.piles {
		if slices.Contains(ids, p.event.place.object) {
			return true
		}
	}
	return false
}

// onlyStores reports whether a loop does nothing but to store: a comprehension, or
// a body of one statement.
func onlyStores(l *loop, e *storeEvent) bool {
	t := l.at.module.Tree
	if l.at.module != e.at.module || l.implicit || l.trains {
		return false
	}
	if t.Kind(l.at.node) == syntax.ForInClause {
		return true
	}
	body := t.Child(l.at.node, syntax.FieldBody)
	if body < 0 {
		return false
	}
	first := t.First(body)
	return first >= 0 && t.Next(first) < 0 && t.Span(first).Covers(t.Span(e.at.node))
}

// isMemo reports whether a store is made only where a key has no entry yet.
func (in *interpreter) isMemo(e *storeEvent) bool {
	t := e.at.module.Tree
	if t.Kind(e.target) != syntax.Subscript {
		return false
	}
	collection := t.Text(t.Child(e.target, syntax.FieldValue))
	for n := t.Parent(e.at.node); n >= 0 && t.Kind(n) != syntax.FunctionDefinition; n = t.Parent(n) {
		if t.Kind(n) != syntax.IfStatement {
			continue
		}
		condition := t.Child(n, syntax.FieldCondition)
		for c := condition; c < t.End(condition); c++ {
			if t.Kind(c) == syntax.ComparisonOperator && t.Text(t.Child(c, syntax.FieldOperators)) == "not in" && strings.HasSuffix(t.Text(c), collection) {
				return true
			}
		}
	}
	return false
}

// byIdentity reports whether a key equals only itself: a tensor, an address.
func (in *interpreter) byIdentity(key syntax.NodeID) bool {
	v := in.valueOf(key)
	if v == nil || key < 0 {
		return false
	}
	if name := in.calleeName(key); in.tree().Kind(key) == syntax.Call && torch.Addresses[name] {
		return true
	}
	return v.only(KindTensor) || v.is(KindTensor|KindUnknown) && v.memory != nil && len(v.elements) == 0
}

// isDrawn reports whether an object is what a loop goes over, or a part of it:
// the next iteration has another one.
func (a *analysis) isDrawn(id ObjectID) bool {
	for id >= firstObject && a.objects[id].kind == objectUnknown {
		if a.objects[id].field == eachElement {
			return true
		}
		id = a.objects[id].parent
	}
	return false
}

// endsEarly reports whether a count stops a loop, or a store in it, after some
// iterations: a few samples are collected.
func (in *interpreter) endsEarly(e *storeEvent, l *loop) bool {
	if l.at.module != e.at.module {
		return false
	}
	t := l.at.module.Tree
	for n := t.Parent(e.at.node); n > l.at.node; n = t.Parent(n) {
		if k := t.Kind(n); (k == syntax.IfStatement || k == syntax.ElifClause) && counts(t, t.Child(n, syntax.FieldCondition), false) {
			return true
		}
	}
	for n := l.at.node; n < t.End(l.at.node); n++ {
		if t.Kind(n) != syntax.BreakStatement {
			continue
		}
		for at := t.Parent(n); at > l.at.node; at = t.Parent(at) {
			k := t.Kind(at)
			if k == syntax.ForStatement || k == syntax.WhileStatement {
				break
			}
			if k == syntax.IfStatement && counts(t, t.Child(at, syntax.FieldCondition), true) {
				return true
			}
		}
	}
	return false
}

// counts reports whether a condition compares with a number of iterations or of
// elements: it no longer holds after some, or only then if it is to end a loop.
func counts(t *syntax.Tree, condition syntax.NodeID, ends bool) bool {
	for n := condition; n >= 0 && n < t.End(condition); n++ {
		if t.Kind(n) != syntax.ComparisonOperator {
			continue
		}
		left := t.First(n)
		if t.Kind(left) == syntax.BinaryOperator { // i % 100 == 0 holds again and again
			continue
		}
		op := t.Text(t.Child(n, syntax.FieldOperators))
		switch op {
		case "<", "<=":
			return true
		case ">", ">=":
			return ends
		case "==":
			right := t.Next(t.Next(left))
			if ends || right >= 0 && t.Kind(right) == syntax.Integer {
				return true
			}
		}
	}
	return false
}

// drawsFrom reports whether iterating over a value takes as many steps as there is
// data: it is a loader, or something that was made elsewhere.
func (in *interpreter) drawsFrom(it *Value, depth int) bool {
	if it == nil || it.structural || it.is(KindTensor) || it.memory != nil && it.memory.extent != UnknownExtent || depth > 3 {
		return false
	}
	for _, x := range it.atoms { // a part of one batch, unless it is one of several loaders
		if info := &in.atoms[x]; info.kind == atomStep && !info.header.loaders {
			return false
		}
	}
	if len(it.objects) == 0 {
		return it.is(KindUnknown) || it.batches
	}
	for _, id := range it.objects {
		switch info := in.objects[id]; info.kind {
		case objectUnknown:
		case objectGenerator:
			draws := func(arg *Value) bool { return in.drawsFrom(arg, depth+1) }
			if info.code == nil && info.body == nil && !slices.ContainsFunc(info.args.positional, draws) {
				return false
			}
			if info.name == "zip" && slices.ContainsFunc(info.args.positional, func(arg *Value) bool { return !draws(arg) }) {
				return false // it ends with the shortest
			}
		case objectInstance:
			if in.isModuleClass(info.class) {
				return false
			}
		case objectContainer:
			if !in.drawsFrom(in.comprehended(info), depth+1) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// comprehended is what the comprehension that made a list goes over, nil for
// other containers and for comprehensions that leave some of it out.
func (in *interpreter) comprehended(info *objectInfo) *Value {
	if info.at.module == nil || info.template != nil {
		return nil
	}
	t := info.at.module.Tree
	if t.Kind(info.at.node) != syntax.ListComprehension {
		return nil
	}
	var over *Value
	for c := range t.Children(info.at.node) {
		switch {
		case t.Kind(c) == syntax.ForInClause && over == nil:
			over = in.values[info.at.module].at(t.Child(c, syntax.FieldRight))
		case t.Kind(c) == syntax.ForInClause, t.Kind(c) == syntax.IfClause:
			return nil
		}
	}
	return over
}
