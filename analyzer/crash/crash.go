// Package crash reads the log of a failed run and says what failed first, why,
// how sure that is, what to do, and what is missing to be sure.
//
// A log goes through these stages:
//
//	reader       bytes → interesting lines, in bounded memory
//	clean        control sequences, entities, odd spaces → plain text
//	prefixes     what launchers and loggers put before a line → its Origin
//	streams      lines of one process, whatever they are interleaved with
//	tracebacks   lines → exceptions with their calls
//	knowledge    messages → events, by the signatures of pages
//	incident     events → the one that started it, and those that followed
//	refiners     numbers and context → which of several related failures it is
//	workspace    calls → files of the user → findings of the static analysis
//
// What is known about failures is not here but on pages, which the caller hands
// in; the package knows how messages are found and weighed. The same input
// always gives the same diagnosis.
package crash

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Options of a Diagnoser.
type Options struct {
	Knowledge *Knowledge
	// Roots are the workspace folders, outside of which no file is opened.
	Roots []string
	// Suspects analyses one file of a traceback. Nil finds none.
	Suspects func(ctx context.Context, file File) ([]Suspect, error)
}

// A Diagnoser explains failed runs from their logs. It has no state: one may be
// used by many goroutines.
type Diagnoser struct{ opts Options }

// New returns a diagnoser.
func New(opts Options) *Diagnoser { return &Diagnoser{opts: opts} }

// Diagnose reads the inputs, which are one incident, to their ends. Errors are
// those of the readers and of ctx; a log without a failure gives the diagnosis
// "unknown".
func (d *Diagnoser) Diagnose(ctx context.Context, inputs []Input) (*Diagnosis, error) {
	in := newIncident(d.opts.Knowledge, inputs)
	for i := range inputs {
		if err := in.read(ctx, i); err != nil {
			return nil, fmt.Errorf("%s: %w", inputs[i].Name, err)
		}
	}
	return d.conclude(ctx, in)
}

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
		knowledge: k, inputs: inputs, forced: make(map[int]bool), series: newSeriesSet(),
	}
	in.ranks = inputRanks(inputs)
	return in
}

// extraLiterals begin what the engine itself reads beside pages.
var extraLiterals = []string{"Root Cause (first observed failure)", "Failures:", "forcefully exiting via 9", "expandable_segments:True"}

var (
	rankInName = regexp.MustCompile(`(?i)(?:rank|worker|process|proc|gpu|task)[-_.]?(\d{1,6})`)
	rankAsName = regexp.MustCompile(`(?i)^rank[-_.]?(\d{1,6})(?:\.\w+)*$`)
)

// inputRanks reads the rank off the name of each input: "rank3.log",
// "attempt_0/3/stderr.log". Where no name has one, several inputs are ranks in
// their order. One input alone is most often the output of all ranks, so only a
// name that says nothing else counts.
func inputRanks(inputs []Input) []int {
	ranks := make([]int, len(inputs))
	found := false
	for i, in := range inputs {
		ranks[i] = -1
		name := filepath.ToSlash(in.Name)
		base := rankInName
		if len(inputs) == 1 {
			base = rankAsName
		}
		if m := base.FindStringSubmatch(path.Base(name)); m != nil {
			ranks[i] = number(m[1])
		} else if dir := path.Base(path.Dir(name)); number(dir) >= 0 && strings.Contains(name, "attempt_") {
			ranks[i] = number(dir)
		}
		found = found || ranks[i] >= 0
	}
	if !found && len(inputs) > 1 {
		for i := range ranks {
			ranks[i] = i
		}
	}
	return ranks
}

// stream is the output of one process.
type stream struct {
	in     *inputState
	key    string
	traces tracebacks
	// recorded reads tracebacks within a launcher's report.
	recorded *tracebacks
	report   elastic
	open     bool // inside the report
}

func (s *stream) active() bool { return s.open || s.traces.active() }

// inputState is the reading of one input.
type inputState struct {
	*incident
	number  int
	labels  labels
	reader  *reader
	streams map[string]*stream
	order   []*stream
	active  int
	prog    *progress
}

// read goes through one input.
func (in *incident) read(ctx context.Context, i int) error {
	s := &inputState{incident: in, number: i, streams: make(map[string]*stream), prog: newProgress()}
	in.progress = append(in.progress, s.prog)
	peeked, r, err := peek(in.inputs[i].Reader)
	if err != nil {
		return err
	}
	s.labels = findLabels(peeked)
	s.reader = &reader{literals: in.knowledge.wanted, visit: s.visit, every: func() bool { return s.active > 0 }}
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
	line, key := s.place(no, raw)
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
		} else {
			s.active--
		}
	}
}

// place cleans a line, takes off its prefixes and says which stream it is of.
func (s *inputState) place(no int, raw []byte) (line Line, key string) {
	origin := noOrigin(s.number)
	text := s.labels.strip(clean(raw), &origin)
	if origin.Rank < 0 && origin.LocalRank < 0 && s.ranks[s.number] >= 0 {
		origin.Rank = s.ranks[s.number]
	}
	return Line{No: no, Text: text, Origin: origin}, origin.key()
}

