package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/graphleak/graphleak/rules"
)

// statistic is how often a rule has findings.
type statistic struct {
	Code     string                 `json:"code"`
	Rule     string                 `json:"rule"`
	Count    int                    `json:"count"`
	Fixable  int                    `json:"fixable"`       // by a safe fix
	Unsafely int                    `json:"unsafeFixable"` // by unsafe fixes only
	Severity map[rules.Severity]int `json:"severity"`
}

// statistics are those of the rules that have findings, the most frequent first.
func statistics(result Result) []statistic {
	byCode := make(map[string]*statistic)
	var order []*statistic
	for _, f := range result.Findings {
		s := byCode[f.Code]
		if s == nil {
			s = &statistic{Code: f.Code, Rule: f.Rule, Severity: make(map[rules.Severity]int)}
			byCode[f.Code] = s
			order = append(order, s)
		}
		s.Count++
		s.Severity[f.Severity]++
		switch {
		case slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool { return fix.Safety == rules.Safe }):
			s.Fixable++
		case len(f.Fixes) > 0:
			s.Unsafely++
		}
	}
	out := make([]statistic, len(order))
	for i, s := range order {
		out[i] = *s
	}
	slices.SortFunc(out, func(a, b statistic) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Code, b.Code))
	})
	return out
}

// writeStatistics writes a table of the rules that have findings.
func writeStatistics(w io.Writer, result Result, colored bool) error {
	out := textWriter{Writer: bufio.NewWriter(w), palette: newPalette(colored)}
	if len(result.Findings) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(table, "findings\terrors\twarnings\thints\tsafe fix\tunsafe fix\t  rule")
		for _, s := range statistics(result) {
			fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%d\t  %s %s\n", s.Count,
				s.Severity[rules.Error], s.Severity[rules.Warning], s.Severity[rules.Hint], s.Fixable, s.Unsafely, s.Code, s.Rule)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	out.summary(result)
	return out.Flush()
}
