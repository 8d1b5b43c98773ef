package crash

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decoded gives r as the bytes of its text: unpacked, and UTF-16 as UTF-8. A
// byte order mark tells UTF-16, or without one the NUL bytes that Latin text has
// in every second place. Bytes that are not UTF-8 are left to clean.
func decoded(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 4<<10)
	head, err := b.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read log: %w", err)
	}
	var enc encoding.Encoding
	switch little, big := utf16Order(head); {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("unpack log: %w", err)
		}
		return decoded(&cutArchive{z})
	case little:
		enc = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case big:
		enc = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	default:
		return b, nil
	}
	return transform.NewReader(b, enc.NewDecoder()), nil
}

// cutArchive reads an archive of which the end may be missing: a log that was
// still being written is read as far as it goes.
type cutArchive struct{ *gzip.Reader }

func (c *cutArchive) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) {
		err = io.EOF
	}
	return n, err
}

func utf16Order(head []byte) (little, big bool) {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return true, false
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return false, true
	}
	var zero [2]int
	for i, c := range head {
		if c == 0 {
			zero[i%2]++
		}
	}
	half := len(head) / 2
	if half < 4 || head[0] != 0 && head[1] != 0 || head[2] != 0 && head[3] != 0 {
		return false, false
	}
	return zero[1] > half*3/4 && zero[0] < half/8, zero[0] > half*3/4 && zero[1] < half/8
}

// withoutNUL drops the NUL bytes of b in place. Programs write them between
// messages, and a shell that appends UTF-16 to a file of another encoding leaves
// one in every character.
func withoutNUL(b []byte) []byte {
	at := bytes.IndexByte(b, 0)
	if at < 0 {
		return b
	}
	kept := b[:at]
	for _, c := range b[at:] {
		if c != 0 {
			kept = append(kept, c)
		}
	}
	return kept
}
