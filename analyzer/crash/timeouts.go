package crash

import (
	"fmt"
	"slices"
	"strings"
)

// refineTimeout says what a collective operation that timed out tells about the
// ranks: who was behind, who ran something else, or that nobody was.
func refineTimeout(c *inquiry) verdict {
	v := verdict{failure: timeoutID, confidence: Low, fields: c.event.Fields}
	t := compareCollectives(readCollectives(c.ended))
	waited := waitedFor(c.event)
	switch {
	case len(t.differs) > 0:
		return desynchronised(c, t)
	case c.absent != nil:
		v.confidence, v.absent = Medium, c.absent
		v.cause = fmt.Sprintf("A collective operation timed out%s. %s", waited, c.absent.because)
	case len(t.behind) == 1:
		b := t.behind[0]
		v.confidence = Medium
		v.absent = b.asAbsent(fmt.Sprintf("rank %d is behind: %s", b.rank, b.lastWork()))
		v.cause = fmt.Sprintf("A collective operation timed out%s. Rank %d is behind: %s, while the others were further. They waited for it.", waited, b.rank, b.lastWork())
	case len(t.behind) > 1:
		v.cause = fmt.Sprintf("A collective operation timed out%s. Ranks %s are behind the others, which waited for them; which of them came to a stop first, the text does not tell.", waited, numbers(ranksOf(t.behind)))
	case len(t.reports) > 1 && t.together():
		v.cause = fmt.Sprintf("A collective operation timed out%s. Ranks %s all waited in the same one (%s), so none of them is behind: a rank that is not in the text, slow work of one rank, or the network or a GPU.", waited, numbers(ranksOf(t.reports)), t.reports[0].describe())
		v.missing = append(v.missing, "the flight recorder's dumps of all ranks (TORCH_NCCL_TRACE_BUFFER_SIZE, TORCH_NCCL_DUMP_ON_TIMEOUT)")
	default:
		v.cause = fmt.Sprintf("A rank waited in a collective operation until the timeout%s. It is a victim: another rank failed, hung, was slow or took another path.", waited)
	}
	v.alternatives = append(v.alternatives, Alternative{
		Failure: desyncID, Confidence: Low,
		Why: differenceUnknown(t),
	})
	return v
}

// together reports whether all ranks waited in the same operation.
func (t *tie) together() bool {
	first := t.reports[0]
	return !slices.ContainsFunc(t.reports, func(c *collective) bool { return c.several || c.seq < 0 || c.seq != first.seq || c.op != first.op })
}

// asAbsent is the rank as the process that the others waited for, with what
// shows it.
func (c *collective) asAbsent(why string) *absent {
	e := c.event
	return &absent{
		rank: c.rank, host: e.Origin.Host, line: e.Line, input: e.Origin.Input, when: e.when(),
		proof: &Evidence{Line: e.Line, Text: shorten(e.Text), Why: why},
	}
}

// lastWork says how far the rank had come.
func (c *collective) lastWork() string {
	if c.enqueued >= 0 {
		return fmt.Sprintf("its last operation was number %d", c.enqueued)
	}
	return fmt.Sprintf("it waited in operation number %d", c.seq)
}

// differenceUnknown says why the ranks are not taken to have run different
// operations.
func differenceUnknown(t tie) string {
	switch {
	case len(t.behind) > 0:
		return "the ranks in the text are at different numbers; where they share one, the operation is the same"
	case len(t.reports) > 1:
		return "the ranks in the text report the same operation under the same number"
	}
	return "it takes the reports of two ranks to see that they ran different operations"
}

// desynchronised is the verdict where ranks ran different operations at the same
// place.
func desynchronised(c *inquiry, t tie) verdict {
	v := verdict{failure: desyncID, confidence: Medium, fields: c.event.Fields}
	odd := t.differs[0]
	v.cause = fmt.Sprintf("At operation number %d rank %d ran %s and rank %d %s: the ranks took different paths through the code. That is a fault of the program (a condition that differs between ranks, or an uneven number of batches), not of the network.",
		odd.seq, t.others.rank, t.others.describe(), odd.rank, odd.describe())
	if len(t.reports)-len(t.differs) > 1 && len(t.differs) == 1 {
		// Most agree, so the odd one took the wrong path.
		v.absent = odd.asAbsent(fmt.Sprintf("rank %d runs another operation than the others", odd.rank))
		v.cause += fmt.Sprintf(" All others agree with each other, so rank %d is the one that differs.", odd.rank)
	} else {
		v.missing = append(v.missing, "which of them took the wrong path: the text shows only that they differ")
	}
	v.alternatives = []Alternative{{Failure: timeoutID, Confidence: Low, Why: "the timeout is how the difference shows; a slow rank or a broken link would leave the operations the same"}}
	return v
}

// waitedFor says for how long, if the message does.
func waitedFor(e *Event) string {
	ms := number(e.Fields["ran"])
	if ms <= 0 {
		return ""
	}
	return fmt.Sprintf(" after %s", duration(ms))
}

// duration is a time in milliseconds in words.
func duration(ms int) string {
	switch s := ms / 1000; {
	case s < 1:
		return fmt.Sprintf("%d ms", ms)
	case s < 180:
		return fmt.Sprintf("%d s", s)
	default:
		return fmt.Sprintf("%d min", (s+30)/60)
	}
}

// numbers lists ranks.
func numbers(ranks []int) string {
	const most = 8
	more := ""
	if len(ranks) > most {
		more = fmt.Sprintf(" and %d more", len(ranks)-most)
		ranks = ranks[:most]
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ranks)), ", "), "[]") + more
}

// refineLoss says what a lost connection tells about who was lost.
func refineLoss(c *inquiry) verdict {
	v := verdict{failure: peerLostID, confidence: Low, fields: c.event.Fields}
	v.cause = "A rank lost the connection to another one. It is a victim: the process it lost failed or was killed, and has the real error."
	if c.absent != nil {
		v.confidence, v.absent = Medium, c.absent
		v.cause = "A rank lost the connection to another one. " + c.absent.because
	}
	return v
}
