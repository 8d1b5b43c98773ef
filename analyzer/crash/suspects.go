package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Bounds on the search for suspects.
const (
	maxSuspects = 20
	maxImported = 24 // files that are looked at because others import them
)

// calledFile is a file of the workspace with the calls that are in it.
type calledFile struct {
	File
	calls []Frame
	// importedBy is the file that it was found through, where no call is in it.
	importedBy string
}

// findSuspects runs the static analysis on the user's files of a traceback, of
// what led to it, and on what they import. What could not be looked up becomes a
// missing fact.
func (d *Diagnoser) findSuspects(ctx context.Context, e *Event, c *course) (suspects []Suspect, missing []string, err error) {
	if d.opts.Suspects == nil || e.Traceback == nil || len(d.opts.Roots) == 0 {
		return nil, nil, nil
	}
	files, missing, err := d.calledFiles(ctx, e.Traceback)
	if err != nil {
		return nil, nil, err
	}
	if files, err = d.withImports(ctx, files); err != nil {
		return nil, nil, err
	}
	n := need{host: strings.HasPrefix(e.Page.ID, hostOOM) || e.Page.ID == "memory.file-descriptors" || e.Page.ID == "memory.shm", course: c, stage: stageOf(e.Traceback)}
	if e.Page.Family != memoryFamily {
		n.codes = e.Page.Related
	}
	for _, f := range files {
		found, err := d.suspectsOf(ctx, e, f.File)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			if f.importedBy == "" {
				missing = append(missing, fmt.Sprintf("findings for %s: %v", f.Path, err))
			}
			continue
		}
		for _, s := range found {
			if n.codes == nil || s.Code == e.Page.ID || slices.Contains(n.codes, s.Code) {
				n.weigh(&s, f)
				suspects = append(suspects, s)
			}
		}
	}
	slices.SortStableFunc(suspects, func(a, b Suspect) int {
		return cmp.Or(b.score-a.score, int(a.Severity-b.Severity))
	})
	return suspects[:min(len(suspects), maxSuspects)], missing, nil
}

// suspectsOf looks for what can explain an event in one file.
func (d *Diagnoser) suspectsOf(ctx context.Context, e *Event, file File) ([]Suspect, error) {
	if e.Page.ID == inplaceID && d.opts.Mutations != nil {
		return d.opts.Mutations(ctx, file, e.Fields["op"])
	}
	return d.opts.Suspects(ctx, file)
}

// inplaceID is the page about tensors that are changed although backward needs
// them.
const inplaceID = "autograd.inplace"

// calledFiles finds the files of the workspace that the calls of a traceback are
// in, innermost first.
func (d *Diagnoser) calledFiles(ctx context.Context, t *Traceback) (files []calledFile, missing []string, err error) {
	w := openWorkspace(d.opts.Roots)
	defer w.close()
	var paths, elsewhere []string
	calls := make(map[string][]Frame) // by path in the log
	const cells = "cells"             // those of notebooks together
	for _, f := range allFrames(t) {
		key := f.Path
		if cellPath.MatchString(f.Path) {
			key = cells
		}
		if calls[key] == nil {
			paths = append(paths, key)
		}
		calls[key] = append(calls[key], f)
	}
	for _, p := range paths {
		found := calledFile{calls: calls[p]}
		var err error
		switch {
		case p == cells:
			found.File, found.calls, err = w.locateCells(ctx, calls[p])
		case libraryFrame(p):
			if found.File, err = w.locateInstalled(ctx, p, calls[p]); err != nil && ctx.Err() == nil {
				continue
			}
		default:
			found.File, err = w.locate(ctx, p, calls[p])
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, errAmbiguous):
			missing = append(missing, "which file the traceback means: "+strings.TrimSuffix(err.Error(), ": "+errAmbiguous.Error()))
		case err != nil:
			elsewhere = append(elsewhere, calls[p][0].Path)
		default:
			if i := slices.IndexFunc(files, func(f calledFile) bool { return f.Name() == found.Name() }); i >= 0 {
				files[i].calls = append(files[i].calls, found.calls...)
			} else {
				files = append(files, found)
			}
		}
	}
	if len(files) == 0 && len(elsewhere) > 0 {
		missing = append(missing, fmt.Sprintf("the code: %s is not in the workspace, so it was not analysed", elsewhere[0]))
	}
	return files, missing, nil
}

// withImports adds the files of the workspace that the files import, directly
// and through others.
func (d *Diagnoser) withImports(ctx context.Context, files []calledFile) ([]calledFile, error) {
	if d.opts.Imports == nil {
		return files, nil
	}
	known := make(map[string]bool)
	for _, f := range files {
		known[f.Name()] = true
	}
	for i, added := 0, 0; i < len(files) && added < maxImported; i++ {
		imported, err := d.opts.Imports(ctx, files[i].File)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // what cannot be parsed is reported with its findings
		}
		for _, f := range imported {
			if !known[f.Name()] && added < maxImported {
				known[f.Name()] = true
				added++
				files = append(files, calledFile{File: f, importedBy: files[i].Path})
			}
		}
	}
	return files, nil
}

