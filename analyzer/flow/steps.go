package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// A function that runs a backward pass and steps an optimizer, once and not in a
// loop of its own, is one step of a training: somebody calls it again and again,
// though no code in view does. Between two calls they may call anything else,
// such as a method that empties what the steps fill.

// runSteps runs a function as the body of such a loop.
func (in *interpreter) runSteps(r *root, waiting []*root) {
	receiver := in.receiver(r)
	if in.state == nil {
		return
	}
	n := r.at
	base := in.state
	in.state = base.push()
	in.iterate(n, extent{}, calledLoop, func() { in.activate(r, receiver, in.strangers(r.code)) })
	l := in.loops[in.site(n)]
	if l == nil || !in.forget(l) {
		return
	}
	in.state = base.push()
	in.iterate(n, extent{}, calledLoop, func() {
		in.activate(r, receiver, in.strangers(r.code))
		for _, other := range waiting {
			if other != r && other.class == r.class && other.code.kind == plainFunction && !strings.HasPrefix(other.name, "__") && in.state != nil {
				in.perhaps(other, receiver)
			}
		}
	})
}

// forget drops the growths of a loop and reports whether there were any.
func (in *interpreter) forget(l *loop) bool {
	found := false
	for key := range in.growths {
		if key.loop == l {
			delete(in.growths, key)
			found = true
		}
	}
	return found
}

// perhaps runs a function that may or may not be called at this point. It still
// counts as one that nothing calls.
func (in *interpreter) perhaps(r *root, receiver *Value) {
	visited := in.visited[r.key()]
	base := in.state
	in.state = base.push()
	in.activate(r, receiver, in.strangers(r.code))
	in.state = merge(base, in.noteResets(syntax.NoNode), base.push(), in.state)
	if !visited {
		delete(in.visited, r.key())
	}
}

// strangers are the arguments that unseen code passes to a function: others in
// each call.
func (in *interpreter) strangers(c *code) arguments {
	var args arguments
	t := c.module.Tree
	own := c.class != 0 && c.kind != staticMethod
	for p := range t.Children(t.Child(c.node, syntax.FieldParameters)) {
		if own {
			own = false
			continue
		}
		if k := t.Kind(p); k != syntax.Identifier && k != syntax.TypedParameter || t.Kind(t.First(p)) == syntax.ListSplatPattern || t.Kind(t.First(p)) == syntax.DictionarySplatPattern {
			break
		}
		name := t.Text(p)
		if t.Kind(p) == syntax.TypedParameter {
			name = t.Text(t.First(p))
		}
		args.positional = append(args.positional, in.stranger(c.node, name, 0))
	}
	return args
}
