package flow

import "slices"

// bindings are the values of places, in the order in which the places were first
// given one. Most layers of a state hold a few and are asked for many that they
// do not hold, so they are looked through one by one; an index is made beyond
// that.
type bindings struct {
	list []binding
	// marks has a bit set for each place of list: without it, a place is not
	// there.
	marks uint64
	index map[Place]int32
}

type binding struct {
	place Place
	value *Value
}

// indexed is from how many bindings on there is an index.
const indexed = 8

// mark is the bit of a place.
func (p Place) mark() uint64 {
	return 1 << ((uint32(p.object)*0x9e3779b1 ^ uint32(p.field)*0x85ebca6b) >> 26)
}

// find is where p is in the list, -1 when it is not.
func (b *bindings) find(p Place) int {
	if b.marks&p.mark() == 0 {
		return -1
	}
	return b.search(p)
}

// search is find for a place whose mark is there.
func (b *bindings) search(p Place) int {
	if b.index != nil {
		if i, ok := b.index[p]; ok {
			return int(i)
		}
		return -1
	}
	for i := range b.list {
		if b.list[i].place == p {
			return i
		}
	}
	return -1
}

func (b *bindings) get(p Place) (v *Value, ok bool) {
	i := b.find(p)
	if i < 0 {
		return nil, false
	}
	return b.list[i].value, true
}

func (b *bindings) set(p Place, v *Value) {
	if i := b.find(p); i >= 0 {
		b.list[i].value = v
		return
	}
	b.marks |= p.mark()
	if b.list == nil {
		b.list = make([]binding, 0, 4)
	}
	b.list = append(b.list, binding{p, v})
	switch {
	case b.index != nil:
		b.index[p] = int32(len(b.list) - 1)
	case len(b.list) > indexed:
		b.reindex()
	}
}

func (b *bindings) reindex() {
	b.index = make(map[Place]int32, 2*len(b.list))
	for i := range b.list {
		b.index[b.list[i].place] = int32(i)
	}
}

// forget removes the places of an object.
func (b *bindings) forget(id ObjectID) {
	n := len(b.list)
	b.list = slices.DeleteFunc(b.list, func(x binding) bool { return x.place.object == id })
	if b.index != nil && len(b.list) < n {
		if b.index = nil; len(b.list) > indexed {
			b.reindex()
		}
	}
}
