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
