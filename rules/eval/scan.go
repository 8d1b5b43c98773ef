package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/rules"
)

// scan lists every error and warning of whole repositories. Each of names is a
// folder, a file, or OWNER/NAME or OWNER/NAME@COMMIT of a repository under the clones.
func scan(ctx context.Context, c checked, cfg config, names []string, out io.Writer) error {
	for _, name := range names {
		dir := name
		if _, err := os.Stat(name); err != nil {
			repo, commit, _ := strings.Cut(name, "@")
			if commit == "" {
				commit = "HEAD"
			}
			if dir, err = unpack(ctx, cfg, repo, commit); err != nil {
				fmt.Fprintf(out, "%s: %v\n\n", name, err)
				continue
			}
		}
		if err := scanTree(ctx, c, name, dir, cfg.verbose, out); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "peak memory of this run: %s\n", peakMemory())
	return nil
}

func scanTree(ctx context.Context, c checked, name, dir string, verbose bool, out io.Writer) error {
	listing, err := sources.Find(ctx, []string{dir}, nil)
	if err != nil {
		return err
	}
	files := listing.Files
	start := time.Now()
	results := make([]result, len(files))
	err = each(ctx, len(files), func(i int) {
		r := c.file(ctx, files[i])
		if len(r.findings) == 0 {
			r.source = nil // a scan holds what it prints
		}
		results[i] = r
	})
	if err != nil {
		return err
	}
	took := time.Since(start)

	counts := map[rules.Severity]int{}
	byCode := map[string]int{}
	lines := 0
	for i, r := range results {
		lines += r.lines
		path := strings.TrimPrefix(strings.TrimPrefix(files[i], dir), string(filepath.Separator))
		if r.trouble != "" {
			fmt.Fprintf(out, "%s: %s\n", path, r.trouble)
		}
		for _, f := range r.findings {
			counts[f.Severity]++
			if rank(f.Severity) < rank(rules.Warning) && !verbose {
				continue
			}
			byCode[f.Code]++
			line := lineOf(r.source, f.Span.Start)
			fmt.Fprintf(out, "%s:%d: %s %s keeps %s, %s confidence\n    %s\n", path, line, f.Severity, f.Code, f.Keeps, f.Confidence, lineText(r.source, line))
			if verbose {
				fmt.Fprintf(out, "    = %s\n", f.Message)
				for _, e := range f.Evidence {
					fmt.Fprintf(out, "      line %d: %s\n", lineOf(r.source, e.Span.Start), e.Message)
				}
			}
		}
	}
	fmt.Fprintf(out, "%s: %d files, %d lines: %d errors, %d warnings, %d hints", name, len(files), lines,
		counts[rules.Error], counts[rules.Warning], counts[rules.Hint])
	for _, code := range sortedKeys(byCode) {
		fmt.Fprintf(out, ", %s %d", code, byCode[code])
	}
	if len(files) > 0 {
		fmt.Fprintf(out, "; %.1f errors and warnings per thousand files; %.0f lines a second",
			1000*float64(counts[rules.Error]+counts[rules.Warning])/float64(len(files)), float64(lines)/took.Seconds())
		slowest := 0
		for i, r := range results {
			if r.took > results[slowest].took {
				slowest = i
			}
		}
		fmt.Fprintf(out, "; slowest %s %v", filepath.Base(files[slowest]), results[slowest].took.Round(time.Millisecond))
	}
	fmt.Fprint(out, "\n\n")
	return nil
}

// peakMemory is the most memory this process has held, where the system tells.
func peakMemory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown on this system"
	}
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	if !ok {
		return "unknown on this system"
	}
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}
