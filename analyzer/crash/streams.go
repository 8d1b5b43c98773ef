package crash

import (
	"context"
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
	if s.reader.binary() {
		// A program or a checkpoint holds messages too, but nothing that happened.
		in.binary = true
		in.events = slices.DeleteFunc(in.events, func(e *Event) bool { return e.Origin.Input == i })
	}
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
	if st.in.knowledge.memory.in(l.Text) || containsAny(l.Text, shortMemoryWords) {
		st.in.series.read(l, st.in.before)
	}
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
