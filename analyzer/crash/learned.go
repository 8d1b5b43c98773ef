package crash

import (
	"regexp"
	"strings"
)

// learned are the prefixes that a log itself shows. Whatever stands before the
// header of a traceback and, in the same shape, before the calls that follow it
// is a prefix, whoever wrote it.
type learned struct {
	shapes    []string // confirmed
	candidate string
	lines     int // for which the candidate is still looked for
}

const (
	maxLearned   = 8
	maxPrefixLen = 160
	confirmLines = 12
)

// strip takes a learned prefix off text, and learns from text. It reports
// whether text confirmed the prefix that the header before it seemed to have.
func (p *learned) strip(text string, o *Origin) (rest string, confirmed bool) {
	if rest = p.known(text, o); len(rest) < len(text) {
		return rest, false
	}
	if p.lines > 0 {
		p.lines--
		if n := matchShape(p.candidate, text); n > 0 && startsCall(text[n:]) && len(p.shapes) < maxLearned {
			p.lines = 0
			p.shapes = append(p.shapes, p.candidate)
			originOf(text[:n], o)
			return text[n:], true
		}
	}
	at := strings.Index(text, headerText)
	if at < 0 {
		at = strings.Index(text, `  File "`)
	}
	if at > 0 && at <= maxPrefixLen && strings.TrimSpace(text[:at]) != "" {
		p.candidate, p.lines = text[:at], confirmLines
	}
	return text, false
}

// known takes a learned prefix off text.
func (p *learned) known(text string, o *Origin) string {
	for _, shape := range p.shapes {
		if n := matchShape(shape, text); n > 0 {
			originOf(text[:n], o)
			return text[n:]
		}
	}
	return text
}

const headerText = "Traceback (most recent call last)"

// startsCall reports whether text is the first call of a traceback.
func startsCall(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " "), `File "`) }

// matchShape is the length of the prefix of text that has the shape of a
// prefix: the same but for numbers, and for the spaces that align a number at
// the start.
func matchShape(shape, text string) int {
	i, j := 0, 0
	if number := strings.TrimLeft(shape, " "); number != "" && isDigit(number[0]) {
		i, j = len(shape)-len(number), len(text)-len(strings.TrimLeft(text, " "))
	}
	for i < len(shape) {
		switch {
		case isDigit(shape[i]):
			n := digitRun(text[j:])
			if n == 0 {
				return 0
			}
			i += digitRun(shape[i:])
			j += n
		case j < len(text) && text[j] == shape[i]:
			i++
			j++
		case j == len(text) && i == len(shape)-1 && shape[i] == ' ':
			return j // an empty line has lost the space after the prefix
		default:
			return 0
		}
	}
	return j
}

// digitRun is the number of digits at the start of s.
func digitRun(s string) int { return len(s) - len(strings.TrimLeft(s, digits)) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

var (
	anyRank  = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:global[_ ]?|mpi)?rank[ :=#_-]{0,2}(\d{1,6})`)
	anyLocal = regexp.MustCompile(`(?i)local[_ ]?rank[ :=#_-]{0,2}(\d{1,4})`)
	anyPID   = regexp.MustCompile(`(?i)\bpid[ :=]{1,2}(\d{1,8})`)
	anyTime  = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?`)
	anyTask  = regexp.MustCompile(`[A-Za-z][A-Za-z_.]*[-_]?\d+(?:[-.]\d+)*`)
)

// originOf reads what an unknown prefix says of its origin.
func originOf(prefix string, o *Origin) {
	if t := anyTime.FindString(prefix); t != "" {
		o.Time, o.Stamped = t, true
		prefix = strings.Replace(prefix, t, "", 1)
	}
	if m := anyLocal.FindStringSubmatch(prefix); m != nil {
		o.LocalRank = number(m[1])
		prefix = strings.Replace(prefix, m[0], "", 1)
	}
	if m := anyRank.FindStringSubmatch(prefix); m != nil {
		o.Rank = number(m[1])
		return
	}
	if m := anyPID.FindStringSubmatch(prefix); m != nil {
		o.PID = number(m[1])
		return
	}
	if o.Task == "" {
		o.Task = anyTask.FindString(prefix)
	}
}
