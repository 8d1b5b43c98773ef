package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
)

// note is a notification with a method to recognise it by.
func note(method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method)
}

// readAll reads in to its end: the methods of the messages and the faults.
func readAll(t testing.TB, in io.Reader) (methods []string, faults []fault, end error) {
	t.Helper()
	s := newStream(in, io.Discard, func(f fault) { faults = append(faults, f) }, func(error) {})
	s.limit = 1 << 20
	for {
		msg, _, err := s.Read(context.Background())
		if err != nil {
			return methods, faults, err
		}
		if m, ok := msg.(jsonrpc2.RequestMessage); ok {
			methods = append(methods, strings.Clone(m.Method()))
		} else {
			methods = append(methods, "response")
		}
	}
}

func TestStreamSurvivesMalformedFrames(t *testing.T) {
	tests := []struct {
		name   string
		in     string
		want   []string
		faults int
	}{
		{"nothing", "", nil, 0},
		{"two messages", frame(note("a")) + frame(note("b")), []string{"a", "b"}, 0},
		{"a content type", "Content-Type: x; charset=utf-8\r\n" + frame(note("a")), []string{"a"}, 0},
		{"header names in lower case", strings.ToLower(frame(note("a"))), []string{"a"}, 0},
		{"line feeds only", strings.ReplaceAll(frame(note("a")), "\r\n", "\n"), []string{"a"}, 0},
		{"spaces around the message", frame(" " + note("a") + "\r\n "), []string{"a"}, 0},
		{"garbage in front", "hello\r\n" + frame(note("a")), []string{"a"}, 1},
		{"garbage without a line end", "hello " + frame(note("a")), []string{"a"}, 1},
		{"a blank line", "\r\n" + frame(note("a")), []string{"a"}, 1},
		{"no length", "Content-Type: x\r\n\r\n" + note("x") + frame(note("a")), []string{"a"}, 1},
		{"a negative length", "Content-Length: -5\r\n\r\n" + frame(note("a")), []string{"a"}, 1},
		{"a length that is no number", "Content-Length: ten\r\n\r\n" + frame(note("a")), []string{"a"}, 1},
		{"an empty message", "Content-Length: 0\r\n\r\n" + frame(note("a")), []string{"a"}, 1},
		{"a length beyond all integers", "Content-Length: 99999999999999999999\r\n\r\n" + frame(note("a")), []string{"a"}, 1},
		{"an endless header", strings.Repeat("X: y\r\n", 2000) + frame(note("a")), []string{"a"}, 1},
		{"an endless header line", strings.Repeat("x", 10_000) + frame(note("a")), []string{"a"}, 1},
		{"a header line without colon", "Content-Length: 5\r\nnope\r\n\r\n" + frame(note("a")), []string{"a"}, 1},
		{"no JSON", frame("nonsense") + frame(note("a")), []string{"a"}, 1},
		{"JSON cut short", frame(`{"jsonrpc":"2.0","method":`) + frame(note("a")), []string{"a"}, 1},
		{"another version", frame(`{"jsonrpc":"1.0","method":"x"}`) + frame(note("a")), []string{"a"}, 1},
		{"a batch", frame("["+note("x")+"]") + frame(note("a")), []string{"a"}, 1},
		{"NUL bytes", frame("\x00\x00\x00") + "\x00" + frame(note("a")), []string{"a"}, 1},
		{"a message that is shorter than announced", "Content-Length: 200\r\n\r\n" + note("x") + frame(note("a")) + frame(note("b")), []string{"a", "b"}, 1},
		{"a message that ends within the next header", "Content-Length: 40\r\n\r\n" + note("x") + frame(note("a")) + frame(note("b")), []string{"a", "b"}, 1},
		{"a message that is longer than announced", "Content-Length: 20\r\n\r\n" + note("x") + frame(note("a")), []string{"a"}, 1},
		{"a message above the limit", frame(note(strings.Repeat("x", 1<<20))) + frame(note("a")), []string{"a"}, 1},
		{"a header in the text of a message", frame(note("Content-Length: 5\n\n{}")), []string{"Content-Length: 5\n\n{}"}, 0},
		{"a header in the text of a huge message", frame(note(strings.Repeat("Content-Length: 5\r\n\r\n{}", 50_000))) + frame(note("a")), []string{"a"}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for reader, in := range map[string]io.Reader{
				"at once":      strings.NewReader(test.in),
				"byte by byte": iotest.OneByteReader(strings.NewReader(test.in)),
				"with the end": iotest.DataErrReader(strings.NewReader(test.in)),
			} {
				if len(test.in) > 100_000 && reader == "byte by byte" {
					continue // the same path as below the limit, but slow
				}
				got, faults, end := readAll(t, in)
				assert.Equal(t, test.want, got, reader)
				assert.Len(t, faults, test.faults, reader)
				assert.ErrorIs(t, end, io.EOF, reader)
			}
		})
	}
}

