package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/graphleak/graphleak/rules"
)

// Layer is what one place says about the rules: the configuration file, the
// editor's settings, or the command line. Later layers win.
type Layer struct {
	// Select names the rules that run; nil leaves that to the layers before.
	Select []Selector `toml:"select,omitempty" json:"select"`
	// Ignore names rules that do not run, although selected by a shorter
	// beginning of their codes.
	Ignore []Selector `toml:"ignore,omitempty" json:"ignore"`
	// Severity is what findings of some rules count as.
	Severity map[Selector]rules.Severity `toml:"severity,omitempty" json:"severity"`
}

// check reports what is wrong with the layer, if there are these rules: a path of
// keys, and why.
func (l *Layer) check(all []*rules.Rule, fault func(why error, path ...any)) {
	named := func(key string, list []Selector) {
		for i, s := range list {
			if err := s.Check(all); err != nil {
				fault(err, key, i)
			}
		}
	}
	named("select", l.Select)
	named("ignore", l.Ignore)
	for _, s := range slices.Sorted(maps.Keys(l.Severity)) {
		if err := s.Check(all); err != nil {
			fault(err, "severity", string(s))
		}
		switch severity := l.Severity[s]; severity {
		case rules.Error, rules.Warning, rules.Hint:
		default:
			known := []string{string(rules.Error), string(rules.Warning), string(rules.Hint)}
			fault(fmt.Errorf("%q is no severity%s There are error, warning and hint; a rule is turned off by ignore", severity, didYouMean(string(severity), known)), "severity", string(s))
		}
	}
}

// Sound is the layer without what is wrong with it, if there are these rules, and
// what that is.
func (l *Layer) Sound(all []*rules.Rule) (Layer, []error) {
	var wrong []error
	bad := make(map[[2]any]bool)
	l.check(all, func(why error, path ...any) {
		bad[[2]any{path[0], path[1]}] = true
		wrong = append(wrong, fmt.Errorf("%v: %w", path[0], why))
	})
	without := func(key string, list []Selector) []Selector {
		var out []Selector
		if list != nil {
			out = []Selector{}
		}
		for i, s := range list {
			if !bad[[2]any{key, i}] {
				out = append(out, s)
			}
		}
		return out
	}
	out := Layer{Select: without("select", l.Select), Ignore: without("ignore", l.Ignore)}
	for s, severity := range l.Severity {
		if !bad[[2]any{"severity", string(s)}] {
			if out.Severity == nil {
				out.Severity = make(map[Selector]rules.Severity)
			}
			out.Severity[s] = severity
		}
	}
	return out, wrong
}

// decide is whether a rule runs, which without this layer is decided.
func (l *Layer) decide(r *rules.Rule, decided bool) bool {
	selected, ignored := strongest(l.Select, r), strongest(l.Ignore, r)
	if l.Select != nil {
		decided = selected > 0
	}
	return decided && (ignored == 0 || ignored < selected)
}

// severity is what findings of a rule count as, which without this layer is
// known, or empty for what they have.
func (l *Layer) severity(r *rules.Rule, known rules.Severity) rules.Severity {
	best := 0
	for s, severity := range l.Severity {
		if strength := s.strength(r); strength > best {
			best, known = strength, severity
		}
	}
	return known
}

// preferences are what layers say, from the first to the last, about a file of
// which some rules are to be ignored.
func preferences(all []*rules.Rule, layers []Layer, ignored []Selector) rules.Preferences {
	p := rules.Preferences{Off: map[string]bool{}, Severity: map[string]rules.Severity{}}
	for _, r := range all {
		on, severity := true, rules.Severity("")
		for _, l := range layers {
			on, severity = l.decide(r, on), l.severity(r, severity)
		}
		if !on || strongest(ignored, r) > 0 {
			p.Off[r.Code] = true
		}
		if severity != "" {
			p.Severity[r.Code] = severity
		}
	}
	return p
}
