package flow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

// Checkpoint is what torch.load gave, copied into a model or an optimizer, and
// still held while a loop trains.
type Checkpoint struct {
	// Load is the call of torch.load.
	Load Location
	// MapLocation is its argument that says where the tensors go, if it has one.
	MapLocation *Location
	// Into is a call of load_state_dict that copied from it.
	Into Location
	// Name is the variable that holds it.
	Name string
	// Loop trains while it is held.
	Loop Location
	// Only says that all of it that is used at all is copied so.
	Only bool
}

// loadedObject is the name of the object that torch.load gives.
const loadedObject = "torch.load"

// checkpoint is what is known of one call of torch.load.
type checkpoint struct {
	at          site
	mapLocation Location
	into        site // load_state_dict
	// taken are its parts that some load_state_dict was given; copied are those
	// whose tensors that has copied.
	taken, copied map[ObjectID]bool
	given         bool // code that was not seen got it
	kept          map[Place]*Checkpoint
}

// loadCheckpoint is torch.load(…).
func (in *interpreter) loadCheckpoint(n syntax.NodeID, args arguments) *Value {
	id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: loadedObject})
	in.renew(id)
	if where := in.mapLocation(n, args); where.Module == nil || in.onDevice(where, args.at(1, "map_location")) {
		if !args.isTrue("mmap") && in.checkpoints[id] == nil {
			in.checkpoints[id] = &checkpoint{at: in.site(n), mapLocation: where, taken: map[ObjectID]bool{}, copied: map[ObjectID]bool{}, kept: map[Place]*Checkpoint{}}
		}
	}
	return &Value{kinds: KindUnknown, objects: []ObjectID{id}}
}

// mapLocation is the argument of torch.load that says where the tensors go, the
// zero Location when it has none.
func (in *interpreter) mapLocation(n syntax.NodeID, args arguments) Location {
	if args.at(1, "map_location") == nil {
		return Location{}
	}
	return Location{in.frame.module, args.source(1, "map_location", n)}
}

// onDevice reports whether a map_location may be something else than the CPU.
func (in *interpreter) onDevice(where Location, v *Value) bool {
	if s, ok := v.literalOf().(string); ok {
		return !strings.HasPrefix(s, "cpu") && s != "meta"
	}
	t := where.Module.Tree
	switch where.Kind() {
	case syntax.None:
		return true
	case syntax.Lambda: // lambda storage, location: storage
		return t.Kind(t.Child(where.Node, syntax.FieldBody)) != syntax.Identifier
	}
	text := where.Text()
	return !strings.Contains(text, `"cpu"`) && !strings.Contains(text, "'cpu'")
}

// checkpointOf is the call of torch.load from which an object comes, and
// whether the object is what it gave as a whole.
func (in *interpreter) checkpointOf(id ObjectID) (c *checkpoint, whole bool) {
	for at := id; at != 0; at = in.objects[at].parent {
		if in.objects[at].kind != objectUnknown {
			break
		}
		if c := in.checkpoints[at]; c != nil {
			return c, at == id
		}
	}
	return nil, false
}

// takeState is load_state_dict at n. A module copies the tensors that it is
// given; an optimizer goes on with those of them that are on its device.
func (in *interpreter) takeState(n syntax.NodeID, receiver *Value, args arguments) {
	v := args.at(0, "state_dict")
	if v == nil || len(in.checkpoints) == 0 {
		return
	}
	copies := !args.isTrue("assign") && slices.ContainsFunc(receiver.objects, func(id ObjectID) bool {
		info := in.objects[id]
		return in.isModel(object(id)) || info.kind == objectUnknown && info.name == "" && !info.optimizer
	})
	in.takeParts(n, v, copies)
}

// takeParts notes that load_state_dict at n was given v.
func (in *interpreter) takeParts(n syntax.NodeID, v *Value, copies bool) {
	for _, id := range v.objects {
		if in.objects[id].kind == objectContainer {
			if contents := in.contents(id); contents != nil && !in.anyIs(contents, objectContainer) {
				in.takeParts(n, contents, copies)
			}
			continue
		}
		if c, _ := in.checkpointOf(id); c != nil {
			c.taken[id] = true
			if copies {
				c.copied[id] = true
				c.into = in.site(n)
			}
		}
	}
}

// giveCheckpoints notes that code that was not seen gets checkpoints.
func (in *interpreter) giveCheckpoints(args arguments) {
	if len(in.checkpoints) == 0 {
		return
	}
	for _, v := range args.values() {
		if v == nil {
			continue
		}
		for _, id := range v.objects {
			if c, _ := in.checkpointOf(id); c != nil {
				c.given = true
			}
		}
	}
}

// holdsCheckpoint is the checkpoint whose copied tensors a value holds.
func (in *interpreter) holdsCheckpoint(v *Value) *checkpoint {
	if v == nil {
		return nil
	}
	for _, id := range v.objects {
		if in.objects[id].kind == objectContainer {
			if contents := in.contents(id); contents != nil && !in.anyIs(contents, objectContainer) {
				if c := in.holdsCheckpoint(contents); c != nil {
					return c
				}
			}
			continue
		}
		if c, whole := in.checkpointOf(id); c != nil && len(c.copied) > 0 && (whole || c.copied[id]) {
			return c
		}
	}
	return nil
}

// keepCheckpoints notes which variables of the running functions hold a
// checkpoint while loop l trains.
func (in *interpreter) keepCheckpoints(l *loop) {
	if len(in.checkpoints) == 0 || !l.trains || l.steps.few {
		return
	}
	for f := l.frame; f != nil; f = f.caller {
		if in.objects[f.object].kind != objectScope {
			continue
		}
		for _, field := range in.objects[f.object].fields {
			p := Place{f.object, field}
			if l.written[p] {
				continue // it is loaded again and again
			}
			if c := in.holdsCheckpoint(in.state.get(p)); c != nil {
				c.kept[p] = &Checkpoint{Name: in.symbolNames[field], Loop: Location{l.at.module, l.at.node}}
			}
		}
	}
}

// checkpointFacts are the checkpoints that are held in vain, by position.
func (in *interpreter) checkpointFacts() []Checkpoint {
	var out []Checkpoint
	for id, c := range in.checkpoints {
		if len(c.kept) == 0 || c.at.module != in.main {
			continue
		}
		fact := in.firstKept(c)
		fact.Load, fact.Into = Location{c.at.module, c.at.node}, Location{c.into.module, c.into.node}
		if c.mapLocation.Module != nil {
			fact.MapLocation = &c.mapLocation
		}
		fact.Only = !c.given
		for part, info := range in.objects {
			if info.kind == objectUnknown && info.parent == id && !c.taken[ObjectID(part)] {
				fact.Only = false
			}
		}
		out = append(out, fact)
	}
	slices.SortFunc(out, func(a, b Checkpoint) int { return cmp.Compare(a.Load.Node, b.Load.Node) })
	return slices.CompactFunc(out, func(a, b Checkpoint) bool { return a.Load == b.Load })
}

// firstKept is how a checkpoint is held, by the name that comes first.
func (in *interpreter) firstKept(c *checkpoint) Checkpoint {
	var first *Checkpoint
	for _, k := range c.kept {
		if first == nil || k.Name < first.Name {
			first = k
		}
	}
	return *first
}
