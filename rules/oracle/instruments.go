package main

import (
	"fmt"
	"strconv"

	"github.com/graphleak/graphleak/rules"
)

// An instrument measures at a place what is not growth in a loop; see
// instruments.py.
type instrument string

const (
	cleanups instrument = "cleanup" // calls that are there to free something
	loads    instrument = "load"    // what files gave
	makes    instrument = "make"    // what is made anew in each step
	workers  instrument = "workers" // what processes copy that read samples
)

// instrumentFor names the instrument for the findings of a rule, or is empty.
func instrumentFor(code string) instrument {
	switch code {
	case "GL303":
		return loads
	case "GL503":
		return cleanups
	case "GL504":
		return makes
	case "GL601":
		return workers
	}
	return ""
}

// An observation is what an instrument saw at a place, in numbers with names.
type observation map[string]float64

// object is how many bytes a worker copies at least of a sample that is made of
// objects: their counts of references, and what lies beside them. Of the data set of
// the fixtures, with 10,000 samples, that is more than a process writes anyway.
const object = 96

// shows says whether what was seen bears out what findings of this kind claim.
func (i instrument) shows(o observation) bool {
	switch i {
	case cleanups:
		// What del named is there still, or is freed by a later del only, or what is
		// saved for a backward grows from call to call.
		return o["named"] > 0 && 2*o["alive"] > o["named"] || o["later"] > 0 || o["grown"] > 2*scalar
	case loads:
		return o["training"] > 0
	case makes:
		return o["repeated"] > 1 && (o["lost"] > 0 || o["started"] >= o["made"])
	case workers:
		return o["samples"] > 0 && o["copied"]/o["samples"] >= object
	}
	return false
}

// judgeSeen asks whether an instrument saw what a finding says. One entry in which
// it did is enough.
func judgeSeen(f rules.Finding, at place, a answer) claim {
	c := claim{rule: f.Code, state: notReached}
	for _, e := range a.Entries {
		if e.Plain == nil {
			continue
		}
		o, ok := e.Plain.Seen[strconv.Itoa(at.ID)]
		_, trains := o["training"]
		if !ok || at.Instrument == loads && !trains { // a part of what trains
			continue
		}
		if at.Instrument.shows(o) {
			return claim{rule: f.Code, state: proven}
		}
		c.state, c.text = refuted, fmt.Sprintf("%s: seen was %v", e.Name, o)
	}
	return c
}

// judgeControls asks of an entry that must be silent that its instrument sees
// nothing at what is like the places of findings.
func judgeControls(i instrument, e entry) claim {
	for at, o := range e.Plain.Seen {
		if i.shows(o) && e.Meant == "" {
			return claim{state: refuted, text: fmt.Sprintf("at control %s was seen %v", at, o)}
		}
	}
	return claim{state: proven}
}
