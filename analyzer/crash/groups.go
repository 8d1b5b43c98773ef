package crash

import (
	"regexp"
	"strings"
)

// groups follows the bars that Python draws around the parts of exception
// groups, which nest.
type groups struct {
	open   bool
	levels []groupLevel
}

// groupLevel is a group whose parts are being read.
type groupLevel struct {
	column int // of the bars of its parts
	group  *Traceback
	parts  int // that were read
}

var (
	groupHeader = regexp.MustCompile(`^\s*[+|] Exception Group Traceback \(most recent call last\)`)
	groupBar    = regexp.MustCompile(`^\s*(?:\| ?)+`)
	groupRule   = regexp.MustCompile(`^\s*(?:\| )*\s*(\+-)?\+?-{4,}(?: (?:\d+|\.\.\.) -{4,})?$`)
	groupPart   = regexp.MustCompile(`- (?:\d+|\.\.\.) -`)
)

// part is the group that the traceback that begins is a part of.
func (g *groups) part() *Traceback {
	if n := len(g.levels); n > 0 {
		return g.levels[n-1].group
	}
	return nil
}

// read takes note of a traceback that is complete.
func (g *groups) read(t *Traceback) {
	if n := len(g.levels); n > 0 && t.Outer == g.levels[n-1].group {
		g.levels[n-1].parts++
	}
}

// lone is the innermost group if its parts are cut off.
func (g *groups) lone() *Traceback {
	if n := len(g.levels); n > 0 && g.levels[n-1].parts == 0 {
		return g.levels[n-1].group
	}
	return nil
}

// inner is a line without its bars.
func (g *groups) inner(text string) string { return groupBar.ReplaceAllString(text, "") }

// rule reports whether text is drawn between parts, and whether it ends the
// outermost group.
func (g *groups) rule(text string) (isRule, ends bool) {
	if !strings.Contains(text, "+-") || !groupRule.MatchString(text) {
		return false, false
	}
	return true, len(g.levels) <= 1 && !groupPart.MatchString(text)
}

// enter takes note of a rule: the finished group whose parts begin, or the part
// that ends.
func (g *groups) enter(p *tracebacks, text string) {
	column := strings.LastIndex(text[:strings.Index(text, "--")+1], "+")
	begins := strings.Contains(text, "+-+")
	for n := len(g.levels); n > 0 && (g.levels[n-1].column > column || g.levels[n-1].column == column && !begins && !groupPart.MatchString(text)); n-- {
		g.levels = g.levels[:n-1]
	}
	if begins && p.done != nil && len(g.levels) < maxChain {
		g.levels = append(g.levels, groupLevel{column: column, group: p.done})
		p.done, p.link = nil, unlinked
	}
}
