package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// recursion is a function that calls itself, seen as a loop: its parameters and
// its result live across the calls, and a call of itself is the next iteration.
type recursion struct {
	code  *code
	scope ObjectID // holds the parameters and the results
	depth int      // of the frames of the iterations
}

// parameterNames are the names of a function's parameters, nil if they are more
// than names.
func (in *interpreter) parameterNames(c *code) []syntax.NodeID {
	t := c.module.Tree
	names := []syntax.NodeID{}
	for p := range t.Children(t.Child(c.node, syntax.FieldParameters)) {
		name := parameterName(t, p)
		if k := t.Kind(p); k == syntax.ListSplatPattern || k == syntax.DictionarySplatPattern {
			return nil
		}
		if t.Kind(name) != syntax.Identifier {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// recurs reports whether a call of c from within itself is worth to be run as a
// loop: a graph was made since it began, or is handed on.
func (in *interpreter) recurs(c *code, args arguments) bool {
	if len(in.recursions) > 0 || args.star != nil || in.parameterNames(c) == nil {
		return false
	}
	outer := in.frame
	for outer.code == nil || outer.code.node != c.node || outer.code.module != c.module {
		outer = outer.caller
	}
	return in.activity != outer.activity || in.sure(in.reachAll(args.values())) > NoGraph
}

// recur runs c, which runs already, once more: as a loop over all further calls
// of itself.
func (in *interpreter) recur(n syntax.NodeID, c *code, receiver *Value, args arguments) *Value {
	r := &recursion{code: c, scope: in.allocate(objectScope, n), depth: in.frame.depth + 1}
	in.bindParameters(&frame{module: c.module, object: r.scope}, c, receiver, args)
	in.write(r.result(), &Value{})
	names := in.parameterNames(c)
	in.iterate(n, extent{}, whileLoop, func() {
		var next arguments
		for _, name := range names {
			s := in.symbol(c.module.Tree.Text(name))
			next.positional = append(next.positional, orPlain(in.state.get(Place{r.scope, s})))
		}
		in.recursions = append(in.recursions, r)
		in.run(n, c, nil, next, in.callBudget(c))
		in.recursions = in.recursions[:len(in.recursions)-1]
	})
	// A walk over the parts of something ends with the parts.
	l := in.loops[in.site(n)]
	l.steps.few = !l.trains && !l.draws
	if in.state == nil {
		return plain
	}
	return orPlain(join(in.state.get(r.base()), in.state.get(r.result())))
}

// result is the place of what a call returns that has called itself.
func (r *recursion) result() Place { return Place{r.scope, recursiveResult} }

// base is the place of what a call returns that has not.
func (r *recursion) base() Place { return Place{r.scope, baseResult} }

// recursionOf is the running recursion of a function, nil if there is none.
func (in *interpreter) recursionOf(c *code) *recursion {
	for _, r := range in.recursions {
		if r.code.node == c.node && r.code.module == c.module {
			return r
		}
	}
	return nil
}

// again is a call of itself within a recursion.
func (in *interpreter) again(n syntax.NodeID, r *recursion, receiver *Value, args arguments) *Value {
	t := r.code.module.Tree
	if receiver != nil {
		args.positional = append([]*Value{receiver}, args.positional...)
		args.exprs = append([]syntax.NodeID{n}, args.exprs...)
	}
	for i, name := range in.parameterNames(r.code) {
		text := t.Text(name)
		v := args.at(i, text)
		if v == nil {
			v = r.code.defaults[in.symbol(text)]
		}
		if v == nil {
			continue
		}
		if p := (Place{r.scope, in.symbol(text)}); in.frame.module == r.code.module {
			in.store(p, v, n, args.source(i, text, n), name)
		} else {
			in.write(p, v)
		}
	}
	return orPlain(join(in.state.get(r.base()), in.state.get(r.result())))
}

// returned notes what the running function returns, if it is an iteration of a
// recursion. One that does not depend on what the call of itself returned ends
// the recursion.
func (in *interpreter) returned(stmt, expr syntax.NodeID, v *Value) {
	if len(in.recursions) == 0 {
		return
	}
	r := in.recursions[len(in.recursions)-1]
	if c := in.frame.code; in.frame.depth != r.depth || c == nil || c.node != r.code.node || c.module != r.code.module {
		return
	}
	if in.dependsOn(in.reach(v), in.loop, r.result()) {
		in.store(r.result(), v, stmt, expr, in.tree().Child(r.code.node, syntax.FieldName))
		return
	}
	in.write(r.base(), join(in.state.get(r.base()), v))
}

// draws notes that running code takes the next piece of data.
func (in *interpreter) draws() {
	for l := in.loop; l != nil; l = l.parent {
		l.draws = true
	}
}
