package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// summaryKey names a function or class of an imported module, and the kinds of
// the arguments that it is called with.
type summaryKey struct {
	module *names.Module
	node   syntax.NodeID
	grad   torch.GradMode
	args   string
}

// summary is what a call does. It is made by running the function once, in an
// analysis of its own, over arguments of which only the signature is known: it
// is the same whoever asks first.
type summary struct {
	use    summaryUse
	result snapshot
	// escapes are the argument leaves handed to code that is not known.
	escapes []int
	// handed are those of them that such code may run a backward on.
	handed []int
	// active says that the call records graphs or makes modules.
	active bool
	// raises says that the function always raises.
	raises bool
	// cutShort says that the budget ran out in the function.
	cutShort bool

	imports map[importKey]*names.Module // the answers it rests on
	uses    []*summary                  // the summaries it rests on
	refers  []any                       // what its key names by address
}

// summaryUse says how a call uses a summary.
type summaryUse uint8

const (
	// inlined calls run the function each time: it changes what was there
	// before, runs a backward, or returns what has no meaning elsewhere.
	inlined summaryUse = iota
	// summarised calls do nothing but give a result.
	summarised
	// unknowable functions always raise, or take more steps than a call may.
	unknowable
)

// summaryUses are the summaries that one analysis has used so far.
type summaryUses struct {
	found map[summaryKey]*summary
	sound map[*summary]bool // what they rest on was looked at
	rough []summaryKey      // made within a recursion that is not over
}

func newSummaryUses() *summaryUses {
	return &summaryUses{found: map[summaryKey]*summary{}, sound: map[*summary]bool{}}
}

// summaryMaking is the state of an analysis that makes a summary.
type summaryMaking struct {
	keys []summaryKey // what is being made: this one last, for the one before it
	// lowest is the first of keys whose result was asked for before it was there.
	lowest int
	entry  *loop            // stands for where the arguments come from
	held   map[ObjectID]int // containers of the arguments
	copies map[*copied]int  // and what other summaries made of them
	asked  map[importKey]*names.Module
	uses   map[*summary]bool
}

// summarised is the result of a call by its summary, nil when the call has to
// be inlined. The function, or the class whose constructor is called when c is
// nil, is defined at a node of a module. Functions of the analysed module itself
// are inlined, since what grows in them is told; but forward of a module, with
// which programs spend their time, only until it has shown that it tells nothing.
func (in *interpreter) summarised(n syntax.NodeID, m *names.Module, node syntax.NodeID, c *code, receiver *Value, args arguments) *Value {
	if m == in.main && c != nil && !in.isForward(c) || definedAs(m, node) == "" {
		return nil
	}
	sig, ok := in.signature(receiver, args)
	if !ok {
		return nil
	}
	key := summaryKey{module: m, node: node, args: sig.text.String()}
	if c != nil {
		key.grad = c.grad
	}
	if m == in.main && c != nil && !in.heard(key) {
		return nil
	}
	s := in.summary(key, c, receiver, args, sig.refers)
	if in.making.uses != nil {
		in.making.uses[s] = true
	}
	in.cutShort = in.cutShort || s.cutShort
	switch s.use {
	case summarised:
		return in.reproduce(n, s, sig)
	case unknowable:
		if s.raises {
			in.abstract[codeKey{m, node}] = true
		}
		if id, ok := in.referent(objectClass, m, node, definedAs(m, node)); ok && c == nil && in.isModuleClass(id) {
			return object(in.newInstance(n, id)) // its forward is known all the same
		}
		return in.callUnknown(n, noValue, args)
	}
	return nil
}

// isForward reports whether code is the forward of a module.
func (in *interpreter) isForward(c *code) bool {
	t := c.module.Tree
	return c.class != 0 && t.Kind(c.node) == syntax.FunctionDefinition && t.Text(t.Child(c.node, syntax.FieldName)) == "forward" && in.isModuleClass(c.class)
}

// heard reports whether a function of the analysed module has nothing more to
// tell: it was run with such arguments, and all that it did was to compute. Dry
// runs tell nothing anyway.
func (in *interpreter) heard(key summaryKey) bool {
	code := codeKey{key.module, key.node}
	if h := in.histories[code]; h != nil && h.telling || in.visited.heavy[code] {
		return false
	}
	known := in.dry || in.listened[key]
	if !in.dry {
		in.listened[key] = true
	}
	return known
}

// told counts what there is to tell so far.
func (in *interpreter) told() int {
	return len(in.growths) + len(in.piles) + len(in.caches) + len(in.reuses) + len(in.guards) + len(in.checkpoints) + len(in.predictions) +
		len(in.lastStores) + len(in.retentions) + len(in.gradientGraphs) + len(in.attachments) + len(in.hookCodes) + len(in.recoveries) + len(in.keptExceptions) +
		len(in.needed) + len(in.freedAt) + len(in.proved)
}

// maxMaking bounds how many summaries are made within each other.
const maxMaking = 40

