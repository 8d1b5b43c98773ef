package torch

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measurement is what PyTorch did with one operation; see testdata/measure.py.
type measurement struct {
	name  string
	graph bool
	saved float64 // bytes for each element of a float32 input
	call  string
}

func measurements(t *testing.T) []measurement {
	t.Helper()
	data, err := os.ReadFile("testdata/measured.tsv")
	require.NoError(t, err)
	_, rows, _ := strings.Cut(string(data), "\n")
	var out []measurement
	for row := range strings.Lines(rows) {
		fields := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		require.Len(t, fields, 4, row)
		saved, err := strconv.ParseFloat(fields[2], 64)
		require.NoError(t, err)
		out = append(out, measurement{fields[0], fields[1] == "graph", saved, fields[3]})
	}
	require.NotEmpty(t, out)
	return out
}

// unlike are operations that the measurement does not show as they are used:
// dropouts are off by default, aminmax had no derivative in that version.
var unlike = set(`alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d aminmax`)

func TestContractsAgreeWithPyTorch(t *testing.T) {
	const operand = 4.0 // bytes of a float32
	for _, m := range measurements(t) {
		c, ok := Method(m.name)
		if !assert.True(t, ok, "%s is not in the tables", m.name) {
			continue
		}
		switch c.Effect {
		case Keeps, Splits, Pieces:
			assert.True(t, m.graph, "%s carries no graph", m.call)
		default:
			assert.False(t, m.graph, "%s carries a graph", m.call)
		}
		if unlike[m.name] {
			continue
		}
		// Masks and the indices of a few results lie between the two.
		saves := c.Saves || c.SavesPairs && strings.Contains(m.call, "(x)") || c.SavesByDim && !strings.HasSuffix(m.call, "()")
		switch {
		case m.saved >= operand:
			assert.True(t, saves, "%s saves %v bytes for each element", m.call, m.saved)
		case m.saved == 0:
			assert.False(t, saves, "%s saves nothing", m.call)
		}
	}
}
