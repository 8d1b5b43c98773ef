package crash

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Bounds on what is kept of a log.
const (
	maxStreams = 4096
	maxEvents  = 512
)

// incident is what was found in the inputs of one diagnosis.
type incident struct {
	knowledge *Knowledge
	inputs    []Input
	ranks     []int // of each input by its name, -1 if it has none

	events   []*Event
	dropped  int // events between the first and the last ones
	order    int
	forced   map[int]bool // processes that the launcher had to kill
	listed   []listedWorker
	series   *seriesSet
	census   census
	progress []*progress // by input
	binary   bool
	bytes    int64 // read

	expandable bool
}

type listedWorker struct {
	worker
	input int
}

func newIncident(k *Knowledge, inputs []Input) *incident {
	in := &incident{
		knowledge: k, inputs: inputs, forced: make(map[int]bool), series: newSeriesSet(), census: newCensus(),
	}
	in.ranks = inputRanks(inputs)
	return in
}

// extraLiterals begin what the engine itself reads beside pages.
var extraLiterals = []string{"Root Cause (first observed failure)", "Failures:", "forcefully exiting via 9", "expandable_segments:True"}

// stream is the output of one process.
type stream struct {
	in     *inputState
	key    string
	traces *weaver
	// recorded reads tracebacks within a launcher's report.
	recorded *weaver
	report   elastic
	open     bool // inside the report
	// began is how far the stream had come when the traceback began that it is
	// in, or was in last; by the time it ends, other streams are further.
	began   Step
	beganAt int
}

func (s *stream) active() bool { return s.open || s.traces.active() }

// inputState is the reading of one input.
type inputState struct {
	*incident
	number   int
	labels   labels
	learned  learned
	unfolder unfolder
	table    memoryTable
	reader   *reader
	streams  map[string]*stream
	order    []*stream
	active   int
	prog     *progress
}

// read goes through one input.
func (in *incident) read(ctx context.Context, i int) error {
	s := &inputState{incident: in, number: i, streams: make(map[string]*stream), prog: newProgress()}
	in.progress = append(in.progress, s.prog)
	if c, ok := in.inputs[i].Reader.(io.Closer); ok {
		defer c.Close()
	}
	r, err := decoded(in.inputs[i].Reader)
	if err != nil {
		return err
	}
	peeked, r, err := peek(r)
	if err != nil {
		return err
	}
	s.labels = findLabels(peeked)
	s.learned.common(peeked, func(text string) bool {
		text = s.labels.strip(text, &Origin{})
		page, _, _ := s.knowledge.recognise(text, InLine)
		return page != nil || isException(text)
	})
	s.reader = &reader{
		literals: in.knowledge.wanted, common: in.knowledge.memory, short: shortMemoryWords, pick: in.series.wants,
		visit: s.visit, every: func() bool { return s.active > 0 || s.table.open() },
	}
	if err := s.reader.run(ctx, r); err != nil {
		return err
	}
	for _, st := range s.order {
		st.traces.close()
		st.report.finish()
	}
	s.lookBack(s.reader.line + 1)
	in.bytes += s.reader.bytes
	in.binary = in.binary || s.reader.binary()
	return nil
}

// peek reads the start of r, and gives a reader that has it still.
func peek(r io.Reader) (string, io.Reader, error) {
	var b strings.Builder
	_, err := io.CopyN(&b, r, 64<<10)
	if err != nil && err != io.EOF {
		return "", nil, err
	}
	return b.String(), io.MultiReader(strings.NewReader(b.String()), r), nil
}

// visit takes one interesting line.
func (s *inputState) visit(no int, raw []byte) {
	for _, line := range s.lines(no, raw) {
		s.take(line)
	}
}

// take gives a line to its stream.
func (s *inputState) take(line Line) {
	if step, readings, ok := s.table.read(line.Text); ok {
		if readings != nil && !step.known() {
			step = stepBefore(line, s.before, nearStep)
		}
		s.series.add(line, step, readings)
		return
	}
	key := line.Origin.key()
	st := s.streams[key]
	if st == nil {
		if len(s.streams) >= maxStreams {
			key = "" // too many to tell apart
		}
		if st = s.streams[key]; st == nil {
			st = s.newStream(key)
		}
	}
	before := st.active()
	st.feed(line)
	if after := st.active(); after != before {
		if after {
			s.active++
			s.lookBack(line.No)
			s.noteStep(line) // a traceback often begins on the line of a progress bar
			st.began, st.beganAt = s.stepOf(key), line.No
		} else {
			s.active--
		}
	}
}

// lines cleans a line of the input, takes off its prefixes, and undoes what put
// several lines of output into it.
func (s *inputState) lines(no int, raw []byte) []Line {
	text := clean(raw)
	if records := splitRecords(text); records != nil {
		var lines []Line
		for _, r := range records {
			lines = append(lines, s.outputLines(no, r)...)
		}
		return lines
	}
	return s.outputLines(no, text)
}

