package crash

import (
	"fmt"
	"slices"
)

// maxAlternatives bounds how many other explanations a diagnosis names.
const maxAlternatives = 5

// alternatives are the other explanations of e: those that its page names, and
// the other failures of the log that explain as much by themselves.
func (in *incident) alternatives(e *Event, ended []*Event) []Alternative {
	var list []Alternative
	add := func(failure, why string) {
		for _, a := range list {
			if a.Failure == failure {
				return
			}
		}
		if len(list) < maxAlternatives {
			list = append(list, Alternative{Failure: failure, Confidence: Low, Why: why})
		}
	}
	if e.explains == nil {
		if e.Signature != nil {
			for _, r := range e.Signature.Rivals {
				add(r.Failure, r.Why)
			}
		}
		for _, r := range e.Page.Rivals {
			add(r.Failure, r.Why)
		}
	}
	for _, o := range in.events {
		if o.Recovered != nil && slices.Contains(o.Page.Confirms, e.Page.ID) {
			add(o.Page.ID, fmt.Sprintf("line %d says so of an earlier failure, after which the run went on", o.Line))
		}
	}
	for _, o := range ended {
		if o.Page == e.Page || in.strength(o) < ownException {
			continue
		}
		switch {
		case in.strength(o) < in.strength(e):
			add(o.Page.ID, fmt.Sprintf("line %d shows it too, but %s is what the system itself confirms", o.Line, e.Page.ID))
		case in.before(e, o) < 0:
			add(o.Page.ID, fmt.Sprintf("line %d shows it too, but after this", o.Line))
		default:
			add(o.Page.ID, fmt.Sprintf("line %d shows it too; which of the two came first is not certain", o.Line))
		}
	}
	return list
}
