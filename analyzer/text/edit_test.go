package text

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func edit(start, end int, s string) Edit { return Edit{Span{start, end}, s} }

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"nothing", nil, "0123456789"},
		{"insert", []Edit{edit(3, 3, "abc")}, "012abc3456789"},
		{"delete", []Edit{edit(0, 4, "")}, "456789"},
		{"replace all", []Edit{edit(0, 10, "x")}, "x"},
		{"at the end", []Edit{edit(10, 10, "x")}, "0123456789x"},
		{"any order", []Edit{edit(8, 9, "B"), edit(1, 3, "A")}, "0A34567B9"},
		{"side by side", []Edit{edit(2, 4, "A"), edit(4, 6, "B")}, "01AB6789"},
		{"insertions keep their order", []Edit{edit(5, 7, "C"), edit(5, 5, "B"), edit(5, 5, "A")}, "01234BAC789"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := []byte("0123456789")
			got, err := Apply(src, c.edits)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			got[0] = '#'
			assert.Equal(t, "0123456789", string(src), "the source is left alone")
		})
	}
}

func TestApplyRejects(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edits      []Edit
	}{
		{"overlap", "edit of bytes 3 to 5 overlaps one that ends at 4", []Edit{edit(3, 5, ""), edit(2, 4, "")}},
		{"the same twice", "edit of bytes 2 to 4 overlaps one that ends at 4", []Edit{edit(2, 4, "a"), edit(2, 4, "a")}},
		{"insertion inside", "edit of bytes 3 to 3 overlaps one that ends at 4", []Edit{edit(2, 4, "a"), edit(3, 3, "b")}},
		{"behind the text", "edit of bytes 4 to 6 does not lie within the 5 bytes of the text", []Edit{edit(4, 6, "")}},
		{"before the text", "edit of bytes -1 to 2 does not lie within the 5 bytes of the text", []Edit{edit(-1, 2, "")}},
		{"backwards", "edit of bytes 3 to 2 does not lie within the 5 bytes of the text", []Edit{edit(3, 2, "")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Apply([]byte("01234"), c.edits)
			assert.EqualError(t, err, c.want)
			assert.Nil(t, got)
		})
	}
}

func TestShift(t *testing.T) {
	for _, c := range []struct {
		name   string
		edits  []Edit
		want   Span
		intact bool
	}{
		{"no edit", nil, Span{4, 7}, true},
		{"before", []Edit{edit(0, 1, "abc")}, Span{6, 9}, true},
		{"behind", []Edit{edit(8, 9, "abc")}, Span{4, 7}, true},
		{"insertion at the start", []Edit{edit(4, 4, "ab")}, Span{6, 9}, true},
		{"insertion at the end", []Edit{edit(7, 7, "ab")}, Span{4, 7}, true},
		{"up to the start", []Edit{edit(2, 4, "a")}, Span{3, 6}, true},
		{"from the end", []Edit{edit(7, 9, "a")}, Span{4, 7}, true},
		{"inside", []Edit{edit(5, 6, "abc")}, Span{4, 9}, false},
		{"exactly", []Edit{edit(4, 7, "ab")}, Span{4, 6}, false},
		{"head", []Edit{edit(3, 5, "abc")}, Span{6, 8}, false},
		{"tail", []Edit{edit(6, 9, "abc")}, Span{4, 6}, false},
		{"all and more", []Edit{edit(3, 8, "abc")}, Span{6, 6}, false},
		{"head and tail", []Edit{edit(6, 8, ""), edit(3, 5, "")}, Span{3, 4}, false},
		{"several", []Edit{edit(8, 9, "x"), edit(0, 2, ""), edit(3, 3, "ab")}, Span{4, 7}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, intact := Shift(Span{4, 7}, c.edits)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.intact, intact)
		})
	}
}

// FuzzEdits checks Shift against Apply: what Shift calls unchanged stands where
// it says.
func FuzzEdits(f *testing.F) {
	f.Add([]byte("0123456789"), 4, 7, 0, 1, "abc", 8, 9, "")
	f.Add([]byte("0123456789"), 4, 7, 3, 5, "", 5, 8, "xy")
	f.Add([]byte("0123456789"), 4, 4, 4, 4, "a", 4, 4, "b")
	f.Fuzz(func(t *testing.T, src []byte, start, end, a, b int, x string, c, d int, y string) {
		edits := []Edit{edit(a, b, x), edit(c, d, y)}
		out, err := Apply(src, edits)
		if err != nil || start < 0 || end < start || end > len(src) {
			return
		}
		s, intact := Shift(Span{start, end}, edits)
		require.True(t, 0 <= s.Start && s.Start <= s.End && s.End <= len(out), "%v of %d", s, len(out))
		if intact {
			require.Equal(t, string(src[start:end]), string(out[s.Start:s.End]))
		}
	})
}