// outputLines are the lines of output that one record holds.
func (s *inputState) outputLines(no int, text string) []Line {
	origin := noOrigin(s.number)
	text = s.labels.strip(text, &origin)
	texts := s.unfolder.lines(text, &origin)
	if texts == nil {
		return []Line{s.line(no, text, origin)}
	}
	lines := make([]Line, 0, len(texts))
	for _, text := range texts {
		own := origin
		text = s.labels.strip(text, &own)
		lines = append(lines, s.line(no, text, own))
	}
	return lines
}

// line is the line of that text.
func (s *inputState) line(no int, text string, o Origin) Line {
	text, confirmed := s.learned.strip(text, &o)
	o = s.ofInput(o)
	if confirmed {
		s.moveHeader(o)
	}
	return Line{No: no, Text: text, Origin: o}
}

// ofInput gives an origin without a rank that of its input.
func (s *inputState) ofInput(o Origin) Origin {
	if o.Rank < 0 && o.LocalRank < 0 && s.ranks[s.number] >= 0 {
		o.Rank = s.ranks[s.number]
	}
	return o
}

// earlier is a line that was passed over, as it is known by now to read.
func (s *inputState) earlier(no int, raw []byte) Line {
	origin := noOrigin(s.number)
	text := s.labels.strip(clean(raw), &origin)
	text = s.learned.known(text, &origin)
	return Line{No: no, Text: text, Origin: s.ofInput(origin)}
}

// before goes over the output before the current line, latest line first.
func (s *inputState) before(yield func(Line) bool) {
	s.reader.history.tail(func(no int, raw []byte) bool { return yield(s.earlier(no, raw)) })
}

// moveHeader moves the header of a traceback to the stream of o: only the line
// after it told that what stands before it is a prefix.
func (s *inputState) moveHeader(o Origin) {
	for _, st := range s.order {
		if header, ok := st.traces.loneHeader(); ok && st.key != o.key() {
			if !st.active() {
				s.active--
			}
			header.Origin = o
			s.take(header)
			return
		}
	}
}

func (s *inputState) newStream(key string) *stream {
	st := &stream{in: s, key: key}
	st.traces = newWeaver(func() *tracebacks {
		return &tracebacks{emit: func(t *Traceback) { s.traceback(t, st.key, nil) }, before: s.before}
	})
	st.report.done = func(w worker) {
		if st.recorded != nil {
			st.recorded.close()
			st.recorded = nil
		}
		s.worker(w, st.key)
	}
	st.report.traceback = func(w worker, l Line) {
		if st.recorded == nil {
			st.recorded = newWeaver(func() *tracebacks {
				return &tracebacks{emit: func(t *Traceback) { s.traceback(t, st.key, &w) }}
			})
		}
		st.recorded.feed(l)
	}
	s.streams[key] = st
	s.order = append(s.order, st)
	return st
}

// feed passes a line of the stream to whoever wants it.
func (st *stream) feed(l Line) {
	switch {
	case elasticPart.MatchString(l.Text):
		st.traces.close()
		st.report.feed(l, &st.open)
	case st.open && st.report.feed(l, &st.open):
	case st.traces.inside() && !st.in.endsTraceback(l):
		if !st.traces.feed(l) {
			st.in.lineEvent(l, st)
		}
	case st.in.lineEvent(l, st):
	default:
		st.open = false
		st.traces.feed(l)
	}
	st.in.census.read(l)
	st.in.series.read(l, st.in.before)
	if strings.Contains(l.Text, "expandable_segments:True") && !strings.Contains(l.Text, "avoid fragmentation") {
		st.in.expandable = true
	}
	if m := forcedExit.FindStringSubmatch(l.Text); m != nil {
		st.in.forced[number(m[1])] = true
	}
}

// endsTraceback reports whether l is a message of another program, which may
// come in the middle of a traceback.
func (s *inputState) endsTraceback(l Line) bool {
	page, sig, _ := s.knowledge.recognise(l.Text, InLine)
	return page != nil && sig.Scope == InLine
}

var forcedExit = regexp.MustCompile(`Unable to shutdown process (\d+) via 15, forcefully exiting via 9`)

// lineEvent recognises a message that stands on one line by itself.
func (s *inputState) lineEvent(l Line, st *stream) bool {
	if isException(l.Text) {
		return false // the parser of tracebacks takes it with the lines that follow
	}
	page, sig, fields := s.knowledge.recognise(l.Text, InLine)
	if page == nil {
		return false
	}
	st.traces.close()
	s.knowledge.complete(page, l.Text, InLine, fields)
	s.add(&Event{
		Page: page, Signature: sig, Strength: sig.Strength, Role: sig.Role, Fields: fields, Origin: l.Origin, Line: l.No, Text: l.Text,
	}, st.key, l.No)
	return true
}

