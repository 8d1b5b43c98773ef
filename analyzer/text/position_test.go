package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinesEndAtEveryLineEndOfLSP(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"", []string{""}},
		{"a", []string{"a"}},
		{"a\n", []string{"a", ""}},
		{"a\nb", []string{"a", "b"}},
		{"a\r\nb\rc\nd", []string{"a", "b", "c", "d"}},
		{"\r\r\n\n\r", []string{"", "", "", "", ""}},
		{"\n\r", []string{"", "", ""}},
		{"a\u2028b\x0cc\x85d", []string{"a\u2028b\x0cc\x85d"}}, // not line ends
		{"é\r\n", []string{"é", ""}},
	} {
		t.Run(fmt.Sprintf("%q", c.src), func(t *testing.T) {
			m := NewMapper([]byte(c.src))
			var got []string
			for i := range m.Lines() {
				line := m.Line(i)
				got = append(got, c.src[line.Start:line.End])
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, Span{}, m.Line(-1))
			assert.Equal(t, Span{len(c.src), len(c.src)}, m.Line(m.Lines()))
		})
	}
}

func TestPositionsCountInTheUnitOfTheEncoding(t *testing.T) {
	//         bytes: 0 1  3   6    10
	const line = "xéあ😀y"
	for _, c := range []struct {
		offset             int
		utf8, utf16, utf32 int
	}{
		{0, 0, 0, 0}, {1, 1, 1, 1}, {3, 3, 2, 2}, {6, 6, 3, 3}, {10, 10, 5, 4}, {11, 11, 6, 5},
	} {
		m := NewMapper([]byte("é\n" + line + "\n😀"))
		for enc, column := range map[Encoding]int{UTF8: c.utf8, UTF16: c.utf16, UTF32: c.utf32} {
			p := Position{1, column}
			assert.Equal(t, p, m.Position(3+c.offset, enc), "offset %d, encoding %d", c.offset, enc)
			assert.Equal(t, 3+c.offset, m.Offset(p, enc), "position %v, encoding %d", p, enc)
		}
	}
}

func TestOffsetsWithinACharacterGiveItsStart(t *testing.T) {
	m := NewMapper([]byte("a😀\r\nb"))
	for offset := 1; offset < 5; offset++ {
		assert.Equal(t, Position{0, 1}, m.Position(offset, UTF16))
		assert.Equal(t, 1, m.Offset(Position{0, offset}, UTF8))
	}
	assert.Equal(t, 1, m.Offset(Position{0, 2}, UTF16), "between the halves of a surrogate pair")
	assert.Equal(t, Position{0, 3}, m.Position(6, UTF16), "between CR and LF")
}

func TestPositionsOutOfRangeAreClamped(t *testing.T) {
	for _, src := range []string{"ab\ncd", "éb\ncd"} {
		m := NewMapper([]byte(src))
		first := len(src) - 3
		for enc := range Encoding(3) {
			assert.Equal(t, first, m.Offset(Position{0, 99}, enc))
			assert.Equal(t, 0, m.Offset(Position{0, -1}, enc))
			assert.Equal(t, 0, m.Offset(Position{-1, 5}, enc))
			assert.Equal(t, len(src), m.Offset(Position{2, 0}, enc))
			assert.Equal(t, len(src), m.Offset(Position{9, 9}, enc))
			assert.Equal(t, Position{0, 0}, m.Position(-7, enc))
			assert.Equal(t, Position{1, 2}, m.Position(99, enc))
		}
	}
}

func TestBytesThatAreNotUTF8CountAsOneUnitEach(t *testing.T) {
	m := NewMapper([]byte("a\xff\xe2\x82b\xa9\xc3"))
	for enc := range Encoding(3) {
		for offset := range 8 {
			assert.Equal(t, Position{0, offset}, m.Position(offset, enc))
			assert.Equal(t, offset, m.Offset(Position{0, offset}, enc))
		}
	}
}

func TestLineAt(t *testing.T) {
	m := NewMapper([]byte("a\r\nb\nc"))
	var got []int
	for offset := -1; offset < 8; offset++ {
		got = append(got, m.LineAt(offset))
	}
	assert.Equal(t, []int{0, 0, 0, 0, 1, 1, 2, 2, 2}, got)
}

// FuzzPositions checks that offsets and positions are inverse to each other on
// everything that is a character boundary, and harmless elsewhere.
func FuzzPositions(f *testing.F) {
	for _, s := range []string{"", "a\nb", "é\r\n😀\r\x00", "\xff\xc3\n\xf0\x9f\x98", "あい\rう\n\n"} {
		f.Add([]byte(s), 1, 2)
	}
	f.Fuzz(func(t *testing.T, src []byte, line, column int) {
		m := NewMapper(src)
		for enc := range Encoding(3) {
			offset := m.Offset(Position{line, column}, enc)
			require.True(t, 0 <= offset && offset <= len(src))
			require.Equal(t, offset, m.Offset(m.Position(offset, enc), enc), "clamping twice is clamping once")

			m.Position(column, enc)
			for i := range m.Lines() {
				text := m.Line(i)
				require.True(t, 0 <= text.Start && text.Start <= text.End && text.End <= len(src))
				before := Position{i, -1}
				for at := text.Start; ; {
					p := m.Position(at, enc)
					require.Equal(t, i, p.Line)
					require.Greater(t, p.Column, before.Column)
					require.Equal(t, at, m.Offset(p, enc))
					before = p
					if at == text.End {
						break
					}
					_, size := utf8.DecodeRune(src[at:text.End])
					at += size
				}
			}
		}
	})
}

func BenchmarkMapper(b *testing.B) {
	for name, line := range map[string]string{
		"ascii":   "        total_loss += criterion(model(x), y)\n",
		"unicode": "        total_loss += criterion(model(x), y)  # вся сумма\n",
	} {
		src := []byte(strings.Repeat(line, 2000))
		b.Run("New/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				NewMapper(src)
			}
		})
		m := NewMapper(src)
		b.Run("Position/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.Position(i*37%len(src), UTF16)
			}
		})
		b.Run("Offset/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.Offset(Position{i % 2000, i % 50}, UTF16)
			}
		})
	}
}
