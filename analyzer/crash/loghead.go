package crash

import (
	"regexp"
	"strings"
)

// Loggers put the same few things before a message, in any order and between
// any brackets: a time, a level, names of loggers, threads and files. logHead
// reads these one by one instead of knowing the format of every logger.
var (
	headTime = regexp.MustCompile(`^([\[(]?)(?:NeMo [A-Z] )?(` +
		`(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d` +
		`|\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?` +
		`|\d{4}[-/.]\d\d[-/.]\d\d(?:[T _]|, )\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?` +
		`|\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?` +
		`|\d\d:\d\d:\d\d(?:[.,]\d+)?` +
		`|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [A-Z]{3,4})? \d{4}` +
		`)([\])]?)(?:[\s:\[]|$)`)
	headLevel = regexp.MustCompile(`^(?:TRACE|DEBUG|INFO|SUCCESS|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b`)

	headSeparator = regexp.MustCompile(`^(?: ?- | ?\| ?|: | ?[-:]$|\s)`)
	// What stands between brackets of its own: a level, a name, a place in a
	// file, a thread. Words that say where the run is are the message's.
	headGroup = regexp.MustCompile(`^(?:\[(?:[A-Za-z_<][\w.<>/$-]{0,80}(?::[\w.<>]+){0,2}|\d{1,8})\]|\{[\w./-]+(?::\d+)?\})`)
	headWhere = regexp.MustCompile(`(?i)^\[(?:rank|default\d|trainer\d|pod/|epoch|step|iter|PG\b)`)
	// A name that a separator follows, and what closes the bracket that the
	// time opened.
	headName   = regexp.MustCompile(`^([A-Za-z_<][\w.<>/$-]*(?::[\w.<>]+){0,2}|/\S+\.py|\d{1,7})(?: - | \| | ?: \[)`)
	headCloses = regexp.MustCompile(`^[\w./-]+(?::\d+)?\]`)
	headFile   = regexp.MustCompile(`^[\w./-]+\.py:\d+\]`)

	headStream = regexp.MustCompile(`^(stdout|stderr) [FP](?: |$)`)                // container runtimes
	headGitLab = regexp.MustCompile(`^\d\d([OE])(?:[ +]|$)`)                       // its runner
	headHost   = regexp.MustCompile(`^([\w.-]+) ([\w./-]+)(?:\[(\d+)\])?:(?: |$)`) // syslog
	headCloud  = regexp.MustCompile(`^\[resource\.labels\.\w+: ([\w.-]+)\]`)       // Google Cloud
	levelMark  = regexp.MustCompile(`^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: - |:[\w.]+: ?| +\| ?)`)
	timeIsFull = regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)
)

// maxHead bounds the parts of one head.
const maxHead = 8

// logHead takes off text what a logger put before its message, if text starts
// with that: a time with what follows it, or a level that is marked as one. The
// indentation of the message stays.
func logHead(text string, o *Origin) (rest string, ok bool) {
	if c := text[0]; !isDigit(c) && c != '[' && c != '(' && (c < 'A' || c > 'Z') {
		return text, false
	}
	if level := headLevel.FindString(text); level != "" {
		// A level alone is no head: "ERROR: no such file" is the program's own.
		if rest, ok := strings.CutPrefix(text[len(level):], ": "); ok && isException(rest) {
			return rest, true
		}
	}
	if mark := levelMark.FindString(text); mark != "" {
		o.Stamped = true
		return text[len(mark):], true
	}
	rest = text
	leveled := false
	if level := headLevel.FindString(rest); level != "" && strings.HasPrefix(rest[len(level):], " ") {
		rest, leveled = rest[len(level)+1:], true
	}
	m := headTime.FindStringSubmatch(rest)
	if m == nil {
		return text, false
	}
	o.Time, o.Stamped = m[2], true
	open := m[1] != "" && m[3] == ""
	rest = rest[len(m[1])+strings.Index(rest[len(m[1]):], m[2])+len(m[2])+len(m[3]):]
	for range maxHead {
		sep := headSeparator.FindString(rest)
		if sep == "" && (rest == "" || !strings.Contains("[{:", rest[:1])) {
			break
		}
		body := rest[len(sep):]
		n := 0
		switch {
		case !leveled && headLevel.MatchString(body):
			n = paddedLevel(body)
			leveled = true
		case open && headCloses.MatchString(body):
			n = len(headCloses.FindString(body))
			open = false
		case headFile.MatchString(body):
			n = len(headFile.FindString(body))
		case headCloud.MatchString(body):
			m := headCloud.FindStringSubmatch(body)
			o.Task, n = m[1], len(m[0])
		case headGroup.MatchString(body) && !headWhere.MatchString(body) && !elasticEntry.MatchString(body):
			group := headGroup.FindString(body)
			leveled = leveled || headLevel.MatchString(group[1:])
			n = len(group)
		case headName.MatchString(body) && !exceptionName.MatchString(headName.FindStringSubmatch(body)[1]):
			n = len(headName.FindStringSubmatch(body)[1])
		case headStream.MatchString(body):
			o.Stream = headStream.FindStringSubmatch(body)[1]
			return body[len(headStream.FindString(body)):], true
		case timeIsFull.MatchString(o.Time) && headGitLab.MatchString(body):
			m := headGitLab.FindStringSubmatch(body)
			o.Stream = map[string]string{"O": "stdout", "E": "stderr"}[m[1]]
			return body[len(m[0]):], true
		case timeIsFull.MatchString(o.Time) && headHost.MatchString(body):
			m := headHost.FindStringSubmatch(body)
			o.Host = m[1]
			o.PID = programID(m[2], m[3])
			return body[len(m[0]):], true
		}
		if n == 0 {
			return body, true // the message
		}
		rest = body[n:]
	}
	return rest, true
}

// paddedLevel is the length of the level at the start of s, with the spaces that
// loggers pad it to a width of eight with.
func paddedLevel(s string) int {
	const width = 8
	n := len(headLevel.FindString(s))
	if n < width && len(s) > width && strings.TrimLeft(s[n:width], " ") == "" && s[width] == ' ' {
		return width
	}
	return n
}

// programID is the process id that syslog gives of a program, if that is the
// run and not a daemon that speaks about it.
func programID(program, id string) int {
	if strings.Contains(program, "python") {
		return number(id)
	}
	return -1
}
