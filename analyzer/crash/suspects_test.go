package crash

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outOfMemory is the event of a device that ran out of memory.
func outOfMemory(t *Traceback) *Event {
	return &Event{Page: &Page{ID: cudaOOM + "undetermined", Family: memoryFamily}, Traceback: t}
}

func TestSuspectsAreRanked(t *testing.T) {
	root := project(t, "train.py", "model.py")
	at := func(line int) Range { return Range{Position{line, 1}, Position{line, 9}} }
	found := map[string][]Suspect{
		"train.py": {
			{Path: "train.py", Range: at(3), Code: "hint elsewhere", Severity: SeverityHint, Function: "log"},
			{Path: "train.py", Range: at(5), Code: "error elsewhere", Severity: SeverityError, Function: "log"},
			{Path: "train.py", Range: at(8), Code: "warning on the stack", Severity: SeverityWarning, Function: "fit"},
			{Path: "train.py", Range: at(30), Code: "error at module level", Severity: SeverityError},
		},
		"model.py": {{Path: "model.py", Range: at(2), Code: "error in a method", Severity: SeverityError, Function: "forward"}},
	}
	var asked []string
	d := New(Options{Roots: []string{root}, Suspects: func(_ context.Context, f File) ([]Suspect, error) {
		asked = append(asked, f.Path)
		return found[f.Path], nil
	}})
	trace := &Traceback{Frames: []Frame{
		{Path: "/app/train.py", Line: 40, Func: "<module>"}, {Path: "/app/train.py", Line: 9, Func: "fit"},
		{Path: "/usr/lib/python3/dist-packages/torch/x.py", Line: 1, Func: "log"}, {Path: "/app/model.py", Line: 7, Func: "Net.forward"},
		{Path: "/app/gone.py", Line: 7, Func: "f"},
	}}
	got, missing, err := d.findSuspects(t.Context(), outOfMemory(trace), nil)
	require.NoError(t, err)
	var codes []string
	for _, s := range got {
		codes = append(codes, s.Code)
	}
	assert.Equal(t, []string{"error in a method", "error at module level", "warning on the stack", "error elsewhere", "hint elsewhere"}, codes)
	assert.Equal(t, []string{"model.py", "train.py"}, asked, "each file once, innermost first")
	assert.Empty(t, missing)
}

func TestFailingAnalysisIsAMissingFact(t *testing.T) {
	root := project(t, "train.py")
	d := New(Options{Roots: []string{root}, Suspects: func(context.Context, File) ([]Suspect, error) { return nil, errors.New("not Python") }})
	got, missing, err := d.findSuspects(t.Context(), outOfMemory(&Traceback{Frames: []Frame{{Path: "/app/train.py", Line: 1, Func: "f"}}}), nil)
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.Equal(t, []string{"findings for train.py: not Python"}, missing)

	_, missing, err = d.findSuspects(t.Context(), outOfMemory(&Traceback{Frames: []Frame{{Path: "/app/other.py", Line: 1, Func: "f"}}}), nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"the code: /app/other.py is not in the workspace, so it was not analysed"}, missing)
}

func TestImportedFilesAreLookedAtToo(t *testing.T) {
	root := project(t, "train.py")
	var asked []string
	d := New(Options{
		Roots: []string{root},
		Suspects: func(_ context.Context, f File) ([]Suspect, error) {
			asked = append(asked, f.Path)
			if f.Path == "broken.py" {
				return nil, errors.New("not Python")
			}
			return []Suspect{{Path: f.Path, Code: f.Path}}, nil
		},
		Imports: func(_ context.Context, f File) ([]File, error) {
			switch f.Path {
			case "train.py":
				return []File{{Root: root, Path: "model.py"}, {Root: root, Path: "broken.py"}}, nil
			case "model.py":
				return []File{{Root: root, Path: "train.py"}, {Root: root, Path: "layers.py"}}, nil
			}
			return nil, nil
		},
	})
	got, missing, err := d.findSuspects(t.Context(), outOfMemory(&Traceback{Frames: []Frame{{Path: "/app/train.py", Line: 1, Func: "f"}}}), nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"train.py", "model.py", "broken.py", "layers.py"}, asked, "each once")
	assert.Empty(t, missing, "a broken file that is only imported is no missing fact")
	require.Len(t, got, 3)
	assert.Equal(t, "train.py", got[0].Path)
	assert.Contains(t, got[1].Why, "n a file that train.py imports.")
	assert.Contains(t, got[2].Why, "n a file that model.py imports.")
}

func TestSuspectsAreWeighedByWhatWasMeasured(t *testing.T) {
	rate := func(of quantity, s shape, mibs float64) *course {
		return &course{trend: &trend{series: &series{seriesKey: seriesKey{of: of}, unit: "step"}, shape: s, slope: mibs * float64(mib)}}
	}
	epochs := rate(allocatedMemory, stairs, 2)
	epochs.atEpochs = true
	suspects := map[string]Suspect{
		"graph": {Grows: DeviceGraph}, "values": {Grows: DeviceValues}, "nodes": {Grows: HostMemory}, "outputs": {Grows: DeviceValues, PerEpoch: true},
		"evaluation": {Grows: DeviceGraph, Evaluation: true}, "peak": {},
	}
	for name, c := range map[string]struct {
		need
		better, worse string
	}{
		"a full device":                 {need{}, "graph", "nodes"},
		"a steep rise":                  {need{course: rate(allocatedMemory, steady, 9)}, "graph", "nodes"},
		"a slow rise":                   {need{course: rate(allocatedMemory, steady, 0.05)}, "values", "graph"},
		"a rise at the ends":            {need{course: epochs}, "outputs", "values"},
		"a rise with each step":         {need{course: rate(allocatedMemory, steady, 9)}, "values", "outputs"},
		"a full host":                   {need{host: true}, "nodes", "graph"},
		"two MiB a step on the host":    {need{host: true, course: rate(hostMemory, steady, 2.1)}, "nodes", "graph"},
		"much on the host":              {need{host: true, course: rate(hostMemory, steady, 90)}, "graph", "nodes"},
		"evaluation":                    {need{stage: evaluating}, "evaluation", "graph"},
		"nothing measured on this side": {need{course: rate(hostMemory, steady, 9)}, "graph", "peak"},
	} {
		t.Run(name, func(t *testing.T) {
			b, w := suspects[c.better], suspects[c.worse]
			better, _ := c.need.explains(&b)
			worse, _ := c.need.explains(&w)
			assert.Greater(t, better, worse)
		})
	}
	s := suspects["nodes"]
	_, why := (&need{course: rate(allocatedMemory, steady, 9)}).explains(&s)
	assert.Contains(t, why, "too little for the 9.00 MiB a step in the log")
}

func TestPlaceOfTheFailureCounts(t *testing.T) {
	suspect := Suspect{Range: Range{Position{8, 1}, Position{9, 9}}, Function: "fit"}
	n := &need{}
	score := func(f calledFile) int {
		s := suspect
		n.weigh(&s, f)
		return s.score
	}
	line := score(calledFile{calls: []Frame{{Func: "fit", Line: 9}}})
	function := score(calledFile{calls: []Frame{{Func: "fit", Line: 30}}})
	file := score(calledFile{calls: []Frame{{Func: "other", Line: 30}}})
	imported := score(calledFile{importedBy: "train.py"})
	assert.Greater(t, line, function)
	assert.Greater(t, function, file)
	assert.Greater(t, file, imported)
	suspect.Cell = 2
	assert.Equal(t, file, score(calledFile{calls: []Frame{{Func: "fit", Line: 9, cell: 1}}}), "another cell")
}
