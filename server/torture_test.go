package server

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// Long runs: go test ./server -run 'Torture|FreshAnalysis' -edits 100000 -messages 100000 -seed 1
var (
	edits    = flag.Int("edits", 150, "random edits to compare with a fresh analysis")
	messages = flag.Int("messages", 2000, "messages of the protocol torture")
	seed     = flag.Uint64("seed", 1, "of what is random in the two")
)

// savage is a client that sends anything, and counts the answers.
type savage struct {
	t       *testing.T
	random  *rand.Rand
	peer    *stream
	mu      sync.Mutex
	answers map[string]int // by the id of the request
}

func newSavage(t *testing.T, random *rand.Rand) *savage {
	s := &savage{t: t, random: random, peer: connect(t), answers: make(map[string]int)}
	go func() {
		for {
			msg, _, err := s.peer.Read(context.Background())
			if err != nil {
				return
			}
			switch m := msg.(type) {
			case *jsonrpc2.Response:
				s.mu.Lock()
				s.answers[fmt.Sprint(m.ID())]++
				s.mu.Unlock()
			case *jsonrpc2.Notification:
				if m.Method() == protocol.MethodWindowLogMessage && strings.Contains(string(m.Params()), "panicked") {
					t.Error(string(m.Params()))
				}
			}
		}
	}()
	return s
}

func (s *savage) send(raw string) {
	s.t.Helper()
	_, err := io.WriteString(s.peer.out, raw)
	require.NoError(s.t, err)
}

// request sends a well-formed request and waits for its one answer.
func (s *savage) request(id, method, params string) {
	s.t.Helper()
	s.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params)))
	require.Eventually(s.t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.answers[strconv.Quote(id)] > 0 || s.answers[id] > 0
	}, patience, time.Millisecond, "no answer to %s %s", id, method)
}

// pick is one of the arguments.
func (s *savage) pick(from ...string) string { return from[s.random.IntN(len(from))] }

