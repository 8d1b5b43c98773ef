package server

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
)

// encodings are the capabilities of clients that count in each of the units.
var encodings = map[text.Encoding]string{
	text.UTF8:  `{"general":{"positionEncodings":["utf-8"]}}`,
	text.UTF16: `{"general":{"positionEncodings":["utf-16"]}}`,
	text.UTF32: `{"general":{"positionEncodings":["utf-32"]}}`,
}

func TestEditsCountInTheNegotiatedUnit(t *testing.T) {
	// The columns of what follows "é😀" on the line.
	columns := map[text.Encoding]uint32{text.UTF8: 6, text.UTF16: 3, text.UTF32: 2}
	for encoding, capabilities := range encodings {
		t.Run(capabilities, func(t *testing.T) {
			e := launch(t, echo)
			e.initialize(capabilities)
			e.open(script, 1, "first\né😀x = 1\r\nlast")
			column := columns[encoding]
			e.change(script, 2, span(1, column, 1, column+1), "yy")
			diagnostics := e.diagnosticsOf(script, 2)
			require.Len(t, diagnostics, 1)
			assert.Equal(t, "first\né😀yy = 1\r\nlast", message(t, diagnostics[0]))
			assert.Equal(t, span(0, 0, 2, 4), diagnostics[0].Range)
		})
	}
}

func TestChangesOfOneNotificationFollowOneAnother(t *testing.T) {
	e := launch(t, echo)
	e.initialize(`{}`)
	e.open(script, 1, "one\ntwo\n")
	e.changes(script, 2,
		&protocol.TextDocumentContentChangePartial{Range: span(0, 0, 0, 0), Text: "zero\n"},
		&protocol.TextDocumentContentChangePartial{Range: span(1, 0, 1, 3), Text: "1"},
		&protocol.TextDocumentContentChangeWholeDocument{Text: "new\n"},
		&protocol.TextDocumentContentChangePartial{Range: span(0, 3, 0, 3), Text: "er"},
	)
	assert.Equal(t, "newer\n", message(t, e.diagnosticsOf(script, 2)[0]))
}

func TestPositionsOutsideOfTheDocumentAreClamped(t *testing.T) {
	const most = 1<<32 - 1
	e := launch(t, echo)
	e.initialize(`{}`)
	e.open(script, 1, "a\nb")
	e.change(script, 2, span(most, most, most, most), "!")
	assert.Equal(t, "a\nb!", message(t, e.diagnosticsOf(script, 2)[0]))
	e.change(script, 3, span(0, most, 1, 0), " ")
	assert.Equal(t, "a b!", message(t, e.diagnosticsOf(script, 3)[0]))
	e.change(script, 4, span(0, 3, 0, 1), "-") // backwards
	assert.Equal(t, "a-!", message(t, e.diagnosticsOf(script, 4)[0]))
}

// Random edits, made by the server by position and by the test in place, give
// the same text in every unit.
func TestRandomEditsKeepTheTextsTheSame(t *testing.T) {
	for encoding, capabilities := range encodings {
		t.Run(capabilities, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(encoding), 1))
			pieces := []string{"a", "é", "😀", "\n", "\r\n", "loss", "世界", ""}
			e := launch(t, echo)
			e.initialize(capabilities)
			want := "start\n"
			e.open(script, 0, want)
			const edits = 400
			for i := range edits {
				m := text.NewMapper([]byte(want))
				at := func() text.Position { return m.Position(random.IntN(len(want)+1), encoding) }
				a, b := at(), at()
				from, to := m.Offset(a, encoding), m.Offset(b, encoding)
				if from > to {
					a, b, from, to = b, a, to, from
				}
				if to-from > 8 { // small edits, so that the text grows
					b, to = a, from
				}
				piece := pieces[random.IntN(len(pieces))]
				want = want[:from] + piece + want[to:]
				e.change(script, int32(i+1), span(uint32(a.Line), uint32(a.Column), uint32(b.Line), uint32(b.Column)), piece)
			}
			assert.Equal(t, want, message(t, e.diagnosticsOf(script, edits)[0]))
		})
	}
}

