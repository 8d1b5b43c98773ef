package flow

import (
	"cmp"
	"slices"
)

// facts are what all groups found out. Groups that tell something of each other's code
// are made one first: what one of them makes of it may decide for the other.
func (p *program) facts() *Facts {
	for {
		for _, g := range p.groups {
			p.find(g)
		}
		if p.effort.stopped || !p.join() {
			break
		}
	}
	var all []*Facts
	for _, g := range p.groups {
		all = append(all, g.found)
	}
	if len(all) == 0 {
		return &Facts{}
	}
	return mergedFacts(all)
}

// find asks a group what it found out.
func (p *program) find(g *group) {
	if g.found != nil {
		return
	}
	if g.before != nil {
		if len(g.before.done) == len(g.done) {
			g.found, g.wholeText = p.before.facts(g.before.found), g.before.wholeText
			return
		}
		p.rerun(g)
	}
	g.found = g.facts()
	g.wholeText = g.analysis.wholeText
}

// join makes groups one of which one tells of code that another one has run too, and
// reports whether there were any.
func (p *program) join() bool {
	leader := make([]int, len(p.groups))
	for i := range leader {
		leader[i] = i
	}
	find := func(i int) int {
		for leader[i] != i {
			i = leader[i]
		}
		return i
	}
	joined := false
	for i, g := range p.groups {
		g.found.about(func(l Location) {
			s := -1
			if l.Module == p.main {
				s = p.main.StatementAt(l.Node)
			}
			for j, other := range p.groups {
				if _, ok := slices.BinarySearch(other.statements, s); ok && find(i) != find(j) {
					a, b := find(i), find(j)
					leader[max(a, b)] = min(a, b)
					joined = true
				}
			}
		})
	}
	if !joined {
		return false
	}
	members := map[int][]*group{}
	var groups []*group
	for i, g := range p.groups {
		members[find(i)] = append(members[find(i)], g)
	}
	for i, g := range p.groups {
		if find(i) != i {
			continue
		}
		if len(members[i]) > 1 {
			g = p.union(members[i])
		}
		groups = append(groups, g)
	}
	p.groups = groups
	return true
}

// union is a group that runs all tasks of some groups: first those of one that has
// the statements of all, if there is one.
func (p *program) union(groups []*group) *group {
	out := &group{}
	for _, g := range groups {
		out.about, out.statements = append(out.about, g.about...), append(out.statements, g.statements...)
	}
	slices.Sort(out.about)
	slices.Sort(out.statements)
	out.statements = slices.Compact(out.statements)
	var first *group
	if i := slices.IndexFunc(groups, func(g *group) bool { return len(g.statements) == len(out.statements) }); i >= 0 {
		first = groups[i]
		out.done = slices.Clone(first.done)
	}
	var rest []outcome
	for _, g := range groups {
		if g != first {
			rest = append(rest, g.done...)
		}
	}
	slices.SortFunc(rest, func(a, b outcome) int { return cmp.Compare(a.order, b.order) })
	out.done = append(out.done, rest...)
	p.all = append(p.all, out)
	if out.before = p.predecessor(out); out.before != nil && slices.EqualFunc(out.before.done, out.done, func(a, b outcome) bool { return p.before.outcome(a).task == b.task }) {
		return out
	}
	if first == nil || first.interpreter == nil {
		p.rerun(out)
		return out
	}
	out.before = nil
	out.running = first.running
	p.again(out, rest)
	return out
}
