package flow

import "slices"

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
