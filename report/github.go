package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/graphleak/graphleak/rules"
)

// writeGitHub writes workflow commands, which GitHub shows as annotations on
// the lines of a pull request.
func writeGitHub(w io.Writer, result Result, l locator) error {
	out := bufio.NewWriter(w)
	for _, f := range result.Findings {
		at := l.inFile(f.Path, f.Span)
		fmt.Fprintf(out, "::%s file=%s,line=%d,endLine=%d", githubLevel(f.Severity), escapeProperty(slashed(f.Path)), at.Start.Line, at.End.Line)
		// GitHub refuses columns for annotations of several lines.
		if at.Start.Line == at.End.Line {
			fmt.Fprintf(out, ",col=%d,endColumn=%d", at.Start.Column, at.End.Column)
		}
		fmt.Fprintf(out, ",title=%s::%s\n", escapeProperty(f.Code+" "+f.Rule), escapeData(f.Message))
	}
	for _, s := range result.Skipped {
		fmt.Fprintf(out, "::notice file=%s::%s\n", escapeProperty(slashed(s.Path)), escapeData("skipped: "+s.Reason))
	}
	return out.Flush()
}

func githubLevel(s rules.Severity) string {
	if s == rules.Hint {
		return "notice"
	}
	return string(s)
}

// escapeData and escapeProperty follow the toolkit of GitHub's own actions.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}
