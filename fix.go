package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"github.com/natefinch/atomic"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/rules/config"
)

// repair applies fixes to the inputs, or shows what they would change, and reports
// what is left.
func (c *checkCmd) repair(ctx context.Context, out *console, loader *config.Loader, inputs []input, skipped []sources.Skipped) error {
	repaired, err := c.repairAll(ctx, out, loader, inputs)
	if err != nil {
		return err
	}
	if c.Diff {
		return c.showDiff(out, repaired, skipped)
	}
	if err := c.deliver(ctx, out, repaired.before); err != nil {
		return err
	}
	if c.readsStdin() {
		return c.report(out.Stderr, out, repaired.after, skipped)
	}
	return c.report(out.Stdout, out, repaired.after, skipped)
}

// repairedFiles are the files of a run before and after all fixes.
type repairedFiles struct {
	before []outcome // with the fixes of all rounds
	after  []outcome // what is left in the fixed files
}

// maxRounds bounds the rounds over all files. Each applies a fix at least, so that
// only fixes that undo one another come near it.
const maxRounds = 20

// repairAll fixes the files one by one, then again, since what is fixed in one may
// show in another that imports it, until nothing is left to fix. Nothing is
// written: the later rounds see the earlier ones' files through the checker.
func (c *checkCmd) repairAll(ctx context.Context, out *console, loader *config.Loader, inputs []input) (repairedFiles, error) {
	inputs = slices.Clone(inputs)
	fixed := map[string][]byte{} // by absolute path
	open := func(path string) ([]byte, bool) {
		content, ok := fixed[path]
		return content, ok
	}
	var all repairedFiles
	for range maxRounds {
		outcomes, err := c.checkAll(ctx, out, c.checker(loader, open), inputs, true)
		if err != nil {
			return repairedFiles{}, err
		}
		if all.before == nil {
			all.before = slices.Clone(outcomes)
		}
		all.after = outcomes
		changed := false
		for i, o := range outcomes {
			if o.fixes == 0 {
				continue
			}
			changed = true
			inputs[i].text = o.fixed
			if path, err := filepath.Abs(o.path); err == nil && !sources.IsNotebook(path) {
				fixed[path] = o.fixed
			}
			if first := &all.before[i]; first.fixed != nil && !bytes.Equal(first.fixed, o.fixed) {
				first.fixed, first.fixes = o.fixed, first.fixes+o.fixes
			}
		}
		if !changed {
			return all, nil
		}
	}
	return repairedFiles{}, errors.New("fixes were not applied: those of several files undo each other")
}

// showDiff writes what fixes would change.
func (c *checkCmd) showDiff(out *console, repaired repairedFiles, skipped []sources.Skipped) error {
	left := 0
	for _, o := range repaired.after {
		left += len(o.findings)
	}
	for _, o := range repaired.before {
		path := filepath.ToSlash(o.path)
		if _, err := io.WriteString(out.Stdout, udiff.Unified(path, path, string(o.original), string(o.fixed))); err != nil {
			return err
		}
	}
	complain(out.Stderr, repaired.before)
	result := summarize(repaired.before, skipped)
	for _, s := range result.Skipped {
		fmt.Fprintf(out.Stderr, "%s: skipped: %s\n", s.Path, s.Reason)
	}
	fmt.Fprintf(out.Stderr, "Findings now: %d, after these changes: %d.\n", len(result.Findings), left)
	return c.verdict(result)
}

// deliver puts the repaired sources in place, each at once: a file is never half
// written, and one that changed since it was read is left alone. The repaired
// standard input goes to standard output.
func (c *checkCmd) deliver(ctx context.Context, out *console, outcomes []outcome) error {
	fixes := 0
	for _, o := range outcomes {
		var err error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case c.readsStdin():
			_, err = out.Stdout.Write(o.fixed)
		case o.fixes > 0:
			err = replace(o.path, o.original, o.fixed)
		}
		if err != nil {
			return fmt.Errorf("write the fixes of %s: %w", o.path, err)
		}
		fixes += o.fixes
	}
	complain(out.Stderr, outcomes)
	_, err := fmt.Fprintf(out.Stderr, "Fixes applied: %d.\n", fixes)
	return err
}

// complain says which files keep their findings although there were fixes.
func complain(w io.Writer, outcomes []outcome) {
	for _, o := range outcomes {
		if o.unfixed != nil {
			fmt.Fprintf(w, "%s: %v\n", o.path, o.unfixed)
		}
	}
}

// replace writes content to path if the file still is as it was.
func replace(path string, was, content []byte) error {
	// The file itself is replaced, not a link to it.
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	now, err := sources.Read(path, sources.Limit(path))
	if err != nil {
		return err
	}
	if !bytes.Equal(now, was) {
		return errors.New("the file changed while it was checked; run again")
	}
	return atomic.WriteFile(path, bytes.NewReader(content))
}
