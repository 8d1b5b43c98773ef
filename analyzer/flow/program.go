// Package flow finds out which tensors a Python program keeps alive. It is an
// abstract interpreter: it runs the code over values of which it knows only
// whether they carry an autograd graph, which operations made that graph, and
// which values at the header of a loop they depend on. A place grows in a loop
// when what an iteration leaves there depends both on what the last one left
// and on a graph made in between.
//
// Values (value.go) say what they were made from by atoms (atom.go). They are
// kept at places, the fields of objects (heap.go), whose contents at a point of
// the program are a state (state.go, bindings.go). Loops run to a fixpoint (loops.go) and
// judge at their end which stores grew (growth.go, addends.go, resets.go).
// Statements and expressions run one by one (statements.go, control.go,
// assignments.go, expressions.go, operators.go, displays.go), and what libraries
// do stands in package torch (library.go, methods.go, modules.go, tensors.go,
// roles.go). What libraries call is run as they would run it (hosts.go), and
// single steps of a training as a loop would (steps.go).
//
// A file is analysed in groups (program.go, groups.go): what its module does, and
// each definition that nothing calls (roots.go) with all that it refers to. Groups
// share nothing but what their names stand for, so that of a text that is being
// typed only those run again that the edit can change (versions.go).
//
// Calls of functions of the analysed file are inlined within a budget (calls.go,
// budget.go): where its growth is told, precision is worth the time. What a
// function or class of an imported file does is summarised once for the whole
// workspace (workspace.go, summary.go), for each signature of arguments that it
// is called with (signature.go): its result, down to the objects that it holds,
// is copied out of the analysis that found it (snapshot.go) and made anew for
// each call (template.go). A function that changes what was there before has no
// summary and is inlined too.
//
// What a backward reached (backward.go) decides in the end what is told, and how
// (facts.go).
package flow

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Analyze runs main, with what it takes from other files of the workspace, then
// each function of main that no known code calls. A program that has nothing to
// do with PyTorch is not run.
func (w *Workspace) Analyze(ctx context.Context, main *names.Module) (*Facts, error) {
	return newProgram(ctx, w, main).analyze()
}

func (p *program) analyze() (*Facts, error) {
	first := p.interpreter()
	imports := first.imports
	facts := &Facts{}
	if first.mayUseTorch(p.main, 0, map[*names.Module]bool{}) {
		p.run(first)
		if p.ctx.Err() == nil {
			facts = p.facts()
			facts.CutShort = p.effort.cutShort
		}
		for _, g := range p.all {
			maps.Copy(imports, g.imports())
		}
	}
	facts.Dependencies = dependencies(imports)
	return facts, p.ctx.Err()
}

// program is the analysis of one module.
type program struct {
	ctx       context.Context
	workspace *Workspace
	main      *names.Module

	// What all groups have in common: it does not depend on which of them found it
	// out.
	symbols *symbolTable
	answers *answers
	visited *visits
	effort  *effort

	evaluates bool // the text puts a model in evaluation mode

	order int // counts the tasks that ran
	// common is the group of what the module does and of the definitions that share
	// its state; apart are the others, by the statement that they are about.
	common   *group
	apart    map[int]*group
	shares   []bool        // which statements belong to common
	closures [][]int       // what each statement refers to
	known    map[task]bool // the tasks that the definitions make, whatever the module does
	// groups are those that did something; all are these and the ones that became part
	// of another.
	groups, all []*group
	before      *succession // nil when there is none
}

func newProgram(ctx context.Context, w *Workspace, main *names.Module) *program {
	return &program{
		ctx: ctx, workspace: w, main: main, symbols: newSymbolTable(), answers: newAnswers(ctx, w),
		visited: newVisits(), effort: &effort{}, apart: map[int]*group{}, known: map[task]bool{},
		evaluates: strings.Contains(main.Tree.Source(), ".eval("),
	}
}

// interpreter is one for a group.
func (p *program) interpreter() *interpreter {
	a := newAnalysis(p.ctx, p.workspace, p.symbols)
	a.answers, a.visited, a.effort = p.answers, p.visited, p.effort
	a.evaluations.asked = p.evaluates
	return &interpreter{main: p.main, analysis: a}
}

