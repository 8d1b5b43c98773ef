package crash

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// prefix is one shape of what launchers and loggers put before a line.
type prefix struct {
	first   string // bytes that it can start with; any if empty
	needs   string // what it contains
	pattern *regexp.Regexp
	keep    func(o *Origin, m []string)
}

const digits = "0123456789"

var prefixes = []prefix{
	// A quoted forum paste. A Python prompt is none.
	{">", "", regexp.MustCompile(`^(?:>{1,2}(?: |$))+`), func(o *Origin, _ []string) { o.Quoted = true }},
	// torch 2.2 and later
	{"[", "", regexp.MustCompile(`^\[rank ?(\d{1,6})\]: ?`), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	// with a line number or a process id before it, from dumps and restart agents
	{"[" + digits, "", regexp.MustCompile(`^\[?\d+\]? \[rank ?(\d{1,6})\]:? ?`), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	// Megatron-LM, Lightning
	{"[", "", regexp.MustCompile(`^\[(?:[Rr]ank:? ?|RANK:? ?)(\d{1,6})\]:? ?`), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	{"Rr", "", regexp.MustCompile(`^(?:[Rr]ank|RANK) ?(\d{1,6}): `), func(o *Origin, m []string) { o.Rank = number(m[1]) }},
	// torchrun --tee: the name of the role and the local rank
	{"[", "", regexp.MustCompile(`^\[[A-Za-z_]+(\d{1,4})\]:`), func(o *Origin, m []string) { o.LocalRank = number(m[1]) }},
	// Open MPI: the job and the rank; SageMaker adds the host, Horovod's own
	// launcher has the rank only.
	{"[", "", regexp.MustCompile(`^\[(?:\d+,)?(?:mpirank:)?(\d{1,6})(?:,([\w.-]+))?\]<(stdout|stderr|stddiag)>: ?`), func(o *Origin, m []string) {
		o.Rank, o.Host, o.Stream = number(m[1]), cmp.Or(m[2], o.Host), m[3]
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
	// syslog, as files of systems have it
	{"JFMASOND", "", regexp.MustCompile(`^([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) ([\w.-]+) ([\w./-]+)(?:\[(\d+)\])?: ?`), func(o *Origin, m []string) {
		o.Time, o.Host, o.Stamped = m[1], m[2], true
		o.PID = programID(m[3], m[4])
	}},
	{"", ": [", regexp.MustCompile(`^[\w.]+: \[(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\] ?`), keepLevel},
	{"", " - ", regexp.MustCompile(`^(?:- )?[\w.<>]+(?:\[\d+\])? - (?:[\w.<>:]+ - )?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: - |: )`), keepLevel},
	{"[", "", regexp.MustCompile(`^\[(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\](?: \[\w+\.py:\d+:\w+\])?:? ?`), keepLevel},
	{"[", "", regexp.MustCompile(`^\[(stdout|stderr)\]:? ?`), func(o *Origin, m []string) { o.Stream = m[1] }},
}

// mention is what people put before a message that they paste: quotes, and in
// the title of a report the marks of a heading and of its kind.
var mention = regexp.MustCompile("^(?:#{1,6} +)?(?:\\[[A-Za-z][A-Za-z /]{1,24}\\]:? *){0,2}[`\"'*“”«]*")

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
	// A row of a table has a bar at its end too.
	if strings.HasPrefix(text, "| ") && !strings.HasSuffix(text, "|") {
		return text[2:], true
	}
	if rest, ok := logHead(text, o); ok {
		return rest, true
	}
	if bare := text[len(mention.FindString(text)):]; len(bare) < len(text) && isException(bare) {
		return bare, true
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
