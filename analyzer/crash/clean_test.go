package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"plain text stays":             {"step 1 loss 0.5", "step 1 loss 0.5"},
		"indentation stays":            {"    x = f(y)", "    x = f(y)"},
		"padding at the end goes":      {"x  \t", "x"},
		"colours":                      {"\x1b[1;31mRuntimeError\x1b[0m: no", "RuntimeError: no"},
		"a link":                       {"\x1b]8;;file:///a.py\x1b\\a.py\x1b]8;;\x1b\\ line 3", "a.py line 3"},
		"a shell mark":                 {"\x1b]633;C\x07Traceback", "Traceback"},
		"a sequence without an end":    {"a\x1b[", "a"},
		"an escape at the end":         {"a\x1b", "a"},
		"NUL bytes":                    {"a\x00b", "ab"},
		"byte order mark":              {"\ufeffTraceback", "Traceback"},
		"zero width characters":        {"a\u200bb", "ab"},
		"no-break spaces":              {"\u00a0\u00a0File", "  File"},
		"entities":                     {"&gt;&gt; File &quot;a.py&quot;&nbsp;x &amp; y", ">> File \"a.py\" x & y"},
		"an ampersand is no entity":    {"a && b & c;", "a && b & c;"},
		"Latin-1":                      {"caf\xe9", "café"},
		"control characters":           {"GPU \x01 has", "GPU  has"},
		"characters beyond ASCII stay": {"100%|██| 3/3", "100%|██| 3/3"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, clean([]byte(c.raw))) })
	}
}
