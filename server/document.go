package server

import (
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
)

// document is one version of a text that is open in the client, a file or a cell
// of a notebook, or a file that is not open. It is immutable.
type document struct {
	uri      uri.URI
	language protocol.LanguageKind
	version  int32
	onDisk   bool // not open: it has no version
	text     []byte
	mapper   func() *text.Mapper
}

// openDocument is the first version of a document.
//
// The strings of item share the memory of the whole message, so what is kept
// is copied.
func openDocument(item *protocol.TextDocumentItem) *document {
	doc := &document{
		uri:      uri.URI(strings.Clone(string(item.URI))),
		language: protocol.LanguageKind(strings.Clone(string(item.LanguageID))),
		version:  item.Version,
	}
	doc.setText([]byte(item.Text))
	return doc
}

// setText gives the document its text.
func (d *document) setText(src []byte) {
	d.text = src
	d.mapper = sync.OnceValue(func() *text.Mapper { return text.NewMapper(src) })
}

// next is the version that follows from changes, made one after the other. They
// are returned as edits, each of the text that the one before has left.
func (d *document) next(version int32, changes []protocol.TextDocumentContentChangeEvent, enc text.Encoding) (*document, []text.Edit, error) {
	next := &document{uri: d.uri, language: d.language, version: version}
	src := d.text
	var edits []text.Edit
	for i, change := range changes {
		mapper := d.mapper
		if i > 0 {
			mapper = func() *text.Mapper { return text.NewMapper(src) }
		}
		edit := contentEdit(src, mapper, change, enc)
		changed, err := text.Apply(src, []text.Edit{edit})
		if err != nil {
			return nil, nil, err
		}
		edits = append(edits, edit)
		src = changed
	}
	next.setText(src)
	return next, edits, nil
}

// published is the version as the client is told of it: none for a file that is
// not open.
func (d *document) published() *int32 {
	if d.onDisk {
		return nil
	}
	return &d.version
}

// python reports whether the document is checked at all.
func (d *document) python() bool { return d.language == protocol.LanguageKindPython }

// contentEdit is a change of a document as an edit of its bytes src.
func contentEdit(src []byte, mapper func() *text.Mapper, change protocol.TextDocumentContentChangeEvent, enc text.Encoding) text.Edit {
	switch c := change.(type) {
	case *protocol.TextDocumentContentChangePartial:
		m := mapper()
		start, end := offset(m, c.Range.Start, enc), offset(m, c.Range.End, enc)
		return text.Edit{Span: text.Span{Start: min(start, end), End: max(start, end)}, New: c.Text}
	case *protocol.TextDocumentContentChangeWholeDocument:
		return differing(src, c.Text)
	}
	return text.Edit{}
}

// differing is the edit that makes b of a: all between what they have in common
// at the start and at the end. Some clients send all of a document whenever it
// changes; what lies around the change should still count as unchanged.
func differing(a []byte, b string) text.Edit {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return text.Edit{Span: text.Span{Start: start, End: len(a) - end}, New: b[start : len(b)-end]}
}
