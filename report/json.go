package report

import (
	"encoding/json"
	"io"

	"github.com/graphleak/graphleak/rules"
)

// jsonVersion changes when a program that reads the JSON has to change.
const jsonVersion = 1

type jsonReport struct {
	Version  int           `json:"version"`
	Findings []jsonFinding `json:"findings"`
	Files    int           `json:"files"`
	Skipped  []jsonSkipped `json:"skipped"`

	Statistics []statistic `json:"statistics,omitempty"`
}

type jsonFinding struct {
	Path       string           `json:"path"`
	Cell       int              `json:"cell,omitempty"` // of a notebook, from 1
	Code       string           `json:"code"`
	Rule       string           `json:"rule"`
	Severity   rules.Severity   `json:"severity"`
	Message    string           `json:"message"`
	Range      extent           `json:"range"`
	Memory     rules.Memory     `json:"memory"`
	Keeps      rules.Keeps      `json:"keeps"`
	Confidence rules.Confidence `json:"confidence"`
	Evidence   []jsonEvidence   `json:"evidence"`
	Fixes      []jsonFix        `json:"fixes"`
}

type jsonEvidence struct {
	Path    string `json:"path"`
	Cell    int    `json:"cell,omitempty"` // of a notebook, from 1
	Range   extent `json:"range"`
	Message string `json:"message"`
}

type jsonFix struct {
	Title  string       `json:"title"`
	Safety rules.Safety `json:"safety"`
	Edits  []jsonEdit   `json:"edits"`
}

type jsonEdit struct {
	Path    string `json:"path"`
	Cell    int    `json:"cell,omitempty"` // of a notebook, from 1
	Range   extent `json:"range"`
	NewText string `json:"newText"`
}

type jsonSkipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func writeJSON(w io.Writer, result Result, l locator) error {
	// Lists are never null: readers may loop over them without a check.
	report := jsonReport{
		Version:  jsonVersion,
		Findings: make([]jsonFinding, 0, len(result.Findings)),
		Files:    result.Files,
		Skipped:  make([]jsonSkipped, 0, len(result.Skipped)),
	}
	for _, f := range result.Findings {
		report.Findings = append(report.Findings, toJSON(f, l))
	}
	for _, s := range result.Skipped {
		report.Skipped = append(report.Skipped, jsonSkipped{Path: slashed(s.Path), Reason: s.Reason})
	}
	if result.Statistics {
		report.Statistics = statistics(result)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}

func toJSON(f rules.Finding, l locator) jsonFinding {
	at := l.place(f.Path, f.Span)
	out := jsonFinding{
		Path:       slashed(f.Path),
		Cell:       at.cell,
		Code:       f.Code,
		Rule:       f.Rule,
		Severity:   f.Severity,
		Message:    f.Message,
		Range:      at.extent(),
		Memory:     f.Memory,
		Keeps:      f.Keeps,
		Confidence: f.Confidence,
		Evidence:   make([]jsonEvidence, 0, len(f.Evidence)),
		Fixes:      make([]jsonFix, 0, len(f.Fixes)),
	}
	for _, e := range f.Evidence {
		at := l.place(e.Path, e.Span)
		out.Evidence = append(out.Evidence, jsonEvidence{
			Path:    slashed(e.Path),
			Cell:    at.cell,
			Range:   at.extent(),
			Message: e.Message,
		})
	}
	for _, fix := range f.Fixes {
		edits := make([]jsonEdit, 0, len(fix.Edits))
		for _, e := range fix.Edits {
			edit, at := l.edit(e)
			edits = append(edits, jsonEdit{
				Path:    slashed(e.Path),
				Cell:    at.cell,
				Range:   at.extent(),
				NewText: edit,
			})
		}
		out.Fixes = append(out.Fixes, jsonFix{Title: fix.Title, Safety: fix.Safety, Edits: edits})
	}
	return out
}
