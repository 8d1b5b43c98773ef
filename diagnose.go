package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/failures"
	"github.com/graphleak/graphleak/rules/leaks"
)

type diagnoseCmd struct {
	Files     []string `arg:"" optional:"" name:"file" help:"Logs of one run, a rank each, directories of them, or - for standard input (the default)."`
	Format    string   `enum:"text,json,markdown" default:"text" help:"text, json or markdown."`
	Workspace string   `type:"path" default:"." placeholder:"DIR" help:"Where the program's source is; files outside are never opened."`
	Redact    bool     `help:"Mask tokens, keys, users, hosts, addresses, accounts and home directories, the same thing the same way."`
}

// Help explains what one command line means.
func (c *diagnoseCmd) Help() string {
	return "Says what failed first in a run, why, what to do, and which finding in the code may be the cause. Several files are one incident."
}

// Run diagnoses the logs as one incident and prints the result.
func (c *diagnoseCmd) Run(ctx context.Context, out *console) error {
	if info, err := os.Stat(c.Workspace); err != nil {
		return fmt.Errorf("workspace: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("workspace: %s is not a directory", c.Workspace)
	}
	inputs, err := openLogs(c.Files, out.Stdin)
	if err != nil {
		return err
	}
	diagnoser := failures.NewDiagnoser(failures.Options{Roots: []string{c.Workspace}, Checker: rules.NewChecker(leaks.All()...)})
	diagnosis, err := diagnoser.Diagnose(ctx, inputs)
	if err != nil {
		return fmt.Errorf("diagnose: %w", err)
	}
	if c.Redact {
		diagnosis = diagnosis.Redacted()
	}
	return writeDiagnosis(out, diagnosis, c.Format)
}

// openLogs finds the named logs; no name at all is standard input.
func openLogs(names []string, stdin io.Reader) ([]crash.Input, error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	var inputs []crash.Input
	usedStdin := false
	for _, name := range names {
		if name != "-" {
			files, err := crash.Files(name)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, files...)
			continue
		}
		if usedStdin {
			return nil, errors.New("standard input can be read only once")
		}
		usedStdin = true
		inputs = append(inputs, crash.Input{Name: "standard input", Reader: stdin})
	}
	return inputs, nil
}

// writeDiagnosis prints a diagnosis in one of the formats.
func writeDiagnosis(out *console, d *crash.Diagnosis, format string) error {
	switch format {
	case "json":
		enc := json.NewEncoder(out.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(d)
	case "markdown":
		_, err := io.WriteString(out.Stdout, d.Markdown())
		return err
	}
	_, err := io.WriteString(out.Stdout, d.Text(columns(out.Stdout), out.Color))
	return err
}

// columns is the width to wrap text for: that of the terminal within what is
// comfortable to read, and a usual width elsewhere.
func columns(w io.Writer) int {
	const narrow, usual, wide = 60, 100, 120
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(n, narrow), wide)
		}
	}
	return usual
}