func (s *inputState) newStream(key string) *stream {
	st := &stream{in: s, key: key}
	st.traces.emit = func(t *Traceback) { s.traceback(t, st.key, nil) }
	st.report.done = func(w worker) {
		if st.recorded != nil {
			st.recorded.close()
			st.recorded = nil
		}
		s.worker(w, st.key)
	}
	st.report.traceback = func(w worker, l Line) {
		if st.recorded == nil {
			st.recorded = &tracebacks{emit: func(t *Traceback) { s.traceback(t, st.key, &w) }}
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
	case st.traces.cur != nil && !st.in.endsTraceback(l) && st.traces.feed(l):
	case st.in.lineEvent(l, st):
	default:
		st.open = false
		st.traces.feed(l)
	}
	st.in.series.read(l)
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
	s.add(&Event{
		Page: page, Signature: sig.Name, Strength: sig.strength(page), Fields: fields, Origin: l.Origin, Line: l.No, Text: l.Text,
	}, st.key, l.No)
	return true
}

// traceback turns a chain of exceptions into an event: of the one that is
// known to start failures, else of the first that is known at all, else of the
// last one.
func (s *inputState) traceback(t *Traceback, key string, listed *worker) {
	if t.Bare && foreignTrace(t) {
		return
	}
	best := s.judge(t)
	e := &Event{
		Page: best.page, Signature: best.signature, Strength: best.strength, Fields: best.fields, Origin: best.of.Origin,
		Line: best.line(), Text: best.text(), Traceback: best.of,
	}
	if e.Origin.Rank < 0 && t.Outer != nil {
		e.Origin.Rank = t.Outer.Origin.Rank
	}
	if listed != nil {
		e.Listed, e.NamedRoot = true, listed.root
		e.Origin.Rank, e.Origin.LocalRank, e.Origin.Host, e.Origin.Time = listed.rank, listed.localRank, listed.host, listed.time
	}
	s.add(e, key, t.First)
}

// foreignTrace reports whether a lone exception line is followed by the calls
// of a Java or JavaScript program.
func foreignTrace(t *Traceback) bool {
	return len(t.Message) > 1 && foreignCall.MatchString(t.Message[1].Text)
}

var foreignCall = regexp.MustCompile(`^\s*at [\w$.<>/:]+`)

// judgement is what one exception of a chain means.
type judgement struct {
	of        *Traceback
	page      *Page
	signature string
	strength  int
	fields    map[string]string
	known     bool
}

func (j judgement) line() int {
	if len(j.of.Message) > 0 {
		return j.of.Message[0].No
	}
	return j.of.Last
}

func (j judgement) text() string {
	if len(j.of.Message) == 0 {
		return ""
	}
	first := j.of.Message[0].Text
	if first == "" {
		return j.of.Type
	}
	return j.of.Type + ": " + first
}

// judge finds the exception of a chain that matters.
func (s *inputState) judge(t *Traceback) judgement {
	var all []judgement
	for _, e := range t.exceptions() {
		all = append(all, s.judgeOne(e))
	}
	best := all[len(all)-1]
	for _, j := range all {
		if j.known && (!best.known || j.strength > best.strength) {
			best = j
		}
	}
	// An exception that follows from another process's failure says nothing
	// where one of the program's own came before it.
	if best.strength < ownException {
		for _, j := range all {
			if j.strength > best.strength {
				return j
			}
		}
	}
	return best
}

func (s *inputState) judgeOne(t *Traceback) judgement {
	j := judgement{of: t}
	if t.Type == "" {
		j.page = s.knowledge.byID[unknownID]
		return j
	}
	text := t.text()
	page, sig, fields := s.knowledge.recognise(text, InException)
	if page == nil {
		j.page = s.knowledge.byID[pythonExceptionID]
		j.strength = j.page.Strength
		j.fields = map[string]string{"type": t.Type}
		if len(t.Message) > 0 {
			j.fields["message"] = t.Message[0].Text
		}
		return j
	}
	if glued := t.glued(); glued != text {
		// A terminal's width may have cut words: the reading without spaces is
		// better if it tells more.
		if m := sig.match(glued); len(m) > len(fields) {
			fields = m
		}
	}
	j.page, j.signature, j.strength, j.fields, j.known = page, sig.Name, sig.strength(page), fields, true
	return j
}

// glued is text with the lines of the message joined without a space.
func (t *Traceback) glued() string {
	var b strings.Builder
	b.WriteString(t.Type + ": ")
	for _, l := range t.Message {
		b.WriteString(l.Text)
	}
	return b.String()
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
		Page: page, Signature: "exit code", Strength: page.Strength, Fields: map[string]string{"exit_code": fmt.Sprint(w.exitCode), "pid": fmt.Sprint(w.pid)},
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
	e.Step = Step{Number: -1, Epoch: -1}
	if step, ok := s.prog.latest[key]; ok {
		e.Step = step
	} else if s.prog.newest.known() {
		e.Step = s.prog.newest // often only one rank prints
		e.Step.Borrowed = true
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

// lookBack reads the steps of the output up to line end that it has not read
// yet. A traceback often begins on the line of a progress bar.
func (s *inputState) lookBack(end int) {
	if s.prog.until == s.reader.line && s.dropped > 0 {
		return // very many events on one line
	}
	type raw struct {
		no   int
		text []byte
	}
	var lines []raw
	s.reader.history.tail(func(no int, text []byte) bool {
		if no < s.prog.until || len(lines) >= maxLookBack {
			return false
		}
		if no <= end {
			lines = append(lines, raw{no, text})
		}
		return true
	})
	for _, r := range slices.Backward(lines) {
		line, key := s.place(r.no, r.text)
		step := readStep(line.Text)
		// The code and the messages of tracebacks mention steps too.
		if !step.known() || strings.HasPrefix(line.Text, "    ") || strings.Contains(line.Text, `File "`) || isException(line.Text) {
			continue
		}
		step.Line, step.Text = r.no, line.Text
		s.prog.note(key, step)
	}
	s.prog.until = s.reader.line
}

const maxLookBack = 2000

// compareEvents orders events by where they stand in the log.
func compareEvents(a, b *Event) int {
	return cmp.Or(cmp.Compare(a.Origin.Input, b.Origin.Input), cmp.Compare(a.Line, b.Line), cmp.Compare(a.order, b.order))
}
