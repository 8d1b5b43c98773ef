package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Apply returns a copy of src with all edits made. The spans of the edits are
// those of src, in any order. Several insertions at one offset are made in the
// order given, before a replacement that starts there. It fails, and returns
// nothing, when two edits overlap or one does not lie within src.
func Apply(src []byte, edits []Edit) ([]byte, error) {
	sorted := inOrder(edits)
	size, last := len(src), 0
	for _, e := range sorted {
		if e.Start < 0 || e.End < e.Start || e.End > len(src) {
			return nil, fmt.Errorf("edit of bytes %d to %d does not lie within the %d bytes of the text", e.Start, e.End, len(src))
		}
		if e.Start < last {
			return nil, fmt.Errorf("edit of bytes %d to %d overlaps one that ends at %d", e.Start, e.End, last)
		}
		last = e.End
		size += len(e.New) - e.Len()
	}
	out := make([]byte, 0, size)
	last = 0
	for _, e := range sorted {
		out = append(out, src[last:e.Start]...)
		out = append(out, e.New...)
		last = e.End
	}
	return append(out, src[last:]...), nil
}

// LineEnd is how most lines of a text end: with "\r\n" or with "\n".
func LineEnd(src string) string {
	if 2*strings.Count(src, "\r\n") > strings.Count(src, "\n") {
		return "\r\n"
	}
	return "\n"
}

// Shift tells where the text of s stands after edits that Apply accepts; the
// spans of s and of the edits are those of the text before. It reports whether
// the text of s is unchanged. If it is not, the span returned is what is left
// of s together with what was put inside it.
//
// Text inserted at the start or the end of s stays outside.
//
// Edits that follow one another, each on the result of the one before, are
// shifted through one by one.
func Shift(s Span, edits []Edit) (Span, bool) {
	moved, intact := s, true
	for _, e := range inOrder(edits) {
		delta := len(e.New) - e.Len()
		switch {
		case e.End <= s.Start: // before
			moved.Start += delta
			moved.End += delta
		case e.Start >= s.End: // behind
		case e.Start < s.Start && e.End > s.End: // all of s is gone
			moved.Start += e.Start - s.Start + len(e.New)
			return Span{moved.Start, moved.Start}, false
		case e.Start < s.Start: // the head of s is gone
			moved.Start += e.End - s.Start + delta
			moved.End += delta
			intact = false
		case e.End > s.End: // the tail of s is gone
			moved.End += e.Start - s.End
			intact = false
		default: // inside
			moved.End += delta
			intact = false
		}
	}
	return moved, intact
}

func inOrder(edits []Edit) []Edit {
	if len(edits) < 2 {
		return edits
	}
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	return sorted
}
