package crash

import (
	"regexp"
	"strconv"
	"strings"
)

// Origin is where a line of a log comes from, as its prefixes tell. Unknown
// numbers are -1, unknown words empty.
type Origin struct {
	Input     int // which of the inputs
	Rank      int
	LocalRank int
	PID       int
	Host      string
	Task      string // actor, container or worker name
	Time      string // as printed
	Stream    string // "stdout" or "stderr"
	Stamped   bool   // a logger wrote the line
}

func noOrigin(input int) Origin { return Origin{Input: input, Rank: -1, LocalRank: -1, PID: -1} }

// key names the stream of output that a line belongs to: lines with the same
// key are one process speaking.
func (o Origin) key() string {
	k := strconv.Itoa(o.Input)
	switch {
	case o.Rank >= 0:
		return k + " rank " + strconv.Itoa(o.Rank)
	case o.LocalRank >= 0:
		return k + " local " + strconv.Itoa(o.LocalRank) + " " + o.Host
	case o.PID >= 0:
		return k + " pid " + strconv.Itoa(o.PID) + " " + o.Host
	}
	return k + " " + o.Task + " " + o.Host
}

// prefix is one shape of what launchers and loggers put before a line.
type prefix struct {
	first   string // bytes that it can start with; any if empty
	needs   string // what it contains
	pattern *regexp.Regexp
	keep    func(o *Origin, m []string)
}

const digits = "0123456789"

// labels are the prefixes that are only believed where many lines of the log
// have them, since prose has them too.
type labels struct {
	srun bool // "3: text", from srun --label
	pdsh bool // "node1: text", from pdsh and the launchers on top of it
}

