package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Input is one log. Several inputs of one Diagnose are one incident, usually
// one file for each rank.
type Input struct {
	Name   string // file name or a word for people; a rank is read from it
	Reader io.Reader
}

// Confidence is how sure a diagnosis is.
type Confidence string

// High is reserved for what the text itself proves; what only fits the text is
// Medium, a guess Low.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

func (c Confidence) rank() int {
	switch c {
	case High:
		return 2
	case Medium:
		return 1
	}
	return 0
}

// atMost caps c.
func (c Confidence) atMost(limit Confidence) Confidence {
	if c.rank() > limit.rank() {
		return limit
	}
	return c
}

// Diagnosis says what failed first in a run, why, and what to do. It marshals
// to the diagnose JSON, whose fields are a contract with other tools. Lines
// count from 1 in the input they belong to.
type Diagnosis struct {
	Version      int           `json:"version"`
	Failure      string        `json:"failure"` // id of a page
	Family       string        `json:"family"`
	Title        string        `json:"title"`
	Confidence   Confidence    `json:"confidence"`
	Cause        string        `json:"cause"`
	Initiating   *Initiating   `json:"initiating"` // nil: no failure found
	Collateral   []Collateral  `json:"collateral"`
	Evidence     []Evidence    `json:"evidence"`
	Arithmetic   []string      `json:"arithmetic"`
	Memory       *Memory       `json:"memory,omitempty"` // nil: the message does not tell amounts that add up
	Growth       *Growth       `json:"growth"`           // nil: the log has no usable series
	Fix          []Fix         `json:"fix"`
	Verify       Verify        `json:"verify"`
	Missing      []string      `json:"missing"` // facts that would make it surer
	Suspects     []Suspect     `json:"suspects"`
	Alternatives []Alternative `json:"alternatives"`
}

// Initiating is the event that started the failure.
type Initiating struct {
	Rank  *int   `json:"rank"` // nil: the log does not say
	Host  string `json:"host"`
	Line  int    `json:"line"`
	When  string `json:"when"` // as the log has it: a time, else a step
	Input string `json:"input,omitempty"`
}

// Collateral is an event that followed from the initiating one.
type Collateral struct {
	Rank  *int   `json:"rank"`
	Host  string `json:"host"`
	Line  int    `json:"line"`
	Event string `json:"event"`
	Input string `json:"input,omitempty"`
	// After is how many seconds after the initiating event it was, where the
	// clocks can be compared.
	After *float64 `json:"after,omitempty"`
}

// Evidence is a line of the log and what it shows.
type Evidence struct {
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Why   string `json:"why"`
	Input string `json:"input,omitempty"`
}

// Growth is the course of a memory series that the log prints step by step.
type Growth struct {
	Quantity      string       `json:"quantity"`
	Slope         float64      `json:"slope"` // Unit
	Unit          string       `json:"unit"`  // MiB/step, MiB/epoch, MiB/reading
	R             float64      `json:"r"`     // correlation of the series with the step
	Points        [][2]float64 `json:"points"`
	PredictedStep *int         `json:"predictedStep"` // at which the memory is full
	// FailedStep is the step at which it failed, counted as in Points.
	FailedStep *int `json:"failedStep"`
	// PredictedEpoch and FailedEpoch are the same where the log counts epochs only.
	PredictedEpoch *float64 `json:"predictedEpoch,omitempty"`
	FailedEpoch    *float64 `json:"failedEpoch,omitempty"`
	// Capacity is where the memory is full, in MiB.
	Capacity *float64 `json:"capacity"`
	// Line has the ends of the fitted line.
	Line [2][2]float64 `json:"line"`
	// Shape is flat, falling, steady, accelerating, levelling, jump, stairs or
	// irregular; Meaning says what that shows.
	Shape   string `json:"shape"`
	Meaning string `json:"meaning"`
	Rank    *int   `json:"rank"`
}

// Fix is one thing to do, best first.
type Fix struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// Verify is how to see that a fix worked.
type Verify struct {
	Command string `json:"command"`
	Expect  string `json:"expect"`
	Shell   bool   `json:"shell,omitempty"` // Command is one for a shell
}

// Suspect is a finding of the static analysis in a file of the traceback, or in
// one that such a file imports.
type Suspect struct {
	Path    string `json:"path"`           // relative to the workspace folder, with slashes
	Cell    int    `json:"cell,omitempty"` // of a notebook, from 1; lines count from its start
	Range   Range  `json:"range"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Why says what speaks for it, and what against.
	Why string `json:"why"`
	// Fixes are the edits that the analysis offers there, best first.
	Fixes []QuickFix `json:"fixes,omitempty"`

	File     string   `json:"-"` // the path on this machine
	Severity Severity `json:"-"`
	// Function is the name of the function that encloses the finding, empty at
	// module level.
	Function string `json:"-"`
	// Grows is the memory that the finding makes grow.
	Grows Grows `json:"-"`
	// PerEpoch says that it grows once an epoch, not with each step.
	PerEpoch bool `json:"-"`
	// Evaluation says that the code runs a model to evaluate it.
	Evaluation bool `json:"-"`

	onStack bool
	score   int
	// contradicted says that what was measured is not what it makes grow.
	contradicted bool
}

func (s *Suspect) place() string {
	if s.Cell > 0 {
		return fmt.Sprintf("%s, cell %d, line %d", s.Path, s.Cell, s.Range.Start.Line)
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Range.Start.Line)
}

// repair is what to do about it, as the title of a fix.
func (s *Suspect) repair() string {
	if isRule(s.Code) {
		return fmt.Sprintf("Fix %s in %s", s.Code, s.place())
	}
	return "Change " + s.place()
}

// named is the place with the rule that speaks of it, if one does.
func (s *Suspect) named() string {
	if isRule(s.Code) {
		return fmt.Sprintf("%s (%s)", s.place(), s.Code)
	}
	return s.place()
}

// QuickFix is an edit that the static analysis offers for a finding.
type QuickFix struct {
	Title  string `json:"title"`
	Safety string `json:"safety"` // safe or unsafe
}

// Severity orders suspects.
type Severity int

// The severities of the static findings, worst first.
const (
	SeverityError Severity = iota
	SeverityWarning
	SeverityHint
)

// Grows says which memory a static finding makes grow.
type Grows int

// A graph or values in device memory can explain that a GPU runs out. The
// nodes that a backward leaves behind, host memory and peaks cannot.
const (
	GrowsLittle Grows = iota
	DeviceGraph
	DeviceValues
	HostMemory
)

// Range is a half-open range in a file.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Position counts lines and columns from 1, columns in Unicode code points.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Alternative is another explanation and why it is not the diagnosis.
type Alternative struct {
	Failure    string     `json:"failure"`
	Confidence Confidence `json:"confidence"`
	Why        string     `json:"why"`
}

// MarshalJSON writes every list as a list, never null.
func (d *Diagnosis) MarshalJSON() ([]byte, error) {
	type plain Diagnosis
	p := plain(*d)
	p.Collateral = present(p.Collateral)
	p.Evidence = present(p.Evidence)
	p.Arithmetic = present(p.Arithmetic)
	p.Fix = present(p.Fix)
	p.Missing = present(p.Missing)
	p.Suspects = present(p.Suspects)
	p.Alternatives = present(p.Alternatives)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // up to the caller
	if err := enc.Encode(p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
