package flow

import (
	"cmp"
	"reflect"
	"slices"
)

// This file goes over the facts of any kind by the one thing that they all have:
// the places in the text that they are about.

// lists are the lists of facts, one for each kind.
func (f *Facts) lists(yield func(reflect.Value)) {
	for _, holder := range []reflect.Value{reflect.ValueOf(f).Elem(), reflect.ValueOf(&f.Observed).Elem()} {
		for i := range holder.NumField() {
			if list := holder.Field(i); list.Kind() == reflect.Slice {
				yield(list)
			}
		}
	}
}

var locationType = reflect.TypeFor[Location]()

// about are the places that the facts are about themselves, without those that they
// mention as evidence.
func (f *Facts) about(yield func(Location)) {
	f.lists(func(list reflect.Value) {
		for i := range list.Len() {
			fact := list.Index(i)
			for k := range fact.NumField() {
				if field := fact.Field(k); field.Type() == locationType {
					yield(field.Interface().(Location))
				}
			}
		}
	})
}

// position is the first place that a fact is about.
func position(fact reflect.Value) Location {
	for k := range fact.NumField() {
		if field := fact.Field(k); field.Type() == locationType {
			return field.Interface().(Location)
		}
	}
	return Location{}
}

// mergedFacts are the facts of several groups in one, by position.
func mergedFacts(all []*Facts) *Facts {
	if len(all) == 1 {
		out := *all[0]
		return &out
	}
	out := &Facts{}
	var into []reflect.Value
	out.lists(func(list reflect.Value) { into = append(into, list) })
	for _, f := range all {
		i := 0
		f.lists(func(list reflect.Value) {
			if list.Len() > 0 {
				into[i].Set(reflect.AppendSlice(into[i], list))
			}
			i++
		})
	}
	for _, list := range into {
		if list.Len() > 1 {
			sorted := make([]reflect.Value, list.Len())
			for i := range sorted {
				sorted[i] = reflect.New(list.Type().Elem()).Elem()
				sorted[i].Set(list.Index(i))
			}
			slices.SortStableFunc(sorted, func(a, b reflect.Value) int { return cmp.Compare(position(a).Node, position(b).Node) })
			for i, fact := range sorted {
				list.Index(i).Set(fact)
			}
		}
	}
	return out
}

// facts are what all groups found out. Groups that tell something of each other's code
// are made one first: what one of them makes of it may decide for the other.
func (p *program) facts() *Facts {
	for {
		for _, g := range p.groups {
			p.find(g)
		}
		if p.stopped() || !p.join() {
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

func (p *program) stopped() bool { return p.effort.stopped }

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

// moved are facts that are about other places.
func (f *Facts) moved(to func(Location) Location) *Facts {
	out := *f
	out.lists(func(list reflect.Value) {
		if list.Len() > 0 {
			list.Set(movedValue(list, to))
		}
	})
	return &out
}

// movedValue is a copy of a value with all locations in it moved.
func movedValue(v reflect.Value, to func(Location) Location) reflect.Value {
	switch {
	case v.Type() == locationType:
		return reflect.ValueOf(to(v.Interface().(Location)))
	case v.Kind() == reflect.Slice && v.Len() > 0:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(movedValue(v.Index(i), to))
		}
		return out
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(movedValue(v.Elem(), to))
		return out
	case v.Kind() == reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(movedValue(v.Field(i), to))
			}
		}
		return out
	}
	return v
}
