package crash

import (
	"fmt"
	"regexp"
	"slices"
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
	Strength   int
	Signatures []Signature
	// Cause says in a sentence or two what happened, with the fields of the
	// event. Without it the message speaks for itself.
	Cause string
	// Refines names the page whose signatures recognise this failure too. The
	// numbers and the context of the message then tell them apart.
	Refines string
	// ExitCodes are the exit codes of a process, as launchers report them, that
	// mean this failure.
	ExitCodes []int
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
// the pattern is tried.
type Signature struct {
	Name     string
	Versions string // of the library, for people
	Scope    Scope
	Literals []string
	Pattern  *regexp.Regexp // named groups become the fields of the event
	// Strength is that of events found by this signature, where it is not that
	// of the page.
	Strength int
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

// strength is that of an event that the signature of p found.
func (s *Signature) strength(p *Page) int {
	if s.Strength > 0 {
		return s.Strength
	}
	return p.Strength
}

// match returns the fields of the signature in text, or nil.
func (s *Signature) match(text string) map[string]string {
	if !slices.ContainsFunc(s.Literals, func(l string) bool { return strings.Contains(text, l) }) {
		return nil
	}
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

// Knowledge is a set of pages that fit together.
type Knowledge struct {
	pages  []*Page
	byID   map[string]*Page
	byExit map[int]*Page
	words  *literals // all of the signatures'
	wanted *literals // these, and what else makes a line worth a look
}

// The pages that the engine itself refers to.
const (
	unknownID         = "unknown"
	pythonExceptionID = "python.exception"
)

// NewKnowledge checks that pages fit together.
func NewKnowledge(pages []Page) (*Knowledge, error) {
	k := &Knowledge{byID: make(map[string]*Page), byExit: make(map[int]*Page)}
	var words []string
	for i := range pages {
		p := &pages[i]
		if err := p.Validate(); err != nil {
			return nil, fmt.Errorf("page %s: %w", p.ID, err)
		}
		if k.byID[p.ID] != nil {
			return nil, fmt.Errorf("page %s: there are two of them", p.ID)
		}
		k.byID[p.ID] = p
		k.pages = append(k.pages, p)
		for _, s := range p.Signatures {
			words = append(words, s.Literals...)
		}
		for _, code := range p.ExitCodes {
			if other := k.byExit[code]; other != nil {
				return nil, fmt.Errorf("page %s: exit code %d is that of %s", p.ID, code, other.ID)
			}
			k.byExit[code] = p
		}
	}
	for _, p := range k.pages {
		if p.Refines == "" {
			continue
		}
		base := k.byID[p.Refines]
		switch {
		case base == nil:
			return nil, fmt.Errorf("page %s: refines %s, which does not exist", p.ID, p.Refines)
		case refiners[base.ID] == nil:
			return nil, fmt.Errorf("page %s: refines %s, which nothing tells apart", p.ID, p.Refines)
		}
	}
	for _, id := range append([]string{unknownID, pythonExceptionID}, refinedIDs()...) {
		if k.byID[id] == nil {
			return nil, fmt.Errorf("page %s is missing", id)
		}
	}
	k.words = newLiterals(words)
	k.wanted = newLiterals(slices.Concat(words, coreLiterals, seriesLiterals, extraLiterals))
	slices.SortStableFunc(k.pages, func(a, b *Page) int { return b.Strength - a.Strength })
	return k, nil
}

// Validate checks one page by itself.
func (p *Page) Validate() error {
	switch {
	case p.ID == "":
		return fmt.Errorf("id is missing")
	case p.Title == "":
		return fmt.Errorf("title is missing")
	case p.Family == "":
		return fmt.Errorf("family is missing")
	case p.Strength < 0 || p.Strength > 5:
		return fmt.Errorf("strength %d is not between 0 and 5", p.Strength)
	case strings.TrimSpace(p.Body) == "":
		return fmt.Errorf("the text is missing")
	case p.Refines != "" && len(p.Signatures) > 0:
		return fmt.Errorf("a page that refines another has no signatures of its own")
	}
	switch p.Role {
	case RoleInitiating, RoleCollateral, RoleConfirmation, RoleTeardown, RoleAdvice:
	default:
		return fmt.Errorf("role %q is not one of initiating, collateral, confirmation, teardown, advice", p.Role)
	}
	fields := make(map[string]bool)
	for _, s := range p.Signatures {
		if err := s.validate(); err != nil {
			return fmt.Errorf("signature %s: %w", s.Name, err)
		}
		for _, name := range s.Pattern.SubexpNames() {
			fields[name] = true
		}
	}
	texts := []string{p.Cause}
	for _, f := range p.Fixes {
		if f.Title == "" || f.Detail == "" {
			return fmt.Errorf("a fix needs a title and a detail")
		}
		texts = append(texts, f.Title, f.Detail)
	}
	for _, text := range texts {
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			if !fields[m[1]] && p.Refines == "" && !strings.Contains(m[0], "|") {
				return fmt.Errorf("%q: {%s} is no field of a signature and has no default", text, m[1])
			}
		}
	}
	if (p.Verify.Command == "") != (p.Verify.Expect == "") {
		return fmt.Errorf("verify needs both command and expect")
	}
	return nil
}

func (s *Signature) validate() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("name is missing")
	case s.Pattern == nil:
		return fmt.Errorf("pattern is missing")
	case s.Strength < 0 || s.Strength > 5:
		return fmt.Errorf("strength %d is not between 0 and 5", s.Strength)
	case len(s.Literals) == 0:
		return fmt.Errorf("literals are missing: without one the pattern would be tried on every line")
	}
	for _, l := range s.Literals {
		if len(l) < minLiteral {
			return fmt.Errorf("literal %q is shorter than %d bytes", l, minLiteral)
		}
	}
	switch s.Scope {
	case InException, InLine, Anywhere:
	default:
		return fmt.Errorf("scope %q is not one of exception, line, any", s.Scope)
	}
	return nil
}

// placeholder is a field of the event within the text of a fix: {name}, or
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

// fixes are those of p for an event, without those whose fields it lacks.
func (p *Page) fixes(fields map[string]string) []Fix {
	var list []Fix
	for _, f := range p.Fixes {
		title, ok1 := fill(f.Title, fields)
		detail, ok2 := fill(f.Detail, fields)
		if ok1 && ok2 {
			list = append(list, Fix{Title: title, Detail: detail})
		}
	}
	return list
}

// recognise finds the page whose signature matches text. Pages that can start
// an incident come before those that only follow from one, unless a page that
// follows is the more exact: signatures of equal strength are tried in order of
// their pages' ids.
func (k *Knowledge) recognise(text string, scope Scope) (*Page, *Signature, map[string]string) {
	if !k.words.in(text) {
		return nil, nil, nil
	}
	for _, p := range k.pages {
		for i := range p.Signatures {
			s := &p.Signatures[i]
			if s.Scope != scope && s.Scope != Anywhere {
				continue
			}
			if fields := s.match(text); fields != nil {
				return p, s, fields
			}
		}
	}
	return nil, nil, nil
}
