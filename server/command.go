package server

import (
	"context"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// The commands. See docs/protocol.md.
const (
	diagnoseCommand = "graphleak.diagnose" // explain a failed run from its log
	explainCommand  = "graphleak.explain"  // the page about a rule or a failure
	searchCommand   = "graphleak.search"   // pages about an error message or words
	scanCommand     = "graphleak.scanWorkspace"
	fixCommand      = "graphleak.fixWorkspace" // apply all safe fixes of all files
	pageCommand     = "graphleak.openPage"     // show the page about a rule in a browser
)

// executeCommand runs one of the server's commands.
func (s *server) executeCommand(ctx context.Context, view *snapshot, params *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	switch params.Command {
	case diagnoseCommand:
		arg, err := diagnoseArgumentOf(params)
		if err != nil {
			return nil, err
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
	case searchCommand:
		text, err := stringArgument(params, "a message or words to look for")
		if err != nil {
			return nil, err
		}
		return searchPages(view.checker.Rules(), text)
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
	case fixCommand:
		ctx, work := s.progress.begin(ctx, s, params.WorkDoneToken, "Fixing the workspace")
		defer work.end()
		result, err := s.fixWorkspace(ctx, view, work.report)
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
