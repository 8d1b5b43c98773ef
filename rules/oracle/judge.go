package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/graphleak/graphleak/rules"
)

// counts are nodes of graphs, bytes saved by nodes, bytes of storages, bytes of
// storages that no tensor uses, and bytes of the heap: see census.py.
type counts [5]float64

const (
	nodes = iota
	saved
	values
	unused
	heap
)

// A measurement is what one run of one entry gave.
type measurement struct {
	Error  string                 `json:"error"`
	Visits map[string]int         `json:"visits"`
	Growth map[string]counts      `json:"growth"` // an iteration's, by loop
	Peak   counts                 `json:"peak"`
	Freed  float64                `json:"freed"` // the most bytes that one backward freed
	Same   string                 `json:"same"`  // against the run before the fixes
	Seen   map[string]observation `json:"seen"`  // by instruments, by place
	Needs  map[string]string      `json:"needs"` // of what is at a place
	Long   *measurement           `json:"long"`
}

// An entry is a part of a program that was run by itself.
type entry struct {
	Name     string                 `json:"entry"`
	Error    string                 `json:"error"`   // why it could not be run
	Needs    string                 `json:"needs"`   // what is not there that it cannot be run without
	Within   []int                  `json:"within"`  // places in an entry that could not be run
	Called   bool                   `json:"called"`  // by others of the program
	Grows    string                 `json:"grows"`   // why it may grow in a way that no rule is about
	Changes  string                 `json:"changes"` // what a fix that is not safe changes
	Meant    string                 `json:"meant"`   // why what an instrument sees there is no mistake
	Plain    *measurement           `json:"plain"`
	Rest     *measurement           `json:"rest"`    // what keeps is cut
	Cut      *measurement           `json:"cut"`     // what costs a peak as well
	Cycles   *measurement           `json:"cycles"`  // Rest without garbage collections
	Alone    map[string]measurement `json:"alone"`   // all cut but one place
	Without  map[string]measurement `json:"without"` // only that place cut
	Long     *measurement           `json:"long"`
	Variants map[string]measurement `json:"variants"`
}

type answer struct {
	Error   string  `json:"error"`
	Places  []int   `json:"places"` // of findings that were marked
	Entries []entry `json:"entries"`
}

// script is the entry of the statements of a program that are in no function.
const script = "script"

// state is what became of a claim.
type state string

const (
	proven      state = "proven"
	refuted     state = "refuted"
	notReached  state = "not reached"  // by any entry that runs
	notMeasured state = "not measured" // no way to cut it, or no memory of that kind here
	meant       state = "meant"        // what a fix changes that is not safe, as the fixture says
)

type claim struct {
	rule  string
	entry string // whose run says so, where it is one
	state state
	text  string
}

// verdict is what the runs of a program say of what is claimed about it.
type verdict struct {
	program  program
	findings []claim
	silent   []claim // of each entry of a program that shows silence
	flat     []claim // of the entries of others: nothing but what was found grows
	fixes    map[string][]claim
	notRun   []string
}

func judge(p program, a answer) verdict {
	v := verdict{program: p, fixes: map[string][]claim{}}
	if a.Error != "" {
		v.notRun = append(v.notRun, fmt.Sprintf("%s: %s", p.Name, a.Error))
	}
	for _, e := range a.Entries {
		where := p.Name + " " + e.Name
		if e.Plain == nil {
			v.notRun = append(v.notRun, where+": "+e.Error)
			continue
		}
		for label, after := range e.Variants {
			v.fixes[label] = append(v.fixes[label], judgeFix(p, e, label, after))
		}
		if strings.Contains(e.Name, ".") {
			continue // a method by itself: what grows in its object is up to others
		}
		c := judgeRest(e)
		c.rule, c.entry, c.text = p.rule, e.Name, where+": "+c.text
		if !p.silent {
			v.flat = append(v.flat, c)
			continue
		}
		if c.state == proven {
			seen := judgeSilence(p.about, e)
			if p.Controls != "" {
				seen = judgeControls(p.Controls, e)
			}
			c.state, c.text = seen.state, where+": "+seen.text
		}
		v.silent = append(v.silent, c)
	}
	for i, f := range p.findings {
		c := judgeFinding(f, p.Findings[i], a)
		c.text = fmt.Sprintf("%s:%d %s %s %s: %s", p.Name, p.Findings[i].Start[0], f.Code, f.Severity, f.Keeps, c.text)
		v.findings = append(v.findings, c)
	}
	return v
}

