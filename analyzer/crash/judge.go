package crash

import (
	"regexp"
	"slices"
	"strings"
)

// traceback turns a chain of exceptions into an event: of the one that is
// known to start failures, else of the first that is known at all, else of the
// last one.
func (s *inputState) traceback(t *Traceback, key string, listed *worker) {
	if t.Bare && foreignTrace(t) {
		return
	}
	best := s.judge(t)
	e := &Event{
		Page: best.page, Signature: best.signature, Strength: best.strength, Role: best.page.Role, Fields: best.fields,
		Origin: best.of.Origin, Line: best.line(), Text: best.text(), Traceback: best.of,
	}
	if best.signature != nil {
		e.Role = best.signature.Role
	}
	if best.of.Ignored {
		e.Strength, e.Role = 0, RoleTeardown
	}
	if e.Origin.Rank < 0 && t.Outer != nil {
		e.Origin.Rank = t.Outer.Origin.Rank
	}
	if listed != nil {
		e.Listed, e.NamedRoot = true, listed.root
		e.Origin.Rank, e.Origin.LocalRank, e.Origin.Host, e.Origin.Time = listed.rank, listed.localRank, listed.host, listed.time
	}
	s.add(e, key, t.First)
}

// foreignTrace reports whether a lone exception line is followed by the calls
// of a Java or JavaScript program.
func foreignTrace(t *Traceback) bool {
	return len(t.Message) > 1 && foreignCall.MatchString(t.Message[1].Text)
}

var foreignCall = regexp.MustCompile(`^\s*at [\w$.<>/:]+`)

// judgement is what one exception of a chain means.
type judgement struct {
	of        *Traceback
	page      *Page
	signature *Signature
	strength  int
	fields    map[string]string
	known     bool
}

func (j judgement) line() int {
	if len(j.of.Message) > 0 {
		return j.of.Message[0].No
	}
	return j.of.Last
}

func (j judgement) text() string {
	if len(j.of.Message) == 0 {
		return ""
	}
	first := j.of.Message[0].Text
	if first == "" {
		return j.of.Type
	}
	return j.of.Type + ": " + first
}

// judge finds the exception of a chain that matters: of those that are known
// the strongest, of these the first; the others were raised while it was
// handled. If none is known, it is the last one.
func (s *inputState) judge(t *Traceback) judgement {
	var all []judgement
	for _, e := range t.exceptions() {
		all = append(all, s.judgeOne(e))
	}
	best := all[len(all)-1]
	for _, j := range slices.Backward(all) {
		if j.known && (!best.known || j.strength > best.strength || j.strength == best.strength && !probing(j.of.Type)) {
			best = j
		}
	}
	// An exception that follows from another process's failure says nothing
	// where one of the program's own came before it.
	if best.strength < ownException {
		for _, j := range all {
			if j.strength > best.strength {
				return j
			}
		}
	}
	return best
}

// within reports whether a call of the chain is in one of the paths. Any call
// will do where none is asked for.
func (t *Traceback) within(paths []string) bool {
	if len(paths) == 0 {
		return true
	}
	for _, e := range t.exceptions() {
		for _, f := range e.Frames {
			if containsAny(strings.ReplaceAll(f.Path, `\`, "/"), paths) {
				return true
			}
		}
	}
	return false
}

// probing reports whether programs raise such exceptions on purpose, to see
// what is there, and go on differently.
func probing(exception string) bool {
	switch exception {
	case "ImportError", "ModuleNotFoundError":
		return true
	}
	return false
}

// raising matches code that raises an exception, rethrowing code that passes on
// one that was caught.
var (
	raising    = regexp.MustCompile(`^raise ((?:[A-Za-z_]\w*\.)*[A-Z]\w*)\(`)
	rethrowing = regexp.MustCompile(`^raise ((?:[A-Za-z_]\w*\.)*[A-Z]\w*)\(.*\.with_traceback\(`)
)

// infer reads the type of an exception whose own line is cut off from the code
// of its calls.
func (t *Traceback) infer() {
	if t.Type != "" || t.Dump || len(t.Frames) == 0 {
		return
	}
	m := raising.FindStringSubmatch(t.last().Code)
	at := t.last().At
	for i := 0; m == nil && i < len(t.Frames); i++ {
		m, at = rethrowing.FindStringSubmatch(t.Frames[i].Code), t.Frames[i].At
	}
	if m != nil {
		t.Type, t.Unsaid = m[1], true
		t.Message = []Line{{No: at, Origin: t.Origin}}
	}
}

func (s *inputState) judgeOne(t *Traceback) judgement {
	j := judgement{of: t}
	t.infer()
	if t.Type == "" {
		j.page = s.knowledge.byID[unknownID]
		if t.Outer != nil && t.Outer.Type != "" {
			return s.judgeOne(t.Outer) // its end is cut off, but who reports it says more
		}
		return j
	}
	text := t.text()
	page, sig, fields := s.knowledge.recognise(text, InException)
	if page == nil && t.Native {
		page, sig, fields = s.knowledge.recognise(text, InLine)
	}
	if abort := s.knowledge.byID[abortID]; page == nil && t.Native && abort != nil {
		j.page, j.strength, j.known = abort, abort.Strength, true
		return j
	}
	if page == nil || !t.within(sig.Within) {
		return s.judgeUnknown(t)
	}
	if glued := t.glued(); glued != text {
		// A terminal's width may have cut words: the reading without spaces is
		// better if it tells more.
		if m := sig.match(clip(glued)); len(m) > len(fields) {
			fields = m
		}
	}
	j.page, j.signature, j.strength, j.fields, j.known = page, sig, sig.Strength, fields, true
	return j
}

// judgeUnknown is the judgement of an exception that no page knows. If the one
// that only reports it is known to start failures, such as that of a worker,
// then its page tells what this one means.
func (s *inputState) judgeUnknown(t *Traceback) judgement {
	j := judgement{of: t, page: s.knowledge.byID[pythonExceptionID], fields: map[string]string{"type": t.Type}}
	j.strength = j.page.Strength
	if len(t.Message) > 0 {
		j.fields["message"] = t.Message[0].Text
	}
	if t.Outer == nil {
		return j
	}
	page, sig, fields := s.knowledge.recognise(t.Outer.text(), InException)
	if page == nil || sig.Role != RoleInitiating || sig.Strength < ownException {
		return j
	}
	for name, value := range fields {
		j.fields[name] = value
	}
	j.page, j.signature, j.strength, j.known = page, sig, sig.Strength, true
	return j
}

// glued is text with the lines of the message joined without a space.
func (t *Traceback) glued() string {
	var b strings.Builder
	b.WriteString(t.Type + ": ")
	for _, l := range t.Message {
		b.WriteString(l.Text)
	}
	return b.String()
}
