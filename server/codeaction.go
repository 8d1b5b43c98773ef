package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/repair"
)

// fixAllKind is the kind of the action that applies all safe fixes.
const fixAllKind protocol.CodeActionKind = "source.fixAll.graphleak"

// actionData is what a client sends back to have an action completed: what it
// had asked for, and which of the actions it is.
type actionData struct {
	URI     uri.URI                   `json:"uri"`
	Version int32                     `json:"version"`
	Range   protocol.Range            `json:"range"`
	Only    []protocol.CodeActionKind `json:"only,omitempty"`
	Index   int                       `json:"index"`
}

// codeAction offers what can be done about the findings in a range. They are
// those of the very version of the document that the client has: if that is
// still being checked the request waits, and if it changes meanwhile the request
// fails.
func (s *server) codeAction(ctx context.Context, view *snapshot, params *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	list := []protocol.CommandOrCodeAction{}
	doc, ok := view.open(params.TextDocument.URI)
	if !ok {
		return list, nil
	}
	actions, err := view.actions(ctx, doc, params.Range, params.Context.Only)
	if err != nil {
		return nil, err
	}
	for i, action := range actions {
		if view.client.resolvesEdits && action.Edit != nil {
			data := actionData{URI: doc.uri, Version: doc.version, Range: params.Range, Only: params.Context.Only, Index: i}
			raw, err := json.Marshal(data)
			if err != nil {
				return nil, err
			}
			action.Edit, action.Data = nil, raw
		}
		list = append(list, action)
	}
	return list, nil
}

// resolveAction adds the edit to an action that was offered without.
func (s *server) resolveAction(ctx context.Context, view *snapshot, params *protocol.CodeAction) (*protocol.CodeAction, error) {
	var data actionData
	if len(params.Data) == 0 || json.Unmarshal(params.Data, &data) != nil {
		return params, nil // there is nothing to add
	}
	doc, ok := view.open(data.URI)
	if !ok || doc.version != data.Version {
		return nil, protocol.ErrContentModified
	}
	actions, err := view.actions(ctx, doc, data.Range, data.Only)
	if err != nil {
		return nil, err
	}
	if data.Index < 0 || data.Index >= len(actions) || actions[data.Index].Title != params.Title {
		return nil, protocol.ErrContentModified // another file has changed what can be done
	}
	return actions[data.Index], nil
}

