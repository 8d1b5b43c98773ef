package crash

import (
	"cmp"
	"strings"
	"time"
)

// What clocks can tell apart. Those of two machines differ by some seconds, and
// even on one machine processes write their errors with a delay.
const (
	sameClock  = time.Second
	twoMachine = 2 * time.Second
)

// before orders two events in time: negative if a came first, zero if nothing
// tells.
func (in *incident) before(a, b *Event) int {
	if apart, ok := apart(a, b); ok {
		if apart.Abs() >= resolution(a, b) {
			return cmp.Compare(apart, 0)
		}
		if a.rank() != b.rank() {
			return 0
		}
	}
	if a.Origin.Input == b.Origin.Input {
		return cmp.Compare(a.Line, b.Line)
	}
	return 0
}

// apart is the time from b to a, if both have one that can be compared.
func apart(a, b *Event) (time.Duration, bool) {
	ta, oka := parseTime(a.Origin.Time)
	tb, okb := parseTime(b.Origin.Time)
	if !oka || !okb || ta.layout != tb.layout {
		return 0, false
	}
	return ta.at.Sub(tb.at), true
}

// resolution is the least difference of times that means something.
func resolution(a, b *Event) time.Duration {
	if a.Origin.Host != b.Origin.Host {
		return twoMachine
	}
	return sameClock
}

type stamp struct {
	at     time.Time
	layout string
}

var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006/01/02 15:04:05.999999999", "2006-01-02_15:04:05", "0102 15:04:05.999999999", "102 15:04:05.999999999", "01-02 15:04:05",
	"Jan _2 15:04:05", "15:04:05.999999999",
}

func parseTime(s string) (stamp, bool) {
	if s == "" {
		return stamp{}, false
	}
	s = strings.Replace(s, ",", ".", 1)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return stamp{t, layout}, true
		}
	}
	return stamp{}, false
}
