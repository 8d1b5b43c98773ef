package report

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/graphleak/graphleak/rules"
)

// writeSARIF writes the result as SARIF 2.1.0. The evidence of a finding is
// its code flow: the story of a value in the order in which it happens.
func writeSARIF(w io.Writer, result Result, l locator) error {
	run := sarif.NewRunWithInformationURI("Graphleak", rules.Homepage).WithColumnKind("unicodeCodePoints")
	run.Tool.Driver.WithVersion(result.Version)
	for _, rule := range result.Rules {
		if slices.ContainsFunc(result.Findings, func(f rules.Finding) bool { return f.Code == rule.Code }) {
			run.AddRule(rule.Code).WithName(rule.Name).WithHelpURI(rule.URL()).
				WithShortDescription(sarif.NewMultiformatMessageString().WithText(rule.Title())).
				WithFullDescription(sarif.NewMultiformatMessageString().WithText(rule.Title())).
				WithHelp(sarif.NewMultiformatMessageString().WithText(rule.Doc).WithMarkdown(rule.Doc))
		}
	}
	for _, f := range result.Findings {
		run.AddResult(sarifResult(f, l).WithRuleIndex(run.GetRuleIndex(f.Code)))
	}
	invocation := sarif.NewInvocation().WithExecutionSuccessful(true)
	for _, s := range result.Skipped {
		invocation.AddToolExecutionNotification(sarif.NewNotification().
			WithLevel(sarif.LevelNote).
			WithMessage(sarif.NewTextMessage("Skipped: " + s.Reason)).
			AddLocation(sarif.NewLocationWithPhysicalLocation(
				sarif.NewPhysicalLocation().WithArtifactLocation(artifact(s.Path)))))
	}
	run.AddInvocation(invocation)

	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarif.NewReport().AddRun(run))
}

func sarifResult(f rules.Finding, l locator) *sarif.Result {
	properties := sarif.NewPropertyBag()
	properties.Add("memory", f.Memory)
	properties.Add("keeps", f.Keeps)
	properties.Add("confidence", f.Confidence)
	result := sarif.NewRuleResult(f.Code).
		WithLevel(sarifLevel(f.Severity)).
		WithMessage(sarif.NewTextMessage(f.Message)).
		AddLocation(location(f.Path, l.inFile(f.Path, f.Span))).
		WithProperties(properties)
	if len(f.Evidence) > 0 {
		flow := sarif.NewThreadFlow()
		for _, e := range f.Evidence {
			flow.AddLocation(sarif.NewThreadFlowLocation().WithLocation(
				location(e.Path, l.inFile(e.Path, e.Span)).WithMessage(sarif.NewTextMessage(e.Message))))
		}
		result.AddCodeFlow(sarif.NewCodeFlow().AddThreadFlow(flow))
	}
	for _, fix := range f.Fixes {
		if fix, ok := sarifFix(fix, l); ok {
			result.AddFixe(fix)
		}
	}
	return result
}

// sarifFix groups the edits of a fix by file, as SARIF does. It reports false
// for a fix that cannot be told as edits of files.
func sarifFix(fix rules.Fix, l locator) (*sarif.Fix, bool) {
	out := sarif.NewFix().WithDescription(sarif.NewTextMessage(fix.Title))
	changes := make(map[string]*sarif.ArtifactChange)
	for _, e := range fix.Edits {
		edit := e.Edit
		if nb := l.sources[e.Path].Notebook; nb != nil {
			var ok bool
			if edit, ok = nb.RawEdit(edit); !ok {
				return nil, false
			}
		}
		change := changes[e.Path]
		if change == nil {
			change = sarif.NewArtifactChange().WithArtifactLocation(artifact(e.Path))
			changes[e.Path] = change
			out.AddArtifactChange(change)
		}
		change.AddReplacement(sarif.NewReplacement().
			WithDeletedRegion(region(l.ofFile(e.Path, edit.Span))).
			WithInsertedContent(sarif.NewArtifactContent().WithText(edit.New)))
	}
	return out, true
}

func sarifLevel(s rules.Severity) string {
	switch s {
	case rules.Error:
		return sarif.LevelError
	case rules.Warning:
		return sarif.LevelWarning
	}
	return sarif.LevelNote
}

func location(path string, at extent) *sarif.Location {
	return sarif.NewLocationWithPhysicalLocation(
		sarif.NewPhysicalLocation().WithArtifactLocation(artifact(path)).WithRegion(region(at)))
}

func region(at extent) *sarif.Region {
	return sarif.NewRegion().
		WithStartLine(at.Start.Line).WithStartColumn(at.Start.Column).
		WithEndLine(at.End.Line).WithEndColumn(at.End.Column)
}

// artifact is where a file is: a URI relative to where the check ran, which
// the reader resolves against its copy of the sources, or an absolute one.
func artifact(path string) *sarif.ArtifactLocation {
	uri := url.URL{Path: slashed(path)}
	if filepath.IsAbs(path) {
		uri.Scheme = "file"
		if !strings.HasPrefix(uri.Path, "/") { // a Windows drive
			uri.Path = "/" + uri.Path
		}
	}
	return sarif.NewSimpleArtifactLocation(uri.String())
}
