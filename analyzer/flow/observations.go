package flow

// Observed are the facts about other things than growth.
type Observed struct {
	Retentions []Retention
	Gradients  []GradientGraph
	Contexts   []ContextAttribute
	Cycles     []HookCycle
	Hooks      []LastingHook
}

// observations are what was seen of things other than growth, each kind in a
// file of its own.
type observations struct {
	// retentions are the backwards that were asked to keep a graph, by their
	// tokens on the heap; retainedBy, which of them reached an origin.
	retentions   map[ObjectID]*retention
	retentionIDs map[site]ObjectID
	retainedBy   map[Atom][]*retention
	// gradientGraphs are the backwards that left graphs in gradients, by their
	// tokens on the heap.
	gradientGraphs map[ObjectID]*gradientGraph
	// registrations are the hooks by their handles; hookCodes is where functions
	// were registered as hooks.
	attachments map[ObjectID]*attachment
	hookCodes   map[codeKey]Location
}

func newObservations() observations {
	return observations{
		retentions: map[ObjectID]*retention{}, retentionIDs: map[site]ObjectID{}, retainedBy: map[Atom][]*retention{},
		gradientGraphs: map[ObjectID]*gradientGraph{},
		attachments:    map[ObjectID]*attachment{}, hookCodes: map[codeKey]Location{},
	}
}

// observed tells what was observed.
func (in *interpreter) observed() Observed {
	out := Observed{
		Retentions: in.retentionFacts(),
		Gradients:  in.gradientFacts(),
		Contexts:   in.contextFacts(),
	}
	out.Cycles, out.Hooks = in.hookFacts()
	return out
}
