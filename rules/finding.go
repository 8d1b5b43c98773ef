package rules

import "github.com/graphleak/graphleak/analyzer/text"

// Severity is how much a finding costs the user. See docs/severity.md.
type Severity string

// An Error is something we would bet on: device memory that grows. A Warning
// grows host memory or grows slowly; a Hint costs a peak or a style.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Hint    Severity = "hint"
)

// Memory names the memory that grows.
type Memory string

// Peak memory does not grow with the iterations. NoMemory is that of findings
// about the text alone.
const (
	Device   Memory = "device"
	Host     Memory = "host"
	Peak     Memory = "peak"
	NoMemory Memory = "none"
)

// Keeps names what outlives its use.
type Keeps string

// A whole graph holds its saved tensors (activations), nodes are what is left
// after a backward freed them, values are tensors without a graph, and storage
// is memory that a view keeps of a larger tensor.
const (
	Graph   Keeps = "graph"
	Nodes   Keeps = "nodes"
	Values  Keeps = "values"
	Storage Keeps = "storage"
	// Nothing is kept by what findings about the text alone are about.
	Nothing Keeps = "nothing"
)

// Confidence is how sure the analysis is that the finding is true.
type Confidence string

// Below Medium nothing is reported.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
)

// Safety says whether a fix may be applied without a look at it.
type Safety string

// A Safe fix keeps the program's behaviour: all later uses were seen.
const (
	Safe   Safety = "safe"
	Unsafe Safety = "unsafe"
)

// Finding is one place in the code that keeps tensors alive.
type Finding struct {
	Path       string // as given to the checker
	Span       text.Span
	Code       string // "GL101"
	Rule       string // "accumulate-with-graph"
	Severity   Severity
	Message    string
	Memory     Memory
	Keeps      Keeps
	Confidence Confidence
	Evidence   []Evidence // in the order of the story: created, kept, loop, backward
	Fixes      []Fix      // preferred first
}

// Evidence is one step of the argument for a finding.
type Evidence struct {
	Path    string
	Span    text.Span
	Message string
}

// Fix is an edit that removes a finding. Title is a verb phrase.
type Fix struct {
	Title  string
	Safety Safety
	Edits  []FileEdit
}

// FileEdit is an edit in one file.
type FileEdit struct {
	Path string
	text.Edit
}