// judgeRest asks that nothing grows in an entry but what was found, or what its
// fixture says of it.
func judgeRest(e entry) claim {
	if e.Long.Error != "" {
		return claim{state: notMeasured, text: e.Long.Error}
	}
	if len(e.Plain.Growth) == 0 {
		return claim{state: notMeasured, text: "no loop is long enough"}
	}
	why := grows(*e.Long)
	for _, after := range e.Variants {
		if why != "" && len(e.Alone) > 0 && after.Error == "" && after.Long != nil && grows(*after.Long) == "" {
			why = "" // the first value of a chain is not where the others are added, and is fixed as well
		}
	}
	if e.Grows == "" && why != "" {
		if rest := maps.Clone(e.Long.Growth); e.Called {
			delete(rest, "calls")
			if grows(measurement{Growth: rest, Freed: e.Long.Freed}) == "" {
				return claim{state: notMeasured, text: "what it adds, those who call it have to end"}
			}
		}
		return claim{state: refuted, text: why}
	}
	for loop := range e.Rest.Growth {
		if _, ok := e.Long.Growth[loop]; !ok && e.Grows == "" && grows(only(*e.Rest, loop)) != "" {
			return claim{state: notMeasured, text: "loop " + loop + " ends before it can be said whether it goes on to grow"}
		}
	}
	return claim{state: proven}
}

// only is a measurement of one loop.
func only(m measurement, loop string) measurement {
	return measurement{Growth: map[string]counts{loop: m.Growth[loop]}, Freed: m.Freed}
}

// judgeFinding asks whether what a finding says is kept grows when its place
// alone is left, and not when that is cut too; or grows in the program as it is, and
// not when its place alone is cut: what it keeps may be what others make. One entry
// that shows it is enough.
func judgeFinding(f rules.Finding, at place, a answer) claim {
	c := claim{rule: f.Code, state: notReached}
	if at.Instrument != "" {
		if seen := judgeSeen(f, at, a); seen.state == proven || at.Cut == "" {
			return unreached(seen, at, a)
		}
	}
	switch {
	case at.Cut == "":
		return claim{rule: f.Code, state: notMeasured, text: "nothing here shows what it is about"}
	case !slices.Contains(a.Places, at.ID):
		return claim{rule: f.Code, state: notMeasured, text: "no expression stands for its place"}
	}
	for _, e := range a.Entries {
		alone, ok := e.Alone[strconv.Itoa(at.ID)]
		if !ok {
			continue
		}
		without := e.Rest
		switch {
		case at.Peak:
			without = e.Cut
		case at.Cycle:
			without = e.Cycles
		}
		if alone.Error == noEnd || without.Error == noEnd {
			c.text += "; " + e.Name + ": " + noEnd
			continue
		}
		why := doubt(f, alone, *without)
		if only, ok := e.Without[strconv.Itoa(at.ID)]; ok && why != "" && doubt(f, *e.Plain, only) == "" {
			why = ""
		}
		if why == "" {
			return claim{rule: f.Code, state: proven}
		}
		if at.Cycle && doubt(f, alone, measurement{}) == "" {
			// It grows, and so it does with a copy stored: what is returned is the copy.
			return claim{rule: f.Code, state: notMeasured, text: "what is returned keeps it as well"}
		}
		if !strings.Contains(e.Name, ".") { // a method by itself shows what is kept, or nothing
			c.state = refuted
		}
		c.text += "; " + e.Name + ": " + why
	}
	c.text = strings.TrimPrefix(c.text, "; ")
	return unreached(c, at, a)
}

// unreached gives a claim without a reason the one that nothing came to its place.
func unreached(c claim, at place, a answer) claim {
	if c.state != notReached || c.text != "" {
		return c
	}
	c.text = "nothing that runs comes there"
	if needs := needed(at.ID, a); needs != "" {
		c.state, c.text = notMeasured, "it needs "+needs
	}
	return c
}

