package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

var update = flag.Bool("update", false, "write what actions make of the files of the marker tests")

// A marker says in a comment what the editor sees at a place:
//
//	# @diagnostic CODE severity "text"   the line has this diagnostic
//	# @diagnostic-above CODE severity "text"   the nearest line above that is no marker has it
//	# @related FILE "text"               the diagnostic above leads to this place
//	# @hover "text" above: part          the hover over text has this part
//	# @action "text" above: part         there is an action with this in its title
//	# @preferred "text" above: part      the same, and it is preferred
//	# @link "text" above: part           text is a link with this in its target
//
// "above" is the nearest line above that is no marker. What an action makes of
// the files is in the golden files of the archive.
var marker = regexp.MustCompile(`# @([\w-]+) ([^"\n]*)"([^"]*)"(?: above: (.*))?$`)

// archive is a set of files with a text that says what they show.
type archive struct {
	comment string
	names   []string
	files   map[string]string
}

var fileMarker = regexp.MustCompile(`(?m)^-- (.+) --\n`)

func parseArchive(src string) archive {
	a := archive{files: make(map[string]string)}
	heads := fileMarker.FindAllStringSubmatchIndex(src, -1)
	a.comment = src[:heads[0][0]]
	for i, head := range heads {
		end := len(src)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		name := src[head[2]:head[3]]
		a.names = append(a.names, name)
		a.files[name] = src[head[1]:end]
	}
	return a
}

func (a archive) String() string {
	var b strings.Builder
	b.WriteString(a.comment)
	for _, name := range a.names {
		fmt.Fprintf(&b, "-- %s --\n%s", name, a.files[name])
	}
	return b.String()
}

// scene is an archive that is open in an editor.
type scene struct {
	*editor
	encoding text.Encoding
	texts    map[uri.URI]string
	ids      []uri.URI          // in order
	names    map[uri.URI]string // of the file in the archive
	goldens  map[string]string  // what was seen
	arrived  map[uri.URI][]protocol.Diagnostic
}

// cellSeparator stands between the cells of a notebook in an archive.
const cellSeparator = "# %%\n"

func TestMarkers(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "markers", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		a := parseArchive(string(raw))
		var goldens map[string]string
		for encoding, capabilities := range encodings {
			for asks, diagnostic := range map[bool]string{true: `"diagnostic"`, false: `"publishDiagnostics"`} {
				t.Run(fmt.Sprintf("%s/%s/asks=%t", filepath.Base(path), strings.Trim(capabilities, "{}"), asks), func(t *testing.T) {
					s := openScene(t, a, encoding, strings.TrimSuffix(capabilities, "}")+`,"textDocument":{`+diagnostic+`:{"relatedInformation":true}}}`)
					s.check(asks)
					if goldens == nil {
						goldens = s.goldens
					}
					assert.Equal(t, goldens, s.goldens, "the same in each encoding")
				})
			}
		}
		expected := make(map[string]string)
		for name, content := range a.files {
			if strings.HasPrefix(name, "@") {
				expected[name] = content
			}
		}
		if *update {
			a.names = slices.DeleteFunc(a.names, func(name string) bool { return strings.HasPrefix(name, "@") })
			for _, name := range slices.Sorted(keys(goldens)) {
				a.names = append(a.names, name)
				a.files[name] = goldens[name]
			}
			require.NoError(t, os.WriteFile(path, []byte(a.String()), 0o600))
			continue
		}
		if len(expected) > 0 || len(goldens) > 0 {
			assert.Equal(t, expected, goldens, "go test ./server -run TestMarkers -update writes %s", path)
		}
	}
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func openScene(t *testing.T, a archive, encoding text.Encoding, capabilities string) *scene {
	s := &scene{
		editor: launch(t, rules.NewChecker(leaks.All()...)), encoding: encoding,
		texts: make(map[uri.URI]string), names: make(map[uri.URI]string), goldens: make(map[string]string),
		arrived: make(map[uri.URI][]protocol.Diagnostic),
	}
	s.initialize(capabilities)
	for _, name := range slices.Backward(a.names) { // what is imported first
		switch {
		case strings.HasPrefix(name, "@"):
		case filepath.Ext(name) == ".ipynb":
			cells := strings.Split(a.files[name], cellSeparator)
			s.openNotebook(cells...)
			for i, cell := range cells {
				id := cellURI(string(rune('a' + i)))
				s.texts[id], s.names[id] = cell, fmt.Sprintf("%s cell %d", name, i+1)
				s.ids = append(s.ids, id)
			}
		default:
			id := uri.File("/project/" + name)
			s.open(id, 1, a.files[name])
			s.texts[id], s.names[id] = a.files[name], name
			s.ids = append(s.ids, id)
		}
	}
	return s
}

// offsets are a range in a document as bytes.
func (s *scene) offsets(id uri.URI, r protocol.Range) text.Span {
	m := text.NewMapper([]byte(s.texts[id]))
	return text.Span{Start: offset(m, r.Start, s.encoding), End: offset(m, r.End, s.encoding)}
}

// position is the last place of part on a line, as a range.
func (s *scene) position(id uri.URI, line int, part string) protocol.Range {
	s.t.Helper()
	m := text.NewMapper([]byte(s.texts[id]))
	span := m.Line(line)
	code, _, _ := strings.Cut(s.texts[id][span.Start:span.End], "# @")
	at := strings.LastIndex(code, part)
	require.GreaterOrEqual(s.t, at, 0, "%q is not on line %d of %s", part, line+1, s.names[id])
	return (&snapshot{client: abilities{encoding: s.encoding}}).rangeOf(m, text.Span{Start: span.Start + at, End: span.Start + at + len(part)})
}

