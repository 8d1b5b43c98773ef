package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// selector names rules on the command line: a code, the beginning of codes, or
// a rule's name.
type selector string

// UnmarshalText is called by kong for each element of a list.
func (s *selector) UnmarshalText(text []byte) error {
	*s = selector(text)
	if !slices.ContainsFunc(leaks.All(), func(r *rules.Rule) bool { return s.matches(r.Code, r.Name) }) {
		return fmt.Errorf("%q names no rule: give a code (GL101), the beginning of codes (GL1) or a name; graphleak explain list shows them all", text)
	}
	return nil
}

func (s selector) matches(code, name string) bool {
	return s != "" && (strings.HasPrefix(code, string(s)) || string(s) == name)
}
