package flow

import "github.com/graphleak/graphleak/analyzer/syntax"

// Observed are the facts about other things than growth.
type Observed struct {
	Retentions []Retention
	Gradients  []GradientGraph
	Contexts   []ContextAttribute
	Cycles     []HookCycle
	Hooks      []LastingHook
	Holders    []HookedObject
	Recoveries []Recovery
	Exceptions []KeptException
	References []ReferenceCycle
	Packed     []PackedGraph
	Remade     []Remade
	Cleanups   []Cleanup
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
	// attachments are the hooks by their handles; hookCodes is where functions
	// were attached as hooks.
	attachments map[ObjectID]*attachment
	hookCodes   map[codeKey]Location
	// recordings counts the operations recorded, to tell code that computes.
	recordings int
	// recoveries are handlers of a failure to allocate that compute;
	// keptExceptions are exceptions in variables.
	recoveries     map[Location]Recovery
	keptExceptions map[Location]KeptException
	// referenceCycles are by what makes them, packs by their context managers.
	referenceCycles map[Location]ReferenceCycle
	packs           map[Location]packed
	// makings are what libraries made, by object; remade is by the calls that make.
	makings map[ObjectID]*making
	remade  map[Location]Remade
	// deletions are the values of names that del statements deleted, cleanups are by
	// their calls.
	deletions map[syntax.NodeID]*Value
	cleanups  map[Location]Cleanup
}

func newObservations() observations {
	return observations{
		retentions: map[ObjectID]*retention{}, retentionIDs: map[site]ObjectID{}, retainedBy: map[Atom][]*retention{},
		gradientGraphs: map[ObjectID]*gradientGraph{},
		attachments:    map[ObjectID]*attachment{}, hookCodes: map[codeKey]Location{},
		recoveries: map[Location]Recovery{}, keptExceptions: map[Location]KeptException{},
		referenceCycles: map[Location]ReferenceCycle{}, packs: map[Location]packed{},
		makings: map[ObjectID]*making{}, remade: map[Location]Remade{},
		deletions: map[syntax.NodeID]*Value{}, cleanups: map[Location]Cleanup{},
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
	out.Holders = in.hookedObjects()
	out.Recoveries, out.Exceptions = in.exceptionFacts()
	out.References, out.Packed = in.cycleFacts(), in.packFacts()
	out.Remade, out.Cleanups = in.remadeFacts(), in.cleanupFacts()
	return out
}
