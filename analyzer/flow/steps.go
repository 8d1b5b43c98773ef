package flow

import (
	"maps"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
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
			if r.beside(other) && !r.calls[other.name] && in.state != nil {
				in.perhaps(other, receiver)
			}
		}
	})
}

// beside reports whether other is another method of the object that r is called
// on, which unseen code may call too.
func (r *root) beside(other *root) bool {
	return other != r && other.class == r.class && other.code.kind == plainFunction && !strings.HasPrefix(other.name, "__")
}

// usedLater runs what may come after a method that nothing seen calls: other
// methods of its object that run a backward, perhaps on what this one left there.
func (in *interpreter) usedLater(r *root, receiver *Value, roots []*root) {
	if in.state == nil || receiver == nil || r.class == 0 || in.sure(in.reach(receiver)) < Likely {
		return
	}
	base := in.state
	backwards, optimizes := in.backwards, in.optimizes
	backward := runBackward(roots)
	for _, other := range roots {
		if r.beside(other) && backward[other] {
			in.state = base.push()
			in.perhaps(other, receiver)
		}
	}
	in.state, in.backwards, in.optimizes = base, backwards, optimizes
}

// runBackward are those of the roots that run a backward pass, themselves or by
// what they seem to call.
func runBackward(roots []*root) map[*root]bool {
	out, names := map[*root]bool{}, maps.Clone(torch.BackwardMethods)
	names["grad"] = true
	for range maxBases {
		found := len(out)
		for _, r := range roots {
			for name := range r.calls {
				if names[name] && !out[r] {
					out[r], names[r.name] = true, true
				}
			}
		}
		if len(out) == found {
			break
		}
	}
	return out
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
	visited := in.visited.has(r.key())
	base := in.state
	in.state = base.push()
	in.run(r.at, r.code, receiver, in.strangers(r.code), maxSteps)
	in.state = merge(base, in.noteResets(syntax.NoNode), base.push(), in.state)
	if !visited {
		in.visited.remove(r.key())
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
