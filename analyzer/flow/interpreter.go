package flow

import (
	"context"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// analysis is everything that is learnt while one program is interpreted. Its
// own methods do not depend on where the interpreter is.
type analysis struct {
	ctx       context.Context
	workspace *Workspace
	imports   map[importKey]names.Import // what was asked of the resolver, and its answers
	answers   *answers

	*symbolTable
	atoms     []atomInfo
	origins   map[site]Atom
	headers   map[headerKey]Atom
	objects   []*objectInfo
	objectIDs map[packedKey]ObjectID
	unused    []objectInfo // room for objects to come
	// libraries and unknownFields are the values asked for most.
	libraries     map[string]*Value
	unknownFields map[Place]*Value
	loops         map[site]*loop
	calls         map[callSite]*callSite
	ran           map[unitKey]bool             // what ran of the modules that main imports
	initial       *state                       // what modules bind
	values        map[*names.Module]lastValues // the last value of each expression

	visited    *visits          // functions that ran in some calling context
	abstract   map[codeKey]bool // functions that always raised
	proved     map[Atom]bool    // a backward ran over them: they carry a graph
	needed     map[Atom]bool    // a backward reaches them
	escaped    map[Atom]bool    // handed to a caller that is not known
	retainedAt map[Atom]site    // a backward with retain_graph
	freedAt    map[Atom]site
	reuses     map[Atom]*reuse      // a backward reaches what an earlier iteration left
	seeds      map[Place][]Location // stores of a graph that do not depend on the place's old value
	growths    map[growthKey]*growth
	runners    []ObjectID           // that have not run yet
	nested     []*root              // functions made by functions, since the last root
	inner      []ObjectID           // classes made by functions, since the last root
	displaced  []*root              // functions of the main module that decorators put others in place of
	defined    map[Place]definition // of variables
	piles      map[growthKey]*pile
	caches     map[codeKey]*cache
	histories  map[codeKey]*history
	listened   map[summaryKey]bool // what functions of the main module ran with
	observations
	evaluations evaluations
	guards      map[codeKey]IneffectiveGuard // by what runs unguarded
	// checkpoints are what torch.load gave that may lie on the device.
	checkpoints map[ObjectID]*checkpoint
	lastStores  map[codeKey]judgedStore     // by target
	instances   []ObjectID                  // objects of classes of the program
	predictions map[codeKey]KeptPredictions // by the call that makes the trainer
	metrics     metricUse
	loaders     map[codeKey]WorkerCopies
	// activity counts recorded operations, backwards and new modules: a
	// function that leaves it alone has nothing to do with graphs.
	activity int
	// births counts the objects made; oldestWritten is when the oldest object
	// was made that the running function wrote to.
	births, oldestWritten int
	*effort
	stores Symbol // counts the stores that were noted
	// wholeText says that something was looked for in all of the main module.
	wholeText bool

	*summaryUses
	making summaryMaking
	copies map[copyKey]*copied
}

func newAnalysis(ctx context.Context, w *Workspace, symbols *symbolTable) *analysis {
	a := &analysis{
		ctx: ctx, workspace: w, imports: map[importKey]names.Import{}, answers: newAnswers(ctx, w), summaryUses: newSummaryUses(), copies: map[copyKey]*copied{},
		symbolTable: symbols, origins: map[site]Atom{}, headers: map[headerKey]Atom{},
		objectIDs: map[packedKey]ObjectID{}, libraries: map[string]*Value{}, unknownFields: map[Place]*Value{}, loops: map[site]*loop{}, calls: map[callSite]*callSite{},
		ran: map[unitKey]bool{}, values: map[*names.Module]lastValues{}, visited: newVisits(), effort: &effort{}, abstract: map[codeKey]bool{},
		proved: map[Atom]bool{}, needed: map[Atom]bool{}, escaped: map[Atom]bool{}, freedAt: map[Atom]site{}, retainedAt: map[Atom]site{}, reuses: map[Atom]*reuse{},
		growths: map[growthKey]*growth{}, piles: map[growthKey]*pile{}, caches: map[codeKey]*cache{}, defined: map[Place]definition{}, seeds: map[Place][]Location{}, histories: map[codeKey]*history{}, listened: map[summaryKey]bool{},
		observations: newObservations(),
		evaluations:  newEvaluations(), guards: map[codeKey]IneffectiveGuard{}, checkpoints: map[ObjectID]*checkpoint{}, predictions: map[codeKey]KeptPredictions{}, metrics: newMetricUse(), loaders: map[codeKey]WorkerCopies{}, lastStores: map[codeKey]judgedStore{},
	}
	a.atoms = append(a.atoms, atomInfo{})                                                                       // no atom is 0
	a.objects = []*objectInfo{ledger: {}, kept: {}, retained: {}, gradients: {}, modes: {}, argumentLeaves: {}} // facts about the run
	return a
}

// codeKey names a function's text, whatever context it runs in.
type codeKey struct {
	module *names.Module
	node   syntax.NodeID
}

// callSite is a chain of calls: the context in which code runs. nil is the
// context of a root.
type callSite struct {
	caller *callSite
	module *names.Module
	node   syntax.NodeID
}

// frame is one activation of a function, a module or a class body.
type frame struct {
	caller  *frame
	module  *names.Module
	object  ObjectID // its variables
	scope   *names.Scope
	closure *frame // the frame of the enclosing scope
	call    *callSite
	code    *code
	depth   int

	base     *state // the state at entry
	activity int    // and the activity then
	returns  []*state
	result   *Value
	yields   *Value
	loops    []*loopExits
}

// execution is where the interpreter is and under which conditions.
type execution struct {
	state *state // nil where control never arrives
	frame *frame
	loop  *loop // innermost running loop
	off   bool  // operations are not recorded: no_grad
	dry   bool  // first pass over a loop: learns what is written, reports nothing
	// consuming says that a store takes elements of an iterator, for which the
	// program has no expression.
	consuming bool
	// spending counts the work done for the running root, and limit is how far
	// it may go in the running function.
	spending, limit int
	// backwards and optimizes say that the running root did so outside of any
	// loop: it is one step of a training.
	backwards, optimizes bool
	// recursions are the functions that run as loops over calls of themselves.
	recursions []*recursion
	// attempt is the innermost block of which is asked what it computes, handling the
	// exception whose handler runs.
	attempt  *attempt
	handling *Value
}

// interpreter runs code over abstract values.
type interpreter struct {
	*analysis
	execution
	nesting   int
	lookingUp int // names of other files being looked up within each other
	// reachRound and reachLeft belong to the running call of reach.
	reachRound, reachLeft int
	// lastYieldGrad is the grad mode at the last yield.
	lastYieldGrad torch.GradMode
	main          *names.Module // nil while a summary is made
	raised        bool          // the function that ran last always raises
}

// site is a node of the running code in its calling context.
func (in *interpreter) site(n syntax.NodeID) site {
	return site{module: in.frame.module, node: n, frame: in.frame.call}
}

// called returns the context of a call made at n in the current frame.
func (in *interpreter) called(n syntax.NodeID) *callSite {
	key := callSite{caller: in.frame.call, module: in.frame.module, node: n}
	c, ok := in.calls[key]
	if !ok {
		c = &key
		in.calls[key] = c
	}
	return c
}

func (in *interpreter) tree() *syntax.Tree { return in.frame.module.Tree }

// wholeTree is the main module for a search that is not bounded by what the running
// group refers to.
func (in *interpreter) wholeTree() *syntax.Tree {
	in.wholeText = true
	return in.main.Tree
}

// variable is the place of a name read or written in the current frame.
func (in *interpreter) variable(name string) Place {
	f := in.frame
	scope := f.scope.Lookup(name)
	for f.scope != scope && f.closure != nil {
		f = f.closure
	}
	return Place{f.object, in.symbol(name)}
}

// evaluation reports whether the model is in evaluation mode.
func (in *interpreter) evaluation() bool {
	v := in.state.get(Place{modes, evaluating})
	return v != nil && v.literal == true
}
