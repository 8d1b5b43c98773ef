package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// The meter that an open document imports changes outside of the editor, in all
// the ways in which files do.
func TestChangesOnDiskReachOpenDocuments(t *testing.T) {
	harmless := strings.Replace(leakyMeter, "+= value", "+= value.item()", 1)
	files := func(operation, body string) string {
		return frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"workspace/%s","params":{"files":[%s]}}`, operation, body))
	}
	for _, test := range []struct {
		name   string
		before string // the meter; empty for none
		change func(t *testing.T, e *editor, path string)
		want   int // findings afterwards
	}{
		{"edited", leakyMeter, func(t *testing.T, e *editor, path string) {
			require.NoError(t, os.WriteFile(path, []byte(harmless), 0o600))
			e.filesChanged(protocol.FileChangeTypeChanged, uri.File(path))
		}, 0},
		{"created", "", func(t *testing.T, e *editor, path string) {
			require.NoError(t, os.WriteFile(path, []byte(leakyMeter), 0o600))
			e.filesChanged(protocol.FileChangeTypeCreated, uri.File(path))
		}, 1},
		{"deleted", leakyMeter, func(t *testing.T, e *editor, path string) {
			require.NoError(t, os.Remove(path))
			e.filesChanged(protocol.FileChangeTypeDeleted, uri.File(path))
		}, 0},
		{"created in the editor", "", func(t *testing.T, e *editor, path string) {
			require.NoError(t, os.WriteFile(path, []byte(leakyMeter), 0o600))
			e.send(files("didCreateFiles", fmt.Sprintf(`{"uri":%q}`, uri.File(path))))
		}, 1},
		{"renamed in the editor", leakyMeter, func(t *testing.T, e *editor, path string) {
			to := filepath.Join(filepath.Dir(path), "other.py")
			require.NoError(t, os.Rename(path, to))
			e.send(files("didRenameFiles", fmt.Sprintf(`{"oldUri":%q,"newUri":%q}`, uri.File(path), uri.File(to))))
		}, 0},
		{"deleted in the editor with its folder", leakyMeter, func(t *testing.T, e *editor, path string) {
			require.NoError(t, os.Remove(path))
			e.send(files("didDeleteFiles", fmt.Sprintf(`{"uri":%q}`, uri.File(filepath.Dir(path)))))
		}, 0},
		{"the project is configured anew", leakyMeter, func(t *testing.T, e *editor, path string) {
			require.NoError(t, os.WriteFile(path, []byte(harmless), 0o600))
			e.filesChanged(protocol.FileChangeTypeChanged, uri.File(filepath.Join(filepath.Dir(path), "pyproject.toml")))
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := project(t, map[string]string{".git/HEAD": ""})
			meter, train := filepath.Join(folder, "meter.py"), uri.File(filepath.Join(folder, "train.py"))
			if test.before != "" {
				require.NoError(t, os.WriteFile(meter, []byte(test.before), 0o600))
			}
			e := launch(t, rules.NewChecker(leaks.All()...))
			e.initializeIn(`{}`, `{}`, folder)
			e.open(train, 1, metered)
			require.Len(t, e.diagnosticsOf(train, 1), 1-test.want)
			test.change(t, e, meter)
			require.Len(t, e.diagnosticsOf(train, 1), test.want)
		})
	}
}

func TestFilesThatImportAChangedOneAreCheckedAgain(t *testing.T) {
	folder := project(t, map[string]string{".git/HEAD": "", "train.py": metered, "meter.py": leakyMeter, "other.py": "x = 1\n"})
	train, meter := uri.File(filepath.Join(folder, "train.py")), uri.File(filepath.Join(folder, "meter.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, scanning, folder)
	e.fileDiagnostics(train, 1)
	require.NoError(t, os.WriteFile(meter.FsPath(), []byte(strings.Replace(leakyMeter, "+= value", "+= float(value)", 1)), 0o600))
	e.filesChanged(protocol.FileChangeTypeChanged, meter)
	e.fileDiagnostics(train, 0)

	// In the editor what was saved counts.
	e.open(meter, 1, leakyMeter)
	require.Empty(t, e.diagnosticsOf(meter, 1))
	require.NoError(t, e.server.DidSave(e.context(), &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: meter}}))
	e.fileDiagnostics(train, 1)
}
