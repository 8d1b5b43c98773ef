package crash

import (
	"regexp"
	"strings"
)

// Page is what is known about one failure: how to recognise it, how it relates
// to others, and what to do about it. Pages are written by people; Validate
// tells them what is wrong.
type Page struct {
	ID     string
	Title  string
	Family string
	Role   Role
	// Strength orders what may have started an incident: 5 for a confirmation
	// by hardware, kernel or scheduler, 4 for an exception of the program's own,
	// 3 for a fatal signal, 1 for a report that may only repeat another rank's
	// failure, 0 for what never starts anything.
	Strength int
	// Confidence is the most that the text by itself can prove. Empty leaves it
	// to the strength.
	Confidence Confidence
	Signatures []Signature
	// Cause says in a sentence or two what happened, with the fields of the
	// event. Without it the message speaks for itself.
	Cause string
	// Refines names the page whose signatures recognise this failure too. The
	// numbers and the context of the message then tell them apart.
	Refines string
	// Confirms names the pages of what a process says, or a launcher says of it,
	// when it dies of this failure. The failure explains such an event before it.
	Confirms []string
	// Follows names the pages of failures that end a process in this way: after
	// one of them in the same process this is a consequence.
	Follows []string
	// Everywhere says that all ranks raise it together: which of them comes first
	// in the log means nothing.
	Everywhere bool
	// ExitCodes are the exit codes of a process, as launchers report them, that
	// mean this failure.
	ExitCodes []int
	Rivals    []Rival
	Fixes     []Fix
	Verify    Verify
	Missing   []string
	Related   []string
	Body      string // Markdown for people
}

// Role says what an event has to do with the failure of a run.
type Role string

// Initiating events start failures, Collateral ones follow from them,
// Confirmation comes from the system about a process that died earlier,
// Teardown is how launchers end the rest, and Advice is text that libraries
// print along.
const (
	RoleInitiating   Role = "initiating"
	RoleCollateral   Role = "collateral"
	RoleConfirmation Role = "confirmation"
	RoleTeardown     Role = "teardown"
	RoleAdvice       Role = "advice"
)

// Signature recognises a message. Any one literal must be in the text before
// the pattern is tried. Fields called rank, local_rank, pid and host say where
// the failure happened.
type Signature struct {
	Name     string
	Versions string // of the library, for people
	Scope    Scope
	Literals []string
	// Within are parts of paths, of which one must be in a call of the traceback:
	// without it the message is of another program. A message without its calls
	// is none of this signature.
	Within  []string
	Pattern *regexp.Regexp // named groups become the fields of the event
	Example string         // a message that the signature recognises
	// Role, Strength and Confidence are those of events found by this signature:
	// of the page, unless the signature has its own.
	Role       Role
	Strength   int
	Confidence Confidence
	// Lasting says that the message tells of a state, which a run does not
	// survive by going on. Fatal says that the process cannot go on: what it
	// prints after that is older.
	Lasting bool
	Fatal   bool
	// Cause, Fixes and Rivals are about this message in particular. They come
	// before those of the page.
	Cause  string
	Fixes  []Fix
	Rivals []Rival
	// Missing is what the message lacks where it stands alone.
	Missing []string
}

// Rival is another failure that would show the same, and what speaks against
// it, or for it.
type Rival struct {
	Failure string
	Why     string
}

// Scope says where a signature is looked for.
type Scope string

// InException looks only at exceptions (type, colon, message), InLine at any
// line of output. The distinction keeps prose that mentions an error from
// being taken for the error.
const (
	InException Scope = "exception"
	InLine      Scope = "line"
	Anywhere    Scope = "any"
)

// literal is the length of the longest literal that is in text.
func (s *Signature) literal(text string) int {
	length := 0
	for _, l := range s.Literals {
		if len(l) > length && strings.Contains(text, l) {
			length = len(l)
		}
	}
	return length
}

// match returns the fields of the signature in a text that has a literal of it,
// or nil.
func (s *Signature) match(text string) map[string]string {
	m := s.Pattern.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	fields := make(map[string]string)
	for i, name := range s.Pattern.SubexpNames() {
		if name != "" && m[i] != "" {
			fields[name] = strings.TrimSpace(m[i])
		}
	}
	return fields
}

// placeholder is a field of the event within the text of a page: {name}, or
// {name|text if the log does not tell}.
var placeholder = regexp.MustCompile(`\{([a-z_]+)(?:\|([^}]*))?\}`)

// fill puts the fields of an event into a text of a page. It reports whether
// all were known.
func fill(text string, fields map[string]string) (string, bool) {
	complete := true
	text = placeholder.ReplaceAllStringFunc(text, func(s string) string {
		m := placeholder.FindStringSubmatch(s)
		if v := fields[m[1]]; v != "" {
			return v
		}
		if strings.Contains(s, "|") {
			return m[2]
		}
		complete = false
		return s
	})
	return text, complete
}

// filled are the fixes for an event, without those whose fields it lacks.
func filled(fixes []Fix, fields map[string]string) []Fix {
	var list []Fix
	for _, f := range fixes {
		title, ok1 := fill(f.Title, fields)
		detail, ok2 := fill(f.Detail, fields)
		if ok1 && ok2 {
			list = append(list, Fix{Title: title, Detail: detail})
		}
	}
	return list
}

// filled is how to verify the fix of an event.
func (v Verify) filled(fields map[string]string) Verify {
	v.Command, _ = fill(v.Command, fields)
	v.Expect, _ = fill(v.Expect, fields)
	return v
}
