package crash

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// collective is what one rank says about the operation that it waited in.
type collective struct {
	rank      int
	group     string // process group, as the rank numbers it
	seq       int    // of the operation that timed out, -1 if unknown
	op        string
	numel     string // elements of its input
	enqueued  int    // the last operation that the rank had started
	completed int    // the last one that it had finished
	several   bool   // it reports more than one operation, so there are more groups than it names
	event     *Event
}

var (
	workField    = regexp.MustCompile(`(\w+)(?:\(ms\))?\s*=\s*([\w-]+)`)
	processGroup = regexp.MustCompile(`\[PG (?:ID )?(\d+)`)
)

// readCollectives takes from the events what each rank was doing in each
// process group when its wait timed out.
func readCollectives(events []*Event) []*collective {
	type key struct {
		rank  int
		group string
	}
	byRank := make(map[key]*collective)
	var order []*collective
	for _, e := range events {
		if e.Page.ID != timeoutID || e.rank() < 0 {
			continue
		}
		group := ""
		if m := processGroup.FindStringSubmatch(e.Text); m != nil {
			group = m[1]
		}
		k := key{e.rank(), group}
		c := byRank[k]
		if c == nil {
			if c = byRank[key{e.rank(), ""}]; c == nil || group == "" {
				c = &collective{rank: e.rank(), group: group, seq: -1, enqueued: -1, completed: -1, event: e}
				order = append(order, c)
			} else {
				c.group = group // the first line did not name it
			}
			byRank[k] = c
		}
		c.take(e)
	}
	return order
}

// take adds what e tells.
func (c *collective) take(e *Event) {
	set := func(to *int, value string) {
		if n := number(strings.TrimPrefix(value, "-")); value != "" && *to < 0 && !strings.HasPrefix(value, "-") {
			*to = n
		}
	}
	for _, m := range workField.FindAllStringSubmatch(e.Fields["work"], -1) {
		switch m[1] {
		case "SeqNum":
			c.several = c.several || c.seq >= 0 && c.group == "" && c.seq != number(m[2])
			set(&c.seq, m[2])
		case "OpType":
			c.op = cmp.Or(c.op, m[2])
		case "NumelIn":
			c.numel = cmp.Or(c.numel, m[2])
		}
	}
	for _, name := range []string{"seq", "seq_new", "seq_old"} {
		set(&c.seq, e.Fields[name])
	}
	set(&c.enqueued, e.Fields["enqueued"])
	set(&c.completed, e.Fields["completed"])
}

// tie is what the ranks that waited tell together.
type tie struct {
	reports []*collective // of the group that decides
	behind  []*collective // that had started less than the others
	differs []*collective // that ran another operation than the most at the same place
	others  *collective   // one that ran what most did
}

// compareCollectives compares the ranks within each process group. Sequence
// numbers count per group, so those of two groups say nothing about each other.
// The group in which most ranks waited decides.
func compareCollectives(all []*collective) tie {
	groups := make(map[string][]*collective)
	for _, c := range all {
		groups[c.group] = append(groups[c.group], c)
	}
	var best tie
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if reports := groups[name]; len(reports) > len(best.reports) {
			best = tie{reports: reports}
		}
	}
	if slices.ContainsFunc(best.reports, func(c *collective) bool { return c.several }) {
		return best
	}
	best.findDifference()
	if len(best.differs) == 0 {
		best.findBehind()
	}
	return best
}

// findDifference looks for ranks that ran different operations under one number.
func (t *tie) findDifference() {
	bySeq := make(map[int][]*collective)
	for _, c := range t.reports {
		if c.seq >= 0 && c.op != "" {
			bySeq[c.seq] = append(bySeq[c.seq], c)
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(bySeq)) {
		kinds := make(map[string][]*collective)
		for _, c := range bySeq[seq] {
			kinds[c.op+" "+c.numel] = append(kinds[c.op+" "+c.numel], c)
		}
		if len(kinds) < 2 {
			continue
		}
		names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
			return cmp.Or(len(kinds[b])-len(kinds[a]), cmp.Compare(a, b))
		})
		t.others = kinds[names[0]][0]
		for _, name := range names[1:] {
			t.differs = append(t.differs, kinds[name]...)
		}
		return
	}
}

// findBehind looks for ranks that had started fewer operations than the others.
func (t *tie) findBehind() {
	progress := func(c *collective) int {
		if c.enqueued >= 0 {
			return c.enqueued
		}
		return c.seq
	}
	least, most, known := -1, -1, 0
	for _, c := range t.reports {
		if p := progress(c); p >= 0 {
			known++
			if least < 0 || p < least {
				least = p
			}
			most = max(most, p)
		}
	}
	if known < 2 || least == most {
		return
	}
	for _, c := range t.reports {
		if p := progress(c); p == least {
			t.behind = append(t.behind, c)
		}
	}
}

// describe is the operation as a person reads it.
func (c *collective) describe() string {
	if c.op == "" {
		return fmt.Sprintf("operation %d", c.seq)
	}
	if c.numel == "" {
		return c.op
	}
	return fmt.Sprintf("%s of %s elements", c.op, c.numel)
}
