package crash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An unfolder turns a line of a file into the lines of output that it holds:
// collectors of containers write each line as a JSON object, notebooks keep
// output as lists of strings, services put a whole traceback into one field,
// and web pages have their breaks as tags.
type unfolder struct {
	quoted bool // the line before was a string of its own
}

var (
	breakTag   = regexp.MustCompile(`(?i)<br\s*/?>`)
	htmlTag    = regexp.MustCompile(`(?i)</?(?:pre|code|span|div|p|tt|font|b)(?:\s[^<>]*)?>`)
	escapedEnd = regexp.MustCompile(`most recent call (?:last|first)\)?:?\\+n|\\+n\s*File \\*"`)
)

// messageKeys are where collectors and loggers put the line.
var messageKeys = []string{"log", "message", "msg", "MESSAGE", "text", "textPayload", "event", "data"}

// lines are those that text holds, or nil if it is just one. What an object
// says of its origin goes to o.
func (u *unfolder) lines(text string, o *Origin) []string {
	trimmed := strings.TrimSpace(text)
	wasQuoted := u.quoted
	u.quoted = false
	if trimmed == "" {
		return nil
	}
	switch {
	case trimmed[0] == '{' && strings.HasSuffix(trimmed, "}"):
		if lines := recordLines(trimmed, o); lines != nil {
			return lines
		}
	case trimmed[0] == '"':
		inner := strings.TrimSuffix(trimmed, ",")
		if len(inner) > 1 && strings.HasSuffix(inner, `"`) && (wasQuoted || strings.Contains(inner, `\`)) {
			var s string
			if json.Unmarshal([]byte(inner), &s) == nil {
				u.quoted = true
				return split(s)
			}
		}
	}
	switch {
	case wasQuoted: // whatever the strings held ends with them
		return []string{"", text}
	case strings.Contains(text, `\n`) && escapedEnd.MatchString(text):
		return split(unescape(literal(text)))
	case strings.Contains(text, "<br") || strings.Contains(text, "<BR"):
		return split(htmlTag.ReplaceAllString(breakTag.ReplaceAllString(text, "\n"), ""))
	}
	return nil
}

// split gives the lines of s as they were printed.
func split(s string) []string {
	s = strings.TrimSuffix(s, "\n")
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if at := strings.LastIndexByte(strings.TrimRight(l, "\r"), '\r'); at >= 0 {
			l = l[at+1:]
		}
		lines[i] = clean([]byte(l))
	}
	return lines
}

// recordLines reads one object of structured output; nil if it is not one.
func recordLines(text string, o *Origin) []string {
	var record map[string]any
	if json.Unmarshal([]byte(text), &record) != nil {
		return nil
	}
	var lines []string
	for _, key := range messageKeys {
		if s, ok := record[key].(string); ok {
			lines = split(s)
			delete(record, key)
			break
		}
	}
	// A field may hold the traceback: exc_info, exception, stack, error …
	for _, key := range slices.Sorted(maps.Keys(record)) {
		for _, s := range texts(record[key], 0) {
			if strings.Contains(s, headerText) && !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, headerText) }) {
				lines = append(lines, split(s)...)
			}
		}
	}
	if lines == nil {
		return nil
	}
	word := func(names ...string) string {
		for _, n := range names {
			switch v := record[n].(type) {
			case string:
				return v
			case float64:
				return strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		return ""
	}
	o.Time = cmp.Or(word("time", "timestamp", "@timestamp", "ts", "asctime"), o.Time)
	o.Stream = cmp.Or(word("stream"), o.Stream)
	o.Host = cmp.Or(word("host", "hostname", "node"), o.Host)
	for name, field := range map[string]*int{"rank": &o.Rank, "local_rank": &o.LocalRank, "pid": &o.PID} {
		if n := number(word(name)); n >= 0 {
			*field = n
		}
	}
	return lines
}

// texts are the strings within a value.
func texts(v any, depth int) []string {
	const most = 4
	var all []string
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if depth < most {
				all = append(all, texts(v[key], depth+1)...)
			}
		}
	case []any:
		// A list of lines is one text.
		var joined strings.Builder
		for _, e := range v {
			if s, ok := e.(string); ok {
				fmt.Fprintln(&joined, strings.TrimSuffix(s, "\n"))
			} else if depth < most {
				all = append(all, texts(e, depth+1)...)
			}
		}
		all = append(all, joined.String())
	}
	return all
}

// literal is the string within text that holds a traceback, or all of text.
func literal(text string) string {
	at := escapedEnd.FindStringIndex(text)[0]
	start := strings.LastIndexAny(text[:at], `"'`)
	if start < 0 || start > 0 && text[start-1] == '\\' {
		return text
	}
	for end := start + 1; end < len(text); end++ {
		switch text[end] {
		case '\\':
			end++
		case text[start]:
			if end > at {
				return text[start+1 : end]
			}
		}
	}
	return text[start+1:]
}

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, `'`, `\/`, `/`,
	`\u001b`, "\x1b", `\x1b`, "\x1b", `\u003c`, "<", `\u003e`, ">", `\u0027`, "'", `\u0026`, "&")

// unescape undoes how programs write a text of several lines as a string. Text
// that was escaped twice is undone twice.
func unescape(s string) string {
	s = escapes.Replace(s)
	if escapedEnd.MatchString(s) {
		s = escapes.Replace(s)
	}
	return s
}
