package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

const (
	// maxFrame bounds what one message may make us hold in memory. Editors do
	// not send documents of this size to language servers.
	maxFrame = 64 << 20
	// maxHeader bounds the header of a frame; real ones have under 100 bytes.
	maxHeader = 4 << 10
	// keepBuffer is the most that the read and write buffers hold on to after a
	// large message.
	keepBuffer = 1 << 20
)

// stream frames messages for a jsonrpc2 connection as LSP wants it. Other than
// the stream of that library, which ends the connection, it survives whatever
// the peer sends: it reports the damage as a fault and goes on with the next
// frame.
//
// The next frame is found by its header. Valid JSON has no Content-Length with
// nothing but digits up to a line end, since line ends in strings are escaped.
// So a header that shows up inside of a body proves that the body was cut
// short, and the search for the next one never takes the text of a document
// for it.
type stream struct {
	in     io.Reader
	out    io.Writer
	limit  int
	faulty func(fault)
	// broken hears of the error that ended one of the directions. Nothing else
	// would stop a reader that waits for a client which no longer reads.
	broken func(error)

	buf        []byte // buf[start:end] was read and not yet consumed
	start, end int
	resuming   bool // skipping to the next header

	writing sync.Mutex
	wbuf    []byte
}

// fault is a frame that could not be understood.
type fault struct {
	err *jsonrpc2.Error
	id  jsonrpc2.ID // of the request it was, if that could be told
	// reply says that the peer should hear of it: it did not answer one of our
	// own requests.
	reply bool
}

func newStream(in io.Reader, out io.Writer, faulty func(fault), broken func(error)) *stream {
	return &stream{in: in, out: out, limit: maxFrame, faulty: faulty, broken: broken}
}

// Read returns the next message that is one. Its method and parameters borrow
// the buffer until the next call.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		body, size, err := s.frame()
		if err != nil {
			s.broken(err)
			return nil, 0, err
		}
		msg, err := jsonrpc2.DecodeMessage(body)
		if err == nil {
			return msg, int64(size), nil
		}
		s.faulty(describe(body, err))
		// If the length was wrong, the next header may stand in what was taken
		// for the body, or begin there.
		s.start -= len(body)
		s.resuming = true
	}
}

// frame returns the body of the next well-framed message and the size of the
// frame.
func (s *stream) frame() (body []byte, size int, err error) {
	s.release()
	for {
		if s.resuming {
			if err := s.resume(); err != nil {
				return nil, 0, err
			}
		}
		head, length, err := s.header()
		if err != nil {
			return nil, 0, err
		}
		if head < 0 {
			s.skip(errors.New("a header without a valid Content-Length"))
			continue
		}
		if length > s.limit {
			s.skip(fmt.Errorf("a message of more than %d bytes, which was ignored", s.limit))
			continue
		}
		complete, err := s.body(head, length)
		if err != nil {
			return nil, 0, err
		}
		if !complete {
			continue
		}
		body = s.buf[s.start+head : s.start+head+length]
		s.start += head + length
		return body, head + length, nil
	}
}

// header finds the end of the header at the start of the buffer and the length
// of the body that it announces. The end is -1 if the header is malformed.
func (s *stream) header() (end, length int, err error) {
	for {
		b := s.buf[s.start:s.end]
		if end, length, ok := parseHeader(b); ok {
			return end, length, nil
		} else if end != 0 || len(b) > maxHeader {
			return -1, 0, nil
		}
		if err := s.fill(); err != nil {
			if err == io.EOF && len(bytes.TrimSpace(b)) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, 0, err
		}
	}
}

// parseHeader reads the header at the start of b. Where it is malformed ok is
// false and end is not 0; where it is not complete yet both are zero.
func parseHeader(b []byte) (end, length int, ok bool) {
	length = -1
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return 0, 0, false
		}
		line := bytes.TrimSuffix(b[at:at+n], []byte{'\r'})
		at += n + 1
		if len(line) == 0 {
			return at, length, length >= 0
		}
		name, value, found := bytes.Cut(line, []byte{':'})
		if !found {
			return -1, 0, false
		}
		if strings.EqualFold(string(name), "Content-Length") {
			v, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil {
				return -1, 0, false
			}
			length = int(min(v, math.MaxInt32))
		}
	}
}

// body reads until the buffer holds length bytes after head. It gives up, and
// reports false, when another frame starts before that.
func (s *stream) body(head, length int) (complete bool, err error) {
	scanned := head
	for {
		have := min(s.end-s.start, head+length)
		if at := findHeader(s.buf[s.start+scanned : s.start+have]); at >= 0 {
			s.fault(fmt.Errorf("a message of %d bytes that was cut short after %d", length, scanned+at-head))
			s.start += scanned + at
			return false, nil
		}
		if have == head+length {
			return true, nil
		}
		// A header may straddle what was scanned and what comes next.
		scanned = max(head, have-maxHeaderLine)
		if err := s.fill(); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return false, err
		}
	}
}

