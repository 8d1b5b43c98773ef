package server

import (
	"context"
	"sync"

	"go.lsp.dev/protocol"
)

// progress is the requests whose progress the client shows. A client that does
// so can cancel a request by the token of its progress, too.
type progress struct {
	mu      sync.Mutex
	running map[protocol.ProgressToken]context.CancelFunc
}

// begin starts to show progress under token, which may be nil for none. The
// context it returns ends when the user cancels. The function that it returns
// ends the progress.
func (p *progress) begin(ctx context.Context, s *server, token protocol.ProgressToken, title string) (context.Context, func()) {
	if token == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	if p.running == nil {
		p.running = make(map[protocol.ProgressToken]context.CancelFunc)
	}
	p.running[token] = cancel
	p.mu.Unlock()

	yes := true
	s.notifyProgress(token, protocol.WorkDoneProgressBegin{Kind: "begin", Title: title, Cancellable: &yes})
	return ctx, func() {
		p.mu.Lock()
		delete(p.running, token)
		p.mu.Unlock()
		cancel()
		s.notifyProgress(token, protocol.WorkDoneProgressEnd{Kind: "end"})
	}
}

// notifyProgress sends one step of the progress under token.
func (s *server) notifyProgress(token protocol.ProgressToken, step any) {
	value, err := protocol.Marshal(step)
	if err == nil {
		err = s.client.Progress(s.ctx, &protocol.ProgressParams{Token: token, Value: value})
	}
	if err != nil {
		s.log.warnf("reporting progress: %v", err)
	}
}

// cancelProgress cancels the request whose progress the client shows under a
// token. One that has just ended is no error.
func (s *server) cancelProgress(params *protocol.WorkDoneProgressCancelParams) error {
	s.progress.mu.Lock()
	defer s.progress.mu.Unlock()
	if cancel, ok := s.progress.running[params.Token]; ok {
		cancel()
	}
	return nil
}