// message is a message that makes sense alone, but perhaps not here: documents
// that are not open, versions that go back, ids that were used before.
func (s *savage) message() string {
	id := s.pick(`"file:///project/a.py"`, `"file:///project/b.py"`, `"untitled:a"`, `"file:///project/n.ipynb"`, `"file:///project/pyproject.toml"`, `"vscode-notebook-cell:/project/n.ipynb#1"`, `""`, `"%"`, `7`)
	at := func() string {
		return fmt.Sprintf(`{"line":%s,"character":%s}`, s.pick("0", "1", "7", "4294967295", "-1", "1e9"), s.pick("0", "3", "4294967295", "99999999999999999999"))
	}
	span := func() string { return `{"start":` + at() + `,"end":` + at() + `}` }
	src := s.pick(`""`, `"x = 1\n"`, `"\ud800"`, strconv.Quote(training), `"\u0000"`, `"(\n(\n"`, `7`)
	document := `"textDocument":{"uri":` + id + `,"languageId":` + s.pick(`"python"`, `"markdown"`, `7`) + `,"version":` + s.pick("1", "7", "-3", `"x"`) + `,"text":` + src + `}`
	cell := `{"kind":` + s.pick("1", "2", "9") + `,"document":"vscode-notebook-cell:/project/n.ipynb#` + s.pick("1", "2") + `"}`
	item := `{"uri":"vscode-notebook-cell:/project/n.ipynb#` + s.pick("1", "2") + `","languageId":"python","version":1,"text":` + src + `}`
	method, params := "", ""
	switch s.random.IntN(16) {
	case 0:
		method, params = "textDocument/didOpen", `{`+document+`}`
	case 1:
		method, params = "textDocument/didChange", `{`+document+`,"contentChanges":[`+s.pick(`{"text":`+src+`}`, `{"range":`+span()+`,"text":`+src+`}`, `null`, ``)+`]}`
	case 2:
		method, params = "textDocument/didClose", `{`+document+`}`
	case 3:
		method, params = "textDocument/didSave", `{`+document+`}`
	case 4:
		method, params = "textDocument/hover", `{`+document+`,"position":`+at()+`}`
	case 5:
		method, params = "textDocument/codeAction", `{`+document+`,"range":`+span()+`,"context":{"diagnostics":[],"only":`+s.pick(`[]`, `["source"]`, `null`, `7`)+`}}`
	case 6:
		method, params = "textDocument/diagnostic", `{`+document+`,"previousResultId":`+s.pick(`"x"`, `null`)+`}`
	case 7:
		method, params = "workspace/executeCommand", `{"command":`+s.pick(`"graphleak.explain"`, `"graphleak.diagnose"`, `"graphleak.scanWorkspace"`, `"x"`)+`,"arguments":`+s.pick(`["GL101"]`, `[{"text":"CUDA out of memory"}]`, `[]`, `null`, `7`)+`,"workDoneToken":`+s.pick("1", `"x"`, "null")+`}`
	case 8:
		method, params = "notebookDocument/didOpen", `{"notebookDocument":{"uri":"file:///project/n.ipynb","notebookType":"x","version":1,"cells":[`+cell+`]},"cellTextDocuments":[`+item+`]}`
	case 9:
		method, params = "notebookDocument/didChange", `{"notebookDocument":{"uri":"file:///project/n.ipynb","version":2},"change":{"cells":{"structure":{"array":{"start":`+s.pick("0", "1", "9")+`,"deleteCount":`+s.pick("0", "1", "4294967295")+`,"cells":[`+cell+`]},"didOpen":[`+item+`],"didClose":[]},"textContent":[{"document":{"uri":"vscode-notebook-cell:/project/n.ipynb#1","version":3},"changes":[{"range":`+span()+`,"text":`+src+`}]}]}}}`
	case 10:
		method, params = "notebookDocument/didClose", `{"notebookDocument":{"uri":"file:///project/n.ipynb"},"cellTextDocuments":[]}`
	case 11:
		method, params = "$/cancelRequest", `{"id":`+s.pick("1", "2", `"x"`, "{}", "null")+`}`
	case 12:
		method, params = "workspace/didChangeConfiguration", `{"settings":`+s.pick(`null`, `{"scan":"workspace"}`, `{"graphleak":{"scan":7}}`, `{"select":["GL1",7],"severity":{"GL101":"hint"}}`, `{"ignore":["GL101"]}`, `[]`)+`}`
	case 13:
		method, params = "workspace/didChangeWatchedFiles", `{"changes":[{"uri":`+id+`,"type":`+s.pick("1", "2", "3", "9")+`}]}`
	case 14:
		method, params = s.pick("$/setTrace", "initialized", "initialize", "workspace/didRenameFiles", "codeAction/resolve", "textDocument/documentLink", "x", ""), s.pick(`{}`, `null`, `[]`, `{"value":"verbose"}`, `{"files":[{"oldUri":"%","newUri":"file:///x"}]}`, `{"title":"x","data":{"index":-1}}`, `{`+document+`}`)
	case 15:
		method, params = "workspace/didChangeWorkspaceFolders", `{"event":{"added":[`+s.pick(`{"uri":"memfs:/a","name":"x"}`, `{"uri":"vscode-vfs://x/y","name":"y"}`)+`],"removed":[`+s.pick(``, `{"uri":"memfs:/a","name":"x"}`)+`]}}`
	}
	number := s.pick(``, ``, `"id":1,`, `"id":2,`, `"id":"x",`, `"id":null,`)
	return fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, number, method, params)
}

