package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/graphleak/graphleak/rules"
)

// selector names rules on the command line: a code, the beginning of codes, or
// a rule's name.
type selector string

var selectorForm = regexp.MustCompile(`^(GL\d{0,3}|[a-z]+(-[a-z]+)+)$`)

// UnmarshalText is called by kong for each element of a list.
func (s *selector) UnmarshalText(text []byte) error {
	if !selectorForm.Match(text) {
		return fmt.Errorf("%q is no rule: give a code (GL101), the beginning of codes (GL1) or a name", text)
	}
	*s = selector(text)
	return nil
}

func (s selector) matches(f rules.Finding) bool {
	return strings.HasPrefix(f.Code, string(s)) || f.Rule == string(s)
}
