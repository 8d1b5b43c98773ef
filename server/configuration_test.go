package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// waitFor waits until the diagnostics last published for a document or file are as
// described.
func (e *editor) waitFor(id uri.URI, want ...string) {
	e.t.Helper()
	if e.latest == nil {
		e.latest = make(map[uri.URI][]string)
	}
	for timeout := time.After(patience); !slices.Equal(e.latest[id], want) || e.latest[id] == nil; {
		select {
		case p := <-e.published:
			described := []string{}
			for _, d := range p.Diagnostics {
				described = append(described, fmt.Sprint(d.Code, " ", d.Severity))
			}
			e.latest[p.URI] = described
		case <-timeout:
			require.FailNow(e.t, "other diagnostics", "of %s: %v, not %v", id, e.latest[id], want)
		}
	}
}

// The findings of training, by severity.
var (
	asError   = "GL101 " + fmt.Sprint(protocol.DiagnosticSeverityError)
	asWarning = "GL101 " + fmt.Sprint(protocol.DiagnosticSeverityWarning)
	asHint    = "GL101 " + fmt.Sprint(protocol.DiagnosticSeverityHint)
)

func TestConfigurationFilesCount(t *testing.T) {
	folder := project(t, map[string]string{
		"pyproject.toml":      "[tool.graphleak]\nexclude = [\"gen/\"]\n[tool.graphleak.severity]\nGL1 = \"hint\"\n",
		"train.py":            training,
		"part/pyproject.toml": "[tool.graphleak]\n",
		"part/train.py":       training,
		"gen/train.py":        training,
	})
	id := func(name string) uri.URI { return uri.File(filepath.Join(folder, filepath.FromSlash(name))) }
	write := func(name, src string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.FromSlash(name)), []byte(src), 0o600))
	}
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, `{}`, folder)
	for _, name := range []string{"train.py", "part/train.py", "gen/train.py"} {
		e.open(id(name), 1, training)
	}
	e.waitFor(id("train.py"), asHint)
	e.waitFor(id("part/train.py"), asError)

	write("pyproject.toml", "[tool.graphleak.severity]\nGL1 = \"warning\"\n")
	e.filesChanged(protocol.FileChangeTypeChanged, id("pyproject.toml"))
	e.waitFor(id("train.py"), asWarning)
	write("pyproject.toml", "[tool.graphleak]\nexclude = [\"train.py\"]\n")
	e.filesChanged(protocol.FileChangeTypeChanged, id("pyproject.toml"))
	e.waitFor(id("train.py"))

	// Not every client tells of changed files.
	write("pyproject.toml", "[tool.graphleak.severity]\nGL1 = \"warning\"\n")
	require.NoError(t, e.server.DidSave(e.context(), &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: id("part/train.py")}}))
	e.waitFor(id("train.py"), asWarning)
	require.NoError(t, os.Remove(filepath.Join(folder, "pyproject.toml")))
	e.filesChanged(protocol.FileChangeTypeDeleted, id("pyproject.toml"))
	e.waitFor(id("train.py"), asError)
}

func TestWrongConfigurationIsToldAtItsPlace(t *testing.T) {
	folder := project(t, map[string]string{"pyproject.toml": "[tool.graphleak.severity]\nGL1 = \"hint\"\n", "train.py": training})
	configured, train := uri.File(filepath.Join(folder, "pyproject.toml")), uri.File(filepath.Join(folder, "train.py"))
	write := func(src string) {
		t.Helper()
		require.NoError(t, os.WriteFile(configured.FsPath(), []byte(src), 0o600))
	}
	for _, capabilities := range encodings {
		t.Run(capabilities, func(t *testing.T) {
			write("[tool.graphleak.severity]\nGL1 = \"hint\"\n")
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initializeIn(capabilities, `{}`, folder)
			e.open(train, 1, training)
			e.waitFor(train, asHint)

			write("[tool.graphleak.severity]\n\"é😀\" = \"hint\"\nGL1 = \"no\"\n")
			e.filesChanged(protocol.FileChangeTypeChanged, configured)
			told := e.fileDiagnostics(configured, 2)
			assert.Contains(t, message(t, told[0]), `"é😀" names no rule`)
			assert.Equal(t, protocol.DiagnosticSeverityError, told[0].Severity)
			assert.Equal(t, uint32(1), told[0].Range.Start.Line)
			assert.Contains(t, message(t, told[1]), `"no" is no severity`)
			e.waitForLog(`names no rule`)
			e.change(train, 2, span(0, 0, 0, 0), "\n")
			for _, d := range e.diagnosticsOf(train, 2) {
				assert.Equal(t, protocol.DiagnosticSeverityHint, d.Severity, "what the file said before stays in force")
			}

			write("[tool.graphleak.severity]\nGL1 = \"warning\"\n")
			e.filesChanged(protocol.FileChangeTypeChanged, configured)
			var cleared, checked bool
			for timeout := time.After(patience); !cleared || !checked; {
				select {
				case p := <-e.published:
					cleared = cleared || p.URI == configured && len(p.Diagnostics) == 0
					checked = checked || p.URI == train && len(p.Diagnostics) == 1 && p.Diagnostics[0].Severity == protocol.DiagnosticSeverityWarning
				case <-timeout:
					require.FailNow(t, "nothing changed", "cleared: %t, checked: %t", cleared, checked)
				}
			}
		})
	}
}

