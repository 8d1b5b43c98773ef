package crash

import (
	"regexp"
	"strings"
)

// labels are the prefixes that are only believed where many lines of the log
// have them, since prose has them too.
type labels struct {
	srun bool // "3: text", from srun --label
	pdsh bool // "node1: text", from pdsh and the launchers on top of it
}

var (
	srunLabel = regexp.MustCompile(`^ *(\d{1,6}): ?`)
	pdshLabel = regexp.MustCompile(`^([A-Za-z][\w.-]*\d[\w.-]*): ?`)
)

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
