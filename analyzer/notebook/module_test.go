package notebook

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

func join(cells ...string) *Module {
	var sources [][]byte
	for _, c := range cells {
		sources = append(sources, []byte(c))
	}
	return Join(sources)
}

func TestOffsetsLeadToCellsAndBack(t *testing.T) {
	cells := []string{"import torch", "", "for x in y:\n    f(x)\n", "é = 1"}
	m := join(cells...)
	require.Equal(t, len(cells), m.Len())
	for i, want := range cells {
		span := m.Cell(i)
		assert.Equal(t, want, string(m.Text()[span.Start:span.End]))
		for offset := range len(want) + 1 {
			cell, local := m.Locate(text.Span{Start: span.Start + offset, End: span.End})
			assert.Equal(t, i, cell)
			assert.Equal(t, text.Span{Start: offset, End: len(want)}, local)
		}
	}
	cell, local := m.Locate(text.Span{Start: m.Cell(0).Start + 7, End: m.Cell(2).End})
	assert.Equal(t, 0, cell)
	assert.Equal(t, text.Span{Start: 7, End: 12}, local, "what lies in other cells is cut off")
	assert.Equal(t, 0, m.At(0), "before the first cell")
	assert.Equal(t, -1, join().At(0))
	cell, _ = join().Locate(text.Span{})
	assert.Equal(t, -1, cell)

	_, err := syntax.ParseNotebook(m.Text())
	require.NoError(t, err)
}

func TestEditsGoToTheirCell(t *testing.T) {
	m := join("first\nsecond", "third")
	start := m.Cell(0).Start
	for _, c := range []struct {
		name       string
		start, end int
		text       string
		want       string // the first cell afterwards; empty: refused
	}{
		{"within", 2, 4, "XX", "fiXXt\nsecond"},
		{"at the start", 0, 0, "zero\n", "zero\nfirst\nsecond"},
		{"at the end", 12, 12, "ly", "first\nsecondly"},
		{"lines behind the last", 13, 13, "third\nfourth\n", "first\nsecond\nthird\nfourth"},
		{"half a line behind the last", 13, 13, "third", ""},
		{"the last line with its end", 6, 13, "2\n", "first\n2"},
		{"the last line goes", 6, 13, "", "first"},
		{"the end of the last line goes", 12, 13, "", ""},
		{"into the next cell", 6, 20, "x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell, edit, ok := m.Edit(text.Edit{Span: text.Span{Start: start + c.start, End: start + c.end}, New: c.text})
			require.Equal(t, c.want != "", ok)
			if !ok {
				return
			}
			assert.Zero(t, cell)
			got, err := text.Apply([]byte("first\nsecond"), []text.Edit{edit})
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
	_, _, ok := join().Edit(text.Edit{New: "x\n"})
	assert.False(t, ok)
}

// An edit of the joined text and the same edit of its cell come to the same.
func TestEditsOfTheModuleAreEditsOfItsCells(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	refused := 0
	for range 5000 {
		var cells []string
		for range 1 + random.IntN(3) {
			cells = append(cells, strings.Repeat(pick("", "a\n", "bc\nd", "\n"), random.IntN(3)))
		}
		m := join(cells...)
		size := len(m.Text())
		e := text.Edit{Span: text.Span{Start: random.IntN(size + 1)}, New: pick("", "x", "x\n", "x\ny", "\n")}
		e.End = min(size, e.Start+random.IntN(4))
		cell, local, ok := m.Edit(e)
		if !ok {
			refused++
			continue
		}
		edited, err := text.Apply(m.Text(), []text.Edit{e})
		require.NoError(t, err)
		split, err := m.Split(edited)
		if err != nil { // all of a cell, with the line end that follows it
			require.Equal(t, m.Cell(cell).Start, e.Start)
			continue
		}
		want, err := text.Apply([]byte(cells[cell]), []text.Edit{local})
		require.NoError(t, err)
		require.Equal(t, string(want), string(split[cell]), "%q %v", cells, e)
	}
	assert.Less(t, refused, 5000)
}

func TestCellsThatAreNoLongerThereAreNoticed(t *testing.T) {
	m := join("a", "b")
	cells, err := m.Split(m.Text())
	require.NoError(t, err)
	assert.Equal(t, [][]byte{[]byte("a"), []byte("b")}, cells)
	for _, src := range []string{"", "a", syntax.CellMarker + "a\n", string(m.Text()) + syntax.CellMarker + "c\n", "x" + string(m.Text())} {
		_, err := m.Split([]byte(src))
		assert.ErrorIs(t, err, ErrCellsChanged, "%q", src)
	}
	cells, err = join().Split(nil)
	require.NoError(t, err)
	assert.Empty(t, cells)
}
