package server

import (
	"context"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/repair"
)

// fixAllKind is the kind of the action that applies all safe fixes.
const fixAllKind protocol.CodeActionKind = "source.fixAll.graphleak"

// codeAction offers the fixes of the findings in a range. They are those of the
// very version of the document that the client has: if that is still being
// checked the request waits, and if it changes meanwhile the request fails.
func (s *server) codeAction(ctx context.Context, view *snapshot, params *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	actions := []protocol.CommandOrCodeAction{}
	doc, ok := view.open(params.TextDocument.URI)
	if !ok {
		return actions, nil
	}
	out, err := doc.program.check.wait(ctx)
	if err != nil {
		return nil, err
	}
	if wanted(params.Context.Only, protocol.CodeActionKindQuickFix) {
		actions = append(actions, view.quickFixes(doc, out.findings, doc.inCode(view.bytes(doc.document, params.Range)))...)
	}
	// Source actions are for those who ask for them: on save, or in a menu.
	if len(params.Context.Only) > 0 && wanted(params.Context.Only, fixAllKind) {
		if action, ok := view.fixAll(doc, out.findings); ok {
			actions = append(actions, action)
		}
	}
	return actions, nil
}

// wanted reports whether a client that restricts the kinds to only takes kind.
// A kind stands for all kinds below it.
func wanted(only []protocol.CodeActionKind, kind protocol.CodeActionKind) bool {
	for _, k := range only {
		if k == protocol.CodeActionKindEmpty || k == kind || strings.HasPrefix(string(kind), string(k)+".") {
			return true
		}
	}
	return len(only) == 0
}

// quickFixes are the fixes of the findings that selection touches.
func (v *snapshot) quickFixes(doc part, findings []rules.Finding, selection text.Span) []protocol.CommandOrCodeAction {
	var actions []protocol.CommandOrCodeAction
	kind := protocol.CodeActionKindQuickFix
	for _, f := range findings {
		if f.Span.End < selection.Start || selection.End < f.Span.Start || !doc.has(f) {
			continue
		}
		for i, fix := range f.Fixes {
			edit, ok := v.workspaceEdit(doc.program, fix.Edits)
			if !ok {
				continue
			}
			// A preferred fix is applied at one key, so it has to be safe.
			preferred := i == 0 && fix.Safety == rules.Safe
			actions = append(actions, &protocol.CodeAction{
				Title:       fix.Title,
				Kind:        &kind,
				Diagnostics: []protocol.Diagnostic{v.diagnostic(doc, f)},
				IsPreferred: &preferred,
				Edit:        edit,
			})
		}
	}
	return actions
}

// fixAll applies the safe fixes of the program of doc that do not get in each
// other's way: those of a notebook in all of its cells.
func (v *snapshot) fixAll(doc part, findings []rules.Finding) (*protocol.CodeAction, bool) {
	var edits []rules.FileEdit
	chosen, _ := repair.Select(doc.program.path, findings, false)
	for _, edit := range chosen {
		edits = append(edits, rules.FileEdit{Path: doc.program.path, Edit: edit})
	}
	if len(edits) == 0 {
		return nil, false
	}
	edit, ok := v.workspaceEdit(doc.program, edits)
	if !ok {
		return nil, false
	}
	kind := fixAllKind
	return &protocol.CodeAction{Title: "Apply all safe fixes of Graphleak", Kind: &kind, Edit: edit}, true
}

// workspaceEdit makes the client apply edits, of p or other open programs, in
// the form that it understands. It fails if a file is not open: nobody could
// tell whether it is still the one that the edits were made for.
func (v *snapshot) workspaceEdit(p *program, edits []rules.FileEdit) (*protocol.WorkspaceEdit, bool) {
	var order []*document
	changes := make(map[uri.URI][]protocol.TextEdit)
	for _, e := range edits {
		target := p
		if e.Path != p.path {
			var open bool
			if target, open = v.file(e.Path); !open {
				return nil, false
			}
		}
		doc, local, ok := target.edit(e.Edit)
		if !ok {
			return nil, false
		}
		if _, seen := changes[doc.uri]; !seen {
			order = append(order, doc.document)
		}
		changes[doc.uri] = append(changes[doc.uri], protocol.TextEdit{Range: v.rangeOf(doc.mapper(), local.Span), NewText: local.New})
	}
	if !v.client.documentChanges {
		return &protocol.WorkspaceEdit{Changes: changes}, true
	}
	edit := new(protocol.WorkspaceEdit)
	for _, target := range order {
		change := &protocol.TextDocumentEdit{
			TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
				TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: target.uri},
				Version:                target.published(),
			},
		}
		for _, e := range changes[target.uri] {
			change.Edits = append(change.Edits, &e)
		}
		edit.DocumentChanges = append(edit.DocumentChanges, change)
	}
	return edit, true
}
