package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules/failures"
)

// diagnoseArgument is the one argument of graphleak.diagnose: a text, or files
// and directories that are read here, so that large logs stay off the wire.
type diagnoseArgument struct {
	Text  string    `json:"text"`
	URI   string    `json:"uri"` // of the document that the text is from, for the user
	Files []uri.URI `json:"files"`
}

// diagnoseResult is what graphleak.diagnose returns.
type diagnoseResult struct {
	Diagnosis *crash.Diagnosis `json:"diagnosis"`
	Markdown  string           `json:"markdown"`
	// Redacted is Markdown without what identifies people and machines.
	Redacted string `json:"redacted"`
	// Logs are the files that were read, by the names that the diagnosis has for
	// them; the name is empty where there is only one.
	Logs map[string]uri.URI `json:"logs"`
	// Suspects are the files of the suspects, in their order.
	Suspects []uri.URI `json:"suspects"`
}

// diagnoseArgumentOf reads the argument of graphleak.diagnose.
func diagnoseArgumentOf(params *protocol.ExecuteCommandParams) (diagnoseArgument, error) {
	var arg diagnoseArgument
	if len(params.Arguments) != 1 || json.Unmarshal(params.Arguments[0], &arg) != nil || (strings.TrimSpace(arg.Text) == "") == (len(arg.Files) == 0) {
		return arg, jsonrpc2.Errorf(jsonrpc2.InvalidParams, `%s takes one argument: {"text": the log to diagnose} or {"files": the URIs of logs}`, diagnoseCommand)
	}
	for _, file := range arg.Files {
		if !file.IsFile() {
			return arg, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s is no file on this machine", file)
		}
	}
	return arg, nil
}

// diagnose explains a failed run. Suspects are looked for in the workspace
// folders of view, in the text that the user sees where a file is open.
func (s *server) diagnose(ctx context.Context, view *snapshot, arg diagnoseArgument) (protocol.LSPAny, error) {
	inputs, logs, err := arg.inputs()
	if err != nil {
		return nil, err
	}
	diagnoser := failures.NewDiagnoser(failures.Options{Roots: view.roots(), Checker: s.opts.Checker, Open: view.text})
	diagnosis, err := diagnoser.Diagnose(ctx, inputs)
	if err != nil {
		return nil, fmt.Errorf("diagnosing the log: %w", err)
	}
	result := diagnoseResult{
		Diagnosis: diagnosis, Markdown: diagnosis.Markdown(), Redacted: diagnosis.Redacted().Markdown(),
		Logs: logs, Suspects: make([]uri.URI, 0, len(diagnosis.Suspects)),
	}
	for _, suspect := range diagnosis.Suspects {
		result.Suspects = append(result.Suspects, uri.File(suspect.File))
	}
	return json.Marshal(result)
}

// inputs are the logs to diagnose, and where those are that are files. They are
// named as people would, below the directory that they have in common.
func (a diagnoseArgument) inputs() (inputs []crash.Input, logs map[string]uri.URI, err error) {
	logs = make(map[string]uri.URI)
	if len(a.Files) == 0 {
		name := a.URI
		if name == "" {
			name = "log"
		}
		return []crash.Input{{Name: name, Reader: strings.NewReader(a.Text)}}, logs, nil
	}
	var names []string
	for _, file := range a.Files {
		names = append(names, file.FsPath())
	}
	inputs, err = crash.Files(names...)
	if err != nil {
		var failed *fs.PathError
		if errors.As(err, &failed) {
			return nil, nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s: %v", failed.Path, failed.Err)
		}
		return nil, nil, fmt.Errorf("reading the logs: %w", err)
	}
	if len(inputs) == 1 {
		logs[""] = uri.File(inputs[0].Name)
		return inputs, logs, nil
	}
	top := filepath.Dir(inputs[0].Name)
	for i := range inputs {
		for !strings.HasPrefix(inputs[i].Name, strings.TrimSuffix(top, string(os.PathSeparator))+string(os.PathSeparator)) {
			top = filepath.Dir(top)
		}
	}
	for i := range inputs {
		path := inputs[i].Name
		if below, err := filepath.Rel(top, path); err == nil {
			inputs[i].Name = filepath.ToSlash(below)
		}
		logs[inputs[i].Name] = uri.File(path)
	}
	return inputs, logs, nil
}
