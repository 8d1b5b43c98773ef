package syntax

import (
	"slices"
	"sort"

	"github.com/graphleak/graphleak/analyzer/text"
)

// restore gives the nodes of t, which was made from the text with r.edits, the
// offsets of the text without them, and marks what the edits made up.
func (r *repairer) restore(t *Tree) {
	patches := make([]patch, len(r.edits))
	delta := 0
	for i, e := range r.edits {
		at := e.Start + delta
		patches[i] = patch{Edit: e, made: text.Span{Start: at, End: at + len(e.New)}}
		delta += len(e.New) - e.Len()
	}
	for i := range t.nodes {
		d := &t.nodes[i]
		made := text.Span{Start: int(d.start), End: int(d.end)}
		if p := patchAt(patches, made.Start); p != nil && made.Len() > 0 && p.made.Covers(made) {
			r.mark(t, NodeID(i), p, made)
			continue
		}
		d.start = uint32(originalStart(patches, made.Start))
		d.end = uint32(originalEnd(patches, made.End))
	}
	for _, p := range patches {
		t.damage(t.innermost(p.Span))
	}
}

// innermost is the smallest node that s lies in; text of no length must lie
// between two parts of the node.
func (t *Tree) innermost(s text.Span) NodeID {
	n := NodeID(sort.Search(len(t.nodes), func(i int) bool { return int(t.nodes[i].start) > s.Start }) - 1)
	for ; n > 0; n = t.nodes[n].parent {
		outer := t.Span(n)
		if outer.Covers(s) && (s.Len() > 0 || outer.Start < s.Start && s.End < outer.End) {
			return n
		}
	}
	return t.Root()
}

// patch is an edit and what it has become in the text that was parsed.
type patch struct {
	text.Edit
	made text.Span
}

// mark gives n, which only stands in the patch p, what it stands for: a replaced
// statement is an error, and a part of what was put in is missing in the text.
func (r *repairer) mark(t *Tree, n NodeID, p *patch, made text.Span) {
	d := &t.nodes[n]
	d.start, d.end = uint32(p.Start), uint32(p.End)
	switch {
	case made != p.made:
		d.end = d.start
		d.flags |= flagMissing
	case d.kind == PassStatement || d.kind == CaseClause:
		d.kind = Error
	default:
		return // a block or a header with nothing else in it
	}
	t.damage(n)
}

// patchAt is the last patch that starts at or before offset.
func patchAt(patches []patch, offset int) *patch {
	i, found := slices.BinarySearchFunc(patches, offset, func(p patch, offset int) int { return p.made.Start - offset })
	if found {
		for i+1 < len(patches) && patches[i+1].made.Start == offset {
			i++
		}
		return &patches[i]
	}
	if i == 0 {
		return nil
	}
	return &patches[i-1]
}

// originalStart is the original offset of something that starts at offset.
func originalStart(patches []patch, offset int) int {
	p := patchAt(patches, offset)
	switch {
	case p == nil:
		return offset
	case offset >= p.made.End:
		return p.End + offset - p.made.End
	}
	return p.Start
}

// originalEnd is the original offset of something that ends at offset.
func originalEnd(patches []patch, offset int) int {
	p := patchAt(patches, offset)
	switch {
	case p == nil:
		return offset
	case offset == p.made.Start:
		return p.Start
	case offset >= p.made.End:
		return p.End + offset - p.made.End
	}
	return p.End
}