// needed is what the entry around a place cannot be run without, or empty.
func needed(id int, a answer) string {
	for _, e := range a.Entries {
		if e.Needs != "" && slices.Contains(e.Within, id) {
			return e.Needs
		}
		if e.Plain != nil && e.Plain.Needs[strconv.Itoa(id)] != "" {
			return e.Plain.Needs[strconv.Itoa(id)]
		}
	}
	return ""
}

// noEnd is the error of a run that took too long; see drive.py.
const noEnd = "no end after some seconds"

const (
	oneNode = 0.5 // per iteration; anything less is noise at the ends of a loop
	// scalar is how many bytes a node may save beside activations: a factor that a
	// product keeps. The activations of fixtures are small as well.
	scalar = 8
	// unreachable is how many bytes of the heap an iteration must add where neither
	// Python nor a graph leads to what stays: a cycle within PyTorch.
	unreachable = 1000
	objects     = 60
)

// doubt says why two runs do not bear a finding out, or is empty.
func doubt(f rules.Finding, alone, without measurement) string {
	if f.Memory == rules.Peak {
		if raises(alone.Error) && !raises(without.Error) {
			return "" // it raises, as the finding says
		}
		// A guard without effect may be one that would have made graphs.
		if differs := alone.Peak != without.Peak; differs && f.Code == "GL305" || alone.Peak[saved] > without.Peak[saved] || alone.Peak[nodes] > without.Peak[nodes] {
			return ""
		}
		return fmt.Sprintf("the peak is %s with it and %s without", show(alone.Peak), show(without.Peak))
	}
	if alone.Error != "" {
		return alone.Error
	}
	var most counts
	for loop, rate := range alone.Growth {
		for i := range rate {
			most[i] = max(most[i], rate[i]-without.Growth[loop][i])
		}
	}
	ok := false
	switch f.Keeps {
	case rules.Graph:
		big := max(most[saved], most[values]) > 2*scalar
		ok = most[nodes] >= oneNode && big || most[nodes] == 0 && most[heap] > unreachable
	case rules.Nodes:
		ok = most[nodes] >= oneNode && most[saved] <= scalar*most[nodes]
	case rules.Values: // or the objects that do something with them
		ok = most[values] > 0 || f.Memory == rules.Host && most[heap] > objects
	case rules.Storage:
		ok = most[values] > 0
	}
	if ok {
		return ""
	}
	return "each iteration adds " + show(most)
}

// raises says that an error is one of a backward pass that finds its graph freed, or
// changed since.
func raises(err string) bool {
	return strings.Contains(err, "second time") || strings.Contains(err, "modified by an inplace operation")
}

// grows says what an iteration adds to a run in which nothing should grow. What a
// backward pass frees in the end was kept for it.
func grows(m measurement) string {
	if m.Error != "" {
		return ""
	}
	for loop, rate := range m.Growth {
		if rate[nodes] < oneNode && rate[saved] == 0 || m.Freed > 2*rate[saved] && rate[saved] > 0 {
			continue
		}
		return fmt.Sprintf("each iteration of loop %s adds %s", loop, show(rate))
	}
	return ""
}

// judgeFix asks that a fixed entry computes the same and that what the findings
// were about no longer grows.
func judgeFix(p program, e entry, label string, after measurement) claim {
	c := claim{rule: p.rule, state: proven, text: fmt.Sprintf("%s %s, %s: ", p.Name, e.Name, label)}
	switch {
	case after.Error == noEnd || e.Plain.Error == noEnd: // on a busy machine
		c.state, c.text = notReached, c.text+noEnd
	case after.Error != "" && after.Error != e.Plain.Error:
		c.state, c.text = refuted, c.text+after.Error
	case after.Same != "bits" && after.Same != "close" && e.Plain.Error == "":
		c.state, c.text = refuted, c.text+after.Same
		if label == allFixes && e.Changes != "" {
			c.state = meant
		}
	case e.Grows == "" && after.Long != nil && grows(*after.Long) != "" && grows(*e.Long) == "":
		c.state, c.text = refuted, c.text+grows(*after.Long)
	}
	return c
}

func show(c counts) string {
	return fmt.Sprintf("%.3g nodes, %.4g bytes saved, %.4g bytes of tensors, %.4g bytes of the heap", c[nodes], c[saved], c[values], c[heap])
}
