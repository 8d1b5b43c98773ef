// Package failures is the knowledge about how runs fail, as pages: one Markdown
// file for each failure id. Its front matter is what the diagnosis runs on
// (signatures, role, fixes, verification, missing facts), its text is what
// people read.
//
// To teach the diagnosis a new failure, add a page and logs that show it under
// testdata/logs.
package failures

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/graphleak/graphleak/analyzer/crash"
)

//go:embed *.md
var files embed.FS

// load parses the embedded pages once.
var load = sync.OnceValues(func() ([]crash.Page, *crash.Knowledge) {
	pages, err := parseAll(files)
	if err != nil {
		panic(err) // the pages are part of the program, like its code
	}
	knowledge, err := crash.NewKnowledge(pages)
	if err != nil {
		panic(err)
	}
	return pages, knowledge
})

// Pages returns all pages, in the order of their ids.
func Pages() []crash.Page {
	pages, _ := load()
	return append([]crash.Page(nil), pages...)
}

// Lookup returns the page of a failure id.
func Lookup(id string) (crash.Page, bool) {
	pages, _ := load()
	for _, p := range pages {
		if p.ID == id {
			return p, true
		}
	}
	return crash.Page{}, false
}

func parseAll(fsys fs.FS) ([]crash.Page, error) {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, err
	}
	var pages []crash.Page
	var wrong []error
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		page, err := parse(name, src)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			continue
		}
		pages = append(pages, page)
	}
	return pages, errors.Join(wrong...)
}

// frontMatter is the YAML at the start of a page.
type frontMatter struct {
	ID         string      `yaml:"id"`
	Title      string      `yaml:"title"`
	Family     string      `yaml:"family"`
	Role       crash.Role  `yaml:"role"`
	Strength   int         `yaml:"strength"`
	Refines    string      `yaml:"refines"`
	Cause      string      `yaml:"cause"`
	Signatures []signature `yaml:"signatures"`
	ExitCodes  []int       `yaml:"exit_codes"`
	Fix        []struct {
		Title  string `yaml:"title"`
		Detail string `yaml:"detail"`
	} `yaml:"fix"`
	Verify struct {
		Command string `yaml:"command"`
		Expect  string `yaml:"expect"`
	} `yaml:"verify"`
	Missing []string `yaml:"missing"`
	Related []string `yaml:"related"`
}

type signature struct {
	Name     string      `yaml:"name"`
	Versions string      `yaml:"versions"`
	Scope    crash.Scope `yaml:"scope"`
	Strength int         `yaml:"strength"`
	Literals []string    `yaml:"literals"`
	Pattern  string      `yaml:"pattern"`
}

var fence = []byte("---\n")

// parse reads one page.
func parse(name string, src []byte) (crash.Page, error) {
	rest, ok := bytes.CutPrefix(src, fence)
	if !ok {
		return crash.Page{}, errors.New("a page starts with front matter between lines of ---")
	}
	head, body, ok := bytes.Cut(rest, append([]byte("\n"), fence...))
	if !ok {
		return crash.Page{}, errors.New("the front matter does not end with a line of ---")
	}
	var fm frontMatter
	if err := yaml.UnmarshalWithOptions(head, &fm, yaml.Strict()); err != nil {
		return crash.Page{}, fmt.Errorf("front matter: %w", err)
	}
	if want := fm.ID + ".md"; name != want {
		return crash.Page{}, fmt.Errorf("the page of %s is called %s", fm.ID, want)
	}
	page := crash.Page{
		ID: fm.ID, Title: fm.Title, Family: fm.Family, Role: fm.Role, Strength: fm.Strength, Refines: fm.Refines, Cause: fm.Cause,
		ExitCodes: fm.ExitCodes, Verify: crash.Verify(fm.Verify), Missing: fm.Missing, Related: fm.Related,
		Body: strings.TrimLeft(string(body), "\n"),
	}
	for _, f := range fm.Fix {
		page.Fixes = append(page.Fixes, crash.Fix(f))
	}
	for _, s := range fm.Signatures {
		pattern, err := compile(s.Pattern)
		if err != nil {
			return crash.Page{}, fmt.Errorf("signature %s: %w", s.Name, err)
		}
		page.Signatures = append(page.Signatures, crash.Signature{
			Name: s.Name, Versions: s.Versions, Scope: s.Scope, Strength: s.Strength, Literals: s.Literals, Pattern: pattern,
		})
	}
	return page, page.Validate()
}

// kinds are what a field of a pattern may be.
var kinds = map[string]string{
	"size": `\d[\d,]*(?:\.\s?\d+)?\s*(?:[bB]ytes|[KMGTPE]i?B|B)`,
	"int":  `\d+`,
	"word": `\S+?`,
	"text": `.+?`,
}

var space = regexp.MustCompile(` [+*?]?`)

var fieldPattern = regexp.MustCompile(`%\{(\w+)(?::(\w+))?\}`)

// compile makes a regular expression of a pattern. In patterns, %{kind:name} is
// a field, %{kind} one without a name, and a space stands for any white space
// (" ?" for any or none), since messages are wrapped when they are pasted.
func compile(pattern string) (*regexp.Regexp, error) {
	var unknown error
	expanded := space.ReplaceAllStringFunc(strings.TrimSpace(pattern), func(s string) string {
		if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "*") {
			return `\s*`
		}
		return `\s+`
	})
	expanded = fieldPattern.ReplaceAllStringFunc(expanded, func(s string) string {
		m := fieldPattern.FindStringSubmatch(s)
		kind, ok := kinds[m[1]]
		if !ok {
			unknown = fmt.Errorf("%s: there is no kind of field %q", s, m[1])
		}
		if m[2] == "" {
			return "(?:" + kind + ")"
		}
		return "(?P<" + m[2] + ">" + kind + ")"
	})
	if unknown != nil {
		return nil, unknown
	}
	return regexp.Compile(expanded)
}
