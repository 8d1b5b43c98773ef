package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The program is a language server on its standard streams, and its exit code
// is the one of the protocol.
func TestServe(t *testing.T) {
	const (
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`
		shutdown   = `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`
		exit       = `{"jsonrpc":"2.0","method":"exit"}`
	)
	tests := []struct {
		name     string
		args     []string
		messages []string
		code     int
		stderr   string
	}{
		{"a session", []string{"serve"}, []string{initialize, shutdown, exit}, exitClean, ""},
		{"the flag that editors pass", []string{"serve", "--stdio"}, []string{initialize, shutdown, exit}, exitClean, ""},
		{"exit without shutdown", []string{"serve"}, []string{initialize, exit}, 1, "without shutting the server down"},
		{"end of input", []string{"serve"}, []string{initialize}, 1, "without shutting the server down"},
		{"no input", []string{"serve"}, nil, 1, "without shutting the server down"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var in strings.Builder
			for _, m := range test.messages {
				fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(m), m)
			}
			var stdout, stderr bytes.Buffer
			out := &console{Stdin: strings.NewReader(in.String()), Stdout: &stdout, Stderr: &stderr}
			assert.Equal(t, test.code, run(context.Background(), out, test.args))
			if test.stderr == "" {
				assert.Empty(t, stderr.String())
			} else {
				assert.Contains(t, stderr.String(), test.stderr)
			}
			if len(test.messages) > 0 {
				assert.Contains(t, stdout.String(), `"positionEncoding":"utf-16"`)
			}
		})
	}
}
