// Package rules turns what the flow analysis found out about a program into
// findings for people: a code, a severity that follows measured truth, the
// chain of evidence, and fixes.
//
// Each rule lives in its own folder under rules/leaks; each known failure of a
// run is a page under rules/failures.
package rules

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/analyzer/usage"
)

// Source is one Python document to check. Path may be empty for text that is
// not on disk.
type Source struct {
	Path string
	Text []byte
	// Notebook says that the text comes from notebook cells: lines of IPython
	// magics and shell commands are not Python and are blanked.
	Notebook bool
	// Edited says that the text is open in an editor: the next version of it will soon
	// be checked.
	Edited bool
	// Preferences are what the user wants to hear about it.
	Preferences Preferences
}

// Report is what checking one source gave.
type Report struct {
	Findings []Finding // sorted by Span.Start
	// Skipped is why the source was not analysed, as one line for a person, or
	// empty. A source with syntax errors is not skipped.
	Skipped string
	// Damaged are the whole functions that hold text which could not be parsed,
	// and all text outside functions when some of that could not. Findings
	// there may be missing.
	Damaged []text.Span
	// Silenced are the findings that comments silence, in no order that matters.
	Silenced []Silenced
	// Dependencies are the other files that all of this rests on.
	Dependencies names.Dependencies
}

// Silenced is a finding that is not reported because of a comment.
type Silenced struct {
	Finding
	Comment text.Span // the part of the comment that silences it
}

// Rule is one kind of leak.
type Rule struct {
	Code string // "GL101"
	Name string // "accumulate-with-graph"
	Doc  string // the page that people read, as Markdown
	// Run reports the findings of a pass.
	Run func(*Pass)
	// Last says that the rule runs after the others: it is about what they have
	// reported.
	Last bool
}

// Is reports whether people mean r by a word: its code or its name.
func (r *Rule) Is(word string) bool { return strings.EqualFold(word, r.Code) || word == r.Name }

// URL is the address of the rule's page.
func (r *Rule) URL() string {
	return Homepage + "/blob/main/rules/leaks/" + r.Name + "/doc.md"
}

// Title is the heading of the rule's page.
func (r *Rule) Title() string {
	title, _, _ := strings.Cut(strings.TrimPrefix(r.Doc, "# "), "\n")
	return title
}

// Homepage is where the project lives.
const Homepage = "https://github.com/graphleak/graphleak"

// Pass is one run of a rule over one module.
type Pass struct {
	Module *names.Module
	Facts  *flow.Facts
	// Suppressions are the comments that silence findings. What they have silenced
	// is known to rules that run last.
	Suppressions []*Suppression
	// Ran are the rules of the run. Off are the others: what they would have said
	// is not known.
	Ran, Off []*Rule
	// Complete says that all of the module could be parsed, and that imports were
	// followed.
	Complete bool
	// Using are the users of a word in the file at an absolute path.
	Using func(path, word string) usage.Users
	// Report adds a finding. Path, Code and Rule are filled in.
	Report func(Finding)
}

// A Checker runs rules over sources. Files that the sources import are read
// from disk and kept until they change. One Checker may be used by many
// goroutines.
type Checker struct {
	rules     []*Rule
	disk      *names.Disk // nil when imports are not followed
	resolver  *names.Resolver
	workspace *flow.Workspace
	project   *usage.Project
	alone     bool // imports are not followed
}

// Files says which files the imports of a source are read from.
type Files struct {
	// None makes every import a library.
	None bool
	// Open gives the text of files that differ from what is on disk, such as
	// those open in an editor. It may be called by many goroutines.
	Open func(path string) ([]byte, bool)
	// Within are directories that imports of the files below them do not lead
	// out of.
	Within []string
	// Roots are directories in which absolute imports are looked for, before
	// those above the importing file.
	Roots []string
	// Claims are what the project says about functions.
	Claims []torch.Claim
	// Project tells which files use what another defines. Without one that is not
	// known.
	Project *usage.Project
}

// With returns a checker of the same rules that reads imports from files.
func (c *Checker) With(files Files) *Checker {
	out := &Checker{rules: c.rules, resolver: names.NewResolver(nil), project: files.Project, alone: files.None}
	if !files.None {
		out.disk = names.NewDisk(files.Open, files.Within...)
		out.resolver = names.NewResolver(out.disk, files.Roots...)
	}
	out.workspace = flow.NewWorkspace(out.resolver, files.Claims...)
	return out
}

