package crash

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The pages that the search for an absent process refers to.
const (
	timeoutID  = "distributed.nccl-timeout"
	desyncID   = "distributed.desync"
	peerLostID = "distributed.peer-lost"
)

// absent is the process that the others waited for or lost. It has written
// nothing that is in the log, so it is found by what the others say, and by who
// is missing among them.
type absent struct {
	rank    int
	host    string
	line    int
	input   int
	when    string
	because string // a sentence
	proof   *Evidence
}

// findAbsent looks for the process behind an event that only a victim reports.
// The first way that finds exactly one process decides.
func (in *incident) findAbsent(e *Event, ended []*Event) *absent {
	for _, way := range []func(*Event, []*Event) *absent{in.ownExit, in.cutOff, in.namedPeer, in.silent, in.stillRunning} {
		if a := way(e, ended); a != nil {
			return a
		}
	}
	return nil
}

// ownExit is the only process that ended with an exit code of its own: those
// that only lost a connection end with 1.
func (in *incident) ownExit(*Event, []*Event) *absent {
	var gone *listedWorker
	for i := range in.listed {
		w := &in.listed[i]
		if !w.hasExit || w.exitCode == 0 || w.exitCode == 1 || in.knowledge.byExit[w.exitCode] != nil {
			continue
		}
		if gone != nil && gone.rank != w.rank {
			return nil
		}
		gone = w
	}
	if gone == nil {
		return nil
	}
	return &absent{
		rank: gone.rank, host: gone.host, line: gone.line, input: gone.input, when: gone.time,
		because: fmt.Sprintf("Rank %d ended by itself with exit code %d; its own output is not in the text.", gone.rank, gone.exitCode),
		proof: &Evidence{
			Line: gone.line, Text: fmt.Sprintf("rank %d: exit code %d", gone.rank, gone.exitCode),
			Why: "the only process that ended with a code of its own; the others report that they lost a connection",
		},
	}
}

// cutOff is the only process with a traceback of its own, whose end is not in
// the text.
func (in *incident) cutOff(_ *Event, ended []*Event) *absent {
	reporting := reporters(ended)
	var found *Event
	for _, o := range ended {
		if o.Page.ID != unknownID || o.Traceback.Dump || o.rank() < 0 || reporting[o.rank()] {
			continue
		}
		if found != nil && found.rank() != o.rank() {
			return nil
		}
		found = o
	}
	if found == nil {
		return nil
	}
	return &absent{
		rank: found.rank(), host: found.Origin.Host, line: found.Line, input: found.Origin.Input, when: found.when(),
		because: fmt.Sprintf("Rank %d has a traceback of its own, but its last line, the exception, is cut off.", found.rank()),
	}
}

// namedPeer is the process that the messages name as the one that went away or
// did not come. It must not be one that reports a loss itself.
func (in *incident) namedPeer(_ *Event, ended []*Event) *absent {
	reporting := reporters(ended)
	named := make(map[int]*Event)
	for _, o := range ended {
		for _, peer := range o.peers() {
			if !reporting[peer] && named[peer] == nil {
				named[peer] = o
			}
		}
	}
	if len(named) != 1 {
		return nil
	}
	for peer, o := range named {
		return &absent{
			rank: peer, host: peerHost(o), line: o.Line, input: o.Origin.Input, when: o.when(),
			because: fmt.Sprintf("The message names rank %d as the one that was missing; its own output is not in the text.", peer),
			proof:   &Evidence{Line: o.Line, Text: shorten(o.Text), Why: fmt.Sprintf("names rank %d as the one that was missing", peer)},
		}
	}
	return nil
}

// peerHost is the host of a peer that is named by its local rank: that of the
// process which names it.
func peerHost(e *Event) string {
	if e.Fields["peer_local"] != "" {
		return e.Origin.Host
	}
	return ""
}

// peers are the ranks that e names as missing.
func (e *Event) peers() []int {
	var list []int
	for _, name := range []string{"peer", "peer_local", "absent"} {
		for part := range strings.SplitSeq(e.Fields[name], ",") {
			if n, err := strconv.Atoi(strings.TrimSpace(part)); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// reporters are the ranks that report a timeout or a loss.
func reporters(events []*Event) map[int]bool {
	ranks := make(map[int]bool)
	for _, e := range events {
		if r := e.rank(); r >= 0 && e.Page.Family == distributedFamily && e.Role == RoleCollateral && e.Strength >= reported {
			ranks[r] = true
		}
	}
	return ranks
}

const distributedFamily = "distributed"

// silent is the only rank of the run that reports nothing, while at least half
// of the others report that they waited for somebody or lost somebody.
func (in *incident) silent(e *Event, ended []*Event) *absent {
	known := reporters(ended)
	for _, w := range in.listed {
		if w.rank >= 0 && w.hasExit {
			known[w.rank] = true // it ended, and somebody saw how
		}
	}
	others := in.census.others(known)
	if len(others) != 1 || len(known) < 2 {
		return nil
	}
	verb := "waited for"
	if e.Page.ID == peerLostID {
		verb = "lost"
	}
	return &absent{
		rank: others[0], line: e.Line, input: e.Origin.Input, when: e.when(),
		because: fmt.Sprintf("Of %d ranks all but rank %d report that they %s another one, so rank %d is the one.", in.census.world(), others[0], verb, others[0]),
	}
}

// stillRunning is the process that was alive when the launcher stopped the run:
// the one that the others waited for. Who lost a connection lost a process that
// had ended, so there it is not.
func (in *incident) stillRunning(e *Event, ended []*Event) *absent {
	if e.Page.ID != timeoutID {
		return nil
	}
	local := in.census.stillRunning()
	if local < 0 || reporters(ended)[local] { // who reports that it waited is not the one
		return nil
	}
	return &absent{
		rank: local, line: e.Line, input: e.Origin.Input, when: e.when(),
		because: fmt.Sprintf("Rank %d was still running when the launcher stopped it: it is the one that did not come.", local),
	}
}

// ranksOf are the ranks of collectives, in order.
func ranksOf(list []*collective) []int {
	var ranks []int
	for _, c := range list {
		if !slices.Contains(ranks, c.rank) {
			ranks = append(ranks, c.rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}
