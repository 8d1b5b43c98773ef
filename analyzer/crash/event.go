package crash

// Event is one thing that a log shows to have gone wrong.
type Event struct {
	Page      *Page
	Signature string // name of the one that matched
	Strength  int    // of the signature, or of the page
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
	// rankInferred says that the rank is that of the device.
	rankInferred bool
	key          string // of its stream
	order        int    // in which it was found
}

// rank is the rank that the event happened on, or -1.
func (e *Event) rank() int {
	if e.Origin.Rank >= 0 {
		return e.Origin.Rank
	}
	return e.Origin.LocalRank
}
