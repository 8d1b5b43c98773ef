package flow

// Budgets that keep a hostile or huge program from taking forever. Beyond them
// values are not known, which is silent.
const (
	maxDepth   = 12      // calls within calls
	maxNesting = 1_500   // expressions and statements within each other, across calls
	maxSteps   = 200_000 // expressions evaluated for one root
	// A called function gets less, so that one part that is large or never
	// seems to end does not hide what the rest of the program does; one of
	// another file gets least.
	maxCallSteps    = 60_000
	maxForeignSteps = 12_000
	// maxTotal is the budget of one file with all that it imports. Code that
	// was not reached by then is left out.
	maxTotal = 600_000
)

// effort is the work in all.
type effort struct {
	total, poll int // poll is at which total to look whether to stop
	stopped     bool
	cutShort    bool // some code was not run for lack of budget
}

// deeper enters one more level of nesting and reports whether that was allowed.
// Every true answer is paid back with in.nesting--.
func (in *interpreter) deeper() bool {
	if in.nesting >= maxNesting {
		in.cutShort = true
		return false
	}
	in.nesting++
	return true
}

// spend counts work: an expression evaluated, a value joined, an object looked
// through.
func (in *interpreter) spend(work int) {
	in.spending += work
	in.total += work
	if in.total >= in.poll {
		in.poll = in.total + 1024
		in.stopped = in.stopped || in.total > maxTotal || in.ctx.Err() != nil
	}
}

// spent counts one step and reports whether the budget is used up or the
// caller gave up.
func (in *interpreter) spent() bool {
	in.spend(1)
	if in.stopped || in.spending > in.limit {
		in.cutShort = true
		return true
	}
	return false
}

// callBudget is how many steps a called function may take.
func (in *interpreter) callBudget(c *code) int {
	if c.module == in.main {
		return maxCallSteps
	}
	return maxForeignSteps
}

// history is what is known of the runs of a function so far.
type history struct {
	runs map[ObjectID]int // by the class of what it handles, 0 for none
	// active says that it has recorded an operation, run a backward, made a
	// module, returned a graph, or changed something that was there before.
	active bool
	// computes says that it has recorded an operation.
	computes bool
	// telling says that it changed something that was there before, or added to
	// what there is to tell.
	telling bool
	result  *Value
}

// inertRuns is after how many runs without any activity a function is taken to
// be about something else: paths, settings, logs. What is called
// with objects of several classes may call methods that only some of them have, so
// that each class is looked at by itself.
const inertRuns = 4

// inert reports whether running the function again, for an object of a class, is a
// waste of time as long as its arguments carry no graph. Its last result stands for
// any.
func (h *history) inert(class ObjectID) bool {
	return !h.active && h.runs[class] >= inertRuns && h.result != nil
}
