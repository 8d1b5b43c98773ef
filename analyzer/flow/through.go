package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// throughCall finds the argument that the loop's own code passes to the call
// in which a growth happens: that is where a reader looks for it.
func (in *interpreter) throughCall(g *growth) {
	var chain []*callSite
	for c := g.event.at.frame; c != nil && c != g.loop.at.frame; c = c.caller {
		chain = append(chain, c)
	}
	if len(chain) == 0 {
		return
	}
	sure := NoGraph
	for _, x := range g.fresh {
		sure = max(sure, in.atoms[x].sure)
	}
	fresh := map[Atom]bool{}
	for _, x := range g.fresh {
		fresh[x] = in.atoms[x].sure == sure
	}
	made := in.madeOf(g.event)
	for _, c := range slices.Backward(chain) {
		if c.module != in.main || c.node == g.loop.at.node { // a recursion is a call itself
			continue
		}
		in.passedTo(c, g, fresh, made[c])
		if len(g.argumentParts) > 0 {
			return
		}
	}
}

// passedTo finds the argument of one call that brings the graph of a growth: one
// of those that the kept expression is made of, as far as that is known.
func (in *interpreter) passedTo(c *callSite, g *growth, fresh map[Atom]bool, made map[syntax.NodeID]bool) {
	outer := in.frame
	in.frame = &frame{module: c.module}
	defer func() { in.frame = outer }()
	var found, holds syntax.NodeID = syntax.NoNode, syntax.NoNode
	var parts []part
	brings := false
	for _, a := range c.given() {
		expr := a.expr
		v := in.valueOf(expr)
		if v == nil || in.refersTo(v, g.event.place.object, 0) {
			continue
		}
		if !slices.ContainsFunc(in.reach(v), func(x Atom) bool { return fresh[x] }) {
			if made[expr] && v.is(KindObject) && holds < 0 {
				holds = expr // a collection that was emptied since
			}
			continue
		}
		ps := in.parts(expr, nil, 0)
		if better := made[expr] && !brings; found < 0 || better || made[expr] == brings && len(parts) == 0 && len(ps) > 0 {
			found, parts, brings = expr, ps, made[expr]
		}
	}
	if found >= 0 && !brings && holds >= 0 {
		found, parts = holds, nil
	}
	if found >= 0 && (g.argument.Module == nil || len(parts) > 0) {
		g.argument, g.argumentParts, g.call = Location{c.module, found}, parts, c
	}
}

// givenArgument is an argument as the text of a call has it.
type givenArgument struct {
	name string // of a keyword argument
	expr syntax.NodeID
}

// given are the arguments of a call. What calls a method of an operand, or of
// what is assigned to, gives it the other operand or the assigned value.
func (c *callSite) given() []givenArgument {
	t := c.module.Tree
	var out []givenArgument
	switch t.Kind(c.node) {
	case syntax.Call:
		for a := range t.Children(t.Child(c.node, syntax.FieldArguments)) {
			if t.Kind(a) == syntax.KeywordArgument {
				out = append(out, givenArgument{t.Text(t.Child(a, syntax.FieldName)), t.Child(a, syntax.FieldValue)})
			} else {
				out = append(out, givenArgument{expr: a})
			}
		}
	case syntax.Assignment:
		if left := t.Child(c.node, syntax.FieldLeft); t.Kind(left) == syntax.Subscript {
			out = append(out, givenArgument{expr: t.Child(left, syntax.FieldSubscript)})
		}
		out = append(out, givenArgument{expr: t.Child(c.node, syntax.FieldRight)})
	case syntax.AugmentedAssignment, syntax.BinaryOperator:
		out = append(out, givenArgument{expr: t.Child(c.node, syntax.FieldRight)})
	}
	return out
}