// frames are the message as it may arrive: whole, twice, cut short, with a wrong
// length, damaged, behind garbage.
func (s *savage) frames(body string) string {
	whole := frame(body)
	switch s.random.IntN(12) {
	case 0:
		return whole + whole
	case 1:
		return whole[:s.random.IntN(len(whole))] + "\n"
	case 2:
		return fmt.Sprintf("Content-Length: %s\r\n\r\n%s", s.pick("0", "-1", "7", "99999999999", "x", strconv.Itoa(len(body)+50)), body)
	case 3:
		damaged := []byte(body)
		for range 1 + s.random.IntN(4) {
			damaged[s.random.IntN(len(damaged))] = byte(s.random.IntN(256))
		}
		return frame(string(damaged))
	case 4:
		return s.pick("garbage", "\r\n\r\n", "Content-Type: x\r\n\r\n", "\x00\xff", "HTTP/1.1 200 OK\r\n") + whole
	case 5:
		return frame("[" + body + "," + body + "]")
	case 6:
		return frame(s.pick("", "null", "{}", `{"jsonrpc":"1.0"}`, strings.Repeat("[", 20_000), `{"jsonrpc":"2.0","id":9,"result":7}`, `{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"x"}}`))
	}
	return whole
}

// Whatever a client sends, the server goes on, answers, and keeps nothing of it.
func TestProtocolTorture(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 11))
	s := newSavage(t, random)
	s.send(frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}`)) // before there is a session
	s.request("init", "initialize", `{"processId":null,"capabilities":{"textDocument":{"diagnostic":{}}},"rootUri":null}`)
	settled := func() int {
		n := runtime.NumGoroutine()
		for range 50 {
			time.Sleep(2 * time.Millisecond)
			n = min(n, runtime.NumGoroutine())
		}
		return n
	}
	before := settled()
	for i := range *messages {
		s.send(s.frames(s.message()))
		if i%200 == 199 {
			s.send("\r\n" + frame(note("$/again"))) // ends what was cut short
			s.request(fmt.Sprint("alive", i), "textDocument/hover", `{"textDocument":{"uri":"file:///none.py"},"position":{"line":0,"character":0}}`)
		}
	}
	s.send("\r\n" + frame(note("$/again")))
	for _, id := range []string{"file:///project/a.py", "file:///project/b.py", "untitled:a", "vscode-notebook-cell:/project/n.ipynb#1", ""} {
		s.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":%q}}}`, id)))
	}
	s.send(frame(`{"jsonrpc":"2.0","method":"notebookDocument/didClose","params":{"notebookDocument":{"uri":"file:///project/n.ipynb"},"cellTextDocuments":[]}}`))
	s.request("last", "textDocument/hover", `{"textDocument":{"uri":"file:///none.py"},"position":{"line":0,"character":0}}`)
	assert.Eventually(t, func() bool { return settled() <= before+4 }, patience, time.Millisecond, "goroutines are left behind")
	s.request("shutdown", "shutdown", "null")
}