// skip reports what is wrong with the frame at the start of the buffer and
// starts the search for the next one behind its first byte.
func (s *stream) skip(err error) {
	s.fault(err)
	s.start++
	s.resuming = true
}

func (s *stream) fault(err error) {
	s.faulty(fault{
		err:   jsonrpc2.Errorf(jsonrpc2.ParseError, "received %v", err),
		reply: true,
	})
}

// resume moves to the next header in the input, dropping what is before it.
func (s *stream) resume() error {
	for {
		b := s.buf[s.start:s.end]
		if at := findHeader(b); at >= 0 {
			s.start += at
			s.resuming = false
			return nil
		}
		s.start += max(0, len(b)-maxHeaderLine)
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// maxHeaderLine is more than the longest line that findHeader finds.
const maxHeaderLine = 64

// findHeader returns the index of the first Content-Length line in b, or -1.
// Lower and upper case of the two initials do not matter.
func findHeader(b []byte) int {
	const name, tail = "content-length:", "ontent-"
	for from := 0; ; {
		at := bytes.Index(b[from:], []byte(tail))
		if at < 0 {
			return -1
		}
		at += from - 1
		from = at + 1 + len(tail)
		if at < 0 || len(b) < at+len(name) || !strings.EqualFold(string(b[at:at+len(name)]), name) {
			continue
		}
		value, _, complete := bytes.Cut(b[at+len(name):min(len(b), at+maxHeaderLine)], []byte{'\n'})
		value = bytes.TrimSpace(value)
		if complete && len(value) > 0 && len(bytes.Trim(value, "0123456789")) == 0 {
			return at
		}
	}
}

// fill reads more input behind what the buffer holds.
func (s *stream) fill() error {
	if s.end == len(s.buf) {
		if s.start > 0 && s.start >= len(s.buf)/2 {
			copy(s.buf, s.buf[s.start:s.end])
		} else {
			grown := make([]byte, max(4<<10, 2*len(s.buf)))
			copy(grown, s.buf[s.start:s.end])
			s.buf = grown
		}
		s.end -= s.start
		s.start = 0
	}
	n, err := io.ReadAtLeast(s.in, s.buf[s.end:], 1)
	s.end += n
	return err
}

// release gives back the memory of a large message that was consumed.
func (s *stream) release() {
	if len(s.buf) > keepBuffer && s.end-s.start < keepBuffer {
		s.buf = append(make([]byte, 0, keepBuffer), s.buf[s.start:s.end]...)
		s.start, s.end = 0, len(s.buf)
		s.buf = s.buf[:cap(s.buf)]
	}
}

// describe tells what can be told of a body that is no message.
func describe(body []byte, cause error) fault {
	var m struct {
		ID, Method, Result, Error json.RawMessage
	}
	code := jsonrpc2.ParseError
	parsed := json.Unmarshal(body, &m) == nil
	if parsed || bytes.HasPrefix(bytes.TrimSpace(body), []byte{'['}) {
		code = jsonrpc2.InvalidRequest
	}
	f := fault{
		err:   jsonrpc2.Errorf(code, "received %d bytes that are no JSON-RPC 2.0 message: %v", len(body), cause),
		reply: true,
	}
	if !parsed {
		return f
	}
	f.reply = m.Method != nil || m.Result == nil && m.Error == nil
	var number int64
	var name string
	switch {
	case len(m.ID) == 0 || string(m.ID) == "null":
	case json.Unmarshal(m.ID, &number) == nil:
		f.id = jsonrpc2.NewNumberID(number)
	case json.Unmarshal(m.ID, &name) == nil:
		f.id = jsonrpc2.NewStringID(name)
	}
	return f
}

// Write sends one message in one write.
func (s *stream) Write(ctx context.Context, msg jsonrpc2.Message) (int64, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// The header goes in front of the body once the body's length is known.
	const room = len("Content-Length: 9223372036854775807\r\n\r\n")
	var head [room]byte
	buf := jsonrpc2.AppendMessage(append(s.wbuf[:0], head[:]...), msg)
	header := append(head[:0], "Content-Length: "...)
	header = strconv.AppendInt(header, int64(len(buf)-room), 10)
	header = append(header, "\r\n\r\n"...)
	start := room - len(header)
	copy(buf[start:], header)
	if cap(buf) <= keepBuffer {
		s.wbuf = buf
	} else {
		s.wbuf = nil
	}
	n, err := s.out.Write(buf[start:])
	if err != nil {
		s.broken(err)
	}
	return int64(n), err
}

// Close closes both directions where they can be closed.
func (s *stream) Close() error {
	var errs []error
	for _, end := range []any{s.in, s.out} {
		if c, ok := end.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