// A frame that was cut short must not swallow what the client sends next until
// its length is reached: the client may be waiting for an answer.
func TestNextFrameIsFoundBeforeTheAnnouncedLengthIsReached(t *testing.T) {
	in := io.MultiReader(strings.NewReader("Content-Length: 100000\r\n\r\n{"+frame(note("a"))), blocked{t})
	var faults []fault
	s := newStream(in, io.Discard, func(f fault) { faults = append(faults, f) }, func(error) {})
	msg, _, err := s.Read(context.Background())
	require.NoError(t, err)
	assert.Equal(t, "a", msg.(jsonrpc2.RequestMessage).Method())
	require.Len(t, faults, 1)
	assert.Contains(t, faults[0].err.Message, "cut short after 1")
}

// blocked is a reader that nobody may wait for.
type blocked struct{ t *testing.T }

func (b blocked) Read([]byte) (int, error) {
	b.t.Error("the stream waits for more input than it needs")
	return 0, io.EOF
}

func TestStreamEndsWithinAMessage(t *testing.T) {
	for _, in := range []string{"Content-Le", "Content-Length: 5\r\n", "Content-Length: 5\r\n\r\n{", "garbage"} {
		got, _, end := readAll(t, strings.NewReader(in))
		assert.Empty(t, got, in)
		assert.ErrorIs(t, end, io.ErrUnexpectedEOF, in)
	}
}

func TestFaultsNameTheRequestThatTheyAnswer(t *testing.T) {
	tests := []struct {
		name, body string
		code       jsonrpc2.Code
		id         jsonrpc2.ID
		reply      bool
	}{
		{"no JSON", `{"id":1,`, jsonrpc2.ParseError, jsonrpc2.ID{}, true},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"x"}`, jsonrpc2.InvalidRequest, jsonrpc2.NewNumberID(7), true},
		{"an id of letters", `{"id":"seven","method":"x"}`, jsonrpc2.InvalidRequest, jsonrpc2.NewStringID("seven"), true},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"x"}`, jsonrpc2.InvalidRequest, jsonrpc2.ID{}, true},
		{"a method that is none", `{"jsonrpc":"2.0","id":7,"method":5}`, jsonrpc2.InvalidRequest, jsonrpc2.NewNumberID(7), true},
		{"a batch", `[]`, jsonrpc2.InvalidRequest, jsonrpc2.ID{}, true},
		{"neither request nor response", `{}`, jsonrpc2.InvalidRequest, jsonrpc2.ID{}, true},
		{"a response of two minds", `{"jsonrpc":"2.0","id":7,"result":1,"error":{}}`, jsonrpc2.InvalidRequest, jsonrpc2.NewNumberID(7), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, faults, _ := readAll(t, strings.NewReader(frame(test.body)))
			require.Len(t, faults, 1)
			assert.Equal(t, test.code, faults[0].err.Code)
			assert.Equal(t, test.id, faults[0].id)
			assert.Equal(t, test.reply, faults[0].reply)
		})
	}
}

func TestStreamWritesOneFrameInOneWrite(t *testing.T) {
	out := &writes{}
	s := newStream(strings.NewReader(""), out, nil, nil)
	want := []string{"short", strings.Repeat("long", 1<<19), "short again"}
	for _, method := range want {
		n, err := s.Write(context.Background(), jsonrpc2.NewNotification(method, nil))
		require.NoError(t, err)
		assert.EqualValues(t, len(out.parts[len(out.parts)-1]), n)
	}
	require.Len(t, out.parts, len(want))
	for i, part := range out.parts {
		assert.Equal(t, frame(note(want[i])), part)
	}
	assert.LessOrEqual(t, cap(s.wbuf), keepBuffer, "a large message does not keep its memory")
}

type writes struct{ parts []string }

func (w *writes) Write(p []byte) (int, error) {
	w.parts = append(w.parts, string(p))
	return len(p), nil
}

func TestStreamTellsOfTheErrorThatBrokeIt(t *testing.T) {
	var broken error
	failure := errors.New("unplugged")
	s := newStream(iotest.ErrReader(failure), failing{failure}, nil, func(err error) { broken = err })
	_, _, err := s.Read(context.Background())
	require.ErrorIs(t, err, failure)
	assert.ErrorIs(t, broken, failure)

	broken = nil
	_, err = s.Write(context.Background(), jsonrpc2.NewNotification("x", nil))
	require.ErrorIs(t, err, failure)
	assert.ErrorIs(t, broken, failure)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestStreamGivesBackTheMemoryOfLargeMessages(t *testing.T) {
	in := frame(note(strings.Repeat("x", 8<<20))) + frame(note("a")) + frame(note("b"))
	s := newStream(strings.NewReader(in), io.Discard, nil, func(error) {})
	for range 3 {
		_, _, err := s.Read(context.Background())
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, cap(s.buf), keepBuffer)
}

// FuzzStream checks that a message arrives whatever was sent before it.
func FuzzStream(f *testing.F) {
	f.Add([]byte("Content-Length: 3\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 99\r\nContent-Length"))
	f.Add([]byte("content-length:1\n\ncontent-length: 2\r"))
	f.Fuzz(func(t *testing.T, garbage []byte) {
		last := note("the last one")
		got, _, _ := readAll(t, bytes.NewReader([]byte(string(garbage)+frame(last)+frame(last))))
		// The first of the two may complete a frame that the garbage began.
		require.NotEmpty(t, got)
		assert.Equal(t, "the last one", got[len(got)-1])
	})
}
