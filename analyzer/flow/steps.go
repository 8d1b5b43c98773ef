package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// runRepeatedly runs a function as the body of a loop that is not in the text:
// unseen code calls it again and again. That is so of forward, and of a function
// that runs a backward pass and steps an optimizer, once and not in a loop of its
// own: it is one step of a training.
//
// Between two calls that code may call anything else, such as a method that
// empties what the steps fill.
func (in *interpreter) runRepeatedly(r *root, receiver *Value, roots []*root, args func() arguments) {
	base := in.state
	in.state = base.push()
	in.iterate(r.at, extent{}, calledLoop, func() { in.activate(r, receiver, args()) })
	l := in.loops[in.site(r.at)]
	if l == nil || !in.forget(l) {
		return
	}
	in.state = base.push()
	in.iterate(r.at, extent{}, calledLoop, func() {
		in.activate(r, receiver, args())
		for _, other := range roots {
			if other != r && other.class == r.class && other.code.kind == plainFunction && !r.calls[other.name] && !strings.HasPrefix(other.name, "__") && in.state != nil {
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

// perhaps runs a function that may or may not be called at this point. That does
// not count as a call that was seen.
func (in *interpreter) perhaps(r *root, receiver *Value) {
	visited := in.visited[r.key()]
	base := in.state
	in.state = base.push()
	in.run(r.at, r.code, receiver, in.strangers(r.code), maxSteps)
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
