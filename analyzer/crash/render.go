package crash

import (
	"fmt"
	"strings"

	"github.com/fatih/color"
)

// section is one part of a rendered diagnosis.
type section struct {
	title string
	items []item
}

// item is one entry of a section: a head, and lines that explain it.
type item struct {
	head   string
	detail []string
	code   bool // head is program text
}

// sections are what both renderings show, in the order in which people ask.
func (d *Diagnosis) sections() []section {
	var list []section
	add := func(title string, items []item) {
		if len(items) > 0 {
			list = append(list, section{title, items})
		}
	}
	var where []item
	if d.Initiating != nil {
		where = append(where, item{head: d.Initiating.describe()})
	}
	add("Where", where)

	var suspects []item
	for _, s := range d.Suspects {
		suspects = append(suspects, item{head: s.head(), detail: present(distinct([]string{s.Message, s.Why}))})
	}
	add("Suspects in your code", suspects)

	var evidence []item
	for _, e := range d.Evidence {
		evidence = append(evidence, item{head: fmt.Sprintf("%s: %s", at(e.Input, e.Line), e.Text), detail: []string{e.Why}, code: true})
	}
	add("Evidence", evidence)

	var sums []item
	for _, a := range d.Arithmetic {
		sums = append(sums, item{head: a})
	}
	add("Arithmetic", sums)
	if g := d.Growth; g != nil {
		head, detail := g.lines()
		add("Growth", []item{{head: head, detail: detail}})
	}

	var fixes []item
	for _, f := range d.Fix {
		fixes = append(fixes, item{head: f.Title, detail: []string{f.Detail}})
	}
	add("What to do", fixes)
	if d.Verify.Command != "" {
		add("How to verify", []item{{head: d.Verify.Command, detail: []string{d.Verify.Expect}, code: true}})
	}
	var followed []item
	for _, c := range d.Collateral {
		head := fmt.Sprintf("%s: %s", at(c.Input, c.Line), c.Event)
		if c.Rank != nil {
			head = fmt.Sprintf("%s, rank %d: %s", at(c.Input, c.Line), *c.Rank, c.Event)
		}
		followed = append(followed, item{head: head})
	}
	add("What followed from it", followed)
	var others []item
	for _, a := range d.Alternatives {
		others = append(others, item{head: fmt.Sprintf("%s (%s)", a.Failure, a.Confidence), detail: []string{a.Why}})
	}
	add("Other explanations, and why not", others)
	var missing []item
	for _, m := range d.Missing {
		missing = append(missing, item{head: m})
	}
	add("What is missing to be sure", missing)
	return list
}

// head is the place of a suspect as editors read it, and its rule.
func (s *Suspect) head() string {
	p := s.Range.Start
	if s.Cell > 0 {
		return fmt.Sprintf("%s:cell %d:%d:%d %s", s.Path, s.Cell, p.Line, p.Column, s.Code)
	}
	return fmt.Sprintf("%s:%d:%d %s", s.Path, p.Line, p.Column, s.Code)
}

func (i *Initiating) describe() string {
	var parts []string
	if i.Rank != nil {
		parts = append(parts, fmt.Sprintf("rank %d", *i.Rank))
	}
	if i.Host != "" {
		parts = append(parts, "host "+i.Host)
	}
	parts = append(parts, at(i.Input, i.Line))
	if i.When != "" {
		parts = append(parts, i.When)
	}
	return strings.Join(parts, ", ")
}

func at(input string, line int) string {
	if input != "" {
		return fmt.Sprintf("%s line %d", input, line)
	}
	return fmt.Sprintf("line %d", line)
}

// Markdown renders d for an editor.
func (d *Diagnosis) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n`%s`, confidence: **%s**\n", escapeMarkdown(d.Title), escapeMarkdown(d.Cause), d.Failure, d.Confidence)
	for _, s := range d.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		for _, i := range s.items {
			if i.code {
				fmt.Fprintf(&b, "- %s", codeSpan(i.head))
			} else {
				fmt.Fprintf(&b, "- %s", escapeMarkdown(i.head))
			}
			for _, line := range i.detail {
				fmt.Fprintf(&b, "  \n  %s", escapeMarkdown(line))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// escapeMarkdown keeps text from being read as markup. Code in back quotes
// stays code: messages use it.
func escapeMarkdown(s string) string {
	var b strings.Builder
	code := false
	balanced := strings.Count(s, "`")%2 == 0
	for _, r := range s {
		if r == '`' && balanced {
			code = !code
			b.WriteRune(r)
			continue
		}
		if !code && strings.ContainsRune("\\`*_[]<>#|", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// codeSpan quotes s with more back quotes than it has in a row.
func codeSpan(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// Text renders d for a terminal of the given width, with colours if colored.
func (d *Diagnosis) Text(width int, colored bool) string {
	style := func(attributes ...color.Attribute) *color.Color {
		c := color.New(attributes...)
		if colored {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	strong, heading, faint, plain := style(color.Bold), style(color.FgCyan, color.Bold), style(color.Faint), style()
	tone := map[Confidence]*color.Color{High: style(color.FgGreen), Medium: style(color.FgYellow), Low: style(color.FgRed)}[d.Confidence]
	if tone == nil {
		tone = faint
	}

	var b strings.Builder
	// Line by line: pagers end a colour with the line.
	paint := func(c *color.Color, lines string) {
		for line := range strings.Lines(lines) {
			b.WriteString(c.Sprint(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	fmt.Fprintf(&b, "%s\n%s %s\n\n", strong.Sprint(d.Title), faint.Sprint(d.Failure+", confidence"), tone.Sprint(d.Confidence))
	b.WriteString(wrap(d.Cause, "", "", width))
	for _, s := range d.sections() {
		fmt.Fprintf(&b, "\n%s\n", heading.Sprint(s.title))
		for _, i := range s.items {
			// Of a finding the text matters, of a line of the log the line itself.
			head, detail := strong, plain
			if i.code || len(i.detail) == 0 {
				head, detail = plain, faint
			}
			paint(head, wrap(i.head, "  ", "    ", width))
			for _, line := range i.detail {
				paint(detail, wrap(line, "    ", "    ", width))
			}
		}
	}
	return b.String()
}

// wrap breaks s between words so that lines with their indentation fit the
// width. A width of zero or less does not break.
func wrap(s, first, rest string, width int) string {
	var b strings.Builder
	line, length := first, len(first)
	empty := true
	for _, word := range strings.Fields(s) {
		n := len([]rune(word))
		if !empty && width > 0 && length+1+n > width {
			b.WriteString(line + "\n")
			line, length, empty = rest, len(rest), true
		}
		if !empty {
			line += " "
			length++
		}
		line += word
		length += n
		empty = false
	}
	b.WriteString(line + "\n")
	return b.String()
}
