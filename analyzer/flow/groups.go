package flow

import (
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// A task is a piece of a program that runs on its own: what its module does when it
// is imported, a class whose methods a library calls, or a root.
type task struct {
	kind taskKind
	at   syntax.NodeID // what stands for it in the main module
	code codeKey       // of a root
}

type taskKind uint8

const (
	runsModule taskKind = iota
	runsHost
	runsRoot
)

// outcome is a task that ran, with what the choice of later tasks rests on.
type outcome struct {
	task
	// visited are the functions that ran for the first time, weighed those that proved
	// heavy, and unvisited those of them that had run before.
	visited, weighed, unvisited []codeKey
	work, order                 int  // in steps; among the tasks of the program
	cutShort                    bool // not all of it ran
}

// A group is tasks that share an analysis of their own: those of one definition at
// the top level of the module, or of several that tell something of each other's
// code. What it finds out rests on nothing but its statements, and what they import.
type group struct {
	// about are the statements that it was made for, by their numbers in the module,
	// -1 for the module itself; statements are all that its code refers to.
	about, statements []int
	done              []outcome
	found             *Facts // once asked for
	wholeText         bool   // found rests on more than the statements
	// asked are the answers of the resolver that it rests on, where nothing has run.
	asked map[importKey]names.Import
	// before is the same group of the version before. As long as it did the same tasks
	// nothing needs to run.
	before *group

	running // once something has run
}

// running is what it takes to run tasks.
type running struct {
	*interpreter
	base    *state
	module  *frame
	roots   []*root
	classes []ObjectID
}

// open runs the statements of the group, so that its definitions are there.
func (g *group) open(in *interpreter) {
	g.interpreter = in
	in.initial = &state{in: in}
	in.execution = execution{state: in.initial, frame: in.moduleFrame(in.main), limit: maxSteps}
	all := in.main.Statements()
	for _, i := range g.statements {
		if in.state == nil || in.stopped {
			break
		}
		in.statement(all[i].Node)
	}
	g.module, g.base = in.moduleFrame(in.main), in.initial
	in.execution = execution{state: g.base, frame: g.module, limit: maxSteps}
	g.roots, g.classes = in.definitions(g.base)
}

// imports are the answers of the resolver that the group rests on.
func (g *group) imports() map[importKey]names.Import {
	if g.interpreter != nil {
		return g.interpreter.imports
	}
	return g.asked
}

// begin gives the next task the state that the module leaves behind.
func (g *group) begin() {
	g.execution = execution{frame: g.module, state: g.base.push(), limit: maxSteps}
}

// perform runs a task of a group that is open. elsewhere are the roots that other
// tasks run.
func (g *group) perform(t task, elsewhere map[task]bool) {
	in := g.interpreter
	switch t.kind {
	case runsModule:
		g.begin()
		in.runNested()
		for _, class := range g.classes { // those that the module makes when it runs
			if !elsewhere[task{kind: runsHost, at: in.objects[class].at.node}] {
				g.host(class)
			}
		}
		made := slices.DeleteFunc(slices.Clone(g.roots), func(r *root) bool { return elsewhere[r.task()] })
		for todo := newAgenda(made); ; {
			r := todo.next(in)
			if r == nil {
				break
			}
			g.run(r)
		}
	case runsHost:
		for _, class := range g.classes {
			if in.objects[class].at.node == t.at {
				g.host(class)
			}
		}
	case runsRoot:
		if i := slices.IndexFunc(g.roots, func(r *root) bool { return r.task() == t }); i >= 0 {
			g.run(g.roots[i])
		}
	}
}

// host runs what a library calls of a class, if it does.
func (g *group) host(class ObjectID) {
	if host := g.hostOf(class); host != nil && !g.stopped {
		g.begin()
		g.runHost(class, host)
		g.runNested()
	}
}

func (g *group) run(r *root) {
	g.begin()
	g.runRoot(r, g.roots)
	g.runNested()
	g.visited.add(r.key())
	r.ran = true
}

func (r *root) task() task { return task{runsRoot, r.at, r.key()} }

// visits are what is known of the functions of a program, whichever group ran them.
type visits struct {
	ran   map[codeKey]*bool
	heavy map[codeKey]bool // running them takes more steps than a call may
	// What changed since begin.
	added, removed, weighed []codeKey
}

func newVisits() *visits { return &visits{ran: map[codeKey]*bool{}, heavy: map[codeKey]bool{}} }

// of says whether a function ran, also later.
func (v *visits) of(key codeKey) *bool {
	ran := v.ran[key]
	if ran == nil {
		ran = new(bool)
		v.ran[key] = ran
	}
	return ran
}

func (v *visits) has(key codeKey) bool {
	ran := v.ran[key]
	return ran != nil && *ran
}

func (v *visits) add(key codeKey) {
	if ran := v.of(key); !*ran {
		*ran = true
		v.added = append(v.added, key)
	}
}

func (v *visits) remove(key codeKey) {
	if ran := v.of(key); *ran {
		*ran = false
		v.removed = append(v.removed, key)
	}
}

// weigh notes that a function is heavy: what it does is not known.
func (v *visits) weigh(key codeKey) {
	v.remove(key)
	if !v.heavy[key] {
		v.heavy[key] = true
		v.weighed = append(v.weighed, key)
	}
}

// begin begins to note what changes.
func (v *visits) begin() { v.added, v.removed, v.weighed = nil, nil, nil }

// note writes what has changed since begin, as far as it lasts, to an outcome.
func (v *visits) note(o *outcome) {
	for _, key := range v.added {
		if v.has(key) && !slices.Contains(o.visited, key) {
			o.visited = append(o.visited, key)
		}
	}
	for _, key := range v.removed {
		if !v.has(key) && !slices.Contains(o.unvisited, key) {
			o.unvisited = append(o.unvisited, key)
		}
	}
	o.weighed = v.weighed
}

// undo takes back what a task changed.
func (v *visits) undo(o outcome) {
	for _, key := range o.visited {
		*v.of(key) = false
	}
	for _, key := range o.weighed {
		delete(v.heavy, key)
	}
	for _, key := range o.unvisited {
		*v.of(key) = true
	}
}

// redo does again what a task changed.
func (v *visits) redo(o outcome) {
	for _, key := range o.visited {
		*v.of(key) = true
	}
	for _, key := range o.weighed {
		v.heavy[key] = true
	}
	for _, key := range o.unvisited {
		*v.of(key) = false
	}
}