// run performs the tasks of the program: what the module does, what libraries call,
// and then the functions that did not run yet, callers first.
func (p *program) run(in *interpreter) {
	layout := &group{statements: p.definitions()}
	layout.open(in)
	for _, r := range layout.roots {
		p.known[r.task()] = true
	}
	var hosts []task
	for _, class := range layout.classes {
		if in.hostOf(class) != nil {
			hosts = append(hosts, task{kind: runsHost, at: in.objects[class].at.node})
			p.known[hosts[len(hosts)-1]] = true
		}
	}
	p.share(layout)
	if len(p.common.statements) > 0 {
		p.perform(p.common, task{kind: runsModule})
	}
	for _, t := range hosts {
		if !in.stopped {
			p.perform(p.groupOf(t.at), t)
		}
	}
	for todo := newAgenda(layout.roots); ; {
		r := todo.next(in)
		if r == nil {
			break
		}
		p.perform(p.groupOf(r.at), r.task())
		p.visited.add(r.key())
		r.ran = true
	}
	p.define()
}

// define runs the definitions that no task needs: what they say when they are made is
// to be told too.
func (p *program) define() {
	all := p.main.Statements()
	ran := make([]bool, len(all))
	for _, g := range p.groups {
		for _, i := range g.statements {
			ran[i] = true
		}
	}
	for i, s := range all {
		if k := p.main.Tree.Kind(s.Node); !ran[i] && (k == syntax.ClassDefinition || k == syntax.DecoratedDefinition) {
			p.perform(p.groupOf(s.Node), task{kind: runsModule, at: s.Node})
		}
	}
}

// perform runs a task in its group.
func (p *program) perform(g *group, t task) {
	if len(g.done) == 0 {
		g.before = p.predecessor(g)
		p.groups, p.all = append(p.groups, g), append(p.all, g)
	}
	p.order++
	if o, ok := p.repeat(g, t); ok {
		g.done = append(g.done, o)
		return
	}
	before, cut := p.effort.total, p.effort.cutShort
	p.effort.cutShort = false
	p.visited.begin()
	if g.interpreter == nil {
		g.open(p.interpreter())
	}
	g.perform(t, p.known)
	o := outcome{task: t, order: p.order, work: p.effort.total - before, cutShort: p.effort.cutShort}
	p.effort.cutShort = cut || o.cutShort
	p.visited.note(&o)
	g.done = append(g.done, o)
}

// repeat is the outcome of a task that the group has done in the version before, in
// the same order.
func (p *program) repeat(g *group, t task) (outcome, bool) {
	if g.before == nil {
		return outcome{}, false
	}
	if i := len(g.done); i < len(g.before.done) {
		if o := p.before.outcome(g.before.done[i]); o.task == t {
			o.order = p.order
			p.visited.redo(o)
			p.effort.total += o.work
			p.effort.cutShort = p.effort.cutShort || o.cutShort
			return o, true
		}
	}
	p.rerun(g)
	return outcome{}, false
}

// rerun runs the tasks that a group is known to have done.
func (p *program) rerun(g *group) {
	g.before = nil
	in := p.interpreter()
	in.effort = &effort{}
	g.open(in)
	p.again(g, g.done)
}

// again performs tasks once more in a group. The program has paid for them.
func (p *program) again(g *group, done []outcome) {
	g.effort = &effort{}
	for _, o := range done {
		p.visited.undo(o)
		g.perform(o.task, p.known)
	}
	g.effort = p.effort
}

// groupOf is the group of what is defined at a node.
func (p *program) groupOf(n syntax.NodeID) *group {
	i := p.main.StatementAt(n)
	if i < 0 || p.shares[i] {
		return p.common
	}
	g := p.apart[i]
	if g == nil {
		g = &group{about: []int{i}, statements: p.closures[i]}
		p.apart[i] = g
	}
	return g
}

// maxImportDepth is how far imports are followed in search of PyTorch: a script
// imports a trainer, which imports a model.
const maxImportDepth = 3

// mayUseTorch reports whether a module, or one that it imports from the
// workspace, mentions PyTorch or something built on it.
func (in *interpreter) mayUseTorch(m *names.Module, depth int, seen map[*names.Module]bool) bool {
	if seen[m] {
		return false
	}
	seen[m] = true
	if m.Mentions(torch.Mentions) {
		return true
	}
	if depth == maxImportDepth {
		return false
	}
	return slices.ContainsFunc(m.Imports(), func(name names.ImportedName) bool {
		if first, _, _ := strings.Cut(name.Dotted, "."); name.Level == 0 && (torch.Frameworks[first] || in.workspace.claims.Within(first)) {
			return true
		}
		imported := in.resolve(m, name.Level, name.Dotted)
		return imported.Module != nil && in.mayUseTorch(imported.Module, depth+1, seen)
	})
}
