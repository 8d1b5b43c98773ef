package syntax

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/text"
)

// functions are the dumps of all functions of t, and where they stand.
func functions(t *Tree) (dumps []string, spans []text.Span) {
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) == FunctionDefinition {
			dumps = append(dumps, dumpNode(t, n))
			spans = append(spans, t.Span(n))
		}
	}
	return dumps, spans
}

// typing are edits of the line that leave it half-typed.
func typing(src string, line text.Span) []text.Edit {
	content := src[line.Start:line.End]
	indent := content[:len(content)-len(strings.TrimLeft(content, " "))]
	edits := []text.Edit{
		{Span: text.Span{Start: line.Start, End: line.Start}, New: indent + "foo(\n"},
		{Span: text.Span{Start: line.Start, End: line.Start}, New: indent + "x = {'a': [\n"},
		{Span: text.Span{Start: line.Start, End: line.Start}, New: indent + "if x\n"},
		{Span: text.Span{Start: line.Start, End: line.Start}, New: indent + "try:\n"},
		{Span: text.Span{Start: line.Start, End: line.Start}, New: indent + "loss.\n"},
		{Span: text.Span{Start: line.Start, End: line.Start}, New: indent + "def f(\n"},
		{Span: text.Span{Start: line.Start, End: line.Start}, New: indent + "\"\"\"\n"},
		{Span: text.Span{Start: line.End, End: line.End}, New: "("},
		{Span: text.Span{Start: line.End, End: line.End}, New: "\""},
		{Span: text.Span{Start: line.End, End: line.End}, New: ")"},
	}
	for i := len(indent); i < len(content); i++ {
		if isWordByte(content[i]) {
			continue
		}
		switch at := line.Start + i; at % 8 { // a sample: all would take long
		case 0:
			edits = append(edits, text.Edit{Span: text.Span{Start: at, End: line.End}})
		case 4:
			edits = append(edits, text.Edit{Span: text.Span{Start: at, End: at + 1}})
		}
	}
	return edits
}

// TestDamageLeavesOtherFunctionsAlone does to every line of a program what
// typing does, and compares all functions that the line is not part of.
func TestDamageLeavesOtherFunctionsAlone(t *testing.T) {
	src, err := os.ReadFile("testdata/training.py")
	require.NoError(t, err)
	whole, err := Parse(src)
	require.NoError(t, err)
	require.False(t, whole.Damaged(whole.Root()))
	want, spans := functions(whole)
	require.Len(t, want, 9)

	lines := text.NewMapper(src)
	for i := range lines.Lines() {
		line := lines.Line(i)
		for _, edit := range typing(string(src), line) {
			broken, err := text.Apply(src, []text.Edit{edit})
			require.NoError(t, err)
			tree, err := Parse(broken)
			require.NoError(t, err)
			what := fmt.Sprintf("line %d: %q without %q", i+1, src[line.Start:line.End], src[edit.Start:edit.End])
			if edit.Len() == 0 {
				what = fmt.Sprintf("line %d: %q with %q", i+1, src[line.Start:line.End], edit.New)
			}
			got, _ := functions(tree)
			for f, span := range spans {
				if span.End < line.Start || line.End < span.Start {
					assert.True(t, slices.Contains(got, want[f]), "%s: the function at %v differs", what, span)
				}
			}
			if tree.Damaged(tree.Root()) {
				near := false
				for _, d := range tree.DamagedSpans() {
					near = near || d.Start <= edit.Start+len(edit.New) && edit.Start <= d.End
				}
				assert.True(t, near, "%s: not in the damaged spans %v", what, tree.DamagedSpans())
			}
		}
	}
}
