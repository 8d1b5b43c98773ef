package crash

import (
	"fmt"
	"math"
	"strings"
)

// sparkWidth is how many columns a line of bars has at most.
const sparkWidth = 48

// sparkline draws values as bars of eighths, the lowest value as the lowest bar.
// More values than columns are joined, to the highest of each column.
func sparkline(values []float64, width int) string {
	if len(values) == 0 || width <= 0 {
		return ""
	}
	width = min(width, len(values))
	columns := make([]float64, width)
	for i := range columns {
		columns[i] = math.Inf(-1)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i, v := range values {
		c := i * width / len(values)
		columns[c] = max(columns[c], v)
	}
	for _, v := range columns {
		low, high = min(low, v), max(high, v)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range columns {
		level := 0
		if high > low {
			level = int((v - low) / (high - low) * float64(len(bars)-1))
		}
		b.WriteRune(bars[level])
	}
	return b.String()
}

// lines are the growth in words: the slope, a picture, and what it means.
func (g *Growth) lines() (head string, detail []string) {
	of := quantity(g.Quantity).words()
	per := strings.TrimPrefix(g.Unit, "MiB/")
	n := len(g.Points)
	head = fmt.Sprintf("%s: %+.3g MiB %s (r = %.3g)", strings.ToUpper(of[:1])+of[1:], g.Slope, a(per), g.R)
	if n > 0 {
		values := make([]float64, n)
		for i, p := range g.Points {
			values[i] = p[1]
		}
		first, last := g.Points[0], g.Points[n-1]
		detail = append(detail, fmt.Sprintf("%v %s %v, %s %s to %s", Size(first[1])*mib, sparkline(values, sparkWidth), Size(last[1])*mib, per, decimal(first[0]), decimal(last[0])))
	}
	detail = append(detail, g.Meaning)
	if full, failed := g.predicted(); full != "" {
		text := "At that rate it is full at " + full
		if failed != "" {
			text += "; it failed at " + failed
		}
		detail = append(detail, text+".")
	}
	return head, detail
}

// predicted is where the memory is full by the fitted line, and where the run
// failed; empty if unknown.
func (g *Growth) predicted() (full, failed string) {
	if g.PredictedStep != nil {
		full = fmt.Sprintf("step %d", *g.PredictedStep)
	} else if g.PredictedEpoch != nil {
		full = "epoch " + decimal(*g.PredictedEpoch)
	}
	if g.FailedStep != nil {
		failed = fmt.Sprintf("step %d", *g.FailedStep)
	} else if g.FailedEpoch != nil {
		failed = "epoch " + decimal(*g.FailedEpoch)
	}
	return full, failed
}
