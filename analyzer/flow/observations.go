package flow

// Observed are the facts about other things than growth.
type Observed struct {
	Retentions []Retention
	Gradients  []GradientGraph
	Contexts   []ContextAttribute
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
}

func newObservations() observations {
	return observations{
		retentions: map[ObjectID]*retention{}, retentionIDs: map[site]ObjectID{}, retainedBy: map[Atom][]*retention{},
		gradientGraphs: map[ObjectID]*gradientGraph{},
	}
}

// observed tells what was observed.
func (in *interpreter) observed() Observed {
	return Observed{
		Retentions: in.retentionFacts(),
		Gradients:  in.gradientFacts(),
		Contexts:   in.contextFacts(),
	}
}
