package syntax

import "strings"

// Reparse is Parse for a text that differs from that of before in one place, as
// a text does that is being typed: it gives the tree that Parse gives, from the
// nodes of before wherever it can.
//
// Statements of the module that are far enough from the change are the same
// statements, moved. A statement counts as such if its first line stands at the
// margin on the same side of the change: nothing that comes behind such a line
// changes what is in front of it. What is in between is parsed alone, and if it
// does not hold together, all is; then the repaired text takes from before what it
// can.
func Reparse(before *Tree, src []byte) (*Tree, error) {
	text, err := admit(src)
	if err != nil {
		return nil, err
	}
	if text == before.src {
		return before, nil
	}
	g, err := python3()
	if err != nil {
		return nil, err
	}
	if t, ok := g.spliceWhole(before, text); ok {
		return t, nil
	}
	return parse(src, func(s string) string { return s }, before)
}

// spliceWhole is splice if there is a tree before, and no error in it.
func (g *grammar) spliceWhole(before *Tree, src string) (*Tree, bool) {
	if before == nil || before.Damaged(before.Root()) {
		return nil, false
	}
	return g.splice(before, src)
}

// splice makes the tree of src from that of another text, if that can be done.
func (g *grammar) splice(before *Tree, src string) (*Tree, bool) {
	old := before.src
	start := 0 // of the change
	for start < len(old) && start < len(src) && old[start] == src[start] {
		start++
	}
	same := 0 // behind the change
	for same < len(old)-start && same < len(src)-start && old[len(old)-1-same] == src[len(src)-1-same] {
		same++
	}
	delta := len(src) - len(old)
	from, to := before.unchanged(start, len(old)-same)
	if from == before.Root() && to == NodeID(len(before.nodes)) {
		return nil, false
	}
	// The part between begins with the statement from and ends before to. A
	// statement at the margin ends it as to would.
	const closing = "pass\n"
	begin, end := 0, len(src)
	if from != before.Root() {
		begin = int(before.nodes[from].start)
	}
	middle := src[begin:]
	closed := int(to) < len(before.nodes)
	if closed {
		end = int(before.nodes[to].start) + delta
		middle = src[begin:end] + closing
	}
	if strings.Contains(middle, "\\\n") || strings.Contains(middle, "\\\r\n") {
		return nil, false // what the grammar makes of one depends on what is far behind
	}
	p := newParser(g, maxParse)
	defer p.close()
	part, err := p.parse(middle)
	if err != nil || part.markJoined() || part.Damaged(part.Root()) {
		return nil, false
	}
	fresh := part.nodes[1:]
	if closed {
		last := part.lastChild(part.Root())
		if last < 0 || part.Kind(last) != PassStatement || int(part.nodes[last].start) != end-begin || int(part.End(last)) != len(part.nodes) {
			return nil, false
		}
		fresh = part.nodes[1:last]
	}

	// Of before, the nodes from first to from and from to on stay.
	t := &Tree{src: src, nodes: make([]node, 0, len(before.nodes)+len(fresh))}
	root := before.nodes[0]
	if from <= 1 {
		root.start = part.nodes[0].start + uint32(begin)
	}
	root.end = part.nodes[0].end + uint32(begin)
	if closed {
		root.end = uint32(int(before.nodes[0].end) + delta)
	}
	t.nodes = append(t.nodes, root)
	if from > 1 {
		t.nodes = append(t.nodes, before.nodes[1:from]...)
	}
	t.appendMoved(fresh, 1, begin)
	if closed {
		t.appendMoved(before.nodes[to:], to, delta)
	}
	t.linkStatements()
	return t, true
}

// unchanged finds the statements of the module that begin and end what a change
// of the bytes from start to end has to do with: from is the last one whose
// first line is in front of the change, the root if there is none, and to the
// first one that starts on a line behind it, Len() if there is none.
func (t *Tree) unchanged(start, end int) (from, to NodeID) {
	from, to = t.Root(), NodeID(len(t.nodes))
	for n := t.nodes[0].first; n >= 0; n = t.nodes[n].next {
		at := int(t.nodes[n].start)
		if t.nodes[n].kind == Comment || at > 0 && t.src[at-1] != '\n' {
			continue
		}
		if lineStop(t.src, at) < start {
			from = n
		}
		if at > end {
			return from, n
		}
	}
	return from, to
}

// lastChild is the last child of n, comments included.
func (t *Tree) lastChild(n NodeID) NodeID {
	last := NoNode
	for c := t.nodes[n].first; c >= 0; c = t.nodes[c].next {
		last = c
	}
	return last
}

// appendMoved adds statements of the module that were the nodes from first on of
// another tree, with all offsets moved by delta bytes.
func (t *Tree) appendMoved(nodes []node, first NodeID, delta int) {
	at := len(t.nodes)
	shift := NodeID(at) - first
	t.nodes = append(t.nodes, nodes...)
	moved := t.nodes[at:]
	for i := range moved {
		d := &moved[i]
		d.start += uint32(delta)
		d.end += uint32(delta)
		if d.parent > 0 {
			d.parent += shift
		}
		if d.first >= 0 {
			d.first += shift
		}
		if d.next >= 0 {
			d.next += shift
		}
	}
}

// linkStatements links the statements of the module to one another.
func (t *Tree) linkStatements() {
	last := NoNode
	for n := NodeID(1); int(n) < len(t.nodes); {
		if last < 0 {
			t.nodes[0].first = n
		} else {
			t.nodes[last].next = n
		}
		last = n
		// The subtree ends where the parents of what follows are no longer in it.
		end := n + 1
		for int(end) < len(t.nodes) && t.nodes[end].parent != 0 {
			end++
		}
		n = end
	}
	if last < 0 {
		t.nodes[0].first = NoNode
	} else {
		t.nodes[last].next = NoNode
	}
}