// madeOf are the arguments, of the calls that led to a store, from whose
// parameters the kept expression is made.
func (in *interpreter) madeOf(e *storeEvent) map[*callSite]map[syntax.NodeID]bool {
	out := map[*callSite]map[syntax.NodeID]bool{}
	read := map[string]bool{}
	in.parametersRead(e.frame, e.expr, read, map[Place]bool{})
	for f := e.frame; f != nil && f.code != nil && f.caller != nil && len(read) > 0; f = f.caller {
		exprs := map[syntax.NodeID]bool{}
		next := map[string]bool{}
		for expr, name := range in.boundTo(f) {
			if read[name] {
				exprs[expr] = true
				in.parametersRead(f.caller, expr, next, map[Place]bool{})
			}
		}
		out[f.call], read = exprs, next
	}
	return out
}

// boundTo are the arguments of the call that made a frame, with the parameters
// that they are bound to.
func (in *interpreter) boundTo(f *frame) map[syntax.NodeID]string {
	var params []string
	t := f.code.module.Tree
	for p := range t.Children(t.Child(f.code.node, syntax.FieldParameters)) {
		params = append(params, t.Text(parameterName(t, p)))
	}
	if f.code.class != 0 && f.code.kind != staticMethod && len(params) > 0 {
		params = params[1:]
	}
	out := map[syntax.NodeID]string{}
	for _, a := range f.call.given() {
		switch {
		case a.name != "":
			out[a.expr] = a.name
		case len(params) > 0:
			out[a.expr], params = params[0], params[1:]
		}
	}
	return out
}

// parametersRead adds the parameters of a frame that an expression reads, itself
// or through variables that were made of them.
func (in *interpreter) parametersRead(f *frame, expr syntax.NodeID, into map[string]bool, seen map[Place]bool) {
	if f == nil || f.code == nil {
		return
	}
	t := f.module.Tree
	params := f.code.module.Tree.Child(f.code.node, syntax.FieldParameters)
	for n := expr; n < t.End(expr); n++ {
		if t.Kind(n) != syntax.Identifier || t.Role(n) == syntax.FieldAttribute || t.Kind(t.Parent(n)) == syntax.KeywordArgument && t.Role(n) == syntax.FieldName {
			continue
		}
		name := t.Text(n)
		p := Place{f.object, in.symbol(name)}
		if into[name] || seen[p] {
			continue
		}
		seen[p] = true
		if f.module == f.code.module && in.hasParameter(f, params, name) {
			into[name] = true
			continue
		}
		if d, ok := in.defined[p]; ok && d.frame == f.call && d.expr.Module == f.module {
			in.parametersRead(f, d.expr.Node, into, seen)
		}
	}
}

// parameterName is the name that a parameter binds.
func parameterName(t *syntax.Tree, p syntax.NodeID) syntax.NodeID {
	switch t.Kind(p) {
	case syntax.DefaultParameter, syntax.TypedDefaultParameter:
		return t.Child(p, syntax.FieldName)
	case syntax.TypedParameter, syntax.ListSplatPattern, syntax.DictionarySplatPattern:
		return t.First(p)
	}
	return p
}

// hasParameter reports whether a name is among the parameters of a function.
func (in *interpreter) hasParameter(f *frame, params syntax.NodeID, name string) bool {
	t := f.module.Tree
	for p := range t.Children(params) {
		if t.Text(parameterName(t, p)) == name {
			return true
		}
	}
	return false
}

// refersTo reports whether a value is an object or holds it.
func (in *interpreter) refersTo(v *Value, id ObjectID, depth int) bool {
	if v == nil || depth > maxReach {
		return false
	}
	if slices.ContainsFunc(v.elements, func(e *Value) bool { return in.refersTo(e, id, depth+1) }) {
		return true
	}
	for _, o := range v.objects {
		if o == id {
			return true
		}
		info := in.objects[o]
		if info.kind != objectContainer && info.kind != objectInstance && info.kind != objectBound {
			continue
		}
		if info.kind == objectBound && in.refersTo(object(info.parent), id, depth+1) {
			return true
		}
		for _, f := range info.fields {
			if in.refersTo(in.state.get(Place{o, f}), id, depth+2) {
				return true
			}
		}
	}
	return false
}
