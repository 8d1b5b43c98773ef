package server

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// suppressions are the actions that silence findings: each on its line, and all
// in the file.
func (v *snapshot) suppressions(doc part, findings []rules.Finding) []*protocol.CodeAction {
	var actions []*protocol.CodeAction
	add := func(title string, edit text.Edit, about ...rules.Finding) {
		if change, ok := v.workspaceEdit(doc.program, doc.program.edits(edit)); ok {
			action := v.quickFix(doc, title, about...)
			action.Edit = change
			actions = append(actions, action)
		}
	}
	type place struct {
		code string
		line int
	}
	var seen []place
	for _, f := range findings {
		_, local, _ := doc.program.at(f.Span)
		at := place{f.Code, doc.mapper().LineAt(local.Start)}
		if slices.Contains(seen, at) || f.Memory == rules.NoMemory { // that is about such a comment
			continue
		}
		seen = append(seen, at)
		if edit, ok := ignoreOnLine(doc.text, doc.mapper().Line(at.line), f.Code); ok {
			edit.Span = doc.inCode(edit.Span)
			add(fmt.Sprintf("Ignore %s on this line", f.Code), edit, f)
		}
	}
	if len(findings) > 0 {
		first := doc.program.part(0)
		edit := skipFile(first.text)
		edit.Span = first.inCode(edit.Span)
		add("Ignore all findings in this file", edit, findings...)
	}
	return actions
}

// ignoreOnLine is the edit that silences a code on a line of src: a comment at
// its end, or one more code in the comment that is there. Where a comment cannot
// stand, or silences everything already, there is none.
func ignoreOnLine(src []byte, line text.Span, code string) (text.Edit, bool) {
	content := src[line.Start:line.End]
	if m := rules.IgnoreComment.FindSubmatchIndex(content); m != nil {
		if m[2] < 0 {
			return text.Edit{}, false
		}
		at := line.Start + m[5]
		codes := strings.TrimSpace(string(content[m[4]:m[5]]))
		if codes != "" {
			code = ", " + code
		}
		return text.Edit{Span: text.Span{Start: at, End: at}, New: code}, true
	}
	// The line may end within a string, or go on.
	if bytes.HasSuffix(content, []byte{'\\'}) || bytes.Contains(content, []byte(`"""`)) || bytes.Contains(content, []byte(`'''`)) {
		return text.Edit{}, false
	}
	end := line.Start + len(bytes.TrimRight(content, " \t\f"))
	return text.Edit{Span: text.Span{Start: end, End: line.End}, New: fmt.Sprintf("  # graphleak: ignore[%s]", code)}, true
}

// skipFile is the edit that silences everything in src: a comment in front, but
// behind what has to be in the first lines of a file or of a cell.
func skipFile(src []byte) text.Edit {
	at := 0
	for _, line := range bytes.SplitAfterN(src, []byte{'\n'}, 3) {
		if !bytes.HasSuffix(line, []byte{'\n'}) || at > 0 && bytes.HasPrefix(line, []byte("#!")) ||
			!bytes.HasPrefix(line, []byte("#!")) && !bytes.HasPrefix(line, []byte("%%")) && !declaration.Match(line) {
			break
		}
		at += len(line)
	}
	return text.Edit{Span: text.Span{Start: at, End: at}, New: "# graphleak: skip-file\n"}
}

// declaration is a line that declares the encoding of a file.
var declaration = regexp.MustCompile(`^\s*#.*coding[:=]`)

// mention is a rule that a comment names.
type mention struct {
	rule *rules.Rule
	span text.Span
}

// mentionForm is how a text names rules.
type mentionForm struct {
	form  *regexp.Regexp
	codes int // the group with the codes
}

// ruleCode is what the codes of rules look like.
var ruleCode = regexp.MustCompile(`\b(GL\d{3})\b`)

// mentions are the rules that a document names: in comments that silence findings,
// or anywhere in a configuration file.
func (v *snapshot) mentions(doc part) []mention {
	src := doc.text
	forms := []mentionForm{{rules.IgnoreComment, 2}, {rules.NoqaComment, 1}}
	if doc.program.configures() {
		forms = []mentionForm{{ruleCode, 1}}
	}
	var out []mention
	for _, names := range forms {
		for _, m := range names.form.FindAllSubmatchIndex(src, -1) {
			start, end := m[2*names.codes], m[2*names.codes+1]
			if start < 0 {
				continue
			}
			for _, rule := range v.checker.Rules() {
				for at := start; ; at += len(rule.Code) {
					i := bytes.Index(src[at:end], []byte(rule.Code))
					if i < 0 {
						break
					}
					at += i
					out = append(out, mention{rule, text.Span{Start: at, End: at + len(rule.Code)}})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b mention) int { return a.span.Start - b.span.Start })
	return out
}