// NewChecker returns a checker that runs the given rules.
func NewChecker(rules ...*Rule) *Checker {
	return (&Checker{rules: rules}).With(Files{})
}

// Forget drops what is kept of the file at an absolute path, for one that was open
// and is no longer. If it is still imported it is read again.
func (c *Checker) Forget(path string) {
	if c.disk != nil {
		c.disk.Forget(path)
	}
	c.workspace.Forget(path)
}

// Moved tells c that files have come or gone, so that imports may lead elsewhere.
func (c *Checker) Moved() {
	if c.disk != nil {
		c.disk.Moved()
	}
	c.resolver.Moved()
}

// Resolver finds where imports lead, whatever file they are in.
func (c *Checker) Resolver(string) *names.Resolver { return c.resolver }

// Rules are the rules that c runs.
func (c *Checker) Rules() []*Rule { return c.rules }

// Check analyses one source. It returns an error only when ctx ends first.
func (c *Checker) Check(ctx context.Context, src Source) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	path := src.Path
	if path != "" {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
	}
	module, err := c.module(ctx, path, src)
	if err != nil {
		return Report{Skipped: err.Error()}, nil
	}
	report := Report{Damaged: module.Tree.DamagedSpans()}
	suppressed, ok := readSuppressions(module.Tree)
	if !ok {
		return report, nil
	}
	analyze := c.workspace.Analyze
	if src.Edited {
		analyze = c.workspace.Reanalyze
	}
	facts, err := analyze(ctx, module)
	if err != nil {
		return Report{}, err
	}
	report.Dependencies = facts.Dependencies
	lineEndOf := func(path string) string {
		if other := c.resolver.Module(ctx, path); other != nil && path != module.Path {
			return text.LineEnd(other.Tree.Source())
		}
		return text.LineEnd(module.Tree.Source())
	}
	pass := Pass{Module: module, Facts: facts, Suppressions: suppressed.list, Complete: !c.alone && len(report.Damaged) == 0}
	pass.Using = func(path, word string) usage.Users {
		if c.project == nil || path == "" {
			return usage.Users{}
		}
		users := c.project.Using(ctx, path, word)
		report.Dependencies.Use(users.Programs...)
		return users
	}
	for _, rule := range c.rules {
		if src.Preferences.Off[rule.Code] {
			pass.Off = append(pass.Off, rule)
		} else {
			pass.Ran = append(pass.Ran, rule)
		}
	}
	slices.SortStableFunc(pass.Ran, func(a, b *Rule) int { return cmp.Compare(order(a), order(b)) })
	for _, rule := range pass.Ran {
		pass.Report = func(f Finding) {
			f.Path, f.Code, f.Rule = src.Path, rule.Code, rule.Name
			by := suppressed.silencing(rule, f.Span)
			for _, s := range by {
				report.Silenced = append(report.Silenced, Silenced{f, s.Span})
			}
			if len(by) > 0 {
				return
			}
			if severity := src.Preferences.Severity[f.Code]; severity != "" {
				f.Severity = severity
			}
			f.inFile(path, src.Path, lineEndOf)
			report.Findings = append(report.Findings, f)
		}
		rule.Run(&pass)
	}
	slices.SortStableFunc(report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Code, b.Code))
	})
	return report, nil
}

// order is when a rule runs.
func order(r *Rule) int {
	if r.Last {
		return 1
	}
	return 0
}

// module parses a source that stands at an absolute path.
func (c *Checker) module(ctx context.Context, path string, src Source) (*names.Module, error) {
	if !src.Notebook {
		return c.workspace.Module(ctx, path, src.Text)
	}
	tree, err := syntax.ParseNotebook(src.Text)
	if err != nil {
		return nil, err
	}
	return names.NewModule(path, tree), nil
}

// inFile names the checked file in evidence and edits as the caller did, and lets
// the lines that edits put into a file end like its own.
func (f *Finding) inFile(path, as string, lineEndOf func(path string) string) {
	for i := range f.Evidence {
		if f.Evidence[i].Path == path {
			f.Evidence[i].Path = as
		}
	}
	for _, fix := range f.Fixes {
		for i := range fix.Edits {
			edit := &fix.Edits[i]
			if unix := strings.ReplaceAll(edit.New, "\r\n", "\n"); strings.Contains(unix, "\n") {
				edit.New = strings.ReplaceAll(unix, "\n", lineEndOf(edit.Path))
			}
			if edit.Path == path {
				edit.Path = as
			}
		}
	}
}
