package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
)

// clientLog sends what users should be able to look up to the client's log, and
// a trace of the messages if the client asked for one.
//
// Messages go through a queue: the reading goroutine logs too, and must not
// wait for a client that is busy writing to us. When the queue is full,
// messages are lost, and the log says how many.
type clientLog struct {
	server  *server
	queue   chan func()
	lost    atomic.Int64
	tracing atomic.Value // protocol.TraceValue
}

func newLog(s *server) *clientLog {
	return &clientLog{server: s, queue: make(chan func(), 256)}
}

// run sends queued messages until ctx ends.
func (l *clientLog) run(ctx context.Context) {
	for {
		select {
		case send := <-l.queue:
			send()
			if n := l.lost.Swap(0); n > 0 {
				l.send(protocol.MessageTypeWarning, fmt.Sprintf("%d messages of this log were lost", n))
			}
		case <-ctx.Done():
			return
		}
	}
}

// post queues a message that may be lost.
func (l *clientLog) post(send func()) {
	select {
	case l.queue <- send:
	default:
		l.lost.Add(1)
	}
}

func (l *clientLog) errorf(format string, args ...any) {
	l.message(protocol.MessageTypeError, format, args...)
}

func (l *clientLog) warnf(format string, args ...any) {
	l.message(protocol.MessageTypeWarning, format, args...)
}

func (l *clientLog) infof(format string, args ...any) {
	l.message(protocol.MessageTypeInfo, format, args...)
}

func (l *clientLog) message(kind protocol.MessageType, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.post(func() { l.send(kind, text) })
}

func (l *clientLog) send(kind protocol.MessageType, text string) {
	// A client that cannot be written to cannot be told so either.
	_ = l.server.client.LogMessage(l.server.ctx, &protocol.LogMessageParams{Type: kind, Message: text})
}

// setTrace says how much of the messages the client wants to see.
func (l *clientLog) setTrace(v protocol.TraceValue) { l.tracing.Store(v) }

// trace tells the client that the message of the named method was handled.
func (l *clientLog) trace(name string, took time.Duration, err error) {
	level, _ := l.tracing.Load().(protocol.TraceValue)
	if level != protocol.TraceValueMessages && level != protocol.TraceValueVerbose {
		return
	}
	params := &protocol.LogTraceParams{Message: fmt.Sprintf("%s handled in %v", name, took.Round(time.Microsecond))}
	if err != nil && level == protocol.TraceValueVerbose {
		verbose := err.Error()
		params.Verbose = &verbose
	}
	l.post(func() { _ = l.server.client.LogTrace(l.server.ctx, params) })
}
