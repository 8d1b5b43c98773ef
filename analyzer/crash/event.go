package crash

import "maps"

// Event is one thing that a log shows to have gone wrong.
type Event struct {
	Page      *Page
	Signature *Signature // the one that matched; nil for exit codes and exceptions without a page
	Strength  int        // of the signature, or of the page
	Role      Role       // likewise
	Fields    map[string]string
	Origin    Origin
	Line      int    // where it shows, in its input
	Text      string // of that line
	Step      Step   // how far its stream had come
	Traceback *Traceback
	// Listed says that a launcher reported it in its summary, not the process
	// itself; NamedRoot that the launcher took it for the cause of all.
	Listed    bool
	NamedRoot bool
	// Recovered is the step that the run reached afterwards.
	Recovered *Step
	// explains is the death that the event confirms.
	explains *Event
	// late says that output of the run follows the event, which was buffered.
	late bool
	// rankInferred says that the rank is that of the device.
	rankInferred bool
	// until is the last line of the same message said again and again, as each
	// thread of a kernel does.
	until int
	key   string // of its stream
	order int    // in which it was found
}

// rank is the rank that the event happened on, or -1.
func (e *Event) rank() int {
	if e.Origin.Rank >= 0 {
		return e.Origin.Rank
	}
	return e.Origin.LocalRank
}

// last is the last line of the event.
func (e *Event) last() int {
	last := max(e.Line, e.until)
	if e.Traceback != nil {
		last = max(last, e.Traceback.Last)
	}
	return last
}

// repeats reports whether e says nothing that o, before it in the same stream,
// does not say.
func (e *Event) repeats(o *Event) bool {
	return e.Traceback == nil && o.Traceback == nil && !e.Listed && !o.Listed && e.Page == o.Page && e.Signature == o.Signature &&
		e.key == o.key && e.Origin.Rank == o.Origin.Rank && e.Origin.PID == o.Origin.PID && maps.Equal(e.Fields, o.Fields)
}