// A request that is cancelled is answered once, whenever the cancel comes.
func TestCancelsAtEveryMoment(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 12))
	s := newSavage(t, random)
	s.request("init", "initialize", fmt.Sprintf(`{"processId":null,"capabilities":{"textDocument":{"diagnostic":{}}},"workspaceFolders":[{"uri":%q,"name":"x"}]}`, uri.File(project(t, map[string]string{"a.py": training}))))
	s.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":%q,"languageId":"python","version":0,"text":%q}}}`, script, training)))
	requests := []struct{ method, params string }{
		{"textDocument/hover", fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":8,"character":35}}`, script)},
		{"textDocument/codeAction", fmt.Sprintf(`{"textDocument":{"uri":%q},"range":{"start":{"line":0,"character":0},"end":{"line":99,"character":0}},"context":{"diagnostics":[]}}`, script)},
		{"textDocument/diagnostic", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, script)},
		{"workspace/diagnostic", `{"previousResultIds":[],"partialResultToken":"t"}`},
		{"workspace/executeCommand", `{"command":"graphleak.scanWorkspace","workDoneToken":"w"}`},
		{"workspace/executeCommand", `{"command":"graphleak.diagnose","arguments":[{"text":"torch.OutOfMemoryError: CUDA out of memory."}]}`},
	}
	const rounds = 400
	for i := range rounds {
		r := requests[i%len(requests)]
		s.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"#"}]}}`, script, i+1)) +
			frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i, r.method, r.params)))
		time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
		s.send(frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, i)))
	}
	assert.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range rounds {
			if s.answers[fmt.Sprint(i)] == 0 {
				return false
			}
		}
		return true
	}, patience, time.Millisecond)
	s.request("last", "shutdown", "null")
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range s.answers {
		assert.Equal(t, 1, n, id)
	}
}

// After any sequence of edits, what is told is what a fresh analysis of the text
// finds. Only functions that do not parse may have findings beyond that: those
// that they had before.
func TestRandomEditsGiveTheSameAsAFreshAnalysis(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 13))
	folder := project(t, map[string]string{".git/HEAD": ""})
	start := map[uri.URI]string{
		uri.File(folder + "/train.py"):  metered + trainingScript(150),
		uri.File(folder + "/meter.py"):  leakyMeter,
		uri.File(folder + "/report.py"): training,
	}
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	texts := make(map[uri.URI]string)
	var ids []uri.URI
	for id, src := range start {
		e.open(id, 0, src)
		e.diagnosticsOf(id, 0)
		texts[id] = src
		ids = append(ids, id)
	}
	slices.Sort(ids)
	reading := func(path string) ([]byte, bool) { src, ok := texts[uri.File(path)]; return []byte(src), ok }
	compare := func(id uri.URI, version int32) {
		t.Helper()
		told := e.diagnosticsOf(id, version)
		src := []byte(texts[id])
		fresh, err := rules.NewChecker(leaks.All()...).With(rules.Files{Open: reading}).Check(t.Context(), rules.Source{Path: id.FsPath(), Text: src})
		require.NoError(t, err)
		if fresh.Skipped != "" {
			require.Len(t, told, 1)
			require.Contains(t, message(t, told[0]), fresh.Skipped)
			return
		}
		m := text.NewMapper(src)
		seen := make(map[string]int)
		for _, d := range told {
			span := text.Span{Start: offset(m, d.Range.Start, text.UTF16), End: offset(m, d.Range.End, text.UTF16)}
			key := fmt.Sprint(span, d.Code, message(t, d))
			if !slices.ContainsFunc(fresh.Findings, func(f rules.Finding) bool { return key == fmt.Sprint(f.Span, protocol.String(f.Code), f.Message) }) {
				require.True(t, slices.ContainsFunc(fresh.Damaged, func(s text.Span) bool { return s.Covers(span) }), "%s is told and not found in\n%s", key, src)
			}
			seen[key]++
			require.Equal(t, 1, seen[key], key)
		}
		for _, f := range fresh.Findings {
			require.Contains(t, seen, fmt.Sprint(f.Span, protocol.String(f.Code), f.Message), "found and not told in\n%s", src)
		}
	}
	var low, high uint64
	versions := make(map[uri.URI]int32)
	for done := 0; done < *edits; {
		id := ids[random.IntN(len(ids))]
		for range 1 + random.IntN(3) { // a burst
			src := texts[id]
			if len(src) > 3*len(start[id])/2 || len(src) < len(start[id])/2 || done%50 == 49 {
				src = start[id]
				texts[id] = src
				versions[id]++
				done++
				e.changes(id, versions[id], &protocol.TextDocumentContentChangeWholeDocument{Text: src})
				continue
			}
			edit := randomEdit(random, src)
			m := text.NewMapper([]byte(src))
			at := func(offset int) protocol.Position {
				p := m.Position(offset, text.UTF16)
				return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Column)}
			}
			changed, err := text.Apply([]byte(src), []text.Edit{edit})
			require.NoError(t, err)
			texts[id] = string(changed)
			versions[id]++
			done++
			e.change(id, versions[id], protocol.Range{Start: at(edit.Start), End: at(edit.End)}, edit.New)
		}
		compare(id, versions[id])
		if done > *edits/10 {
			memory := residentMemory()
			if low == 0 {
				low = memory
			}
			high = max(high, memory)
		}
	}
	// Some room is for what the garbage collector has not looked at yet.
	assert.Less(t, high, low+64<<20, "memory grows with the number of edits")
	t.Logf("%d edits: %d MiB of memory after a tenth of them, %d MiB at most later", *edits, low>>20, high>>20)
}

// TestMemoryIsFlat opens, edits and closes a lot of files, each of them another
// one that is imported by the next.
func TestMemoryIsFlat(t *testing.T) {
	const files, warm = 300, 60
	folder := project(t, map[string]string{".git/HEAD": ""})
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	src := trainingScript(200)
	var low, high uint64
	for i := range files {
		id := uri.File(fmt.Sprintf("%s/train%d.py", folder, i))
		script := fmt.Sprintf("import train%d\n", i-1) + src
		require.NoError(t, os.WriteFile(id.FsPath(), []byte(script), 0o600)) // else a new checker would be made for it
		e.open(id, 1, script)
		e.change(id, 2, span(0, 0, 0, 0), "\n")
		require.NotEmpty(t, e.diagnosticsOf(id, 2))
		if i > 0 {
			e.closeDocument(uri.File(fmt.Sprintf("%s/train%d.py", folder, i-1)))
		}
		if i >= warm && i%20 == 0 {
			memory := residentMemory()
			if low == 0 {
				low = memory
			}
			high = max(high, memory)
		}
	}
	t.Logf("%d files: %d MiB after %d of them, %d MiB at most later", files, low>>20, warm, high>>20)
	assert.Less(t, high, low+16<<20, "memory grows with the number of files")
}

// randomEdit is what somebody may do to a program: type, delete, move and copy
// lines and parts of them.
func randomEdit(random *rand.Rand, src string) text.Edit {
	lines := strings.SplitAfter(src, "\n")
	i := random.IntN(len(lines))
	start := len(strings.Join(lines[:i], ""))
	line := text.Span{Start: start, End: start + len(lines[i])}
	boundary := func(at int) int { // of a character
		for at < len(src) && at > 0 && src[at]&0xc0 == 0x80 {
			at--
		}
		return at
	}
	switch random.IntN(6) {
	case 0:
		return text.Edit{Span: line}
	case 1: // a line from elsewhere
		return text.Edit{Span: text.Span{Start: start, End: start}, New: lines[random.IntN(len(lines))]}
	case 2: // indentation
		if strings.HasPrefix(lines[i], "    ") {
			return text.Edit{Span: text.Span{Start: start, End: start + 4}}
		}
		return text.Edit{Span: text.Span{Start: start, End: start}, New: "    "}
	case 3: // part of a line
		a := boundary(start + random.IntN(len(lines[i])+1))
		b := boundary(min(a+random.IntN(12), line.End))
		return text.Edit{Span: text.Span{Start: a, End: max(a, b)}}
	default:
		pieces := []string{"(", ")", ":", "\n", "\"", "'''", ".detach()", ".item()", " + loss", "\nfor x in y:\n", "    total_loss += loss\n", "é😀", "#", "loss", "\\", "losses.append(loss)\n", ".backward()", "def f(", "[", "}"}
		a := boundary(start + random.IntN(len(lines[i])+1))
		return text.Edit{Span: text.Span{Start: a, End: a}, New: pieces[random.IntN(len(pieces))]}
	}
}

// residentMemory is the memory of this process: that of C counts too where the
// system tells.
func residentMemory() uint64 {
	debug.FreeOSMemory()
	if raw, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(raw)); len(fields) > 1 {
			if pages, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				return pages * uint64(os.Getpagesize())
			}
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}

func TestMessagesOfTheTortureAreJSON(t *testing.T) {
	s := &savage{random: rand.New(rand.NewPCG(1, 1))}
	valid := 0
	for range 500 {
		if json.Valid([]byte(s.message())) {
			valid++
		}
	}
	assert.Greater(t, valid, 450, "most of the torture is about meaning, not about syntax")
}
