package server

import (
	"path/filepath"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/notebook"
	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
)

// program is one version of what is checked as a whole: a document, or the
// Python cells of a notebook. Findings count in its code. All of it is immutable
// but the outcome of its check, which is set once.
type program struct {
	uri  uri.URI // of the document or the notebook
	path string  // of the file; empty for what is not a file
	docs []*document
	// cells leads from the code to the documents; nil where there is one
	// document, whose text is the code.
	cells *notebook.Module
	// disk leads from the code to the JSON of a notebook that is not open, which
	// is the one document then.
	disk *notebook.File
	code []byte

	// held are the findings of the last version that had been checked, shifted
	// to this one, and rests what that check rested on.
	held  []rules.Finding
	rests names.Dependencies
	check *check
}

// programID names a program in a session: a notebook may be open as such and, at
// the same time, as the text that it is on disk.
type programID struct {
	uri      uri.URI
	notebook bool
}

func (p *program) id() programID { return programID{p.uri, p.cells != nil} }

// single is the program of one document.
func single(doc *document) *program {
	p := &program{uri: doc.uri, docs: []*document{doc}, code: doc.text}
	return p.complete()
}

// joined is the program of the cells of a notebook.
func joined(id uri.URI, cells []*document) *program {
	texts := make([][]byte, len(cells))
	for i, cell := range cells {
		texts[i] = cell.text
	}
	module := notebook.Join(texts)
	p := &program{uri: id, docs: cells, cells: module, code: module.Text()}
	return p.complete()
}

// onDisk is the program of a file that is not open.
func onDisk(source sources.Source) *program {
	doc := &document{uri: uri.File(source.Path), language: protocol.LanguageKindPython, onDisk: true}
	doc.setText(source.Data)
	p := &program{uri: doc.uri, docs: []*document{doc}, code: source.Code, disk: source.Notebook}
	p.complete()
	p.path = source.Path
	return p
}

func (p *program) complete() *program {
	if p.uri.IsFile() {
		p.path = p.uri.FsPath()
	}
	return p
}

// again is the same version, that check is to check again.
func (p *program) again(check *check) *program {
	again := *p
	again.held, again.rests = p.findings(), p.dependencies()
	again.check = check
	return &again
}

// findings are the newest ones that are known of the program.
func (p *program) findings() []rules.Finding {
	if out, ok := p.check.outcome(); ok && out.err == nil {
		return out.findings
	}
	return p.held
}

// dependencies are the other files that the newest known findings rest on.
func (p *program) dependencies() names.Dependencies {
	if out, ok := p.check.outcome(); ok && out.err == nil {
		return out.rests
	}
	return p.rests
}

// source is the program as a checker takes it.
func (p *program) source() rules.Source {
	return rules.Source{Path: p.path, Text: p.code, Notebook: p.cells != nil || p.disk != nil || p.uri.Scheme() == cellScheme}
}

// python reports whether the program is checked at all.
func (p *program) python() bool { return p.cells != nil || p.docs[0].python() }

// configures reports whether the program is no program but a configuration file.
func (p *program) configures() bool {
	return p.cells == nil && filepath.Base(p.path) == config.FileName
}

// speaks reports whether there is anything to say about the program.
func (p *program) speaks() bool { return p.python() || p.configures() }

// part is a document as a part of its program.
type part struct {
	*document
	program *program
	within  text.Span // where its text stands in the code of the program
}

// part is the i-th document of the program.
func (p *program) part(i int) part {
	within := text.Span{End: len(p.code)}
	if p.cells != nil {
		within = p.cells.Cell(i)
	}
	return part{document: p.docs[i], program: p, within: within}
}

// parts are all documents of the program.
func (p *program) parts() []part {
	parts := make([]part, len(p.docs))
	for i := range p.docs {
		parts[i] = p.part(i)
	}
	return parts
}

// find is the part that is the document named id.
func (p *program) find(id uri.URI) (part, bool) {
	for i, doc := range p.docs {
		if doc.uri == id {
			return p.part(i), true
		}
	}
	return part{}, false
}

// at is the part that a span of the code starts in, and the span in its text. A
// notebook without cells has none.
func (p *program) at(span text.Span) (part, text.Span, bool) {
	switch {
	case p.disk != nil:
		raw, ok := p.disk.Raw(span)
		return p.part(0), raw, ok
	case p.cells == nil:
		return p.part(0), span, true
	}
	i, local := p.cells.Locate(span)
	if i < 0 {
		return part{}, text.Span{}, false
	}
	return p.part(i), local, true
}

// edit is an edit of the code as one of a part. It reports false for an edit
// that belongs to no single one.
func (p *program) edit(e text.Edit) (part, text.Edit, bool) {
	switch {
	case p.disk != nil:
		raw, ok := p.disk.RawEdit(e)
		return p.part(0), raw, ok
	case p.cells == nil:
		return p.part(0), e, true
	}
	i, local, ok := p.cells.Edit(e)
	if !ok {
		return part{}, text.Edit{}, false
	}
	return p.part(i), local, true
}

// inCode is a span of the text of the part as one of the code.
func (p part) inCode(s text.Span) text.Span {
	return text.Span{Start: p.within.Start + s.Start, End: p.within.Start + s.End}
}

// has reports whether a finding of the program is in this part of it.
func (p part) has(f rules.Finding) bool {
	owner, _, ok := p.program.at(f.Span)
	return ok && owner.uri == p.uri
}
