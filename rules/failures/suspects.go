package failures

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
)

// project is the user's code, as the diagnosis asks for it.
type project struct {
	roots   []string // absolute
	open    func(path string) ([]byte, bool)
	checker *config.Checker
}

// source is a file as it is now, in the editor or else on disk.
func (p *project) source(file crash.File) (sources.Source, rules.Source, error) {
	if p.open != nil {
		if src, open := p.open(file.Name()); open {
			file.Text = src
		}
	}
	source, err := sources.New(file.Name(), file.Text)
	return source, rules.Source{Path: file.Name(), Text: source.Code, Notebook: source.Notebook != nil}, err
}

// imports lists the files of the project that a file imports.
func (p *project) imports(ctx context.Context, file crash.File) ([]crash.File, error) {
	_, code, err := p.source(file)
	if err != nil {
		return nil, err
	}
	paths, err := p.checker.Imports(ctx, code)
	if err != nil {
		return nil, err
	}
	var files []crash.File
	for _, path := range paths {
		for _, root := range p.roots {
			rel, err := filepath.Rel(root, path)
			if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				continue
			}
			if content, err := sources.Read(path, sources.Limit(path)); err == nil {
				files = append(files, crash.File{Root: root, Path: filepath.ToSlash(rel), Text: content})
			}
			break
		}
	}
	return files, nil
}

// suspects checks one file.
func (p *project) suspects(ctx context.Context, file crash.File) ([]crash.Suspect, error) {
	source, code, err := p.source(file)
	if err != nil {
		return nil, err
	}
	report, err := p.checker.Check(ctx, code)
	if err != nil {
		return nil, err
	}
	if report.Skipped != "" {
		return nil, errors.New(report.Skipped)
	}
	if len(report.Findings) == 0 {
		return nil, nil
	}
	tree, err := parseSource(code)
	if err != nil {
		return nil, err
	}
	within := functions{tree}
	var list []crash.Suspect
	for _, f := range report.Findings {
		if f.Memory == rules.NoMemory {
			continue
		}
		s := crash.Suspect{
			Path: file.Path, File: file.Name(), Code: f.Code, Message: f.Message,
			Severity:   severities[f.Severity],
			Function:   within.enclosing(f.Span.Start),
			Grows:      grows(f),
			PerEpoch:   perEpoch[f.Code],
			Evaluation: f.Rule == "evaluation-without-no-grad" || f.Rule == "trainer-keeps-logits",
		}
		s.Cell, s.Range = place(source, f.Span)
		for _, fix := range f.Fixes {
			s.Fixes = append(s.Fixes, crash.QuickFix{Title: fix.Title, Safety: string(fix.Safety)})
		}
		list = append(list, s)
	}
	return list, nil
}

// parseSource is the tree of a source.
func parseSource(code rules.Source) (*syntax.Tree, error) {
	read := syntax.Parse
	if code.Notebook {
		read = syntax.ParseNotebook
	}
	tree, err := read(code.Text)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return tree, nil
}

// place is a span as people know it: in the file, or in a cell.
func place(source sources.Source, span text.Span) (cell int, r crash.Range) {
	src := source.Code
	if nb := source.Notebook; nb != nil {
		number, local := nb.Locate(span)
		if number >= 0 {
			whole := nb.Cell(number)
			cell, src, span = nb.Number(number), src[whole.Start:whole.End], local
		}
	}
	lines := text.NewMapper(src)
	return cell, crash.Range{Start: position(lines, span.Start), End: position(lines, span.End)}
}

// perEpoch are the rules about what piles up once an epoch.
var perEpoch = map[string]bool{"GL202": true, "GL205": true, "GL206": true}

var severities = map[rules.Severity]crash.Severity{
	rules.Error: crash.SeverityError, rules.Warning: crash.SeverityWarning, rules.Hint: crash.SeverityHint,
}

func position(lines *text.Mapper, offset int) crash.Position {
	p := lines.Position(offset, text.UTF32)
	return crash.Position{Line: p.Line + 1, Column: p.Column + 1}
}

// grows says which memory a finding makes grow in earnest.
func grows(f rules.Finding) crash.Grows {
	switch {
	case f.Memory == rules.Device && f.Keeps == rules.Graph:
		return crash.DeviceGraph
	case f.Memory == rules.Device && (f.Keeps == rules.Values || f.Keeps == rules.Storage):
		return crash.DeviceValues
	case f.Memory == rules.Host:
		return crash.HostMemory
	}
	return crash.GrowsLittle
}

// functions finds the functions of a file by offset.
type functions struct{ tree *syntax.Tree }

// enclosing is the name of the innermost function around an offset, empty at
// module level.
func (f functions) enclosing(offset int) string {
	name := ""
	for n := f.tree.Root(); int(n) < f.tree.Len(); n++ {
		if f.tree.Kind(n) == syntax.FunctionDefinition && f.tree.Span(n).Contains(offset) {
			name = f.tree.Text(f.tree.Child(n, syntax.FieldName))
		}
	}
	return name
}
