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
	if at > 0 && at <= maxPrefixLen && strings.Trim(text[:at], " |") != "" { // bars are those of an exception group
		p.candidate, p.lines = text[:at], confirmLines
	}
	return text, false
}

// common learns the prefix that all lines of a sample have. It is believed only
// if without it a line is seen to tell of a failure that does not with it: lines
// of progress are alike too.
func (p *learned) common(sample string, tells func(text string) bool) {
	const fewest = 4
	var lines []string
	for line := range strings.Lines(sample) {
		if line = clean([]byte(strings.TrimRight(line, "\r\n"))); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) < fewest {
		return
	}
	shape := lines[0][:min(len(lines[0]), maxPrefixLen)]
	for _, line := range lines {
		for shape != "" && matchShape(shape, line) == 0 {
			shape = shape[:len(shape)-1]
		}
	}
	// The indentation of the lines is theirs, but for one space; and a prefix ends
	// with something that separates.
	if trimmed := strings.TrimRight(shape, " "); trimmed != "" && len(shape) > len(trimmed)+1 {
		shape = trimmed + " "
	}
	shape = shape[:strings.LastIndexAny(shape, " \t:]})>|#-")+1]
	if shape == "" || len(shape) < 2 && shape != "#" {
		return
	}
	for _, line := range lines {
		if rest := line[matchShape(shape, line):]; tells(rest) && !tells(line) {
			p.shapes = append(p.shapes, shape)
			return
		}
	}
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
		case j == len(text) && i == len(shape)-1 && (shape[i] == ' ' || shape[i] == '\t'):
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
