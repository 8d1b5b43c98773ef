package main

import "github.com/graphleak/graphleak/rules"

// A subject is what a rule is about. That a rule is right to be silent is another
// claim for each of them.
type subject struct {
	values bool // tensors without graphs that add up
	peak   bool // what is recorded for nothing, and freed again
}

// subjects are what each rule says in its own fixtures.
func subjects(programs []program) map[string]subject {
	out := map[string]subject{}
	for _, p := range programs {
		for _, f := range p.findings {
			if f.Code != p.rule {
				continue
			}
			s := out[f.Code]
			s.values = s.values || f.Memory != rules.Peak && (f.Keeps == rules.Values || f.Keeps == rules.Storage)
			s.peak = s.peak || f.Memory == rules.Peak && f.Keeps == rules.Graph
			out[f.Code] = s
		}
	}
	return out
}

// judgeSilence asks of an entry in which nothing grows that there is nothing in it of
// what the rule is about. Where there is, it may be meant: nothing here can tell.
func judgeSilence(about subject, e entry) claim {
	if about.values {
		for loop, rate := range e.Plain.Growth {
			if long, ok := e.Long.Growth[loop]; ok {
				rate = long
			}
			if rate[values] > 0 {
				return claim{state: notMeasured, text: "tensors add up in loop " + loop + ", and whether they are meant to is not measured"}
			}
		}
	}
	if about.peak && e.Plain.Peak[nodes] > 0 && e.Plain.Freed == 0 {
		return claim{state: notMeasured, text: "graphs are made that no backward pass frees, and whether they are meant to be is not measured"}
	}
	return claim{state: proven}
}
