// Package server is the language server: it speaks LSP with an editor, keeps
// the documents that are open there, has them checked, and offers what was
// found as diagnostics, quick fixes and hovers.
//
// # Order
//
// Notifications change the session and are handled one after the other, in the
// order in which they arrive, on the goroutine that reads. A request sees the
// session as it was at its place in that order: it gets an immutable snapshot
// and runs beside everything that follows, so nothing that is slow ever blocks
// the reader. dispatch.go has the whole policy.
//
// # Snapshots
//
// A snapshot is a set of immutable programs: documents, and notebooks, whose
// cells are checked as one. Each version of a program carries the one check that
// was started for it; what needs findings waits for that check and never starts
// its own. A newer version cancels the check of the
// version before. What the editor is shown is always the outcome of the version
// that it has.
//
// Every feature is one file: a method that takes a snapshot and the request's
// parameters. Only this package knows of LSP.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
)

// Options of a server.
type Options struct {
	Version string // for the client to show
	// Checker checks the documents, and files for suspects. It is never nil.
	Checker *rules.Checker
}

// checker is what the server needs of a *rules.Checker to check documents.
type checker interface {
	Check(ctx context.Context, src rules.Source) (rules.Report, error)
	Rules() []*rules.Rule
	Forget(path string)
	Moved()
	// Resolver finds where the imports of the file at path lead.
	Resolver(path string) *names.Resolver
}

// Why Serve returned although nobody asked it to, as the protocol wants to be
// asked: with shutdown and then exit.
var (
	ErrNoShutdown   = errors.New("the client left without shutting the server down")
	ErrParentExited = errors.New("the process that started the server has ended")
)

// asConfigured checks files as they are configured. Those that are excluded have
// no findings.
type asConfigured struct {
	*config.Checker
	loader *config.Loader
}

func (c asConfigured) Check(ctx context.Context, src rules.Source) (rules.Report, error) {
	if src.Path != "" && c.loader.Excludes(src.Path, false) {
		return rules.Report{}, ctx.Err()
	}
	return c.Checker.Check(ctx, src)
}

// A reader makes checkers that read imports from files, find the configuration
// with a loader, and take what is said about a file elsewhere.
type reader func(files rules.Files, loader *config.Loader, layer func(path string) config.Layer) checker

// configuredChecker makes such checkers of the rules of one.
func configuredChecker(of *rules.Checker) reader {
	return func(files rules.Files, loader *config.Loader, layer func(path string) config.Layer) checker {
		layers := func(path string) []config.Layer { return []config.Layer{layer(path)} }
		checker := config.NewChecker(of, files, loader).Layered(layers)
		if len(files.Within) > 0 {
			checker.At(files.Within[0])
		}
		return asConfigured{checker, loader}
	}
}

// Serve speaks LSP on in and out until the client ends the session. It returns
// nil if the client did so in the way of the protocol, and an error if it is
// gone for another reason or ctx ended.
//
// Both ends are closed, if they can be, when Serve returns. Reading from in may
// go on until that has an effect.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	return serve(ctx, in, out, opts, opts.Checker.Rules(), configuredChecker(opts.Checker))
}

// serve is Serve with checkers of the caller's, which run the given rules.
func serve(ctx context.Context, in io.Reader, out io.Writer, opts Options, all []*rules.Rule, reading reader) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &server{
		opts:    opts,
		rules:   all,
		reading: reading,
		ctx:     ctx,
		stop:    stop,
		slots:   make(chan struct{}, maxChecks()),
		ending:  make(chan struct{}),
	}
	s.scan, s.reports = newScanner(s), newReports(s)
	s.log = newLog(s)
	s.stream = newStream(in, out, s.reportFault, func(err error) { stop(fmt.Errorf("%w: %w", errLeft, err)) })
	defer s.stream.Close()
	s.conn = jsonrpc2.NewConn(s.stream, jsonrpc2.WithCodec(codec{}))
	s.client = protocol.ClientDispatcher(s.conn)
	go s.log.run(ctx)
	s.conn.Go(ctx, s.handler())

	<-ctx.Done()
	switch cause := context.Cause(ctx); {
	case !errors.Is(cause, errLeft):
		return cause
	case s.phase.Load() == phaseShutdown:
		return nil
	case cause == errLeft, errors.Is(cause, io.EOF):
		return ErrNoShutdown
	default:
		return fmt.Errorf("%w: %w", ErrNoShutdown, cause)
	}
}

// errLeft is the cause that ends a session which the client has left: by an
// exit notification, or because a stream has ended.
var errLeft = errors.New("the client left")

// server is one session with one client.
type server struct {
	opts    Options
	rules   []*rules.Rule
	reading reader
	stream  *stream
	conn    jsonrpc2.Conn
	client  protocol.Client
	log     *clientLog

	// ctx ends with the session. It outlives the contexts of requests, which
	// die with their handlers.
	ctx  context.Context
	stop context.CancelCauseFunc

	phase      atomic.Int32
	ending     chan struct{} // closed at shutdown
	session    session
	slots      chan struct{} // taken by checks of programs while they run
	foreground foreground
	scan       *scanner
	reports    *reports
	progress   progress
	// broken are the configuration files that are wrong, as the client knows.
	broken struct {
		sync.Mutex
		told map[string]config.Problems
	}
	asking sync.Mutex // held while the client is asked for settings
}

// The phases of a session. Only the reading goroutine changes them.
const (
	phaseNew int32 = iota
	phaseRunning
	phaseShutdown
)

// reportFault answers a frame that could not be understood. It is called by the
// reader, which must not wait for a client that does not read.
func (s *server) reportFault(f fault) {
	s.log.warnf("%s", f.err.Message)
	if f.reply {
		s.log.post(func() {
			_, _ = s.stream.Write(s.ctx, jsonrpc2.NewResponse(f.id, nil, f.err))
		})
	}
}

// codec is how the payloads of LSP messages are marshalled.
type codec struct{}

// Marshal encodes v, passing on what is encoded already.
func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok && raw != nil {
		return raw, nil
	}
	return protocol.Marshal(v)
}

// Unmarshal decodes data into v. It decodes a copy: strings of a list of unions
// would otherwise share the memory of data, which the connection uses again.
func (codec) Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = append(jsonrpc2.RawMessage(nil), data...)
		return nil
	}
	if err := protocol.Unmarshal(bytes.Clone(data), v); err != nil {
		return fmt.Errorf("decoding %T: %w", v, err)
	}
	return nil
}
