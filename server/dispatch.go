package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// slow is how long a request may take before the log says so.
const slow = time.Second

// method is how the server handles the messages of one LSP method.
type method struct {
	handle func(ctx context.Context, view *snapshot, params jsonrpc2.RawMessage) (any, error)
	// notifies says that it is a notification and not a request.
	notifies bool
	// inline requests run on the reading goroutine, in wire order: what comes
	// after them may depend on them.
	inline bool
}

// methods are all methods that the server knows. Their decoding is ours rather
// than that of protocol.ServerHandler, whose interface has no room for the
// snapshot, which takes a missing parameter for a broken message, and which
// knows no difference between a method that we do not have and one that failed.
func (s *server) methods(cancel func(jsonrpc2.ID)) map[string]method {
	return map[string]method{
		protocol.MethodInitialize:                   inOrder(request(s.initialize)),
		protocol.MethodInitialized:                  notification(s.initialized),
		protocol.MethodShutdown:                     inOrder(bare(s.shutdown)),
		protocol.MethodExit:                         {handle: bare(s.exit).handle, notifies: true},
		protocol.MethodSetTrace:                     notification(s.setTrace),
		protocol.MethodCancelRequest:                notification(cancelRequest(cancel)),
		protocol.MethodWindowWorkDoneProgressCancel: notification(s.cancelProgress),

		protocol.MethodTextDocumentDidOpen:                notification(s.didOpen),
		protocol.MethodTextDocumentDidChange:              notification(s.didChange),
		protocol.MethodTextDocumentDidClose:               notification(s.didClose),
		protocol.MethodTextDocumentDidSave:                notification(s.didSave),
		protocol.MethodNotebookDocumentDidOpen:            notification(s.didOpenNotebook),
		protocol.MethodNotebookDocumentDidChange:          notification(s.didChangeNotebook),
		protocol.MethodNotebookDocumentDidSave:            notification(s.didSaveNotebook),
		protocol.MethodNotebookDocumentDidClose:           notification(s.didCloseNotebook),
		protocol.MethodWorkspaceDidChangeWorkspaceFolders: notification(s.didChangeWorkspaceFolders),
		protocol.MethodWorkspaceDidChangeConfiguration:    notification(s.didChangeConfiguration),
		protocol.MethodWorkspaceDidChangeWatchedFiles:     notification(s.didChangeWatchedFiles),
		protocol.MethodWorkspaceDidCreateFiles:            notification(s.didCreateFiles),
		protocol.MethodWorkspaceDidRenameFiles:            notification(s.didRenameFiles),
		protocol.MethodWorkspaceDidDeleteFiles:            notification(s.didDeleteFiles),

		protocol.MethodTextDocumentCodeAction:   request(s.codeAction),
		protocol.MethodCodeActionResolve:        request(s.resolveAction),
		protocol.MethodTextDocumentHover:        request(s.hover),
		protocol.MethodTextDocumentDocumentLink: request(s.documentLink),
		protocol.MethodTextDocumentDiagnostic:   request(s.documentDiagnostic),
		protocol.MethodWorkspaceDiagnostic:      request(s.workspaceDiagnostic),
		protocol.MethodWorkspaceExecuteCommand:  request(s.executeCommand),
	}
}

// handler is the whole policy of dispatch:
//
//   - Notifications, and the requests that frame the session, run here on the
//     reading goroutine, in wire order. They get the context of the session:
//     that of the message is recycled when its handler returns, and a context
//     derived from it would be left without a parent.
//   - Every other request takes the snapshot as of its place on the wire, then
//     releases the reader and runs beside it. It can be cancelled.
//   - Nothing that a handler does ends the connection, which an error from a
//     notification or a panic would do: errors of notifications are logged,
//     panics become errors.
func (s *server) handler() jsonrpc2.Handler {
	var methods map[string]method
	concurrent, cancel := jsonrpc2.CancelHandler(func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		view := s.session.snapshot()
		jsonrpc2.Async(ctx)
		return s.serve(ctx, methods[req.Method()], view, req)
	})
	methods = s.methods(cancel)
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		m, known := methods[req.Method()]
		if !req.IsCall() {
			switch {
			case !known && strings.HasPrefix(req.Method(), "$/"): // optional, by the protocol
			case !known:
				s.log.warnf("ignored the unknown notification %q", req.Method())
			case !m.notifies:
				s.log.warnf("ignored the request %s without an id", req.Method())
			case s.phase.Load() != phaseRunning && req.Method() != protocol.MethodExit:
				s.log.warnf("ignored the notification %s outside of a session", req.Method())
			default:
				s.session.changing.Lock()
				defer s.session.changing.Unlock()
				// serve has logged the error.
				_, _ = s.serve(s.ctx, m, nil, req)
			}
			return nil, nil
		}
		switch phase := s.phase.Load(); {
		case phase == phaseShutdown:
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "the server was shut down")
		case phase == phaseNew && req.Method() != protocol.MethodInitialize:
			return nil, jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "the server was not initialized")
		case !known:
			return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "the server has no method %q", req.Method())
		case m.notifies:
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "%s is a notification and has no answer", req.Method())
		case m.inline:
			s.session.changing.Lock()
			defer s.session.changing.Unlock()
			return s.serve(s.ctx, m, nil, req)
		default:
			return concurrent(ctx, req)
		}
	}
}