var prefixes = []prefix{
	// A quoted forum paste. A Python prompt is none.
	{">", "", regexp.MustCompile(`^(?:>(?: |$))+`), func(*Origin, []string) {}},
	// torch 2.2 and later
	{"[", "", regexp.MustCompile(`^\[rank ?(\d{1,6})\]: ?`), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	// with a line number or a process id before it, from dumps and restart agents
	{"[" + digits, "", regexp.MustCompile(`^\[?\d+\]? \[rank ?(\d{1,6})\]:? ?`), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	// Megatron-LM, Lightning
	{"[", "", regexp.MustCompile(`^\[(?:[Rr]ank:? ?|RANK:? ?)(\d{1,6})\]:? ?`), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	{"Rr", "", regexp.MustCompile(`^(?:[Rr]ank|RANK) ?(\d{1,6}): `), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	// torchrun --tee: the name of the role and the local rank
	{"[", "", regexp.MustCompile(`^\[[A-Za-z_]+(\d{1,4})\]:`), func(o *Origin, m []string) { o.LocalRank = number(m[1]) }},
	{"[", "", regexp.MustCompile(`^\[\d+,(\d{1,6})\]<(stdout|stderr|stddiag)>: ?`), func(o *Origin, m []string) {
		o.Rank, o.Stream = number(m[1]), m[2]
	}},
	{"[", "", regexp.MustCompile(`^\[pod/([\w.-]+)/([\w.-]+)\] ?`), func(o *Origin, m []string) { o.Host, o.Task = m[1], m[2] }},
	{"(", "", regexp.MustCompile(`^\(([\w.]+)((?:,? ?\w+=[^\s,()]+)+)\)(?: |$)`), keepFields},
	{"(", "", regexp.MustCompile(`^\((raylet|autoscaler|gcs_server)(?:, ip=([\w.:]+))?\) `), func(o *Origin, m []string) {
		o.Task, o.Host = m[1], m[2]
	}},
	// Compose
	{"", "|", regexp.MustCompile(`^([A-Za-z][\w.-]*[-_]\d+)\s*\| ?`), func(o *Origin, m []string) { o.Task = m[1] }},
	// Kaggle: seconds since the start and a line number
	{digits, "", regexp.MustCompile(`^(\d+\.\d+s)\s+\d+(?:\t| |$)`), keepTime},
	// glog inside PyTorch: "[E1119 12:00:00.000000000 File.cpp:616] ", older without a time
	{"[", "", regexp.MustCompile(`^\[[IWEF] ?(\d{3,4} \d\d:\d\d:\d\d\.\d+)? ?[\w./-]+\.(?:cpp|cc|cu|hpp|h):\d+\] ?`), keepStamp},
	// glog as torchrun and absl write it
	{"IWEF", "", regexp.MustCompile(`^[IWEF](\d{4} \d\d:\d\d:\d\d\.\d+)\s+\d+ [^\]\s]+:\d+\] ?`), keepStamp},
	// vLLM
	{"DIWEC", "", regexp.MustCompile(`^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d-\d\d \d\d:\d\d:\d\d) \[[\w./-]+:\d+\] ?`), keepStamp},
	// Times, and what loggers put after them
	{"[" + digits, "", regexp.MustCompile(`^\[?(\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\]?(?:(?: ?- ?| | ?\| ?|$|\t))`), keepStamp},
	{"[" + digits, "", regexp.MustCompile(`^\[?(\d\d:\d\d:\d\d(?:[.,]\d+)?)\]?(?:(?: - | \| | |$))`), keepStamp},
	{"JFMASOND", "", regexp.MustCompile(`^([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) ([\w.-]+) [\w./-]+(?:\[(\d+)\])?: ?`), func(o *Origin, m []string) {
		o.Time, o.Host, o.Stamped = m[1], m[2], true
	}},
	{"", ": [", regexp.MustCompile(`^[\w.]+: \[(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\] ?`), keepLevel},
	{"", " - ", regexp.MustCompile(`^(?:- )?[\w.<>]+(?:\[\d+\])? - (?:[\w.<>:]+ - )?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: - |: )`), keepLevel},
	{"DIWEC", "", regexp.MustCompile(`^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: - |:[\w.]+: ?| +\| ?)`), keepLevel},
	{"[", "", regexp.MustCompile(`^\[(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\](?: \[\w+\.py:\d+:\w+\])?:? ?`), keepLevel},
	{"[", "", regexp.MustCompile(`^\[(stdout|stderr)\]:? ?`), func(o *Origin, m []string) { o.Stream = m[1] }},
	{"E", "", regexp.MustCompile(`^E {3}(?: {4})?`), func(*Origin, []string) {}}, // pytest
}

var (
	srunLabel = regexp.MustCompile(`^ *(\d{1,6}): ?`)
	pdshLabel = regexp.MustCompile(`^([A-Za-z][\w.-]*\d[\w.-]*): ?`)
)

// maxPrefixes bounds how many prefixes one line may have.
const maxPrefixes = 8

// strip takes the prefixes off text one after the other, in any order, and
// notes in o what they say.
func (l labels) strip(text string, o *Origin) string {
	for range maxPrefixes {
		rest, ok := l.stripOne(text, o)
		if !ok {
			break
		}
		text = rest
	}
	return text
}

func (l labels) stripOne(text string, o *Origin) (string, bool) {
	if text == "" {
		return text, false
	}
	for i := range prefixes {
		p := &prefixes[i]
		if p.first != "" && strings.IndexByte(p.first, text[0]) < 0 || !strings.Contains(text, p.needs) {
			continue
		}
		if m := p.pattern.FindStringSubmatch(text); m != nil && m[0] != "" {
			p.keep(o, m)
			return text[len(m[0]):], true
		}
	}
	if l.srun && o.Rank < 0 {
		if m := srunLabel.FindStringSubmatch(text); m != nil {
			o.Rank = number(m[1])
			return text[len(m[0]):], true
		}
	}
	if l.pdsh && o.Host == "" {
		if m := pdshLabel.FindStringSubmatch(text); m != nil {
			o.Host = m[1]
			return text[len(m[0]):], true
		}
	}
	return text, false
}

func keepTime(o *Origin, m []string) { o.Time = m[1] }

func keepStamp(o *Origin, m []string) {
	o.Stamped = true
	if m[1] != "" {
		o.Time = m[1]
	}
}

func keepLevel(o *Origin, _ []string) { o.Stamped = true }

var field = regexp.MustCompile(`(\w+)=([^\s,()]+)`)

// keepFields reads "(Name pid=12, ip=10.0.0.2)".
func keepFields(o *Origin, m []string) {
	o.Task = m[1]
	for _, f := range field.FindAllStringSubmatch(m[2], -1) {
		switch f[1] {
		case "rank":
			o.Rank = number(f[2])
		case "local_rank":
			o.LocalRank = number(f[2])
		case "pid":
			o.PID = number(f[2])
		case "ip", "host", "node":
			o.Host = f[2]
		}
	}
}

// number reads a non-negative decimal number, or gives -1.
func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// findLabels looks for the labels that only the whole output can tell: the
// prefix of nearly every line, with at least two values.
func findLabels(sample string) labels {
	var lines, srun, pdsh int
	ranks, hosts := make(map[string]bool), make(map[string]bool)
	for line := range strings.Lines(sample) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		lines++
		if m := srunLabel.FindStringSubmatch(line); m != nil {
			srun++
			ranks[m[1]] = true
		}
		if m := pdshLabel.FindStringSubmatch(line); m != nil {
			pdsh++
			hosts[m[1]] = true
		}
	}
	const few = 5
	return labels{
		srun: srun >= few && len(ranks) >= 2 && srun*10 >= lines*6,
		pdsh: pdsh >= few && len(hosts) >= 2 && len(hosts)*2 <= pdsh && pdsh*10 >= lines*6,
	}
}