func TestWorkspaceIsScannedAsConfigured(t *testing.T) {
	folder := project(t, map[string]string{
		"pyproject.toml": "[tool.graphleak]\nexclude = [\"gen/\"]\n[tool.graphleak.per-file-ignores]\n\"tests/\" = [\"GL101\"]\n",
		"train.py":       training, "tests/train.py": training, "gen/train.py": training,
	})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, scanning, folder)
	e.waitFor(uri.File(filepath.Join(folder, "train.py")), asError)
	e.waitForLog("checked 2 files of the workspace in")
	assert.Empty(t, e.published)
}

func TestSettingsComeOnTop(t *testing.T) {
	one, two := project(t, map[string]string{"pyproject.toml": "[tool.graphleak]\nignore = [\"GL101\"]\n"}), project(t, nil)
	first, second := uri.File(filepath.Join(one, "train.py")), uri.File(filepath.Join(two, "train.py"))
	var mu sync.Mutex
	answers := []string{`null`, `null`, `null`}
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.asked = func(method string, _ []byte) (any, error) {
		if method != protocol.MethodWorkspaceConfiguration {
			return nil, fmt.Errorf("asked for %s", method)
		}
		mu.Lock()
		defer mu.Unlock()
		var out []protocol.LSPAny
		for _, a := range answers {
			out = append(out, protocol.LSPAny(a))
		}
		return out, nil
	}
	set := func(now ...string) {
		t.Helper()
		mu.Lock()
		answers = now
		mu.Unlock()
		e.send(frame(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":null}}`))
	}
	e.initializeIn(`{"workspace":{"configuration":true}}`, `{}`, one, two)
	e.open(first, 1, training)
	e.open(second, 1, training)
	e.waitFor(second, asError)

	set(`{"select":["GL101"]}`, `{"select":["GL101"]}`, `{"select":["GL101"]}`)
	e.waitFor(first, asError)
	set(`{"severity":{"GL101":"hint"}}`, `{"severity":{"GL101":"hint"}}`, `{"severity":{"GL101":"warning"}}`)
	e.waitFor(second, asWarning)
	set(`{"ignore":["GL1"]}`, `{"ignore":["GL1"]}`, `{"ignore":["GL1"]}`)
	e.waitFor(second)
	set(`{"ignore":["GL1","GL99"],"select":7}`)
	e.waitForLog(`graphleak.ignore: "GL99" names no rule`)
	e.waitForLog(`graphleak.select`)
	e.alive()
}

func TestSettingsThatAreNotUnderstoodCountAsNotSet(t *testing.T) {
	for raw, want := range map[string]settings{
		`null`:                        {Scan: scanOpenFiles},
		`{"select":null,"ignore":[]}`: {Scan: scanOpenFiles},
	} {
		got, err := parseSettings(protocol.LSPAny(raw), leaks.All())
		require.NoError(t, err, raw)
		assert.Equal(t, want.Scan, got.Scan, raw)
		assert.Nil(t, got.Select, raw)
	}
	got, err := parseSettings(protocol.LSPAny(`{"scan":"workspace","select":["GL1","X"],"severity":{"GL1":"loud","GL2":"hint"},"ignore":"GL1"}`), leaks.All())
	require.Error(t, err)
	for _, why := range []string{`graphleak.select: "X" names no rule`, `graphleak.severity: "loud" is no severity`, "graphleak.ignore"} {
		assert.ErrorContains(t, err, why)
	}
	assert.Equal(t, scanWorkspace, got.Scan)
	assert.Equal(t, "[GL1]", fmt.Sprint(got.Select))
	assert.Equal(t, "map[GL2:hint]", fmt.Sprint(got.Severity))
}

func TestExcludedDocumentsHaveNoFindings(t *testing.T) {
	folder := project(t, map[string]string{"pyproject.toml": "[tool.graphleak]\nexclude = [\"gen/\"]\n"})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, `{}`, folder)
	id := uri.File(filepath.Join(folder, "gen", "deep", "train.py"))
	e.open(id, 1, training)
	assert.Empty(t, e.diagnosticsOf(id, 1))
}

// The settings that are read, that VS Code offers and that are documented are the
// same.
func TestSettingsAreDocumented(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "package.json"))
	require.NoError(t, err)
	var manifest struct {
		Contributes struct {
			Configuration struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(raw, &manifest))
	offered := slices.Collect(maps.Keys(manifest.Contributes.Configuration.Properties))

	read := []string{"graphleak.path", "graphleak.terminal.offerDiagnosis"} // by the extension
	for _, f := range reflect.VisibleFields(reflect.TypeFor[settings]()) {
		if !f.Anonymous {
			read = append(read, section+"."+f.Tag.Get("json"))
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "settings.md"))
	require.NoError(t, err)
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(graphleak[^`]+)` \\|").FindAllSubmatch(page, -1) {
		documented = append(documented, string(m[1]))
	}
	assert.ElementsMatch(t, read, offered)
	assert.ElementsMatch(t, read, documented)
}

// A configuration file that is open is checked while it is typed in. It takes
// effect when it is saved.
func TestConfigurationIsCheckedWhileItIsTyped(t *testing.T) {
	folder := project(t, map[string]string{"pyproject.toml": "[tool.graphleak]\nselct = []\n", "train.py": training})
	configured, train := uri.File(filepath.Join(folder, "pyproject.toml")), uri.File(filepath.Join(folder, "train.py"))
	for _, capabilities := range encodings {
		t.Run(capabilities, func(t *testing.T) {
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initializeIn(capabilities, `{}`, folder)
			e.open(train, 1, training)
			e.waitFor(train, asError)
			e.fileDiagnostics(configured, 1)

			const src = "é = \"😀\"\n[tool.graphleak]\nignore = [\"é\", \"GL101\", \"GL9\"]\n"
			require.NoError(t, e.server.DidOpen(e.context(), &protocol.DidOpenTextDocumentParams{
				TextDocument: protocol.TextDocumentItem{URI: configured, LanguageID: "toml", Version: 1, Text: src},
			}))
			told := e.diagnosticsOf(configured, 1)
			require.Len(t, told, 1, "no TOML: the first key has to be quoted")
			assert.Equal(t, span(0, 0, 0, told[0].Range.End.Character), told[0].Range)
			e.changes(configured, 2, &protocol.TextDocumentContentChangeWholeDocument{Text: strings.Replace(src, "é", "name", 1)})
			told = e.diagnosticsOf(configured, 2)
			require.Len(t, told, 2)
			assert.Contains(t, message(t, told[0]), `"é" names no rule`)
			assert.Contains(t, message(t, told[1]), `"GL9" names no rule`)

			code := protocol.Position{Line: 2, Character: told[1].Range.Start.Character - 8}
			hover, err := e.hover(configured, code)
			require.NoError(t, err)
			require.NotNil(t, hover)
			assert.Contains(t, hover.Contents.(*protocol.MarkupContent).Value, "accumulate-with-graph")
			links, err := e.server.DocumentLink(e.context(), &protocol.DocumentLinkParams{TextDocument: protocol.TextDocumentIdentifier{URI: configured}})
			require.NoError(t, err)
			require.Len(t, links, 1)
			actions, err := e.codeActions(configured, told[0].Range)
			require.NoError(t, err)
			assert.Empty(t, actions)

			e.closeDocument(configured)
			assert.Contains(t, message(t, e.fileDiagnostics(configured, 1)[0]), `unknown key "selct"`, "as it is on disk")
		})
	}
}

func TestDocumentsThatAreNotFilesAreConfiguredAsTheirFolder(t *testing.T) {
	folder := project(t, map[string]string{"pyproject.toml": "[tool.graphleak.severity]\nGL1 = \"hint\"\n"})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, `{}`, folder)
	for _, id := range []uri.URI{"untitled:Untitled-1", "vscode-vfs://github/owner/repo/train.py"} {
		e.open(id, 1, training)
		e.waitFor(id, asHint)
	}
}
