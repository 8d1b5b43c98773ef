package crash

import (
	"strconv"
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
	Quoted    bool   // it was marked as a quotation
}

func noOrigin(input int) Origin { return Origin{Input: input, Rank: -1, LocalRank: -1, PID: -1} }

// anonymous reports whether nothing tells one process from another.
func (o Origin) anonymous() bool {
	return o.Rank < 0 && o.LocalRank < 0 && o.PID < 0 && o.Task == "" && o.Host == ""
}

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
