package server

import (
	"maps"
	"reflect"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules/config"
)

// Configuration files are read when the first file below them is checked. What is
// wrong with one is said at the file itself, or in the document where one is open;
// meanwhile what it said before, when it was in order and saved, stays in force.

// reconfigured reports whether the configuration of an open program is not what
// it was when view was made. Not all clients tell of changed files.
func (s *server) reconfigured(view *snapshot) bool {
	fresh := view.loader.Again()
	for _, p := range view.programs {
		if p.path != "" && !fresh.For(p.path).Equal(view.loader.For(p.path)) {
			return true
		}
	}
	broken := view.loader.Problems()
	for path, problems := range fresh.Problems() {
		if !reflect.DeepEqual(broken[path], problems) {
			return true
		}
		delete(broken, path)
	}
	return len(broken) > 0
}

// tellProblems says what is wrong with the configuration files that view has read,
// and no longer what was wrong.
func (s *server) tellProblems(view *snapshot) {
	s.broken.Lock()
	defer s.broken.Unlock()
	now := s.session.snapshot()
	if now.loader != view.loader {
		return
	}
	problems := view.loader.Problems()
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		if reflect.DeepEqual(s.broken.told[path], problems[path]) {
			continue
		}
		for _, p := range problems[path] {
			s.log.warnf("%v", p)
		}
		src, err := sources.Read(path, syntax.MaxBytes)
		if err != nil {
			src = nil
		}
		s.reports.file(view, uri.File(path), newReport(nil, view.problemDiagnostics(text.NewMapper(src), problems[path])))
	}
	for path := range s.broken.told {
		if _, still := problems[path]; !still {
			s.reports.file(view, uri.File(path), report{})
		}
	}
	s.broken.told = problems
}

// retellProblems says again what is wrong with the file at path, which was open.
func (s *server) retellProblems(view *snapshot, path string) {
	s.broken.Lock()
	delete(s.broken.told, path)
	s.broken.Unlock()
	s.tellProblems(view)
}

// problemDiagnostics are what is wrong with a configuration file, each from its
// place to the end of the line.
func (v *snapshot) problemDiagnostics(mapper *text.Mapper, problems config.Problems) []protocol.Diagnostic {
	out := []protocol.Diagnostic{}
	for _, p := range problems {
		line := mapper.Line(p.Line - 1)
		span := text.Span{Start: min(line.Start+p.Column-1, line.End), End: line.End}
		out = append(out, protocol.Diagnostic{
			Range:    v.rangeOf(mapper, span),
			Severity: protocol.DiagnosticSeverityError,
			Source:   protocol.NewOptional(diagnosticSource),
			Message:  protocol.String(p.Message),
		})
	}
	return out
}