// actions are all actions of a kind in only for the findings in r.
func (v *snapshot) actions(ctx context.Context, doc part, r protocol.Range, only []protocol.CodeActionKind) ([]*protocol.CodeAction, error) {
	out, err := doc.program.check.wait(ctx)
	if err != nil {
		return nil, err
	}
	var actions []*protocol.CodeAction
	if wanted(only, protocol.CodeActionKindQuickFix) {
		selection := doc.inCode(v.bytes(doc.document, r))
		selected := slices.DeleteFunc(slices.Clone(out.findings), func(f rules.Finding) bool {
			return f.Span.End < selection.Start || selection.End < f.Span.Start || !doc.has(f)
		})
		actions = slices.Concat(v.quickFixes(doc, selected), v.fixesInFile(doc, selected, out.findings),
			v.suppressions(doc, selected), v.pages(doc, selected))
	}
	// Source actions are for those who ask for them: on save, or in a menu.
	if len(only) > 0 && wanted(only, fixAllKind) {
		action, err := v.fixUntilNothingIsLeft(ctx, doc, out.findings)
		if err != nil {
			return nil, err
		}
		if action != nil {
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

// quickFix is an action about findings.
func (v *snapshot) quickFix(doc part, title string, about ...rules.Finding) *protocol.CodeAction {
	kind := protocol.CodeActionKindQuickFix
	action := &protocol.CodeAction{Title: title, Kind: &kind}
	for _, f := range about {
		action.Diagnostics = append(action.Diagnostics, v.diagnostic(doc, f))
	}
	return action
}

// quickFixes are the fixes of findings, the preferred one of each first.
func (v *snapshot) quickFixes(doc part, findings []rules.Finding) []*protocol.CodeAction {
	var actions []*protocol.CodeAction
	for _, f := range findings {
		for i, fix := range f.Fixes {
			edit, ok := v.workspaceEdit(doc.program, fix.Edits)
			if !ok {
				continue
			}
			action := v.quickFix(doc, fix.Title, f)
			// A preferred fix is applied at one key, so it has to be safe.
			preferred := i == 0 && fix.Safety == rules.Safe
			action.IsPreferred, action.Edit = &preferred, edit
			actions = append(actions, action)
		}
	}
	return actions
}

// fixesInFile are the actions that apply more than one safe fix: those of the
// rules of the selected findings, and all there are.
func (v *snapshot) fixesInFile(doc part, selected, all []rules.Finding) []*protocol.CodeAction {
	var actions []*protocol.CodeAction
	most := 1
	for i, f := range selected {
		if slices.ContainsFunc(selected[:i], func(earlier rules.Finding) bool { return earlier.Code == f.Code }) {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(all), func(other rules.Finding) bool { return other.Code != f.Code })
		if action, fixes, ok := v.fixAll(doc, same, fmt.Sprintf("Apply all safe fixes of %s in this file", f.Code)); ok && fixes > 1 {
			actions = append(actions, action)
			most = max(most, fixes)
		}
	}
	if len(selected) > 0 {
		if action, fixes, ok := v.fixAll(doc, all, "Apply all safe fixes of Graphleak in this file"); ok && fixes > most {
			actions = append(actions, action)
		}
	}
	return actions
}

// fixAll applies the safe fixes of findings that do not get in each other's way:
// those of a notebook in all of its cells. It says how many they are.
func (v *snapshot) fixAll(doc part, findings []rules.Finding, title string) (action *protocol.CodeAction, fixes int, ok bool) {
	chosen, fixes := repair.Select(doc.program.path, findings, false)
	if len(chosen) == 0 {
		return nil, 0, false
	}
	edit, ok := v.workspaceEdit(doc.program, doc.program.edits(chosen...))
	if !ok {
		return nil, 0, false
	}
	action = v.quickFix(doc, title)
	action.Edit = edit
	return action, fixes, true
}

// fixUntilNothingIsLeft is the action that applies all safe fixes, and those of
// what they bring out, nil when there are none. It alone checks again.
func (v *snapshot) fixUntilNothingIsLeft(ctx context.Context, doc part, findings []rules.Finding) (*protocol.CodeAction, error) {
	const title = "Apply all safe fixes of Graphleak"
	action, _, ok := v.fixAll(doc, findings, title)
	if !ok {
		return nil, nil
	}
	kind := fixAllKind
	action.Kind = &kind
	p := doc.program
	fixed, err := repair.Apply(ctx, v.checker.Check, p.source(), rules.Report{Findings: findings}, false)
	if err != nil {
		return action, ctx.Err() // one round does no harm
	}
	if edit, ok := v.workspaceEdit(p, p.edits(editsFrom(p.code, fixed.Text)...)); ok {
		action.Edit = edit
	}
	return action, nil
}

// editsFrom are the edits that make one text of another.
func editsFrom(before, after []byte) []text.Edit {
	var out []text.Edit
	for _, e := range udiff.Bytes(before, after) {
		out = append(out, text.Edit{Span: text.Span{Start: e.Start, End: e.End}, New: e.New})
	}
	return out
}

// edits are edits of the code of the program.
func (p *program) edits(list ...text.Edit) []rules.FileEdit {
	var out []rules.FileEdit
	for _, edit := range list {
		out = append(out, rules.FileEdit{Path: p.path, Edit: edit})
	}
	return out
}

// pages are the actions that show what there is to read about the rules of
// findings.
func (v *snapshot) pages(doc part, findings []rules.Finding) []*protocol.CodeAction {
	var actions []*protocol.CodeAction
	if !v.client.showsPages {
		return nil
	}
	for i, f := range findings {
		if slices.ContainsFunc(findings[:i], func(earlier rules.Finding) bool { return earlier.Code == f.Code }) {
			continue
		}
		argument, err := json.Marshal(f.Code)
		if err != nil {
			continue
		}
		title := fmt.Sprintf("Read about %s (%s)", f.Code, f.Rule)
		action := v.quickFix(doc, title, f)
		action.Command = protocol.Command{Title: title, Command: pageCommand, Arguments: []protocol.LSPAny{argument}}
		actions = append(actions, action)
	}
	return actions
}

// workspaceEdit makes the client apply edits, of p or other open programs, in
// the form that it understands. It fails if a file is not open: nobody could
// tell whether it is still the one that the edits were made for.
func (v *snapshot) workspaceEdit(p *program, edits []rules.FileEdit) (*protocol.WorkspaceEdit, bool) {
	return v.editOf(edits, func(path string) (*program, bool) {
		if path == p.path {
			return p, true
		}
		return v.file(path)
	})
}

// editOf makes the client apply edits of programs that owner finds by the paths
// in the edits.
func (v *snapshot) editOf(edits []rules.FileEdit, owner func(path string) (*program, bool)) (*protocol.WorkspaceEdit, bool) {
	var order []*document
	changes := make(map[uri.URI][]protocol.TextEdit)
	for _, e := range edits {
		target, ok := owner(e.Path)
		if !ok {
			return nil, false
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
