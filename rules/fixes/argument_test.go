package fixes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

func TestKeyword(t *testing.T) {
	tests := map[string]string{
		"f()":                     "f(k=1)",
		"f(a)":                    "f(a, k=1)",
		"f(a, b=2,)":              "f(a, b=2, k=1,)",
		"f(a, k=None)":            "f(a, k=1)",
		"f(a, **b)":               "f(a, **b, k=1)",
		"f(\n    a,\n    b=2,\n)": "f(\n    a,\n    b=2,\n    k=1,\n)",
		"f(\n    a,\n    b=2\n)":  "f(\n    a,\n    b=2,\n    k=1\n)",
		"f(a,\n  b)":              "f(a,\n  b,\n  k=1)",
	}
	for src, want := range tests {
		call := regionOf(t, src, "f(", syntax.Call)
		got, err := text.Apply([]byte(src), []text.Edit{keyword(call.Location, "k", "1")})
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}
