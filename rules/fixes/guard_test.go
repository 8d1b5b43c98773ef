package fixes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// regionOf is the first node of a kind whose text starts so.
func regionOf(t *testing.T, src, start string, kind syntax.Kind) flow.Region {
	t.Helper()
	tree, err := syntax.Parse([]byte(src))
	require.NoError(t, err)
	require.Empty(t, tree.DamagedSpans(), src)
	for n := tree.Root(); int(n) < tree.Len(); n++ {
		if tree.Kind(n) == kind && strings.HasPrefix(tree.Text(n), start) {
			return flow.Region{Location: flow.Location{Module: names.NewModule("a.py", tree), Node: n}}
		}
	}
	t.Fatalf("no %q in\n%s", start, src)
	return flow.Region{}
}

func guarded(t *testing.T, src string, regions ...flow.Region) string {
	t.Helper()
	fixes := Guard(regions)
	if len(fixes) == 0 {
		return ""
	}
	var edits []text.Edit
	for _, e := range fixes[0].Edits {
		edits = append(edits, e.Edit)
	}
	out, err := text.Apply([]byte(src), edits)
	require.NoError(t, err)
	tree, err := syntax.Parse(out)
	require.NoError(t, err)
	assert.Empty(t, tree.DamagedSpans(), "%s", out)
	return string(out)
}

func TestGuardOfStatements(t *testing.T) {
	tests := []struct{ name, src, start, want string }{
		{"a loop", "import torch\nfor x in xs:\n    f(x)\n", "for",
			"import torch\nwith torch.no_grad():\n    for x in xs:\n        f(x)\n"},
		{"tabs", "import torch\ndef g():\n\tfor x in xs:\n\t\tf(x)\n\n\t\t# end\n\treturn 1\n", "for",
			"import torch\ndef g():\n\twith torch.no_grad():\n\t\tfor x in xs:\n\t\t\tf(x)\n\n\t\t\t# end\n\treturn 1\n"},
		{"two spaces", "import torch\ndef g():\n  for x in xs: f(x)  # all\n  return 1\n", "for",
			"import torch\ndef g():\n  with torch.no_grad():\n    for x in xs: f(x)  # all\n  return 1\n"},
		{"a string over several lines", "import torch\nfor x in xs:\n    f('''a\n  b\n''', x)\n    g(x)\n", "for",
			"import torch\nwith torch.no_grad():\n    for x in xs:\n        f('''a\n  b\n''', x)\n        g(x)\n"},
		{"an argument list over several lines", "import torch\nfor x in xs:\n    f(\n        x,\n    )\n", "for",
			"import torch\nwith torch.no_grad():\n    for x in xs:\n        f(\n            x,\n        )\n"},
		{"an else clause", "import torch\nfor x in xs:\n    f(x)\nelse:\n    g()\nh()\n", "for",
			"import torch\nwith torch.no_grad():\n    for x in xs:\n        f(x)\n    else:\n        g()\nh()\n"},
		{"comments of the next statement", "import torch\nfor x in xs:\n    f(x)\n# then\nh()\n", "for",
			"import torch\nwith torch.no_grad():\n    for x in xs:\n        f(x)\n# then\nh()\n"},
		{"no line end", "import torch\nfor x in xs:\n    f(x)", "for",
			"import torch\nwith torch.no_grad():\n    for x in xs:\n        f(x)"},
		{"an alias", "import torch as T\nfor x in xs:\n    f(x)\n", "for",
			"import torch as T\nwith T.no_grad():\n    for x in xs:\n        f(x)\n"},
		{"a submodule binds the package", "import torch.nn\nfor x in xs:\n    f(x)\n", "for",
			"import torch.nn\nwith torch.no_grad():\n    for x in xs:\n        f(x)\n"},
		{"an import within the function", "def g():\n    import torch\n    for x in xs:\n        f(x)\n", "for",
			"def g():\n    import torch\n    with torch.no_grad():\n        for x in xs:\n            f(x)\n"},
		{"an import within another function", "from torch import nn\ndef h():\n    import torch as t\ndef g():\n    for x in xs:\n        f(x)\n", "for",
			"import torch\nfrom torch import nn\ndef h():\n    import torch as t\ndef g():\n    with torch.no_grad():\n        for x in xs:\n            f(x)\n"},
		{"a shadowed alias", "import torch\ndef g(torch):\n    for x in xs:\n        f(x)\n", "for", ""},
		{"a yield", "import torch\ndef g():\n    for x in xs:\n        yield f(x)\n", "for", ""},
		{"a yield of another function", "import torch\nfor x in xs:\n    def g():\n        yield 1\n", "for",
			"import torch\nwith torch.no_grad():\n    for x in xs:\n        def g():\n            yield 1\n"},
		{"an await", "import torch\nasync def g():\n    for x in xs:\n        f(await x)\n", "for", ""},
		{"an asynchronous loop", "import torch\nasync def g():\n    async for x in xs:\n        f(x)\n", "async for", ""},
		{"a loop with something behind it on the line", "import torch\nif a: f(x); g(x)\n", "f(x)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kind := syntax.ForStatement
			if !strings.Contains(tt.start, "for") {
				kind = syntax.ExpressionStatement
			}
			assert.Equal(t, tt.want, guarded(t, tt.src, regionOf(t, tt.src, tt.start, kind)))
		})
	}
}

func TestGuardOfFunctions(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"a function", "import torch\n\ndef g(xs):\n    pass\n", "import torch\n\n@torch.no_grad()\ndef g(xs):\n    pass\n"},
		{"below other decorators", "import torch\nclass A:\n    @staticmethod\n    # why\n    def g(xs):\n        pass\n",
			"import torch\nclass A:\n    @staticmethod\n    # why\n    @torch.no_grad()\n    def g(xs):\n        pass\n"},
		{"a name that the function binds is not its own", "import torch\ndef g(torch):\n    pass\n", "import torch\n@torch.no_grad()\ndef g(torch):\n    pass\n"},
		{"a generator", "import torch\ndef g(xs):\n    yield 1\n", "import torch\n@torch.no_grad()\ndef g(xs):\n    yield 1\n"},
		{"an asynchronous function", "import torch\nasync def g(xs):\n    pass\n", ""},
		{"a function that TorchScript compiles", "import torch\n@torch.jit.script\ndef g(xs):\n    pass\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := "def g"
			if strings.Contains(tt.src, "async") {
				start = "async def g"
			}
			assert.Equal(t, tt.want, guarded(t, tt.src, regionOf(t, tt.src, start, syntax.FunctionDefinition)))
		})
	}
}

func TestGuardPrefersWhatIsSafe(t *testing.T) {
	const src = "import torch\ndef g(xs):\n    for x in xs:\n        f(x)\n"
	function := regionOf(t, src, "def", syntax.FunctionDefinition)
	loop := regionOf(t, src, "for", syntax.ForStatement)
	statement := regionOf(t, src, "f(x)", syntax.ExpressionStatement)
	function.Opaque, loop.Opaque = true, true

	fixes := Guard([]flow.Region{function, loop, statement})
	require.Len(t, fixes, 1)
	assert.Equal(t, rules.Safe, fixes[0].Safety)
	assert.Equal(t, "Run this statement under `torch.no_grad()`", fixes[0].Title)

	fixes = Guard([]flow.Region{function, loop})
	require.Len(t, fixes, 1)
	assert.Equal(t, rules.Unsafe, fixes[0].Safety)
	assert.Equal(t, "Run `g` under `torch.no_grad()` (check that nothing in it needs a gradient)", fixes[0].Title)

	assert.Empty(t, Guard(nil))
}
