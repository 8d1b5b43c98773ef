package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"

	"github.com/graphleak/graphleak/rules"
)

// maxSnippet is how many columns of a source line are shown.
const maxSnippet = 120

// palette holds the colours of a text report.
type palette struct {
	severity map[rules.Severity]*color.Color
	path     *color.Color
	code     *color.Color
	faint    *color.Color
	fix      *color.Color
}

func newPalette(enabled bool) palette {
	style := func(attributes ...color.Attribute) *color.Color {
		c := color.New(attributes...)
		if enabled {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	return palette{
		severity: map[rules.Severity]*color.Color{
			rules.Error:   style(color.FgRed, color.Bold),
			rules.Warning: style(color.FgYellow, color.Bold),
			rules.Hint:    style(color.FgCyan, color.Bold),
		},
		path:  style(color.Bold),
		code:  style(color.FgMagenta),
		faint: style(color.Faint),
		fix:   style(color.FgGreen),
	}
}

// textWriter writes a report for people. The first line of each finding has
// the form that editors and terminals know from compilers.
type textWriter struct {
	*bufio.Writer
	locator
	palette
}

func writeText(w io.Writer, result Result, l locator, colored bool) error {
	out := textWriter{Writer: bufio.NewWriter(w), locator: l, palette: newPalette(colored)}
	for _, f := range result.Findings {
		out.finding(f)
	}
	for _, s := range result.Skipped {
		fmt.Fprintf(out, "%s: skipped: %s\n", out.path.Sprint(printable(s.Path)), printable(s.Reason))
	}
	if len(result.Skipped) > 0 {
		fmt.Fprintln(out)
	}
	out.summary(result)
	return out.Flush()
}

func (out textWriter) finding(f rules.Finding) {
	severity := out.severity[f.Severity]
	fmt.Fprintf(out, "%s: %s: %s %s\n",
		out.path.Sprint(out.place(f.Path, f.Span)),
		severity.Sprint(f.Severity),
		printable(f.Message),
		out.code.Sprintf("[%s %s]", f.Code, f.Rule))
	out.snippet(out.place(f.Path, f.Span), severity)
	for _, e := range f.Evidence {
		fmt.Fprintf(out, "  %s  %s\n", out.faint.Sprint(out.place(e.Path, e.Span)), printable(e.Message))
	}
	for _, fix := range f.Fixes {
		how := "--fix"
		if fix.Safety != rules.Safe {
			how = "--fix --unsafe-fixes"
		}
		fmt.Fprintf(out, "  %s %s %s\n", out.fix.Sprint("fix:"), printable(fix.Title), out.faint.Sprintf("(%s)", how))
	}
	fmt.Fprintln(out)
}

// String is the place as editors and terminals know it.
func (p place) String() string {
	path := printable(p.path)
	if p.cell > 0 {
		path += fmt.Sprintf(":cell %d", p.cell)
	}
	at := p.extent().Start
	return fmt.Sprintf("%s:%d:%d", path, at.Line, at.Column)
}

// snippet shows the line of a place with carets below its span. Of a span of
// several lines the first is shown, of a very long line the part around it.
func (out textWriter) snippet(at place, carets *color.Color) {
	span, source := at.span, at.src
	number := at.mapper.LineAt(span.Start)
	line := at.mapper.Line(number)

	before := printable(string(source[line.Start:span.Start]))
	marked := printable(string(source[span.Start:max(span.Start, min(span.End, line.End))]))
	after := printable(string(source[span.Start+min(span.Len(), max(0, line.End-span.Start)) : line.End]))
	before = cutLeft(before, maxSnippet/2)
	marked = runewidth.Truncate(marked, maxSnippet/2, "…")
	after = runewidth.Truncate(after, max(0, maxSnippet-runewidth.StringWidth(before+marked)), "…")

	label := fmt.Sprintf("%5d", number+1)
	fmt.Fprintf(out, "%s %s\n", out.faint.Sprint(label+" |"), before+marked+after)
	fmt.Fprintf(out, "%s %s%s\n", out.faint.Sprint(strings.Repeat(" ", len(label))+" |"),
		strings.Repeat(" ", runewidth.StringWidth(before)),
		carets.Sprint(strings.Repeat("^", max(1, runewidth.StringWidth(marked)))))
}

// cutLeft shortens s to its last columns.
func cutLeft(s string, columns int) string {
	if excess := runewidth.StringWidth(s) - columns; excess > 0 {
		return runewidth.TruncateLeft(s, excess+1, "…")
	}
	return s
}

// printable replaces what would move the cursor or change the terminal: a
// source file is not allowed to do either. Tabs take four columns.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// summary says in one paragraph what was found and what to do next.
func (out textWriter) summary(result Result) {
	checked := count(result.Files, "file")
	if n := len(result.Skipped); n > 0 {
		checked += fmt.Sprintf(" (%s skipped in whole or part)", count(n, "path"))
	}
	switch {
	case result.Files == 0:
		fmt.Fprintln(out, "No Python files found.")
		return
	case len(result.Findings) == 0:
		fmt.Fprintf(out, "No leaks found in %s.\n", checked)
		return
	}
	perSeverity := make(map[rules.Severity]int)
	perFile := make(map[string]int)
	safe := 0
	for _, f := range result.Findings {
		perSeverity[f.Severity]++
		perFile[f.Path]++
		if slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool { return fix.Safety == rules.Safe }) {
			safe++
		}
	}
	var parts []string
	for _, s := range []rules.Severity{rules.Error, rules.Warning, rules.Hint} {
		if n := perSeverity[s]; n > 0 {
			parts = append(parts, out.severity[s].Sprint(count(n, string(s))))
		}
	}
	fmt.Fprintf(out, "Found %s in %d of %s.", strings.Join(parts, ", "), len(perFile), checked)
	if safe > 0 {
		fmt.Fprintf(out, " Run again with --fix to repair %d of them, or with --diff to see how.", safe)
	}
	fmt.Fprintf(out, "\nWhy it matters: graphleak explain %s\n", result.Findings[0].Code)
}

// count is a number with its noun: "1 file", "2 files".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