// update changes the session from another goroutine than the reading one. It
// does nothing when the session is over.
func (s *server) update(change func(view *snapshot)) {
	s.session.changing.Lock()
	defer s.session.changing.Unlock()
	if s.phase.Load() == phaseRunning {
		change(s.session.snapshot())
	}
}

// serve runs the method that req names. It logs what took long or failed.
func (s *server) serve(ctx context.Context, m method, view *snapshot, req *jsonrpc2.Request) (result any, err error) {
	name, began := strings.Clone(req.Method()), time.Now()
	defer func() {
		took := time.Since(began)
		if r := recover(); r != nil {
			s.log.errorf("%s panicked: %v\n%s", name, r, debug.Stack())
			result, err = nil, jsonrpc2.Errorf(jsonrpc2.InternalError, "internal error: %v", r)
		} else if err != nil {
			result, err = nil, wireError(ctx, err)
			if worthLogging(err) {
				s.log.warnf("%s failed after %v: %v", name, took.Round(time.Microsecond), err)
			}
		} else if took > slow {
			s.log.infof("%s took %v", name, took.Round(time.Millisecond))
		}
		s.log.trace(name, took, err)
	}()
	return m.handle(ctx, view, req.Params())
}

// wireError gives err the code that the client should see.
func wireError(ctx context.Context, err error) error {
	var coded *jsonrpc2.Error
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return protocol.ErrRequestCancelled
	case errors.As(err, &coded):
		return err
	default:
		return jsonrpc2.Errorf(jsonrpc2.InternalError, "%v", err)
	}
}

// worthLogging reports whether err is more than the usual fate of requests
// about a document that is being typed in.
func worthLogging(err error) bool {
	return !errors.Is(err, protocol.ErrRequestCancelled) && !errors.Is(err, protocol.ErrContentModified)
}

// request is a method with parameters and a result.
func request[P, R any](f func(ctx context.Context, view *snapshot, params *P) (R, error)) method {
	return method{handle: func(ctx context.Context, view *snapshot, raw jsonrpc2.RawMessage) (any, error) {
		params, err := decode[P](raw)
		if err != nil {
			return nil, err
		}
		return f(ctx, view, params)
	}}
}

// notification is a method with parameters that changes the session.
func notification[P any](f func(params *P) error) method {
	return method{notifies: true, handle: func(_ context.Context, _ *snapshot, raw jsonrpc2.RawMessage) (any, error) {
		params, err := decode[P](raw)
		if err != nil {
			return nil, err
		}
		return nil, f(params)
	}}
}

// bare is a method without parameters.
func bare(f func() error) method {
	return method{handle: func(context.Context, *snapshot, jsonrpc2.RawMessage) (any, error) { return nil, f() }}
}

// inOrder makes a request run on the reading goroutine. It gets no snapshot.
func inOrder(m method) method {
	m.inline = true
	return m
}

func decode[P any](raw jsonrpc2.RawMessage) (*P, error) {
	params := new(P)
	if len(raw) == 0 {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "the parameters are missing")
	}
	if err := protocol.Unmarshal(raw, params); err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "invalid parameters: %v", err)
	}
	return params, nil
}

// cancelRequest cancels the context of the request that a notification names.
func cancelRequest(cancel func(jsonrpc2.ID)) func(*protocol.CancelParams) error {
	return func(params *protocol.CancelParams) error {
		switch id := params.ID.(type) {
		case protocol.Integer:
			cancel(jsonrpc2.NewNumberID(int64(id)))
		case protocol.String:
			cancel(jsonrpc2.NewStringID(string(id)))
		default:
			return fmt.Errorf("%v is not the id of a request", params.ID)
		}
		return nil
	}
}
