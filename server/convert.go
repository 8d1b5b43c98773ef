package server

import (
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/text"
)

// rangeOf is a span of a text as the client counts.
func (v *snapshot) rangeOf(m *text.Mapper, s text.Span) protocol.Range {
	at := func(offset int) protocol.Position {
		p := m.Position(offset, v.client.encoding)
		return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Column)}
	}
	return protocol.Range{Start: at(s.Start), End: at(s.End)}
}

// bytes is a range of doc as we count.
func (v *snapshot) bytes(doc *document, r protocol.Range) text.Span {
	m := doc.mapper()
	return text.Span{Start: offset(m, r.Start, v.client.encoding), End: offset(m, r.End, v.client.encoding)}
}

// offset is where p lies. The numbers of the protocol go up to 2^32-1, which
// need not fit an int.
func offset(m *text.Mapper, p protocol.Position, enc text.Encoding) int {
	const most = 1<<31 - 1
	return m.Offset(text.Position{Line: int(min(p.Line, most)), Column: int(min(p.Character, most))}, enc)
}

// is reports whether the client set an optional flag.
func is(flag *bool) bool { return flag != nil && *flag }