func TestDiffering(t *testing.T) {
	for _, test := range []struct {
		a, b       string
		start, end int
		text       string
	}{
		{"", "", 0, 0, ""},
		{"abc", "abc", 3, 3, ""},
		{"abc", "abXc", 2, 2, "X"},
		{"abc", "ac", 1, 2, ""},
		{"aaa", "aa", 2, 3, ""},
		{"abc", "", 0, 3, ""},
		{"", "abc", 0, 0, "abc"},
		{"one two three", "one 2 three", 4, 7, "2"},
	} {
		edit := differing([]byte(test.a), test.b)
		assert.Equal(t, text.Edit{Span: text.Span{Start: test.start, End: test.end}, New: test.text}, edit, "%q to %q", test.a, test.b)
		got, err := text.Apply([]byte(test.a), []text.Edit{edit})
		require.NoError(t, err)
		assert.Equal(t, test.b, string(got))
	}
}

func TestDocumentsAreForgottenWhenClosed(t *testing.T) {
	e := launch(t, echo)
	e.initialize(`{}`)
	e.open(script, 1, "x\n")
	require.Len(t, e.diagnosticsOf(script, 1), 1)
	closed := &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: script}}
	require.NoError(t, e.server.DidClose(e.context(), closed))
	last := <-e.published
	assert.Equal(t, script, last.URI)
	assert.Empty(t, last.Diagnostics, "the diagnostics are taken away")

	hover, err := e.hover(script, protocol.Position{})
	require.NoError(t, err)
	assert.Nil(t, hover)
	actions, err := e.codeActions(script, span(0, 0, 0, 1))
	require.NoError(t, err)
	assert.Empty(t, actions)

	e.open(script, 1, "y\n")
	assert.Equal(t, "y\n", message(t, e.diagnosticsOf(script, 1)[0]), "it can be opened again")
}

func TestOnlyPythonIsChecked(t *testing.T) {
	e := launch(t, echo)
	e.initialize(`{}`)
	open := func(id string, language protocol.LanguageKind) {
		require.NoError(t, e.server.DidOpen(e.context(), &protocol.DidOpenTextDocumentParams{
			TextDocument: protocol.TextDocumentItem{URI: uri.URI(id), LanguageID: language, Version: 1, Text: id},
		}))
	}
	open("file:///notes.md", "markdown")
	open("untitled:Untitled-1", "python")
	require.Len(t, e.diagnosticsOf("untitled:Untitled-1", 1), 1)
	hover, err := e.hover("file:///notes.md", protocol.Position{})
	require.NoError(t, err)
	assert.Nil(t, hover)
}

func TestURIsStayAsTheClientWritesThem(t *testing.T) {
	e := launch(t, echo)
	e.initialize(`{}`)
	for _, id := range []string{
		"file:///c%3A/Users/me/train.py",
		"file:///home/m%C3%A9/a%20b.py",
		"untitled:Untitled-1",
		"vscode-notebook-cell:/home/me/a.ipynb#W0sZmlsZQ%3D%3D",
		"vscode-vfs://github/owner/repo/train.py",
	} {
		e.open(uri.URI(id), 1, id)
		assert.Equal(t, id, message(t, e.diagnosticsOf(uri.URI(id), 1)[0]))
	}
}

func TestDocumentsOfManyVersionsKeepNoneOfThem(t *testing.T) {
	doc := openDocument(&protocol.TextDocumentItem{URI: script, LanguageID: "python", Text: strings.Repeat("x\n", 10)})
	for i := range 100 {
		next, _, err := doc.next(int32(i), []protocol.TextDocumentContentChangeEvent{
			&protocol.TextDocumentContentChangePartial{Range: span(3, 0, 3, 0), Text: fmt.Sprint(i % 10)},
		}, text.UTF16)
		require.NoError(t, err)
		doc = next
	}
	assert.Len(t, doc.text, 120)
	assert.Equal(t, int32(99), doc.version)
	assert.Equal(t, "/project/train.py", single(doc).path)
}

func TestClosedDocumentsLeaveNothingBehind(t *testing.T) {
	e := launch(t, echo)
	e.initialize(`{}`)
	e.alive()
	before := runtime.NumGoroutine()
	for i := range 1000 {
		id := uri.URI(fmt.Sprintf("file:///project/%d.py", i))
		e.open(id, 1, "x\n")
		e.change(id, 2, span(0, 0, 0, 0), "y")
		require.NoError(t, e.server.DidClose(e.context(), &protocol.DidCloseTextDocumentParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: id},
		}))
	}
	e.alive()
	// A few come and go with requests, and with the wait itself.
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() < before+10 }, patience, time.Millisecond)
}