// allFrames are the calls of t, of the forward pass it belongs to, of what
// caused it and of what reports it, innermost first.
func allFrames(t *Traceback) []Frame {
	var frames []Frame
	seen := 0
	var visit func(*Traceback)
	visit = func(t *Traceback) {
		if t == nil || seen > maxChain {
			return
		}
		seen++
		for i := len(t.Frames) - 1; i >= 0; i-- {
			f := t.Frames[i]
			ext := path.Ext(strings.ReplaceAll(f.Path, `\`, "/"))
			if cellPath.MatchString(f.Path) || ext == ".py" && (userFrame(f) || installed.MatchString(strings.ReplaceAll(f.Path, `\`, "/"))) {
				frames = append(frames, f)
			}
		}
		visit(t.Forward)
		visit(t.Cause)
		visit(t.Outer)
	}
	visit(t)
	return frames
}

// need is what a suspect would have to explain.
type need struct {
	host   bool // memory of the host ran out, not of the device
	course *course
	stage  stage
	codes  []string // of rules that can explain the failure, nil for memory: all can
}

// What a suspect can make grow in one step, by what it keeps. A graph holds the
// activations of a step. What a backward leaves of one is nodes: kilobytes, but
// where they keep the C library from reusing its heap a process on the CPU grew
// by two MiB a step. A scalar on the device takes 512 bytes.
const (
	leastGraph = mib / 4
	mostNodes  = 4 * mib
	mostScalar = 64 * kib
)

// weigh scores a suspect by whether the kind of its growth can be what was seen,
// and by how near to the failure it is.
func (n *need) weigh(s *Suspect, f calledFile) {
	score, why := n.explains(s)
	s.onStack = slices.ContainsFunc(f.calls, func(call Frame) bool { return onStack(call, *s) })
	switch {
	case slices.ContainsFunc(f.calls, func(call Frame) bool { return atLine(call, *s) }):
		score += 4
		why = append(why, "at a line of the traceback")
	case s.onStack:
		score += 3
		why = append(why, "in a function of the traceback")
	case f.importedBy != "":
		score--
		why = append(why, "in a file that "+f.importedBy+" imports")
	default:
		why = append(why, "in a file of the traceback")
	}
	text := strings.Join(why, "; ")
	s.score, s.Why = score, strings.ToUpper(text[:1])+text[1:]+"."
}

// explains scores how well what a suspect keeps explains what was measured.
func (n *need) explains(s *Suspect) (score int, why []string) {
	if n.codes != nil {
		return 0, nil
	}
	switch {
	case n.host && s.Grows == HostMemory:
		score = 4
		why = append(why, "keeps host memory, which ran out")
	case n.host && s.Grows == DeviceGraph:
		score = 2
		why = append(why, "keeps memory of the device that the model runs on, which without a GPU is the host's")
	case !n.host && s.Grows == DeviceGraph:
		score = 4
		why = append(why, "keeps the graph of every step, device memory")
	case !n.host && s.Grows == DeviceValues:
		score = 4
		why = append(why, "keeps tensors on the device")
	case !n.host && s.Grows == HostMemory:
		why = append(why, "keeps host memory, not the device's")
	}
	if n.stage == evaluating && s.Evaluation {
		score += 2
		why = append(why, "it failed while evaluating")
	}
	c := n.course
	if c == nil || c.of.onHost() != n.host {
		return score, why
	}
	rate := Size(c.slope)
	if rate < 0 {
		rate = -rate
	}
	perStep := c.unit == "step"
	switch {
	case c.shape == stairs && c.atEpochs && s.PerEpoch:
		score += 2
		why = append(why, fmt.Sprintf("grows once an epoch, as the log shows (%s)", c.rate()))
	case c.shape == stairs && c.atEpochs:
		score--
	case !c.grows():
		score--
		why = append(why, "the log shows no steady growth")
	case s.PerEpoch:
		score--
		why = append(why, "grows once an epoch, but the log shows growth with each step")
	case !perStep:
	case s.Grows == HostMemory && rate > mostNodes:
		s.contradicted = true
		score -= 3
		why = append(why, fmt.Sprintf("too little for the %s in the log", c.rate()))
	case s.Grows == DeviceGraph && rate < leastGraph:
		s.contradicted = true
		score -= 3
		why = append(why, fmt.Sprintf("more than the %s in the log", c.rate()))
	case s.Grows == DeviceGraph, s.Grows == DeviceValues, s.Grows == HostMemory && (n.host || rate < mostScalar):
		score += 2
		why = append(why, fmt.Sprintf("can be the %s in the log", c.rate()))
	}
	return score, why
}

// suspectFixes turns the suspects that explain the failure into the first
// things to do.
func suspectFixes(suspects []Suspect, page *Page) []Fix {
	const most = 3
	var fixes []Fix
	for _, s := range suspects {
		explains := false
		switch {
		case page.ID == cudaOOM+"graph-retained" || page.ID == cudaOOM+"eval-accumulation":
			explains = s.Grows == DeviceGraph || s.Grows == DeviceValues || s.Evaluation
		case strings.HasPrefix(page.ID, cudaOOM):
			// The device is full of something else.
		case page.Family == memoryFamily:
			explains = s.Grows == HostMemory
		default:
			explains = s.Code == page.ID || slices.Contains(page.Related, s.Code)
		}
		if explains && !s.contradicted && len(fixes) < most {
			fixes = append(fixes, Fix{Title: s.repair(), Detail: advice(s.Message)})
		}
	}
	return fixes
}

// onStack reports whether a finding lies in the function that a call of the
// traceback was in.
func onStack(f Frame, s Suspect) bool {
	if f.cell != s.Cell {
		return false
	}
	if atLine(f, s) {
		return true
	}
	if f.Func == "<module>" {
		return s.Function == ""
	}
	name := f.function()
	return name != "" && name == s.Function
}

// atLine reports whether a call is at the lines of a finding.
func atLine(f Frame, s Suspect) bool {
	return f.cell == s.Cell && s.Range.Start.Line <= f.Line && f.Line <= s.Range.End.Line
}
