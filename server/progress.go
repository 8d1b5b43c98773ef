package server

import (
	"context"
	"fmt"
	"sync"

	"go.lsp.dev/protocol"
)

// progress is the work whose progress the client shows. A client that does so
// can cancel the work by the token of its progress, too.
type progress struct {
	mu      sync.Mutex
	running map[protocol.ProgressToken]context.CancelFunc
	started int // by the server
}

// work is one piece of work whose progress is shown, or nil for one whose is
// not.
type work struct {
	server *server
	token  protocol.ProgressToken
	cancel context.CancelFunc
}

// begin starts to show progress under token, which may be nil for none. The
// context it returns ends when the user cancels.
func (p *progress) begin(ctx context.Context, s *server, token protocol.ProgressToken, title string) (context.Context, *work) {
	if token == nil {
		return ctx, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	if p.running == nil {
		p.running = make(map[protocol.ProgressToken]context.CancelFunc)
	}
	p.running[token] = cancel
	p.mu.Unlock()

	yes := true
	w := &work{server: s, token: token, cancel: cancel}
	w.tell(protocol.WorkDoneProgressBegin{Kind: "begin", Title: title, Cancellable: &yes})
	return ctx, w
}

// start is begin for work that the client has not asked for. It waits for the
// client to get ready.
func (p *progress) start(ctx context.Context, s *server, view *snapshot, title string) (context.Context, *work) {
	if !view.client.progress {
		return ctx, nil
	}
	p.mu.Lock()
	p.started++
	token := protocol.String(fmt.Sprintf("graphleak/%d", p.started))
	p.mu.Unlock()
	if err := s.client.WorkDoneProgressCreate(ctx, &protocol.WorkDoneProgressCreateParams{Token: token}); err != nil {
		return ctx, nil
	}
	return p.begin(ctx, s, token, title)
}

// report tells how much is done of all that there is to do.
func (w *work) report(done, total int) {
	if w == nil || total == 0 {
		return
	}
	message, percentage := fmt.Sprintf("%d of %d files", done, total), uint32(100*done/total)
	w.tell(protocol.WorkDoneProgressReport{Kind: "report", Message: &message, Percentage: &percentage})
}

// end ends the progress.
func (w *work) end() {
	if w == nil {
		return
	}
	p := &w.server.progress
	p.mu.Lock()
	delete(p.running, w.token)
	p.mu.Unlock()
	w.cancel()
	w.tell(protocol.WorkDoneProgressEnd{Kind: "end"})
}

// tell sends one step of the progress.
func (w *work) tell(step any) {
	s := w.server
	value, err := protocol.Marshal(step)
	if err == nil {
		err = s.client.Progress(s.ctx, &protocol.ProgressParams{Token: w.token, Value: value})
	}
	if err != nil && s.ctx.Err() == nil {
		s.log.warnf("reporting progress: %v", err)
	}
}

// cancelProgress cancels the work whose progress the client shows under a token.
// That it has just ended is no error.
func (s *server) cancelProgress(params *protocol.WorkDoneProgressCancelParams) error {
	s.progress.mu.Lock()
	defer s.progress.mu.Unlock()
	if cancel, ok := s.progress.running[params.Token]; ok {
		cancel()
	}
	return nil
}
