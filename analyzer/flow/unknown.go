package flow

import (
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// callUnknown is a call of something that is not known. Its result neither
// certainly carries the graph of the arguments nor certainly does not.
func (in *interpreter) callUnknown(n syntax.NodeID, f *Value, args arguments) *Value {
	id := in.allocate(objectUnknown, n)
	out := &Value{kinds: KindUnknown, objects: []ObjectID{id}}
	given := slices.ContainsFunc(args.values(), in.isModel)
	in.objects[id].hasModel = given
	if in.off {
		return out
	}
	var through atoms
	for _, v := range args.values() {
		through = through.union(in.reach(v))
	}
	if !in.dry && !torch.Loggers[in.calleeName(n)] { // others may run a backward on it
		in.mark(in.escaped, through)
		in.handOver(through)
	}
	in.giveAway(n, f, args, through)
	in.giveCheckpoints(args)
	through = through.union(f.atoms)
	level := Possible
	var model ObjectID
	for _, fid := range f.objects {
		if in.objects[fid].model && !in.frozen(fid) {
			level, model = Likely, fid
		}
	}
	if level == Possible && in.sure(through) == Certain && in.soundsLikeLoss(n) {
		level = Likely
		out.size = torch.Scalar
	}
	x := in.newOrigin(in.site(n), recorded{saves: true, sure: level, unseen: true})
	in.atoms[x].through = in.chain(through)
	if in.proved[x] {
		in.atoms[x].sure = Certain
	}
	if model != 0 {
		in.modelCall(model, x, through)
	}
	out.atoms = atoms{x}
	return out
}

// soundsLikeLoss breaks the tie for an unknown callee that is given a value
// that carries a graph: losses return one, metrics do not.
func (in *interpreter) soundsLikeLoss(n syntax.NodeID) bool {
	return soundsLike(torch.LossNames, in.calleeName(n))
}

// soundsLike reports whether a name has one of some parts.
func soundsLike(parts []string, name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// calleeName is the last name of what a call calls, empty when it has none.
func (in *interpreter) calleeName(call syntax.NodeID) string {
	t := in.tree()
	callee := t.Child(call, syntax.FieldFunction)
	if t.Kind(callee) == syntax.Attribute {
		callee = t.Child(callee, syntax.FieldAttribute)
	}
	if t.Kind(callee) != syntax.Identifier {
		return ""
	}
	return t.Text(callee)
}
