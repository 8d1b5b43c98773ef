package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"golang.org/x/sync/errgroup"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/analyzer/usage"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/repair"
)

// fixAllResult is what graphleak.fixWorkspace returns.
type fixAllResult struct {
	Files int `json:"files"` // changed
	Fixes int `json:"fixes"` // applied in them
}

// maxFixRounds bounds the rounds over the workspace: what is fixed in one file
// may show in another that imports it.
const maxFixRounds = 10

// repairing is a program on its way through the rounds.
type repairing struct {
	*program
	now   []byte // its code by now
	fixes int
}

// fixWorkspace applies all safe fixes in all files of the workspace, open or not,
// as one edit that the client makes: of open files in the versions that it has,
// of others as they are on disk.
func (s *server) fixWorkspace(ctx context.Context, view *snapshot, tell func(done, total int)) (fixAllResult, error) {
	if !view.client.appliesEdits {
		return fixAllResult{}, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "this client does not apply edits of a server (workspace.applyEdit)")
	}
	list, err := s.workspacePrograms(ctx, view)
	if err != nil {
		return fixAllResult{}, err
	}
	for round := 0; ; round++ {
		if round == maxFixRounds {
			return fixAllResult{}, errors.New("no fix was applied: those of several files undo each other")
		}
		changed, err := s.fixOnce(ctx, view, list, func(done int) { tell(round*len(list)+done, (round+1)*len(list)) })
		if err != nil {
			return fixAllResult{}, err
		}
		if !changed {
			break
		}
	}
	var result fixAllResult
	programs := make(map[*program][]text.Edit)
	for _, r := range list {
		if r.fixes == 0 {
			continue
		}
		result.Files++
		result.Fixes += r.fixes
		programs[r.program] = editsFrom(r.code, r.now)
	}
	if result.Fixes == 0 {
		return result, nil
	}
	return result, s.applyFixes(ctx, view, programs)
}

// workspacePrograms are the open Python programs and the other files of the
// workspace that may have findings.
func (s *server) workspacePrograms(ctx context.Context, view *snapshot) ([]*repairing, error) {
	var list []*repairing
	for _, p := range view.programs {
		if p.python() && within(p.path, view.roots()) {
			list = append(list, &repairing{program: p, now: p.code})
		}
	}
	files, err := s.scan.list(ctx, view)
	if err != nil {
		return nil, err
	}
	if files, err = s.scan.relevant(ctx, view, files); err != nil {
		return nil, err
	}
	for _, path := range files {
		if _, open := view.file(path); open {
			continue
		}
		if source, err := sources.Load(path); err == nil { // what cannot be read has no findings
			p := onDisk(source)
			list = append(list, &repairing{program: p, now: p.code})
		}
	}
	slices.SortFunc(list, func(a, b *repairing) int { return bytes.Compare([]byte(a.uri), []byte(b.uri)) })
	return list, nil
}

// fixOnce fixes each program as far as it goes, with the others as they were
// before. It reports whether it changed any.
func (s *server) fixOnce(ctx context.Context, view *snapshot, list []*repairing, tell func(done int)) (changed bool, err error) {
	texts := make(map[string][]byte)
	for _, r := range list {
		if r.path != "" && r.cells == nil && r.disk == nil {
			texts[r.path] = r.now
		}
	}
	open := func(path string) ([]byte, bool) {
		if content, ok := texts[path]; ok {
			return content, true
		}
		return view.text(path)
	}
	code := func(path string) ([]byte, bool) {
		if content, ok := open(path); ok {
			return content, true
		}
		return view.code(path)
	}
	project := usage.New(view.roots(), code, func(path string) *names.Resolver { return view.checker.Resolver(path) })
	checker := s.reading(rules.Files{Open: open, Within: view.roots(), Project: project}, view.loader, view.layer)
	check := func(ctx context.Context, src rules.Source) (rules.Report, error) {
		return s.checkSource(ctx, checker, src)
	}
	var mu sync.Mutex
	done := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxChecks())
	for _, r := range list {
		group.Go(func() error {
			if err := s.foreground.wait(ctx); err != nil {
				return err
			}
			src := r.source()
			src.Text = r.now
			found, err := check(ctx, src)
			if err != nil {
				return err
			}
			out, err := repair.Apply(ctx, check, src, found, false)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			tell(done)
			if err != nil {
				s.log.warnf("%s: %v", r.uri, err)
			} else if out.Applied > 0 {
				r.now, r.fixes, changed = out.Text, r.fixes+out.Applied, true
			}
			return nil
		})
	}
	return changed, group.Wait()
}

// applyFixes has the client make edits of the code of programs. It refuses where
// one is not any more what was fixed.
func (s *server) applyFixes(ctx context.Context, view *snapshot, programs map[*program][]text.Edit) error {
	var edits []rules.FileEdit
	byPath := make(map[string]*program)
	var order []*program
	for p := range programs {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b *program) int { return bytes.Compare([]byte(a.uri), []byte(b.uri)) })
	for _, p := range order {
		if p.docs[0].onDisk {
			if now, err := sources.Load(p.path); err != nil || !bytes.Equal(now.Code, p.code) {
				return jsonrpc2.Errorf(jsonrpc2.Code(protocol.LSPErrorCodesContentModified), "%s changed while it was fixed: run it again", p.path)
			}
		}
		byPath[string(p.uri)] = p
		for _, e := range programs[p] {
			edits = append(edits, rules.FileEdit{Path: string(p.uri), Edit: e})
		}
	}
	edit, ok := view.editOf(edits, func(id string) (*program, bool) { p, ok := byPath[id]; return p, ok })
	if !ok {
		return errors.New("the fixes cannot be written as edits of single documents")
	}
	label := "Apply all safe fixes of Graphleak"
	result, err := s.client.ApplyEdit(ctx, &protocol.ApplyWorkspaceEditParams{Label: &label, Edit: *edit})
	switch {
	case err != nil:
		return fmt.Errorf("applying the fixes: %w", err)
	case !result.Applied && result.FailureReason != nil && *result.FailureReason != "":
		return jsonrpc2.Errorf(jsonrpc2.Code(protocol.LSPErrorCodesContentModified), "the client did not apply the fixes: %s", *result.FailureReason)
	case !result.Applied:
		return jsonrpc2.Errorf(jsonrpc2.Code(protocol.LSPErrorCodesContentModified), "the client did not apply the fixes: a file may have changed meanwhile")
	}
	return nil
}
