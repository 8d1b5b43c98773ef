package failures

import (
	"fmt"
	"regexp"
	"strings"
)

// kinds are what a field of a pattern may be.
var kinds = map[string]string{
	"size":   `\d[\d,]*(?:\.\s?\d+)?\s*(?:[bB]ytes|[KMGTPE]i?B|B)`,
	"int":    `\d+`,
	"number": `[+-]?\d[\d,]*(?:\.\d+)?`,
	"name":   `\w+`,
	"dotted": `[\w.]+`,
	"shape":  `[\[(][\d, x]*[\])]`,
	"word":   `\S+?`,
	"text":   `.+?`,
}

var space = regexp.MustCompile(` [+*?]?`)

var fieldPattern = regexp.MustCompile(`%\{(\w+)(?::(\w+))?\}`)

// compile makes a regular expression of a pattern. In patterns, %{kind:name} is
// a field, %{kind} one without a name, and a space stands for any white space
// (" ?" for any or none), since messages are wrapped when they are pasted.
func compile(pattern string) (*regexp.Regexp, error) {
	var unknown error
	expanded := space.ReplaceAllStringFunc(strings.TrimSpace(pattern), func(s string) string {
		if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "*") {
			return `\s*`
		}
		return `\s+`
	})
	expanded = fieldPattern.ReplaceAllStringFunc(expanded, func(s string) string {
		m := fieldPattern.FindStringSubmatch(s)
		kind, ok := kinds[m[1]]
		if !ok {
			unknown = fmt.Errorf("%s: there is no kind of field %q", s, m[1])
		}
		if m[2] == "" {
			return "(?:" + kind + ")"
		}
		return "(?P<" + m[2] + ">" + kind + ")"
	})
	if unknown != nil {
		return nil, unknown
	}
	return regexp.Compile(expanded)
}
