package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// maxNotebooks bounds how many notebooks are read to find a cell.
const maxNotebooks = 50

// cellNumber is the number that a call in a cell carries: that of its execution.
var cellNumber = regexp.MustCompile(`(?:In ?\[|<ipython-input-)(\d+)`)

// notebookCell is what is read of a cell of a notebook.
type notebookCell struct {
	Type      string          `json:"cell_type"`
	Execution *int            `json:"execution_count"`
	Source    json.RawMessage `json:"source"` // a string, or a list of them
}

// lines are the source of the cell.
func (c notebookCell) lines() []string {
	var text string
	var parts []string
	if json.Unmarshal(c.Source, &parts) == nil {
		text = strings.Join(parts, "")
	} else if json.Unmarshal(c.Source, &text) != nil {
		return nil
	}
	return strings.Split(text, "\n")
}

// has reports whether a call can be in the cell: its line is there, with the
// source that the traceback shows.
func (c notebookCell) has(f Frame) bool {
	lines := c.lines()
	return f.Line >= 1 && f.Line <= len(lines) && (f.Code == "" || strings.TrimSpace(lines[f.Line-1]) == f.Code)
}

// locateCells finds the notebook whose cells the calls are in, and gives the
// calls the numbers of their cells, counted from 1. A call names the execution
// of its cell; where that is no longer what the notebook has, the source line
// tells, if only one cell has it.
func (w *workspace) locateCells(ctx context.Context, calls []Frame) (File, []Frame, error) {
	var best File
	var placed []Frame
	several := false
	for i := range w.folders {
		f := &w.folders[i]
		if err := f.index(ctx); err != nil {
			return File{}, nil, err
		}
		for _, rel := range f.notebooks[:min(len(f.notebooks), maxNotebooks)] {
			file, err := f.read(rel)
			if err != nil {
				continue
			}
			found := placeInCells(file.Text, calls)
			switch {
			case len(found) == 0 || len(found) < len(placed):
			case len(found) == len(placed):
				several = true
			default:
				best, placed, several = file, found, false
			}
		}
	}
	switch {
	case len(placed) == 0:
		return File{}, nil, fmt.Errorf("%s is in no notebook of the workspace: %w", calls[0].Path, fs.ErrNotExist)
	case several:
		return File{}, nil, fmt.Errorf("%s could be in %s or in another notebook: %w", calls[0].Path, best.Path, errAmbiguous)
	}
	return best, placed, nil
}

// placeInCells gives the calls that are in a notebook the numbers of their
// cells.
func placeInCells(notebook []byte, calls []Frame) []Frame {
	var content struct {
		Cells []notebookCell `json:"cells"`
	}
	if json.Unmarshal(notebook, &content) != nil {
		return nil
	}
	var placed []Frame
	for _, f := range calls {
		execution := -1
		if m := cellNumber.FindStringSubmatch(f.Path); m != nil {
			execution = number(m[1])
		}
		at, matches := 0, 0
		for i, c := range content.Cells {
			if c.Type != "code" || !c.has(f) {
				continue
			}
			if c.Execution != nil && *c.Execution == execution {
				at, matches = i+1, 1
				break
			}
			if f.Code != "" {
				at = i + 1
				matches++
			}
		}
		if matches == 1 {
			f.cell = at
			placed = append(placed, f)
		}
	}
	return placed
}