// summary finds or makes a summary.
func (in *interpreter) summary(key summaryKey, c *code, receiver *Value, args arguments, refers []any) *summary {
	if s, ok := in.found[key]; ok {
		return s
	}
	if s := in.workspace.known(key); s != nil && in.isSound(s) {
		in.found[key] = s
		return s
	}
	depth := len(in.making.keys)
	if i := slices.Index(in.making.keys, key); i >= 0 || depth >= maxMaking {
		in.making.lowest = min(in.making.lowest, max(i, 0))
		return &summary{use: unknowable}
	}
	sub := &interpreter{analysis: newAnalysis(in.ctx, in.workspace, in.symbolTable)}
	sub.imports, sub.answers, sub.summaryUses = in.imports, in.answers, in.summaryUses
	sub.making = summaryMaking{
		keys: append(slices.Clone(in.making.keys), key), lowest: depth,
		asked: map[importKey]*names.Module{}, uses: map[*summary]bool{},
	}
	rough := len(in.rough)
	s := sub.summaryOf(key, c, in, receiver, args)
	if in.ctx.Err() != nil {
		in.stopped = true
		return s
	}
	s.imports, s.refers = sub.making.asked, refers
	for used := range sub.making.uses {
		s.uses = append(s.uses, used)
	}
	in.found[key] = s
	if sub.making.lowest < depth {
		// It takes part in a recursion, of which the rest was not known: not what
		// it would be on its own.
		in.making.lowest = min(in.making.lowest, sub.making.lowest)
		in.rough = append(in.rough, key)
		return s
	}
	for _, k := range in.rough[rough:] {
		delete(in.found, k)
	}
	in.rough = in.rough[:rough]
	in.workspace.keep(key, s)
	return s
}

// isSound reports whether what a summary rests on is still so.
func (in *interpreter) isSound(s *summary) bool {
	if sound, looked := in.sound[s]; looked {
		return sound
	}
	in.sound[s] = true // what it rests on may rest on it
	for key, m := range s.imports {
		if in.answer(key).Module != m {
			in.sound[s] = false
			return false
		}
	}
	for _, used := range s.uses {
		if !in.isSound(used) {
			in.sound[s] = false
			return false
		}
	}
	return true
}

// summaryOf runs the function or constructor of a key for a call that another
// analysis makes.
func (in *interpreter) summaryOf(key summaryKey, c *code, caller *interpreter, receiver *Value, args arguments) *summary {
	in.initial = &state{in: in}
	in.execution = execution{state: in.initial, frame: in.moduleFrame(key.module), limit: maxForeignSteps, off: caller.off}
	in.initial.set(Place{modes, evaluating}, boolean(caller.evaluation()))
	kind := objectFunction
	if c == nil {
		kind = objectClass
	}
	id, ok := in.referent(kind, key.module, key.node, definedAs(key.module, key.node))
	if !ok {
		return &summary{}
	}
	in.making.entry = &loop{at: site{module: key.module, node: key.node}, back: map[Place]carry{}}
	in.making.held, in.making.copies = map[ObjectID]int{}, map[*copied]int{}
	stand := standIn{interpreter: in, caller: caller, held: map[heldObject]int{}}
	receiver, args = stand.arguments(receiver, args)
	in.state = in.initial.push()
	in.births++
	start := in.births
	in.oldestWritten, in.activity, in.spending = start+1, 0, 0
	var result *Value
	if c == nil {
		result = in.construct(key.node, id, args)
		in.raised = false
	} else {
		own := *in.objects[id].code
		own.grad, own.kind, own.context = c.grad, c.kind, c.context
		result, _ = in.run(key.node, &own, receiver, args, maxForeignSteps)
	}
	s := &summary{active: in.activity > 0, cutShort: in.cutShort}
	switch {
	case in.spending > maxForeignSteps, in.raised:
		s.use, s.raises = unknowable, in.raised
		return s
	case in.oldestWritten <= start, in.acted(), in.off != caller.off:
		return s
	}
	e := exporter{interpreter: in, nodes: map[ObjectID]int{}, origins: map[Atom]int{}, out: &s.result}
	s.result.value = e.value(result)
	if e.failed {
		s.result = snapshot{}
		return s
	}
	s.result.objects = slices.Clip(slices.Clone(s.result.objects)) // it is kept for long
	s.escapes, s.handed = in.leavesAmong(in.escaped), in.leavesAmong(in.evaluations.handed)
	s.use = summarised
	return s
}

// leavesAmong are the argument leaves in a set.
func (in *interpreter) leavesAmong(set map[Atom]bool) []int {
	var out []int
	for x := range set {
		if leaf, _, ok := in.leafOf(x); ok && !slices.Contains(out, leaf) {
			out = append(out, leaf)
		}
	}
	slices.Sort(out)
	return out
}

// acted reports whether the code that ran did more than compute: ran a
// backward, stepped an optimizer, or changed the mode of a model.
func (in *interpreter) acted() bool {
	if len(in.proved)+len(in.freedAt)+len(in.needed)+len(in.retainedAt) > 0 {
		return true
	}
	for _, b := range in.state.since(in.initial).list {
		p, v := b.place, b.value
		if p.object < firstObject && v != nil && v.literalOf() != in.initial.get(p).literalOf() {
			return true
		}
	}
	return false
}
