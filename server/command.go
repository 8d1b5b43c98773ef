package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/failures"
)

// The commands. See docs/protocol.md.
const (
	diagnoseCommand = "graphleak.diagnose" // explain a failed run from its log
	explainCommand  = "graphleak.explain"  // the page about a rule or a failure
	scanCommand     = "graphleak.scanWorkspace"
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
		var topic string
		if len(params.Arguments) != 1 || json.Unmarshal(params.Arguments[0], &topic) != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s takes one argument: the code of a rule or the id of a failure", explainCommand)
		}
		return explain(view.checker.Rules(), topic)
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

// explainResult is what graphleak.explain returns.
type explainResult struct {
	Markdown string `json:"markdown"`
}

// explain returns the page about a rule or a failure.
func explain(all []*rules.Rule, topic string) (protocol.LSPAny, error) {
	for _, rule := range all {
		if topic == rule.Code || topic == rule.Name {
			return json.Marshal(explainResult{Markdown: rule.Doc})
		}
	}
	if page, ok := failures.Lookup(topic); ok {
		return json.Marshal(explainResult{Markdown: page.Body})
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "there is no page about %q", topic)
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
