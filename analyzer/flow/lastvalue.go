package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// LastValue is an attribute that keeps the graph of the last iteration, or call,
// until the next one replaces it, though nothing that reads it needs the graph.
type LastValue struct {
	// Stored is the expression whose graph is kept.
	Stored Location
	// Target is the attribute.
	Target Location
	// Read is one that reads it without its graph.
	Read Location
	// Loop is the statement whose iterations replace it. For code that a
	// framework calls once a step it is the function.
	Loop     Location
	Implicit bool
	Sure     Certainty
}

// lastStore is a store of a graph in an attribute of an object that was there
// before the loop.
type lastStore struct {
	place        Place
	origins      atoms
	expr, target syntax.NodeID
}

// keepLast notes that a graph is stored in an attribute in the checked module.
func (in *interpreter) keepLast(p Place, v *Value, expr, target syntax.NodeID) {
	if in.dry || in.loop == nil || in.frame.module != in.main || in.main == nil {
		return
	}
	info := in.objects[p.object]
	if info.kind != objectInstance && info.kind != objectModule || info.born > in.loop.births {
		return
	}
	var origins atoms
	for _, x := range in.shallow(v) {
		o := &in.atoms[x]
		if o.kind == atomOrigin && o.sure >= Likely && !o.leaf && !o.parameter && in.loop.encloses(o.loop) {
			origins = append(origins, x)
		}
	}
	if len(origins) > 0 {
		in.loop.last = append(in.loop.last, lastStore{p, origins, expr, target})
	}
}

// judgeLast decides, at the end of the last pass over l, which attributes keep
// the graph of one iteration.
func (in *interpreter) judgeLast(l *loop, end *state) {
	if l.steps.few {
		return
	}
	for _, s := range l.last {
		v := end.get(s.place)
		if v == nil {
			continue
		}
		all := in.shallow(v)
		if in.carriesGraph(all) {
			continue // what grows is said of where it grows
		}
		s.origins = slices.DeleteFunc(slices.Clone(s.origins), func(x Atom) bool {
			return !all.has(x) || end.get(Place{ledger, Symbol(x)}) != nil
		})
		if len(s.origins) > 0 {
			in.lastStores[codeKey{in.main, s.target}] = judgedStore{s, l}
		}
	}
}

// carriesGraph reports whether as hold a graph of an earlier iteration.
func (in *interpreter) carriesGraph(as atoms) bool {
	return slices.ContainsFunc(as, func(x Atom) bool {
		info := &in.atoms[x]
		return (info.kind == atomCarried || info.kind == atomChained) && info.header.back[info.place].sure >= Likely
	})
}

// judgedStore is a store whose graph stays until the next iteration of a loop.
type judgedStore struct {
	lastStore
	loop *loop
}

// lastValues are the attributes that keep a graph in vain, by position.
func (in *interpreter) lastValues() []LastValue {
	if len(in.lastStores) == 0 {
		return nil
	}
	var out []LastValue
	reads := in.attributeReads()
	for _, s := range in.lastStores {
		t := in.main.Tree
		read, ok := in.readWithoutGraph(reads[t.Text(t.Child(s.target, syntax.FieldAttribute))])
		if !ok || slices.ContainsFunc(s.origins, func(x Atom) bool { return in.needed[x] }) {
			continue
		}
		out = append(out, LastValue{
			Stored: Location{in.main, s.expr}, Target: Location{in.main, s.target}, Read: Location{in.main, read},
			Loop: Location{s.loop.at.module, s.loop.at.node}, Implicit: s.loop.implicit, Sure: in.sure(s.origins),
		})
	}
	slices.SortFunc(out, func(a, b LastValue) int { return cmp.Compare(a.Target.Node, b.Target.Node) })
	return out
}

// attributeReads are the expressions of the checked module that read an attribute,
// by its name.
func (in *interpreter) attributeReads() map[string][]syntax.NodeID {
	t := in.wholeTree()
	out := map[string][]syntax.NodeID{}
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) == syntax.Attribute && !in.isWritten(n) {
			name := t.Text(t.Child(n, syntax.FieldAttribute))
			out[name] = append(out[name], n)
		}
	}
	return out
}

// readWithoutGraph is the first of the expressions that takes a value without its
// graph, if there is one and none of them needs the graph.
func (in *interpreter) readWithoutGraph(reads []syntax.NodeID) (syntax.NodeID, bool) {
	first := syntax.NoNode
	for _, n := range reads {
		switch in.usedWithoutGraph(n) {
		case needsGraph:
			return syntax.NoNode, false
		case cutsGraph:
			if first < 0 {
				first = n
			}
		}
	}
	return first, first >= 0
}

// isWritten reports whether n is a target, not a value.
func (in *interpreter) isWritten(n syntax.NodeID) bool {
	t := in.main.Tree
	for p := t.Parent(n); ; n, p = p, t.Parent(p) {
		switch t.Kind(p) {
		case syntax.Assignment:
			return t.Role(n) == syntax.FieldLeft
		case syntax.DeleteStatement:
			return true
		case syntax.PatternList, syntax.TuplePattern, syntax.ListPattern, syntax.ExpressionList:
		default:
			return false
		}
	}
}

// use is what an expression is used for.
type use uint8

const (
	needsGraph use = iota // or it is not known that it does not
	cutsGraph
	looksOnly // whether it is there
)

// usedWithoutGraph is what the code around the expression n uses it for.
func (in *interpreter) usedWithoutGraph(n syntax.NodeID) use {
	t := in.main.Tree
	if _, guarded := in.guardAround(in.main, n); guarded {
		return cutsGraph
	}
	for {
		p := t.Parent(n)
		switch t.Kind(p) {
		case syntax.ParenthesizedExpression, syntax.UnaryOperator, syntax.Subscript:
			if t.Kind(p) == syntax.Subscript && t.Role(n) != syntax.FieldValue {
				return needsGraph
			}
		case syntax.BinaryOperator:
		case syntax.ComparisonOperator:
			if op := t.Text(t.Child(p, syntax.FieldOperators)); op == "is" || op == "is not" {
				return looksOnly
			}
			return cutsGraph
		case syntax.NotOperator, syntax.IfStatement, syntax.ElifClause, syntax.WhileStatement, syntax.BooleanOperator:
			return looksOnly
		case syntax.Interpolation:
			return cutsGraph
		case syntax.Call:
			return looksOnly // no tensor: a method with the name of the attribute
		case syntax.ArgumentList:
			switch f := t.Text(t.Child(t.Parent(p), syntax.FieldFunction)); f {
			case "hasattr", "isinstance", "len", "type":
				return looksOnly
			case "print", "float", "int", "str", "repr", "bool":
				return cutsGraph
			}
			return needsGraph
		case syntax.Attribute:
			if t.Role(n) != syntax.FieldObject {
				return needsGraph
			}
			c, ok := torch.Method(t.Text(t.Child(p, syntax.FieldAttribute)))
			if !ok {
				return needsGraph
			}
			switch c.Effect {
			case torch.Detaches, torch.Leaves, torch.NoGraph:
				return cutsGraph
			case torch.Keeps:
			default:
				return needsGraph
			}
			if call := t.Parent(p); t.Kind(call) == syntax.Call && t.Role(p) == syntax.FieldFunction {
				p = call
			}
		default:
			return needsGraph
		}
		n = p
	}
}
