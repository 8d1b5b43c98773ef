package names

import (
	"bytes"
	"strings"
)

// ImportsIn are the names that import statements in a text may read files for, as
// [Module.Imports] has them, found without parsing: of most files of a workspace
// nothing else is asked. What only looks like a statement, in a string, may be
// among them.
func ImportsIn(src []byte) []ImportedName {
	var out []ImportedName
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte("import"))
		if i < 0 {
			return out
		}
		start := at + i
		at = start + len("import")
		if at < len(src) && isWordByte(src[at]) || start > 0 && isWordByte(src[start-1]) {
			continue
		}
		before := strings.TrimSpace(statementBefore(src, start))
		switch source, from := strings.CutPrefix(before, "from"); {
		case before == "":
			for _, name := range importList(src[at:]) {
				out = append(out, ImportedName{Dotted: name})
			}
		case from && source != "" && !isWordByte(source[0]):
			source = withoutBlanks(source)
			dotted := strings.TrimLeft(source, ".")
			level := len(source) - len(dotted)
			out = append(out, ImportedName{level, dotted})
			for _, name := range importList(src[at:]) {
				if dotted != "" {
					name = dotted + "." + name
				}
				out = append(out, ImportedName{level, name})
			}
		}
	}
}

func isWordByte(b byte) bool {
	return b == '_' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// statementBefore is the text of a statement up to an offset.
func statementBefore(src []byte, end int) string {
	start := end
	for start > 0 {
		switch c := src[start-1]; {
		case c == ';', c == ':', c == '\n' && !continued(src[:start-1]):
			return string(src[start:end])
		}
		start--
	}
	return string(src[start:end])
}

// continued reports whether a line goes on after its end.
func continued(line []byte) bool {
	return bytes.HasSuffix(bytes.TrimSuffix(line, []byte("\r")), []byte(`\`))
}

// importList are the names in what follows the word import.
func importList(src []byte) []string {
	var names []string
	open := false
	for len(src) > 0 {
		end := bytes.IndexAny(src, ",;#\n()")
		if end < 0 {
			end = len(src)
		}
		if fields := strings.Fields(strings.ReplaceAll(string(src[:end]), `\`, " ")); len(fields) > 0 && fields[0] != "*" {
			name := fields[0]
			for i := 1; i < len(fields) && fields[i] != "as"; i++ {
				name += fields[i] // a . b
			}
			names = append(names, name)
		}
		if end == len(src) {
			break
		}
		switch c := src[end]; {
		case c == '(':
			open = true
		case c == '#':
			if n := bytes.IndexByte(src[end:], '\n'); n >= 0 {
				end += n - 1
			}
		case c == ';', c == ')', c == '\n' && !open && !continued(src[:end]):
			return names
		}
		src = src[end+1:]
	}
	return names
}

// withoutBlanks is the text of a dotted name as one word.
func withoutBlanks(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, `\`, " ")), "")
}
