package flow

import (
	"context"
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// A version is what was found out about one text of a file that is being edited. What
// a group found out holds for the next text too if all that the group rests on is
// still there: its statements, maybe in another place, what their names refer to, and
// the files that they import.
type version struct {
	main   *names.Module
	groups []*group // closed ones
}

// Reanalyze is [Workspace.Analyze] for a text that somebody types: it keeps what it
// finds out for the next version of the file, until the file is forgotten, and runs
// only what the changes between two versions can have an effect on.
func (w *Workspace) Reanalyze(ctx context.Context, main *names.Module) (*Facts, error) {
	w.mu.Lock()
	before := w.versions[main.Path]
	w.mu.Unlock()
	p := newProgram(ctx, w, main)
	p.succeed(before)
	facts, err := p.analyze()
	if err != nil || p.effort.stopped {
		return facts, err
	}
	now := &version{main: main}
	for _, g := range p.all {
		now.groups = append(now.groups, g.closed())
	}
	if main.Path != "" {
		w.mu.Lock()
		w.versions[main.Path] = now
		w.mu.Unlock()
	}
	return facts, nil
}

// closed is a group without what it takes to run more tasks.
func (g *group) closed() *group {
	return &group{about: g.about, statements: g.statements, done: g.done, found: g.found, wholeText: g.wholeText, asked: g.imports()}
}

// succession relates the version that is analysed to the one before.
type succession struct {
	before *version
	main   *names.Module
	now    []int // by the number of a statement before: its number now, or -1
	groups map[int][]*group
	edited bool
}

// succeed lets p take over what holds of an earlier version.
func (p *program) succeed(before *version) {
	if before == nil {
		return
	}
	s := &succession{before: before, main: p.main, groups: map[int][]*group{}}
	old, all := before.main.Statements(), p.main.Statements()
	s.now = make([]int, len(old))
	same := func(i, j int) bool { return before.main.Tree.Same(old[i].Node, p.main.Tree, all[j].Node) }
	start := 0
	for start < len(old) && start < len(all) && same(start, start) {
		s.now[start] = start
		start++
	}
	end := 0
	for end < len(old)-start && end < len(all)-start && same(len(old)-1-end, len(all)-1-end) {
		s.now[len(old)-1-end] = len(all) - 1 - end
		end++
	}
	for i := start; i < len(old)-end; i++ {
		s.now[i] = -1
	}
	s.edited = start+end < max(len(old), len(all))
	for _, g := range before.groups {
		s.groups[len(g.statements)] = append(s.groups[len(g.statements)], g)
	}
	p.before = s
}

// predecessor is a group of the version before that ran the statements of g, nil when
// there is none, or what it rests on is no longer so.
func (p *program) predecessor(g *group) *group {
	s := p.before
	if s == nil {
		return nil
	}
	for _, old := range s.groups[len(g.statements)] {
		if s.isSame(old.about, g.about) && s.isSame(old.statements, g.statements) && !(old.wholeText && s.edited) {
			if g.asked = p.sameImports(old); g.asked != nil {
				return old
			}
		}
	}
	return nil
}

// sameImports are the answers of the resolver to what a group of the version before
// asked it, nil if one of them is another now.
func (p *program) sameImports(old *group) map[importKey]names.Import {
	out := map[importKey]names.Import{}
	for key, answer := range old.asked {
		if answer.Module == p.before.before.main {
			return nil // what it imports imports it
		}
		if key.from == p.before.before.main {
			key.from = p.main
		}
		if p.answers.to(key) != answer {
			return nil
		}
		out[key] = answer
	}
	return out
}

// isSame reports whether statements of the version before are these ones now.
func (s *succession) isSame(before, now []int) bool {
	return slices.EqualFunc(before, now, func(i, j int) bool { return i == j && i < 0 || i >= 0 && s.now[i] == j })
}

// node is the node of the main module that one of the version before is now.
func (s *succession) node(n syntax.NodeID) syntax.NodeID {
	i := s.before.main.StatementAt(n)
	if i < 0 || s.now[i] < 0 {
		return n // the module
	}
	return s.main.Statements()[s.now[i]].Node + n - s.before.main.Statements()[i].Node
}

func (s *succession) key(k codeKey) codeKey {
	if k.module == s.before.main {
		return codeKey{s.main, s.node(k.node)}
	}
	return k
}

func (s *succession) keys(of []codeKey) []codeKey {
	var out []codeKey
	for _, k := range of {
		out = append(out, s.key(k))
	}
	return out
}

func (s *succession) outcome(o outcome) outcome {
	o.task = task{o.kind, s.node(o.at), s.key(o.code)}
	o.visited, o.weighed, o.unvisited = s.keys(o.visited), s.keys(o.weighed), s.keys(o.unvisited)
	return o
}

// facts are facts of the version before where they are now.
func (s *succession) facts(f *Facts) *Facts {
	return f.moved(func(l Location) Location {
		if l.Module == s.before.main {
			return Location{s.main, s.node(l.Node)}
		}
		return l
	})
}
