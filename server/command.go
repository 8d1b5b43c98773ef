package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules/failures"
)

// The commands. See docs/protocol.md.
const (
	diagnoseCommand = "graphleak.diagnose" // explain a failed run from its log
	explainCommand  = "graphleak.explain"  // the page about a rule or a failure
	scanCommand     = "graphleak.scanWorkspace"
	pageCommand     = "graphleak.openPage" // show the page about a rule in a browser
)

// diagnoseArgument is the one argument of graphleak.diagnose.
type diagnoseArgument struct {
	Text string `json:"text"`
	URI  string `json:"uri"` // of the document that the text is from, for the user
}

// diagnoseResult is what graphleak.diagnose returns.
type diagnoseResult struct {
	Diagnosis *crash.Diagnosis `json:"diagnosis"`
	Markdown  string           `json:"markdown"`
}

// executeCommand runs one of the server's commands.
func (s *server) executeCommand(ctx context.Context, view *snapshot, params *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	switch params.Command {
	case diagnoseCommand:
		var arg diagnoseArgument
		if len(params.Arguments) != 1 || json.Unmarshal(params.Arguments[0], &arg) != nil || strings.TrimSpace(arg.Text) == "" {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, `%s takes one argument: {"text": the log to diagnose}`, diagnoseCommand)
		}
		ctx, work := s.progress.begin(ctx, s, params.WorkDoneToken, "Diagnosing the log")
		defer work.end()
		return s.diagnose(ctx, view, arg)
	case explainCommand:
		topic, err := stringArgument(params, "the code of a rule, the id of a failure, or list")
		if err != nil {
			return nil, err
		}
		return explain(view.checker.Rules(), topic)
	case pageCommand:
		code, err := stringArgument(params, "the code of a rule")
		if err != nil {
			return nil, err
		}
		return nil, s.openPage(ctx, view, code)
	case scanCommand:
		ctx, work := s.progress.begin(ctx, s, params.WorkDoneToken, "Checking the workspace")
		defer work.end()
		result, err := s.scan.all(ctx, view, work.report)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "there is no command %q", params.Command)
}

// stringArgument is the one argument of a command that takes a string.
func stringArgument(params *protocol.ExecuteCommandParams, what string) (string, error) {
	var s string
	if len(params.Arguments) != 1 || json.Unmarshal(params.Arguments[0], &s) != nil {
		return "", jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s takes one argument: %s", params.Command, what)
	}
	return s, nil
}

// diagnose explains a failed run. Suspects are looked for in the workspace
// folders of view, in the text that the user sees where a file is open.
func (s *server) diagnose(ctx context.Context, view *snapshot, arg diagnoseArgument) (protocol.LSPAny, error) {
	diagnoser := failures.NewDiagnoser(failures.Options{Roots: view.roots(), Checker: s.opts.Checker, Open: view.text})
	name := arg.URI
	if name == "" {
		name = "log"
	}
	diagnosis, err := diagnoser.Diagnose(ctx, []crash.Input{{Name: name, Reader: strings.NewReader(arg.Text)}})
	if err != nil {
		return nil, fmt.Errorf("diagnosing the log: %w", err)
	}
	return json.Marshal(diagnoseResult{Diagnosis: diagnosis, Markdown: diagnosis.Markdown()})
}
