package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Functions and classes that a function makes may be called by code that is not
// seen: a handler, a step that is returned. What has not run when the function
// is over runs then, with what it closes over as it is.

// noteNested notes a function that another one makes, itself or in a class.
func (in *interpreter) noteNested(c *code) {
	maker := in.frame
	if in.frame.scope.Class {
		maker = in.frame.caller
	}
	t := c.module.Tree
	if maker == nil || maker.code == nil || c.module != in.main || t.Kind(c.node) != syntax.FunctionDefinition {
		return
	}
	r := &root{class: c.class, code: c, name: t.Text(t.Child(c.node, syntax.FieldName)), at: c.node}
	in.nested = slices.DeleteFunc(in.nested, func(o *root) bool { return o.key() == r.key() }) // made anew
	in.nested = append(in.nested, r)
}

// runNested runs what the last root made and nothing has called.
func (in *interpreter) runNested() {
	in.runRunners()
	for in.state != nil && !in.stopped && (len(in.nested) > 0 || len(in.inner) > 0) {
		made, classes := in.nested, in.inner
		in.nested, in.inner = nil, nil
		base := in.state
		outer := in.execution
		begin := func() {
			in.execution = outer
			in.state, in.backwards, in.optimizes = base.push(), false, false
			in.limit = in.spending + maxSteps
		}
		for _, class := range classes {
			if host := in.hostOf(class); host != nil {
				begin()
				in.runHost(class, host)
			}
		}
		for _, r := range made {
			if in.waits(r) {
				r.calls = calledNames(r.code.module.Tree, r.code.node)
				begin()
				in.runRoot(r, made)
				in.runRunners()
				in.visited.add(r.key())
			}
		}
		spent := in.spending
		in.execution = outer
		in.state, in.spending = base, spent
	}
}
