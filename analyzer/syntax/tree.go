package syntax

import "github.com/graphleak/graphleak/analyzer/text"

// NodeID names a node of a Tree. The root is 0.
type NodeID int32

// NoNode is the absence of a node.
const NoNode NodeID = -1

// node is one entry of the flat tree. Nodes stand in source order: a subtree
// is the contiguous run that follows its root.
type node struct {
	kind       Kind
	field      Field
	flags      uint8
	start, end uint32
	parent     NodeID
	first      NodeID // first child
	next       NodeID // next sibling
}

const (
	flagMissing = 1 << iota
	flagDamaged // an error lies within
	flagBroken  // the node itself is one, or its own tokens are
)

// Tree is the immutable syntax tree of one document. It may be read by many
// goroutines.
type Tree struct {
	src   string
	nodes []node
}

// Source is the text the tree was made from: that of the document, byte for
// byte at the same offsets, except for bytes that Python would not see either
// (notebook magics) or not in this form (lone CR, bytes that are not UTF-8).
func (t *Tree) Source() string { return t.src }

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// Root is the module.
func (t *Tree) Root() NodeID { return 0 }

// Kind is the kind of n, Invalid for NoNode.
func (t *Tree) Kind(n NodeID) Kind {
	if n < 0 {
		return Invalid
	}
	return t.nodes[n].kind
}

// Role is the field that n fills in its parent.
func (t *Tree) Role(n NodeID) Field { return t.nodes[n].field }

// Parent is the parent of n, NoNode for the root.
func (t *Tree) Parent(n NodeID) NodeID { return t.nodes[n].parent }

// Span is the range of bytes that n covers.
func (t *Tree) Span(n NodeID) text.Span {
	d := &t.nodes[n]
	return text.Span{Start: int(d.start), End: int(d.end)}
}

// Text is the source of n.
func (t *Tree) Text(n NodeID) string {
	d := &t.nodes[n]
	return t.src[d.start:d.end]
}

// Same reports whether the node m of another tree is the root of the same subtree as
// n: of the same text, with the same nodes in the same places.
func (t *Tree) Same(n NodeID, other *Tree, m NodeID) bool {
	end := t.End(n)
	if end-n != other.End(m)-m || t.Text(n) != other.Text(m) {
		return false
	}
	moved, delta := m-n, other.nodes[m].start-t.nodes[n].start
	for i := n; i < end; i++ {
		a, b := &t.nodes[i], &other.nodes[i+moved]
		if a.kind != b.kind || a.field != b.field || a.flags != b.flags || a.start+delta != b.start || a.end+delta != b.end {
			return false
		}
	}
	return true
}

// Missing says that n was not in the text but needed by the grammar. The span
// of such a node is empty.
func (t *Tree) Missing(n NodeID) bool { return t.nodes[n].flags&flagMissing != 0 }

// Damaged says that the text of n has an error, or that n stands for one: it is
// an Error or Missing, a token of its own was missing, or it is a statement that
// only looks like one because two lines were read together. What lies in a
// damaged node but is not damaged itself is as good as anywhere else.
func (t *Tree) Damaged(n NodeID) bool { return t.nodes[n].flags&flagDamaged != 0 }

// First is the first child of n, comments left out.
func (t *Tree) First(n NodeID) NodeID { return t.skipComments(t.nodes[n].first) }

// Next is the sibling after n, comments left out.
func (t *Tree) Next(n NodeID) NodeID { return t.skipComments(t.nodes[n].next) }

func (t *Tree) skipComments(n NodeID) NodeID {
	for n >= 0 && (t.nodes[n].kind == Comment || t.nodes[n].kind == LineContinuation) {
		n = t.nodes[n].next
	}
	return n
}

// Child is the first child of n in the role f, or NoNode.
func (t *Tree) Child(n NodeID, f Field) NodeID {
	if n < 0 {
		return NoNode
	}
	for c := t.nodes[n].first; c >= 0; c = t.nodes[c].next {
		if t.nodes[c].field == f && t.nodes[c].kind != Comment {
			return c
		}
	}
	return NoNode
}

// Children are the children of n in source order, comments left out.
func (t *Tree) Children(n NodeID) func(yield func(NodeID) bool) {
	return func(yield func(NodeID) bool) {
		if n < 0 {
			return
		}
		for c := t.First(n); c >= 0; c = t.Next(c) {
			if !yield(c) {
				return
			}
		}
	}
}

// End is the first node after the subtree of n: the nodes of the subtree are
// n ≤ m < End(n).
func (t *Tree) End(n NodeID) NodeID {
	for n >= 0 {
		if next := t.nodes[n].next; next >= 0 {
			return next
		}
		n = t.nodes[n].parent
	}
	return NodeID(len(t.nodes))
}
