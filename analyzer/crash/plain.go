package crash

import (
	"fmt"
	"path"
	"strings"
)

// plainVerdict is the answer about an event whose page needs no refinement.
func (in *incident) plainVerdict(e *Event) verdict {
	v := verdict{failure: e.Page.ID, confidence: e.confidence(), fields: make(map[string]string)}
	for name, value := range e.Fields {
		v.fields[name] = value
	}
	details := in.details(e)
	for _, o := range details {
		for name, value := range o.Fields {
			if v.fields[name] == "" {
				v.fields[name] = value
			}
		}
	}
	if len(details) == 0 && e.Signature != nil {
		v.missing = append(v.missing, e.Signature.Missing...)
	}
	v.arithmetic = hostArithmetic(v.fields)
	v.cause = e.said()
	for _, cause := range e.causes(details) {
		if text, complete := fill(cause, v.fields); complete && text != "" {
			v.cause = text
			break
		}
	}
	v.cause = strings.TrimSuffix(strings.TrimSpace(v.cause), ".") + "."
	t := e.Traceback
	if t == nil {
		return v
	}
	if f, ok := t.innermost(userFrame); ok {
		v.fields["path"], v.fields["line"], v.fields["function"] = f.Path, fmt.Sprint(f.Line), f.Func
		v.cause += raisedAt(t, f)
	}
	if t.Forward != nil {
		if f, ok := t.Forward.innermost(userFrame); ok {
			v.cause += fmt.Sprintf(" What it failed on was made at %s (%s).", place(f), f.inFunc())
		}
	}
	if t.Cause != nil && t.Cause.Type != "" {
		v.cause += fmt.Sprintf(" It followed from %s.", strings.TrimSuffix(t.Cause.summary(), "."))
	}
	if t.Outer != nil && t.Outer.Type != "" && len(t.Outer.Message) > 0 {
		v.cause += fmt.Sprintf(" It was reported by %s.", strings.TrimSuffix(t.Outer.summary(), "."))
	}
	if t.Unsaid {
		v.cause += " Its message is cut off."
		v.missing = append(v.missing, "the end of the traceback: the line with the exception and its message")
	}
	if t.Headless || t.Bare {
		v.missing = append(v.missing, "the top of the traceback")
	}
	return v
}

// said is what the log says of the event.
func (e *Event) said() string {
	if e.Page.ID == pythonExceptionID {
		return strings.TrimSuffix(e.Fields["type"]+": "+e.Fields["message"], ": ")
	}
	return e.Text
}

// confidence is how sure the event is by itself: what the text proves is High.
// A signal has more causes than one, and a report may only repeat another rank's
// failure. An exception known from its page is what it is without its calls; of
// any other a line alone may come from elsewhere.
func (e *Event) confidence() Confidence {
	c := High
	switch {
	case e.Strength <= reported && e.Role != RoleAdvice:
		c = Low
	case e.Strength <= fatalSignal:
		c = Medium
	}
	most := e.Page.Confidence
	if e.Signature != nil {
		most = e.Signature.Confidence
	}
	if most != "" {
		c = c.atMost(most)
	}
	if t := e.Traceback; t != nil {
		known := e.Page.ID != pythonExceptionID
		switch {
		case (t.Bare || t.Unsaid) && !known:
			c = Low
		case t.Bare, t.Unsaid, t.Headless && !known:
			c = c.atMost(Medium)
		}
	}
	return c
}

// raisedAt says where in the user's code an exception came up.
func raisedAt(t *Traceback, f Frame) string {
	if len(t.Frames) > 0 && !userFrame(t.Frames[len(t.Frames)-1]) {
		return fmt.Sprintf(" It was raised in a library that %s (%s) called.", place(f), f.inFunc())
	}
	return fmt.Sprintf(" It was raised in %s (%s).", place(f), f.inFunc())
}

// summary is the exception with the first line of its message.
func (t *Traceback) summary() string {
	if len(t.Message) == 0 || t.Message[0].Text == "" {
		return t.Type
	}
	return t.Type + ": " + t.Message[0].Text
}

func place(f Frame) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(f.Path, `\`, "/")), f.Line)
	}
	return f.Path
}

func (f Frame) inFunc() string {
	if f.Func == "" || f.Func == "<module>" {
		return "module level"
	}
	return "in " + f.Func
}
