package failures

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/graphleak/graphleak/analyzer/crash"
)

// frontMatter is the YAML at the start of a page.
type frontMatter struct {
	ID         string           `yaml:"id"`
	Title      string           `yaml:"title"`
	Family     string           `yaml:"family"`
	Role       crash.Role       `yaml:"role"`
	Strength   int              `yaml:"strength"`
	Confidence crash.Confidence `yaml:"confidence"`
	Refines    string           `yaml:"refines"`
	Confirms   []string         `yaml:"confirms"`
	Follows    []string         `yaml:"follows"`
	Everywhere bool             `yaml:"everywhere"`
	Cause      string           `yaml:"cause"`
	Signatures []signature      `yaml:"signatures"`
	ExitCodes  []int            `yaml:"exit_codes"`
	Rivals     []rival          `yaml:"alternatives"`
	Fix        []fix            `yaml:"fix"`
	Verify     struct {
		Command string `yaml:"command"`
		Expect  string `yaml:"expect"`
		Shell   bool   `yaml:"shell"` // the command is one for a shell
	} `yaml:"verify"`
	Missing []string `yaml:"missing"`
	Related []string `yaml:"related"`
}

type signature struct {
	Name       string           `yaml:"name"`
	Versions   string           `yaml:"versions"`
	Scope      crash.Scope      `yaml:"scope"`
	Literals   []string         `yaml:"literals"`
	Within     []string         `yaml:"within"`
	Pattern    string           `yaml:"pattern"`
	Example    string           `yaml:"example"`
	Role       crash.Role       `yaml:"role"`     // that of the page if missing
	Strength   *int             `yaml:"strength"` // likewise
	Confidence crash.Confidence `yaml:"confidence"`
	Lasting    bool             `yaml:"lasting"`
	Fatal      bool             `yaml:"fatal"`
	Cause      string           `yaml:"cause"`
	Rivals     []rival          `yaml:"alternatives"`
	Fix        []fix            `yaml:"fix"`
	Missing    []string         `yaml:"missing"`
}

type rival struct {
	Failure string `yaml:"failure"`
	Why     string `yaml:"why"`
}

type fix struct {
	Title  string `yaml:"title"`
	Detail string `yaml:"detail"`
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
		ID: fm.ID, Title: fm.Title, Family: fm.Family, Role: fm.Role, Strength: fm.Strength, Confidence: fm.Confidence,
		Refines: fm.Refines, Confirms: fm.Confirms, Follows: fm.Follows, Everywhere: fm.Everywhere, Cause: strings.TrimSpace(fm.Cause), ExitCodes: fm.ExitCodes, Rivals: rivals(fm.Rivals), Fixes: fixes(fm.Fix),
		Verify: crash.Verify(fm.Verify), Missing: fm.Missing, Related: fm.Related, Body: strings.TrimLeft(string(body), "\n"),
	}
	for _, s := range fm.Signatures {
		compiled, err := s.compile(&fm)
		if err != nil {
			return crash.Page{}, fmt.Errorf("signature %s: %w", s.Name, err)
		}
		page.Signatures = append(page.Signatures, compiled)
	}
	return page, page.Validate()
}

// compile makes the signature that runs, with what it has from its page.
func (s *signature) compile(page *frontMatter) (crash.Signature, error) {
	pattern, err := compile(s.Pattern)
	if err != nil {
		return crash.Signature{}, err
	}
	strength := page.Strength
	if s.Strength != nil {
		strength = *s.Strength
	}
	return crash.Signature{
		Name: s.Name, Versions: s.Versions, Scope: s.Scope, Literals: s.Literals, Within: s.Within, Pattern: pattern, Example: s.Example,
		Role: cmp.Or(s.Role, page.Role), Strength: strength, Confidence: cmp.Or(s.Confidence, page.Confidence), Lasting: s.Lasting, Fatal: s.Fatal,
		Cause: strings.TrimSpace(s.Cause), Rivals: rivals(s.Rivals), Fixes: fixes(s.Fix), Missing: s.Missing,
	}, nil
}

func fixes(list []fix) []crash.Fix {
	var out []crash.Fix
	for _, f := range list {
		out = append(out, crash.Fix{Title: strings.TrimSpace(f.Title), Detail: strings.TrimSpace(f.Detail)})
	}
	return out
}

func rivals(list []rival) []crash.Rival {
	var out []crash.Rival
	for _, r := range list {
		out = append(out, crash.Rival{Failure: r.Failure, Why: strings.TrimSpace(r.Why)})
	}
	return out
}
