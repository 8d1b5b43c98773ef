package server

import (
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// document is one version of a document that is open in the client. All of it
// is immutable but the outcome of its check, which is set once.
type document struct {
	uri      uri.URI
	path     string // of the file; empty for what is not a file
	language protocol.LanguageKind
	version  int32
	text     []byte
	mapper   func() *text.Mapper
	imported func() map[string]bool // the words of its imports

	// held are the findings of the last version that had been checked, shifted
	// to this one.
	held  []rules.Finding
	check *check
}

// notebookCellScheme is the scheme under which editors sync the text of a
// notebook's cell as a document of its own.
const notebookCellScheme = "vscode-notebook-cell"

// openDocument is the first version of a document.
//
// The strings of item share the memory of the whole message, so what is kept
// is copied.
func openDocument(item *protocol.TextDocumentItem, check *check) *document {
	doc := &document{
		uri:      uri.URI(strings.Clone(string(item.URI))),
		language: protocol.LanguageKind(strings.Clone(string(item.LanguageID))),
		version:  item.Version,
		check:    check,
	}
	if doc.uri.IsFile() {
		doc.path = doc.uri.FsPath()
	}
	doc.setText([]byte(item.Text))
	return doc
}

// setText gives the document its text.
func (d *document) setText(src []byte) {
	d.text = src
	d.mapper = sync.OnceValue(func() *text.Mapper { return text.NewMapper(src) })
	d.imported = sync.OnceValue(func() map[string]bool { return importedNames(src) })
}

// next is the version that follows from changes, made one after the other, and
// that check is to check.
func (d *document) next(version int32, changes []protocol.TextDocumentContentChangeEvent, enc text.Encoding, check *check) (*document, error) {
	next := &document{uri: d.uri, path: d.path, language: d.language, version: version, check: check}
	src, held := d.text, d.findings()
	for i, change := range changes {
		mapper := d.mapper
		if i > 0 {
			mapper = func() *text.Mapper { return text.NewMapper(src) }
		}
		edit := contentEdit(src, mapper, change, enc)
		changed, err := text.Apply(src, []text.Edit{edit})
		if err != nil {
			return nil, err
		}
		held = shiftFindings(held, d.path, edit)
		src = changed
	}
	next.held = held
	next.setText(src)
	return next, nil
}

// again is the same version, that check is to check again.
func (d *document) again(check *check) *document {
	again := *d
	again.held = d.findings()
	again.check = check
	return &again
}

// findings are the newest ones that are known of the document.
func (d *document) findings() []rules.Finding {
	if out, ok := d.check.outcome(); ok && out.err == nil {
		return out.findings
	}
	return d.held
}

// source is the document as a checker takes it.
func (d *document) source() rules.Source {
	return rules.Source{Path: d.path, Text: d.text, Notebook: d.uri.Scheme() == notebookCellScheme}
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