// worker takes an entry of a launcher's report.
func (s *inputState) worker(w worker, key string) {
	if len(s.listed) < maxEvents {
		s.listed = append(s.listed, listedWorker{w, s.number})
	}
	page := s.knowledge.byExit[w.exitCode]
	if !w.hasExit || page == nil {
		return
	}
	origin := noOrigin(s.number)
	origin.Rank, origin.LocalRank, origin.Host, origin.Time, origin.PID = w.rank, w.localRank, w.host, w.time, w.pid
	s.add(&Event{
		Page: page, Strength: page.Strength, Role: page.Role, Fields: map[string]string{"exit_code": fmt.Sprint(w.exitCode), "pid": fmt.Sprint(w.pid)},
		Origin: origin, Line: w.line, Text: fmt.Sprintf("rank %d: exit code %d (pid %d)", w.rank, w.exitCode, w.pid),
		Listed: true, NamedRoot: w.root,
	}, key, w.line)
}

// add records an event, whose text starts at line first, with the step that its
// stream had reached. Of very many events the first and the last ones are kept.
func (s *inputState) add(e *Event, key string, first int) {
	s.lookBack(first)
	e.key = key
	if e.Origin.LocalRank < 0 && e.Fields["local_rank"] != "" {
		e.Origin.LocalRank = number(e.Fields["local_rank"])
	}
	if e.Origin.PID < 0 && e.Fields["pid"] != "" {
		e.Origin.PID = number(e.Fields["pid"])
	}
	if e.Origin.Rank < 0 && e.Fields["rank"] != "" {
		e.Origin.Rank = number(e.Fields["rank"])
	}
	if e.Origin.Host == "" {
		e.Origin.Host = e.Fields["host"]
	}
	e.Step = s.stepOf(key)
	if st := s.streams[key]; st != nil && e.Traceback != nil && st.beganAt > 0 && first >= st.beganAt {
		e.Step = st.began
	}
	if n := len(s.events); n > 0 && e.repeats(s.events[n-1]) {
		s.events[n-1].until = e.Line
		return
	}
	s.incident.order++
	e.order = s.incident.order
	if len(s.events) >= maxEvents {
		half := maxEvents / 2
		s.events = append(s.events[:half], s.events[half+1:]...)
		s.dropped++
	}
	s.events = append(s.events, e)
}

// stepOf is how far a stream has come. Often only one rank prints that.
func (s *inputState) stepOf(key string) Step {
	if step, ok := s.prog.latest[key]; ok {
		return step
	}
	step := s.prog.newest
	step.Borrowed = step.known()
	return step
}

// lookBack reads the steps of the output up to line end that it has not read
// yet.
func (s *inputState) lookBack(end int) {
	if s.prog.until == s.reader.line && s.dropped > 0 {
		return // very many events on one line
	}
	// A process that ran well is asked for its last steps only.
	brief := !slices.ContainsFunc(s.events, func(e *Event) bool { return e.Origin.Input == s.number })
	var lines []Line
	found, idle := 0, 0
	s.reader.history.tail(func(no int, text []byte) bool {
		if no < s.prog.until || len(lines) >= maxLookBack || brief && found > recentSteps && idle > idleLookBack {
			return false
		}
		if no > end {
			return true
		}
		line := s.earlier(no, text)
		lines = append(lines, line)
		if idle++; brief && found <= recentSteps && readStep(line.Text).known() {
			found++
			idle = 0
		}
		return true
	})
	for _, line := range slices.Backward(lines) {
		s.census.read(line)
		s.noteStep(line)
	}
	// What follows the event is looked at with the next one.
	until := s.reader.line
	if end < until {
		until = end + 1
	}
	s.prog.until = max(s.prog.until, until)
}

// Bounds on the lines that are looked back at: in all, and after enough steps.
const (
	maxLookBack  = 2000
	idleLookBack = 100
)

// noteStep records the step that a line of output tells.
func (s *inputState) noteStep(l Line) {
	step := readStep(l.Text)
	// The code and the messages of tracebacks mention steps too.
	if !step.known() || strings.HasPrefix(l.Text, "    ") || strings.Contains(l.Text, `File "`) || isException(l.Text) {
		return
	}
	step.Line, step.Text = l.No, l.Text
	s.prog.note(l.Origin.key(), step)
}

// compareEvents orders events by where they stand in the log.
func compareEvents(a, b *Event) int {
	return cmp.Or(cmp.Compare(a.Origin.Input, b.Origin.Input), cmp.Compare(a.Line, b.Line), cmp.Compare(a.order, b.order))
}
