package server

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// The page about the protocol speaks of every message that the server handles,
// and of every command that it announces.
func TestTheProtocolIsDocumented(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	require.NoError(t, err)
	page := string(raw)
	// What the page says in words, not by the names of the messages.
	inWords := map[string]string{
		"textDocument/didOpen": "document sync", "textDocument/didChange": "document sync",
		"textDocument/didClose": "document sync", "textDocument/didSave": "document sync",
		"notebookDocument/didOpen": "`notebookDocument` sync", "notebookDocument/didChange": "`notebookDocument` sync",
		"notebookDocument/didSave": "`notebookDocument` sync", "notebookDocument/didClose": "`notebookDocument` sync",
		"initialize": "named in `initialize`", "initialized": "", "$/cancelRequest": "cancelled request",
	}
	s := new(server)
	for name := range s.methods(func(jsonrpc2.ID) {}) {
		words, ok := inWords[name]
		if !ok {
			words = "`" + name
			if strings.HasPrefix(name, "workspace/did") && !strings.Contains(page, words) {
				words = "`" + path.Base(name)
			}
		}
		assert.Contains(t, page, words, name)
	}
	e := launch(t, rules.NewChecker(leaks.All()...))
	result := e.initialize(`{}`)
	for _, command := range result.Capabilities.ExecuteCommandProvider.Commands {
		assert.Contains(t, page, "`"+command+"`", command)
	}
}
