package crash

import (
	"fmt"
	"slices"
	"strings"
)

// Validate checks one page by itself.
func (p *Page) Validate() error {
	switch {
	case p.ID == "":
		return fmt.Errorf("id is missing")
	case p.Title == "":
		return fmt.Errorf("title is missing")
	case p.Family == "":
		return fmt.Errorf("family is missing")
	case p.Refines != "" && len(p.Signatures) > 0:
		return fmt.Errorf("a page that refines another has no signatures of its own")
	case len(p.Confirms) > 0 && p.Role != RoleConfirmation:
		return fmt.Errorf("only a page with the role confirmation confirms others")
	}
	if err := checkStanding(p.Role, p.Strength, p.Confidence); err != nil {
		return err
	}
	fields := make(map[string]bool)
	names := make(map[string]bool)
	for i := range p.Signatures {
		s := &p.Signatures[i]
		if names[s.Name] {
			return fmt.Errorf("signature %s: there are two of that name", s.Name)
		}
		names[s.Name] = true
		if err := s.validate(); err != nil {
			return fmt.Errorf("signature %s: %w", s.Name, err)
		}
		if err := checkRivals(s.Rivals, p.ID); err != nil {
			return fmt.Errorf("signature %s: %w", s.Name, err)
		}
		for _, name := range s.Pattern.SubexpNames() {
			fields[name] = true
		}
	}
	// What refines another page is filled from the signatures of that one.
	known := func(name string) bool { return fields[name] || p.Refines != "" }
	if err := checkTexts(p.Cause, p.Fixes, known); err != nil {
		return err
	}
	if err := checkRivals(p.Rivals, p.ID); err != nil {
		return err
	}
	if (p.Verify.Command == "") != (p.Verify.Expect == "") {
		return fmt.Errorf("verify needs both command and expect")
	}
	for _, text := range []string{p.Verify.Command, p.Verify.Expect} {
		for _, m := range placeholder.FindAllString(text, -1) {
			if !strings.Contains(m, "|") {
				return fmt.Errorf("verify: %s needs a default: {name|text if the log does not tell}", m)
			}
		}
	}
	return checkBody(p.Body)
}

func (s *Signature) validate() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("name is missing")
	case s.Pattern == nil:
		return fmt.Errorf("pattern is missing")
	case len(s.Literals) == 0:
		return fmt.Errorf("literals are missing: without one the pattern would be tried on every line")
	}
	for _, l := range s.Literals {
		if len(l) < minLiteral {
			return fmt.Errorf("literal %q is shorter than %d bytes", l, minLiteral)
		}
	}
	if len(s.Within) > 0 && s.Scope != InException {
		return fmt.Errorf("only an exception is within calls")
	}
	switch s.Scope {
	case InException, InLine, Anywhere:
	default:
		return fmt.Errorf("scope %q is not one of exception, line, any", s.Scope)
	}
	if err := checkStanding(s.Role, s.Strength, s.Confidence); err != nil {
		return err
	}
	switch {
	case s.Example == "":
		return fmt.Errorf("example is missing: a message that the signature recognises")
	case s.literal(s.Example) == 0:
		return fmt.Errorf("does not recognise its example %q: none of the literals is in it", s.Example)
	case s.match(s.Example) == nil:
		return fmt.Errorf("does not recognise its example %q: the pattern does not match", s.Example)
	}
	return checkTexts(s.Cause, s.Fixes, func(name string) bool { return s.Pattern.SubexpIndex(name) >= 0 })
}

func checkStanding(role Role, strength int, confidence Confidence) error {
	switch role {
	case RoleInitiating, RoleCollateral, RoleConfirmation, RoleTeardown, RoleAdvice:
	default:
		return fmt.Errorf("role %q is not one of initiating, collateral, confirmation, teardown, advice", role)
	}
	if strength < 0 || strength > confirmed {
		return fmt.Errorf("strength %d is not between 0 and %d", strength, confirmed)
	}
	switch confidence {
	case "", High, Medium, Low:
	default:
		return fmt.Errorf("confidence %q is not one of high, medium, low", confidence)
	}
	return nil
}

// checkTexts reports placeholders that nothing fills.
func checkTexts(cause string, fixes []Fix, known func(field string) bool) error {
	texts := []string{cause}
	for _, f := range fixes {
		if f.Title == "" || f.Detail == "" {
			return fmt.Errorf("a fix needs a title and a detail")
		}
		texts = append(texts, f.Title, f.Detail)
	}
	for _, text := range texts {
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			if !known(m[1]) && !strings.Contains(m[0], "|") {
				return fmt.Errorf("%q: {%s} is no field of a signature and has no default", text, m[1])
			}
		}
	}
	return nil
}

func checkRivals(rivals []Rival, id string) error {
	for _, r := range rivals {
		if r.Failure == "" || r.Why == "" || r.Failure == id {
			return fmt.Errorf("an alternative needs another failure and a reason")
		}
	}
	return nil
}

// pageSections are the headings of every page, in their order.
var pageSections = []string{"What it is", "What you see", "Why", "How to confirm", "Fix", "Prevent", "Related"}

// checkBody checks that the text of a page has the parts that readers look for.
func checkBody(body string) error {
	if !strings.HasPrefix(body, "# ") {
		return fmt.Errorf("the text is missing or does not start with a heading")
	}
	var have []string
	code := false
	text := 1
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if heading, ok := strings.CutPrefix(line, "## "); ok && !code {
			if text == 0 {
				return fmt.Errorf("the part %q is empty", have[len(have)-1])
			}
			have, text = append(have, heading), 0
		} else if line != "" {
			text++
		}
	}
	switch {
	case code:
		return fmt.Errorf("a block of code does not end")
	case !slices.Equal(have, pageSections):
		return fmt.Errorf("the text has the parts %q, but a page has %q", have, pageSections)
	case text == 0:
		return fmt.Errorf("the part %q is empty", have[len(have)-1])
	}
	return nil
}
