package leaks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/analyzer/usage"
	"github.com/graphleak/graphleak/rules"
)

// TestGoldenFixes shows what each fix does. A txtar archive under
// <rule>/testdata/fixes has a comment on what it shows, the files of a program and,
// for each fix of each finding, a section named by the finding and the fix, with the
// change as a unified diff. With a pyproject.toml among the files they are a project
// that is checked as a whole. Run the test with -update to write these anew, and read
// the difference.
func TestGoldenFixes(t *testing.T) {
	paths, err := filepath.Glob("*/testdata/fixes/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			isGiven := func(f txtar.File) bool { return filepath.Ext(f.Name) == ".py" || f.Name == "pyproject.toml" }
			dir := t.TempDir()
			var given []txtar.File
			for _, f := range archive.Files {
				if isGiven(f) {
					given = append(given, f)
					require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o700))
					require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
				}
			}
			got := &txtar.Archive{Comment: archive.Comment, Files: append(slices.Clone(given), changes(t, dir, given)...)}
			if *update {
				require.NoError(t, os.WriteFile(path, txtar.Format(got), 0o600))
			}
			assert.Equal(t, string(txtar.Format(archive)), string(txtar.Format(got)))
		})
	}
}

// changes are the sections of all fixes of a program.
func changes(t *testing.T, dir string, files []txtar.File) []txtar.File {
	t.Helper()
	var out []txtar.File
	checker := rules.NewChecker(All()...).With(rules.Files{Project: projectOf(dir, files)})
	for _, f := range files {
		if filepath.Ext(f.Name) != ".py" {
			continue
		}
		src := rules.Source{Path: filepath.Join(dir, f.Name), Text: f.Data}
		report := check(t, checker, src)
		for _, finding := range report.Findings {
			if len(finding.Fixes) == 0 {
				out = append(out, txtar.File{Name: fmt.Sprintf("%s:%d %s no fix", f.Name, lineOf(f.Data, finding.Span), finding.Code)})
			}
			for _, fix := range finding.Fixes {
				name := fmt.Sprintf("%s:%d %s %s: %s", f.Name, lineOf(f.Data, finding.Span), finding.Code, fix.Safety, fix.Title)
				fixed := applied(t, dir, files, fix)
				var diff strings.Builder
				for i, before := range files {
					diff.WriteString(udiff.Unified(before.Name, before.Name, string(before.Data), string(fixed[i])))
				}
				out = append(out, txtar.File{Name: name, Data: []byte(diff.String())})
				holdsUp(t, name, dir, files, fixed, report.Findings, finding)
			}
		}
	}
	return out
}

// projectOf is what is known of the files around a checked one: of those with a
// pyproject.toml everything.
func projectOf(dir string, files []txtar.File) *usage.Project {
	if !slices.ContainsFunc(files, func(f txtar.File) bool { return f.Name == "pyproject.toml" }) {
		return nil
	}
	resolver := names.NewResolver(names.NewDisk(nil))
	return usage.New([]string{dir}, nil, func(string) *names.Resolver { return resolver })
}

// applied are the contents of files after a fix.
func applied(t *testing.T, dir string, files []txtar.File, fix rules.Fix) [][]byte {
	t.Helper()
	var out [][]byte
	for _, f := range files {
		var edits []text.Edit
		for _, e := range fix.Edits {
			if e.Path == filepath.Join(dir, f.Name) {
				edits = append(edits, e.Edit)
			}
		}
		fixed, err := text.Apply(f.Data, edits)
		require.NoError(t, err)
		out = append(out, fixed)
	}
	return out
}

// holdsUp looks at a program after a fix: it parses, the finding is gone, and
// there is no other one.
func holdsUp(t *testing.T, name, dir string, files []txtar.File, fixed [][]byte, before []rules.Finding, finding rules.Finding) {
	t.Helper()
	texts := map[string][]byte{}
	for i, f := range files {
		texts[filepath.Join(dir, f.Name)] = fixed[i]
	}
	checker := rules.NewChecker(All()...).With(rules.Files{Open: func(path string) ([]byte, bool) {
		content, ok := texts[path]
		return content, ok
	}})
	after := check(t, checker, rules.Source{Path: finding.Path, Text: texts[finding.Path]})
	assert.Empty(t, after.Damaged, name)
	for _, problem := range worse(before, finding, after.Findings) {
		t.Errorf("%s: %s", name, problem)
	}
}
