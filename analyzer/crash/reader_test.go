package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLiteralsAreFoundWhereTheyAre(t *testing.T) {
	words := []string{"Traceback", "Tracer", "backer!", "memory", "out of memory", "Killed"}
	l := newLiterals(words)
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for b.Len() < 40 {
			switch r.IntN(3) {
			case 0:
				w := words[r.IntN(len(words))]
				b.WriteString(w[:1+r.IntN(len(w))])
			default:
				b.WriteByte("Traceb koutfmy!Kil"[r.IntN(18)])
			}
		}
		want := -1
		for _, w := range words {
			if i := strings.Index(b.String(), w); i >= 0 && (want < 0 || i < want) {
				want = i
			}
		}
		require.Equal(t, want, l.find([]byte(b.String())), b.String())
		require.Equal(t, want >= 0, l.in(b.String()))
	}
}

type visited struct {
	line int
	text string
}

func read(t *testing.T, in io.Reader, every bool, words ...string) []visited {
	t.Helper()
	var got []visited
	r := &reader{literals: newLiterals(words), every: func() bool { return every }}
	r.visit = func(line int, raw []byte) { got = append(got, visited{line, string(raw)}) }
	require.NoError(t, r.run(t.Context(), in))
	return got
}

func TestReaderVisitsLinesWithLiterals(t *testing.T) {
	text := "a\nhere is a needle\r\n\nb\nneedle again"
	want := []visited{{2, "here is a needle"}, {5, "needle again"}}
	assert.Equal(t, want, read(t, strings.NewReader(text), false, "needle"))
	assert.Equal(t, want, read(t, iotest.OneByteReader(strings.NewReader(text)), false, "needle"))
}

func TestReaderVisitsEveryLineWhenAsked(t *testing.T) {
	assert.Equal(t, []visited{{1, "a"}, {2, ""}, {3, "10%"}, {3, "20%"}, {3, "done"}, {4, "b"}},
		read(t, strings.NewReader("a\n\n10%\r20%\rdone\r\nb"), true))
	assert.Empty(t, read(t, strings.NewReader(""), true))
}

func TestReaderCountsLinesOverChunks(t *testing.T) {
	var b strings.Builder
	var want []visited
	for n := 1; b.Len() < 3*chunkSize; n++ {
		line := fmt.Sprintf("ordinary line of output number %d", n)
		if n%5000 == 0 {
			line += " with a needle"
			want = append(want, visited{n, line})
		}
		b.WriteString(line + "\n")
	}
	assert.Equal(t, want, read(t, strings.NewReader(b.String()), false, "needle"))
}

func TestReaderCutsEndlessLines(t *testing.T) {
	text := strings.Repeat("x", 3*chunkSize) + "\nneedle"
	got := read(t, strings.NewReader(text), true, "needle")
	total := 0
	for _, v := range got[:len(got)-1] {
		assert.Equal(t, 1, v.line)
		assert.LessOrEqual(t, len(v.text), maxSegment)
		total += len(v.text)
	}
	assert.Equal(t, 3*chunkSize, total)
	assert.Equal(t, visited{2, "needle"}, got[len(got)-1])
}

func TestReaderLooksBack(t *testing.T) {
	var b bytes.Buffer
	for n := 1; n <= 20_000; n++ {
		fmt.Fprintf(&b, "line %d\n", n)
	}
	b.WriteString("1%\r2%\rneedle\n")
	r := &reader{literals: newLiterals([]string{"needle"}), every: func() bool { return false }}
	var got []visited
	r.visit = func(int, []byte) {
		got = nil
		r.history.tail(func(line int, raw []byte) bool {
			got = append(got, visited{line, string(raw)})
			return len(got) < 5000
		})
	}
	require.NoError(t, r.run(t.Context(), &b))
	require.Len(t, got, 5000)
	assert.Equal(t, []visited{{20001, "2%"}, {20001, "1%"}, {20000, "line 20000"}, {19999, "line 19999"}}, got[:4])
	assert.Equal(t, visited{15003, "line 15003"}, got[4999])
}

func TestReaderPassesOnErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	r := &reader{literals: newLiterals(nil), every: func() bool { return true }, visit: func(int, []byte) {}}
	assert.ErrorIs(t, r.run(t.Context(), io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken))), broken)
}

func TestReaderDecodesUTF16(t *testing.T) {
	little := func(s string) []byte {
		var b []byte
		for _, r := range s {
			b = append(b, byte(r), byte(r>>8))
		}
		return b
	}
	big := func(s string) []byte {
		b := little(s)
		for i := 0; i < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
		return b
	}
	want := []visited{{2, "a needle → here"}}
	for name, text := range map[string][]byte{
		"little endian with mark": little("\ufeffone\r\na needle → here\r\n"),
		"big endian with mark":    big("\ufeffone\r\na needle → here\r\n"),
		"little endian":           little("one\r\na needle → here\r\n"),
		"UTF-8":                   []byte("one\r\na needle → here\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			var got []visited
			r := &reader{literals: newLiterals([]string{"needle"}), every: func() bool { return false }}
			r.visit = func(line int, raw []byte) { got = append(got, visited{line, clean(raw)}) }
			text, err := decoded(bytes.NewReader(text))
			require.NoError(t, err)
			require.NoError(t, r.run(t.Context(), text))
			assert.Equal(t, want, got)
		})
	}
}
