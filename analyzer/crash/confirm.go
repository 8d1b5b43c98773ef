package crash

import (
	"fmt"
	"slices"
)

// confirm joins what the kernel or the scheduler say with the death that they
// explain. The process itself could not say anything, and its launcher knows
// only the signal; so what is written later is the cause of what came before.
func (in *incident) confirm(events []*Event) {
	for _, c := range events {
		if c.Role != RoleConfirmation || len(c.Page.Confirms) == 0 {
			continue
		}
		d := in.deathOf(c, events)
		if d == nil {
			continue
		}
		c.explains = d
		if c.rank() < 0 {
			c.Origin.Rank, c.Origin.LocalRank = d.Origin.Rank, d.Origin.LocalRank
		}
		if c.Origin.Host == "" {
			c.Origin.Host = d.Origin.Host
		}
		if !c.Step.known() {
			c.Step = d.Step
		}
	}
}

// deathOf finds the death that c confirms: that of the same process or rank,
// else the only one that there is.
func (in *incident) deathOf(c *Event, events []*Event) *Event {
	var possible []*Event
	for _, d := range events {
		if !slices.Contains(c.Page.Confirms, d.Page.ID) || in.strength(d) < reported {
			continue
		}
		if c.Origin.PID >= 0 && d.Origin.PID == c.Origin.PID {
			return d
		}
		if r := c.rank(); r >= 0 && d.rank() >= 0 && d.rank() != r {
			continue
		}
		if c.Origin.Host != "" && d.Origin.Host != "" && c.Origin.Host != d.Origin.Host {
			continue
		}
		possible = append(possible, d)
	}
	for _, d := range possible[min(1, len(possible)):] {
		if !sameProcess(d, possible[0]) {
			return nil
		}
	}
	if len(possible) == 0 {
		return nil
	}
	// The one that knows most about where it was.
	best := possible[0]
	for _, d := range possible {
		if best.rank() < 0 && d.rank() >= 0 {
			best = d
		}
	}
	return best
}

// sameProcess reports whether two events can be about one process.
func sameProcess(a, b *Event) bool {
	differ := func(x, y int) bool { return x >= 0 && y >= 0 && x != y }
	return !differ(a.rank(), b.rank()) && !differ(a.Origin.PID, b.Origin.PID)
}

// confirmation says in the evidence what c explains.
func (in *incident) confirmation(c *Event) Evidence {
	d := c.explains
	why := "the death that this explains"
	if c.Origin.PID >= 0 && d.Origin.PID >= 0 && c.Origin.PID != d.Origin.PID {
		why = fmt.Sprintf("the death that this explains: the only one there is, although the numbers of the processes differ (%d and %d), as they do in a container", c.Origin.PID, d.Origin.PID)
	}
	return Evidence{Line: d.Line, Text: shorten(d.Text), Why: why, Input: in.inputName(d.Origin.Input)}
}
