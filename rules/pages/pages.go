// Package pages finds the page about a rule or a failure, and shows it where it is
// read. The pages lie in folders of the repository and link to each other by their
// files, as Markdown does, so that the links work where the repository is read.
// Elsewhere there are no such files: a terminal wants names to ask for, and an
// editor its own addresses.
package pages

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/failures"
)

// Page is a page about a rule or a failure.
type Page struct {
	ID      string // the code of a rule or the id of a failure
	Title   string
	URL     string // of a rule
	Related []string

	source string
	rules  []*rules.Rule
}

// Lookup finds the page about a topic: the code or the name of a rule, or the id of
// a failure.
func Lookup(all []*rules.Rule, topic string) (Page, bool) {
	i := slices.IndexFunc(all, func(r *rules.Rule) bool { return r.Code == topic || r.Name == topic })
	if i >= 0 {
		r := all[i]
		p := Page{ID: r.Code, Title: r.Title(), URL: r.URL(), source: r.Doc, rules: all}
		p.Related = p.related()
		return p, true
	}
	f, ok := failures.Lookup(topic)
	if !ok {
		return Page{}, false
	}
	return Page{ID: f.ID, Title: f.Title, Related: f.Related, source: f.Body, rules: all}, true
}

// Text is the page for a terminal: it names other pages, without their files.
func (p Page) Text() string {
	return p.linked(func(text, _ string) string { return text })
}

// Linked is the page as Markdown whose links to other pages lead to where to puts
// the page of an id.
func (p Page) Linked(to func(id string) string) string {
	return p.linked(func(text, id string) string { return "[" + text + "](" + to(id) + ")" })
}

var link = regexp.MustCompile(`\[([^\]\n]*)\]\(([^)\s]+\.md)\)`)

// linked is the page with each link to another page replaced.
func (p Page) linked(replace func(text, id string) string) string {
	return strings.TrimSpace(link.ReplaceAllStringFunc(p.source, func(found string) string {
		m := link.FindStringSubmatch(found)
		if id, ok := p.target(m[2]); ok {
			return replace(m[1], id)
		}
		return found
	}))
}

// related are the pages that the last part but one of a rule's page links to.
func (p Page) related() []string {
	_, section, _ := strings.Cut(p.source, "\n## Related\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var ids []string
	for _, m := range link.FindAllStringSubmatch(section, -1) {
		if id, ok := p.target(m[2]); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// ruleFile is what the page of a rule is called in the folder of that rule.
const ruleFile = "doc.md"

// target is the id of the page in a file that another page links to.
func (p Page) target(file string) (string, bool) {
	dir, name := path.Split(file)
	if name != ruleFile {
		id := strings.TrimSuffix(name, ".md")
		_, ok := failures.Lookup(id)
		return id, ok
	}
	slug := path.Base(dir)
	i := slices.IndexFunc(p.rules, func(r *rules.Rule) bool { return r.Name == slug })
	if i < 0 {
		return "", false
	}
	return p.rules[i].Code, true
}