// diagnostics are those of a document, asked for or published.
func (s *scene) diagnostics(id uri.URI, asks bool) []protocol.Diagnostic {
	s.t.Helper()
	if !asks {
		for s.arrived[id] == nil {
			select {
			case p := <-s.published:
				s.arrived[p.URI] = p.Diagnostics
			case <-time.After(patience):
				require.FailNow(s.t, "no diagnostics", "of %s", id)
			}
		}
		return s.arrived[id]
	}
	report, err := s.server.Diagnostic(s.context(), &protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: id}})
	require.NoError(s.t, err)
	return report.(*protocol.RelatedFullDocumentDiagnosticReport).Items
}

// check compares what the markers say with what the server does.
func (s *scene) check(asks bool) {
	t := s.t
	severities := map[string]protocol.DiagnosticSeverity{"error": protocol.DiagnosticSeverityError, "warning": protocol.DiagnosticSeverityWarning, "hint": protocol.DiagnosticSeverityHint}
	for _, id := range s.ids {
		told := s.diagnostics(id, asks)
		var expected, got []string
		for _, d := range told {
			span := s.offsets(id, d.Range)
			severity := slices.IndexFunc([]string{"error", "warning", "hint"}, func(name string) bool { return severities[name] == d.Severity })
			// A marker that quotes such a comment whole would be one.
			quoted := strings.TrimPrefix(s.texts[id][span.Start:span.End], "# ")
			got = append(got, fmt.Sprintf("%d %v %d %q", d.Range.Start.Line, d.Code, severity, quoted))
		}
		above := 0
		for number, line := range strings.Split(s.texts[id], "\n") {
			m := marker.FindStringSubmatch(line)
			if m == nil || !strings.HasPrefix(strings.TrimSpace(line), "# @") {
				above = number
			}
			if m == nil {
				continue
			}
			kind, words, quoted, part := m[1], strings.Fields(m[2]), m[3], m[4]
			switch kind {
			case "diagnostic", "diagnostic-above":
				if kind == "diagnostic-above" {
					number = above
				}
				severity := slices.Index([]string{"error", "warning", "hint"}, words[1])
				expected = append(expected, fmt.Sprintf("%d %s %d %q", number, words[0], severity, quoted))
			case "related":
				assert.True(t, slices.ContainsFunc(told, func(d protocol.Diagnostic) bool {
					return int(d.Range.Start.Line) == above && slices.ContainsFunc(d.RelatedInformation, func(r protocol.DiagnosticRelatedInformation) bool {
						span := s.offsets(r.Location.URI, r.Location.Range)
						return s.names[r.Location.URI] == words[0] && s.texts[r.Location.URI][span.Start:span.End] == quoted
					})
				}), "nothing leads to %q", quoted)
			case "hover":
				hover, err := s.hover(id, s.position(id, above, quoted).Start)
				require.NoError(t, err)
				require.NotNil(t, hover, line)
				assert.Contains(t, hover.Contents.(*protocol.MarkupContent).Value, part)
				assert.Equal(t, s.position(id, above, quoted), *hover.Range)
			case "action", "preferred":
				s.apply(id, s.position(id, above, quoted), part, kind == "preferred")
			case "link":
				links, err := s.server.DocumentLink(s.context(), &protocol.DocumentLinkParams{TextDocument: protocol.TextDocumentIdentifier{URI: id}})
				require.NoError(t, err)
				assert.True(t, slices.ContainsFunc(links, func(l protocol.DocumentLink) bool {
					return l.Range == s.position(id, above, quoted) && strings.Contains(string(*l.Target), part)
				}), "no link for %s", line)
			default:
				require.Fail(t, "unknown marker", line)
			}
		}
		assert.ElementsMatch(t, expected, got, s.names[id])
	}
}

// apply applies the action at r with a part of its title, and notes the lines
// that it changes.
func (s *scene) apply(id uri.URI, r protocol.Range, title string, preferred bool) {
	t := s.t
	actions, err := s.codeActions(id, r)
	require.NoError(t, err)
	i := slices.IndexFunc(actions, func(a *protocol.CodeAction) bool {
		return strings.Contains(strings.ToLower(a.Title), strings.ToLower(title))
	})
	require.GreaterOrEqual(t, i, 0, "%q is none of %v", title, titles(actions))
	if preferred {
		assert.True(t, is(actions[i].IsPreferred), actions[i].Title)
	}
	var b bytes.Buffer
	for _, target := range s.ids {
		if len(actions[i].Edit.Changes[target]) == 0 {
			continue
		}
		after := strings.Split(apply(t.(*testing.T), s.texts[target], target, actions[i].Edit, s.encoding), "\n")
		before := strings.Split(s.texts[target], "\n")
		fmt.Fprintf(&b, "%s\n", s.names[target])
		for _, line := range after {
			if !slices.Contains(before, line) {
				fmt.Fprintf(&b, "+%s\n", line)
			}
		}
	}
	s.goldens[fmt.Sprintf("@%d %s", r.Start.Line+1, title)] = b.String()
	_, err = json.Marshal(actions[i])
	require.NoError(t, err)
}
