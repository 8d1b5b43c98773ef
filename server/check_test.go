package server

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
)

func TestNewerVersionCancelsTheCheckOfTheOneBefore(t *testing.T) {
	started := make(chan struct{})
	var cancelled atomic.Int32
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if strings.HasPrefix(string(src.Text), "slow") {
			close(started)
			<-ctx.Done()
			cancelled.Add(1)
			return rules.Report{}, ctx.Err()
		}
		return echo(ctx, src)
	}))
	e.initialize(`{}`)
	e.open(script, 1, "slow")
	<-started
	waiting := make(chan error, 1)
	e.inFlight(func() {
		_, err := e.hover(script, protocol.Position{})
		waiting <- err
	})
	e.change(script, 2, span(0, 0, 0, 4), "fast")

	published := <-e.published
	version, _ := published.Version.Get()
	assert.Equal(t, int32(2), version, "nothing is published of version 1")
	assert.Equal(t, "fast", message(t, published.Diagnostics[0]))
	require.Eventually(t, func() bool { return cancelled.Load() == 1 }, patience, time.Millisecond)
	requireCode(t, protocol.CodeContentModified, <-waiting)
}

func TestStaleOutcomeIsNotPublishedEvenIfTheCheckerIgnoresTheCancel(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		if string(src.Text) == "stubborn" {
			close(started)
			<-release
		}
		return echo(context.Background(), src)
	}))
	e.initialize(`{}`)
	e.open(script, 1, "stubborn")
	<-started
	e.change(script, 2, span(0, 0, 0, 8), "new")
	require.Len(t, e.diagnosticsOf(script, 2), 1)
	close(release)
	e.open("file:///other.py", 1, "other")
	next := <-e.published
	assert.Equal(t, uri.URI("file:///other.py"), next.URI)
}

func TestFirstAnswerIsNeverDelayed(t *testing.T) {
	s := &server{ctx: t.Context()}
	first := s.newCheck()
	assert.Zero(t, first.delay)

	second := first.next(s)
	assert.Zero(t, second.delay, "nothing is known of what a check takes")

	rested := ended(outcome{took: 100 * time.Millisecond}).next(s)
	assert.Zero(t, rested.delay, "the document was at rest")

	typing := rested.next(s)
	assert.Equal(t, 100*time.Millisecond, typing.delay, "a check is still running")
	assert.Equal(t, 100*time.Millisecond, typing.next(s).delay)

	cancelled := ended(outcome{took: time.Nanosecond, err: context.Canceled})
	cancelled.cost = time.Hour
	assert.Equal(t, maxDelay, cancelled.next(s).delay)
}

func TestManyDocumentsAreCheckedAFewAtATime(t *testing.T) {
	var now, most atomic.Int32
	e := launch(t, checkerFunc(func(ctx context.Context, src rules.Source) (rules.Report, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			m := most.Load()
			if n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(time.Millisecond)
		return echo(ctx, src)
	}))
	e.initialize(`{}`)
	const documents = 200
	for i := range documents {
		e.open(uri.File("/project/"+strings.Repeat("x", i+1)+".py"), 1, "x")
	}
	for range documents {
		<-e.published
	}
	assert.LessOrEqual(t, int(most.Load()), maxChecks())
}

func TestNotebookCellsAreCheckedAsNotebooks(t *testing.T) {
	sources := make(chan rules.Source, 2)
	e := launch(t, checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
		sources <- src
		return rules.Report{}, nil
	}))
	e.initialize(`{}`)
	e.open("vscode-notebook-cell:/home/me/a.ipynb#W0sZmlsZQ%3D%3D", 1, "%pip install torch\n")
	assert.Equal(t, rules.Source{Text: []byte("%pip install torch\n"), Notebook: true, Edited: true}, <-sources)
	e.open("file:///home/me/a.py", 1, "x\n")
	assert.Equal(t, rules.Source{Path: "/home/me/a.py", Text: []byte("x\n"), Edited: true}, <-sources)
}

func TestDocumentThatIsNotAnalysedSaysWhy(t *testing.T) {
	e := launch(t, checkerFunc(func(context.Context, rules.Source) (rules.Report, error) {
		return rules.Report{Skipped: "larger than 1 MB"}, nil
	}))
	e.initialize(`{}`)
	e.open(script, 1, "first line\nsecond\n")
	diagnostics := e.diagnosticsOf(script, 1)
	require.Len(t, diagnostics, 1)
	assert.Equal(t, protocol.DiagnosticSeverityInformation, diagnostics[0].Severity)
	assert.Equal(t, "Not analysed: larger than 1 MB", message(t, diagnostics[0]))
	assert.Equal(t, span(0, 0, 0, 10), diagnostics[0].Range)
}

func TestOtherDocumentsAreCheckedAgainOnSave(t *testing.T) {
	var checks atomic.Int32
	e := launch(t, checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
		n := int(checks.Add(1))
		return rules.Report{Findings: []rules.Finding{{Message: fmt.Sprint(src.Path, " ", n)}}}, nil
	}))
	e.initialize(`{}`)
	e.open(script, 5, "from meter import Meter")
	require.Len(t, e.diagnosticsOf(script, 5), 1)
	e.open("file:///project/meter.py", 1, "class Meter: ...")
	require.Len(t, e.diagnosticsOf("file:///project/meter.py", 1), 1)

	require.NoError(t, e.server.DidSave(e.context(), &protocol.DidSaveTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: "file:///project/meter.py"},
	}))
	assert.Equal(t, "/project/train.py 3", message(t, e.diagnosticsOf(script, 5)[0]))
	e.alive()
	assert.Equal(t, int32(3), checks.Load(), "what was saved has not changed")
}
