package crash

import (
	"regexp"
	"slices"
	"strings"
)

// census is what a log tells about the processes of the run: how many there
// are, and which of them it has heard from.
type census struct {
	size   int             // as the log says; 0 if it does not
	ranks  map[int]bool    // that wrote a line, or that somebody reports on
	hosts  map[string]bool // as prefixes name them
	listed map[string]bool // hosts as a launcher's report names them
	failed map[int]int     // local rank, by the id of a process that a launcher saw end
	ended  map[int]bool    // ids of processes that a launcher told to end
}

func newCensus() census {
	return census{ranks: make(map[int]bool), hosts: make(map[string]bool), listed: make(map[string]bool), failed: make(map[int]int), ended: make(map[int]bool)}
}

// censusLiterals begin what says how many processes there are.
var censusLiterals = []string{"GLOBAL_RANK: ", " nranks ", "world_size", "world size", "WORLD_SIZE", "World size", "World Size"}

var worldSize = regexp.MustCompile(`(?i)GLOBAL_RANK: \d+, MEMBER: \d+/(\d{1,6})|\bnranks (\d{1,6})\b|\bworld[_ ]size["']?\s*[:=]?\s*(\d{1,6})\b`)

// read takes from a line what it says about the processes.
func (c *census) read(l Line) {
	if r := l.Origin.Rank; r >= 0 && len(c.ranks) < maxStreams {
		c.ranks[r] = true
	}
	if h := l.Origin.Host; h != "" && len(c.hosts) < maxStreams {
		c.hosts[h] = true
	}
	if !containsAny(l.Text, censusLiterals) {
		return
	}
	if m := worldSize.FindStringSubmatch(l.Text); m != nil {
		for _, n := range m[1:] {
			if size := number(n); n != "" && size <= maxStreams {
				c.size = max(c.size, size)
			}
		}
	}
}

// count adds what the events tell.
func (c *census) count(events []*Event, listed []listedWorker) {
	for _, e := range events {
		if e.Origin.Rank >= 0 {
			c.ranks[e.Origin.Rank] = true
		}
		switch {
		case e.Origin.PID < 0:
		case e.Fields["local_rank"] != "":
			c.failed[e.Origin.PID] = number(e.Fields["local_rank"])
		case e.Role == RoleTeardown && strings.Contains(e.Text, "closing signal"):
			c.ended[e.Origin.PID] = true
		}
	}
	for _, w := range listed {
		if w.rank >= 0 {
			c.ranks[w.rank] = true
		}
		if w.host != "" {
			c.listed[w.host] = true
		}
		if w.pid >= 0 && w.localRank >= 0 {
			c.failed[w.pid] = w.localRank
		}
	}
}

// world is the number of processes: what the log says, or as many as the ranks
// that it names take.
func (c *census) world() int {
	n := c.size
	for r := range c.ranks {
		n = max(n, r+1)
	}
	return n
}

// others are the ranks of the run without those given. Those of which the log
// says nothing at all count only if it says how many there are: often only a part
// of a log is shown. It gives nil where the log is that of a few ranks only, so
// that silence means nothing.
func (c *census) others(known map[int]bool) []int {
	world := c.world()
	if len(known) < 1 || len(known)*2 < world {
		return nil
	}
	var list []int
	for r := range world {
		if !known[r] && (c.size > 0 || c.ranks[r]) {
			list = append(list, r)
		}
	}
	return list
}

// severalHosts reports whether the run was on more than one machine.
func (c *census) severalHosts() bool { return len(c.hosts) > 1 || len(c.listed) > 1 }

// stillRunning is the local rank of the only process of a node that had not
// ended by itself when the launcher stopped the rest, or -1.
func (c *census) stillRunning() int {
	var alive []int
	for pid := range c.ended {
		if _, failed := c.failed[pid]; !failed {
			alive = append(alive, pid)
		}
	}
	if len(alive) != 1 || len(c.failed) == 0 || c.severalHosts() {
		return -1
	}
	var taken []int
	for _, local := range c.failed {
		if !slices.Contains(taken, local) {
			taken = append(taken, local)
		}
	}
	missing := -1
	for r := range len(taken) + 1 {
		if !slices.Contains(taken, r) {
			if missing >= 0 {
				return -1
			}
			missing = r
		}
	}
	return missing
}
