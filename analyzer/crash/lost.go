package crash

import (
	"regexp"
	"strings"
)

var (
	lostFrame     = regexp.MustCompile(`File "[^"]+", line \d+(?:, in (?:<\w+>|[\w.]+))?`)
	lostException = regexp.MustCompile(`\b(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt): `)
)

var stampStart = regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:`)

const maxRecords = 4096 // on one line

// splitRecords undoes the loss of the newlines between a logger's records: a
// terminal padded each with spaces instead. It is nil if the line is one record.
func splitRecords(text string) []string {
	stamp := stampStart.FindString(text)
	if stamp == "" {
		return nil
	}
	start := "  " + stamp[:len(stamp)-len("00:00:")]
	if !strings.Contains(text, start) {
		return nil
	}
	var records []string
	for len(records) < maxRecords {
		at := strings.Index(text, start)
		if at < 0 {
			break
		}
		records = append(records, strings.TrimRight(text[:at], " "))
		text = strings.TrimLeft(text[at:], " ")
	}
	return append(records, strings.TrimRight(text, " "))
}

// splitLost undoes the loss of the newlines of a traceback: a line with several
// calls, or with the header and a call, becomes the lines it was.
func splitLost(l Line) []Line {
	if len(l.Text) > maxSegment || !strings.Contains(l.Text, `File "`) {
		return nil
	}
	calls := lostFrame.FindAllStringIndex(l.Text, maxFrames)
	if len(calls) == 0 {
		return nil
	}
	head := strings.TrimSpace(l.Text[:calls[0][0]])
	tail := strings.TrimSpace(l.Text[calls[len(calls)-1][1]:])
	if len(calls) == 1 && (!strings.Contains(head, headerText) || tail == "") {
		return nil
	}
	part := func(text string) Line {
		line := l
		line.Text = text
		return line
	}
	var parts []Line
	if head != "" {
		parts = append(parts, part(head))
	}
	for i, c := range calls {
		end := len(l.Text)
		if i+1 < len(calls) {
			end = calls[i+1][0]
		}
		parts = append(parts, part("  "+l.Text[c[0]:c[1]]))
		code := strings.TrimSpace(l.Text[c[1]:end])
		if i == len(calls)-1 {
			if m := lostException.FindStringIndex(code); m != nil {
				if before := strings.TrimSpace(code[:m[0]]); before != "" {
					parts = append(parts, part("    "+before))
				}
				parts = append(parts, part(code[m[0]:]))
				break
			}
		}
		if code != "" {
			parts = append(parts, part("    "+code))
		}
	}
	return parts
}
