package leaks

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
)

// sections are the headings of every page about a rule, in this order.
var sections = []string{
	"What it finds", "What happens in memory", "Example", "When to ignore it", "Fix", "Versions", "Related", "References",
}

// longest is how many lines a page may have: people read it in the middle of
// other work.
const longest = 130

var (
	heading   = regexp.MustCompile(`(?m)^## (.*)$`)
	codeBlock = regexp.MustCompile("(?ms)^```python(?: (\\w+))?\n(.*?)^```$")
)

// example is a block of Python on a page; its mark is "good", "bad" or empty
// for a fragment.
type example struct{ mark, code string }

func examples(page string) []example {
	var out []example
	for _, m := range codeBlock.FindAllStringSubmatch(page, -1) {
		out = append(out, example{m[1], m[2]})
	}
	return out
}

// section is the text below a heading.
func section(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n## "+name+"\n")
	require.True(t, found, name)
	text, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(text)
}

func TestPagesHaveTheSameStructure(t *testing.T) {
	for _, rule := range All() {
		t.Run(rule.Code, func(t *testing.T) {
			assert.True(t, strings.HasPrefix(rule.Doc, "# "+rule.Name+": "), "the title starts with the rule's name")
			var got []string
			for _, m := range heading.FindAllStringSubmatch(rule.Doc, -1) {
				got = append(got, m[1])
			}
			assert.Equal(t, sections, got)
			for _, name := range sections {
				assert.NotEmpty(t, section(t, rule.Doc, name), name)
			}
			assert.LessOrEqual(t, strings.Count(rule.Doc, "\n"), longest)
		})
	}
}

func TestExamplesOfPages(t *testing.T) {
	checker := rules.NewChecker(All()...)
	for _, rule := range All() {
		t.Run(rule.Code, func(t *testing.T) {
			marks := map[string]int{}
			for i, e := range examples(rule.Doc) {
				marks[e.mark]++
				report := check(t, checker, rules.Source{Path: fmt.Sprintf("example%d.py", i), Text: []byte(e.code)})
				assert.Empty(t, report.Damaged, e.code)
				switch e.mark {
				case "bad":
					reports := false
					for _, f := range report.Findings {
						reports = reports || f.Code == rule.Code
						// The same code may also cost a peak.
						assert.True(t, f.Code == rule.Code || f.Severity == rules.Hint, "%s: %s", f.Code, f.Message)
					}
					assert.True(t, reports, e.code)
				case "good":
					assert.Empty(t, report.Findings, e.code)
				default:
					assert.Empty(t, e.mark, "an example is good, bad, or a fragment")
				}
			}
			assert.NotZero(t, marks["bad"], "a bad example")
			assert.NotZero(t, marks["good"], "a good example")
		})
	}
}

// TestCommentsOfBadExamples checks the severities that the examples promise.
func TestCommentsOfBadExamples(t *testing.T) {
	checker := rules.NewChecker(All()...)
	promise := regexp.MustCompile(`# (error|warning|hint): `)
	for _, rule := range All() {
		for _, e := range examples(rule.Doc) {
			report := check(t, checker, rules.Source{Text: []byte(e.code)})
			for i, line := range strings.Split(e.code, "\n") {
				m := promise.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				var got []string
				for _, f := range report.Findings {
					if f.Code == rule.Code && lineOf([]byte(e.code), f.Span) == i+1 {
						got = append(got, string(f.Severity))
					}
				}
				assert.Equal(t, []string{m[1]}, got, "%s: %s", rule.Code, line)
			}
		}
	}
}
