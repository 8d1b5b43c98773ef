package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// applies makes the editor apply what the server asks it to, to the texts that it
// is given by their addresses. It keeps the versions that it was asked for.
func (e *editor) applies(texts map[uri.URI]string) map[uri.URI]*int32 {
	versions := map[uri.URI]*int32{}
	e.asked = func(method string, params []byte) (any, error) {
		if method != protocol.MethodWorkspaceApplyEdit {
			return nil, assert.AnError
		}
		var asked struct {
			Edit struct {
				DocumentChanges []struct {
					TextDocument struct {
						URI     uri.URI
						Version *int32
					}
					Edits []protocol.TextEdit
				}
			}
		}
		if err := json.Unmarshal(params, &asked); err != nil {
			return nil, err
		}
		for _, change := range asked.Edit.DocumentChanges {
			src := []byte(texts[change.TextDocument.URI])
			mapper := text.NewMapper(src)
			var edits []text.Edit
			for _, edit := range change.Edits {
				edits = append(edits, text.Edit{New: edit.NewText, Span: text.Span{
					Start: offset(mapper, edit.Range.Start, text.UTF16), End: offset(mapper, edit.Range.End, text.UTF16),
				}})
			}
			fixed, err := text.Apply(src, edits)
			if err != nil {
				return nil, err
			}
			texts[change.TextDocument.URI] = string(fixed)
			versions[change.TextDocument.URI] = change.TextDocument.Version
		}
		return &protocol.ApplyWorkspaceEditResult{Applied: true}, nil
	}
	return versions
}

const appliesEdits = `{"workspace":{"applyEdit":true,"workspaceEdit":{"documentChanges":true}}}`

func TestFixWorkspace(t *testing.T) {
	folder := project(t, map[string]string{"closed.py": training, "open.py": "x = 1\n", "none.py": "import torch\n"})
	closed, open := uri.File(filepath.Join(folder, "closed.py")), uri.File(filepath.Join(folder, "open.py"))
	e := launch(t, rules.NewChecker(leaks.All()...))
	typed := "# typed\n" + training
	texts := map[uri.URI]string{closed: training, open: typed}
	versions := e.applies(texts)
	e.initializeIn(appliesEdits, `{}`, folder)
	e.open(open, 7, typed)

	raw, err := e.command("graphleak.fixWorkspace", "token")
	require.NoError(t, err)
	assert.JSONEq(t, `{"files":2,"fixes":2}`, string(raw))
	fixed := strings.Replace(training, "+= loss", "+= loss.detach()", 1)
	assert.Equal(t, fixed, texts[closed])
	assert.Equal(t, "# typed\n"+fixed, texts[open], "the text of the editor counts")
	assert.Nil(t, versions[closed], "on disk")
	require.NotNil(t, versions[open])
	assert.EqualValues(t, 7, *versions[open])
	onDisk, err := os.ReadFile(closed.FsPath())
	require.NoError(t, err)
	assert.Equal(t, training, string(onDisk), "the server writes nothing")
}

func TestFixWorkspaceIsRefused(t *testing.T) {
	folder := project(t, map[string]string{"closed.py": training})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(`{}`, `{}`, folder)
	_, err := e.command("graphleak.fixWorkspace", "")
	assert.ErrorContains(t, err, "does not apply edits")

	e = launch(t, rules.NewChecker(leaks.All()...))
	e.asked = func(string, []byte) (any, error) {
		reason := "open.py changed"
		return &protocol.ApplyWorkspaceEditResult{FailureReason: &reason}, nil
	}
	e.initializeIn(appliesEdits, `{}`, folder)
	_, err = e.command("graphleak.fixWorkspace", "")
	assert.ErrorContains(t, err, "open.py changed")
}

func TestFixWorkspaceWithNothingToFix(t *testing.T) {
	folder := project(t, map[string]string{"clean.py": "import torch\n"})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initializeIn(appliesEdits, `{}`, folder)
	raw, err := e.command("graphleak.fixWorkspace", "")
	require.NoError(t, err)
	assert.JSONEq(t, `{"files":0,"fixes":0}`, string(raw))
}

// TestFixAllGoesOn: in one function the sum of a sum shows only when the first is
// fixed; the action that an editor runs on save leaves nothing.
func TestFixAllGoesOn(t *testing.T) {
	const before = "import torch\n\n\ndef train(loader):\n    model = torch.nn.Linear(2, 2)\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n    total, all_totals = 0.0, []\n" +
		"    for x, y in loader:\n        loss = (model(x) - y).pow(2).mean()\n        optimizer.zero_grad()\n        loss.backward(retain_graph=True)\n        optimizer.step()\n" +
		"        total += loss\n        all_totals.append(total)\n    print(total, len(all_totals))\n"
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.open(script, 1, before)
	actions, err := e.codeActions(script, span(0, 0, 0, 0), fixAllKind)
	require.NoError(t, err)
	require.Len(t, actions, 1)
	var edits []text.Edit
	mapper := text.NewMapper([]byte(before))
	for _, edit := range actions[0].Edit.Changes[script] {
		edits = append(edits, text.Edit{New: edit.NewText, Span: text.Span{Start: offset(mapper, edit.Range.Start, text.UTF16), End: offset(mapper, edit.Range.End, text.UTF16)}})
	}
	fixed, err := text.Apply([]byte(before), edits)
	require.NoError(t, err)
	assert.NotContains(t, string(fixed), "retain_graph")
	e.changes(script, 2, &protocol.TextDocumentContentChangeWholeDocument{Text: string(fixed)})
	actions, err = e.codeActions(script, span(0, 0, 0, 0), fixAllKind)
	require.NoError(t, err)
	assert.Empty(t, actions)
}
