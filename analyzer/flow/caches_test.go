package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
)

func TestWhatACacheIsAskedBy(t *testing.T) {
	for name, tt := range map[string]struct {
		code    string
		tensors []string
		size    int
	}{
		"annotated":           {"@functools.lru_cache()\ndef f(x: torch.Tensor, n: int):\n    return x.sum() + n", []string{"x"}, 128},
		"used as one":         {"@functools.lru_cache(16)\ndef f(x, n):\n    return x.unsqueeze(n)", []string{"x"}, 16},
		"given to a function": {"@functools.cache\ndef f(x):\n    return F.relu(x)", []string{"x"}, 0},
		"given one":           {"@functools.lru_cache(maxsize=None)\ndef f(x):\n    return 1\nf(torch.zeros(3))", []string{"x"}, 0},
		"two of them":         {"@functools.lru_cache\ndef f(a, b):\n    return torch.cat([a.float(), b.float()])", []string{"a", "b"}, 128},
	} {
		t.Run(name, func(t *testing.T) {
			caches := facts(t, "import functools\n"+tt.code+"\n").Caches
			require.Len(t, caches, 1)
			assert.Equal(t, tt.tensors, texts(caches[0].Tensors))
			assert.Equal(t, tt.size, caches[0].Size)
			assert.False(t, caches[0].Instance)
		})
	}
	for name, code := range map[string]string{
		"a number":        "@functools.lru_cache()\ndef f(n):\n    return torch.zeros(n)",
		"a path":          "@functools.lru_cache()\ndef f(path):\n    return torch.load(path)",
		"nothing":         "@functools.cache\ndef f():\n    return torch.ones(2)",
		"no cache":        "def f(x: torch.Tensor):\n    return x",
		"another wrapper": "@functools.wraps(print)\ndef f(x: torch.Tensor):\n    return x",
	} {
		assert.Empty(t, facts(t, "import functools\n"+code+"\n").Caches, name)
	}
}

func TestACachedMethodKeepsItsObject(t *testing.T) {
	const class = `import functools
class Camera(nn.Module):
    def __init__(self, K, width):
        super().__init__()
        BODY
    @functools.lru_cache()
    def inverse(self):
        return self.K.clone()
`
	holds := func(body string) []flow.Cache {
		return facts(t, replaced(class, "BODY", body)).Caches
	}
	for _, body := range []string{"self.K = K", "self.K, self.width = K, width", "self.K = torch.eye(3) if K is None else K"} {
		caches := holds(body)
		require.Len(t, caches, 1, body)
		assert.True(t, caches[0].Instance, body)
	}
	for _, body := range []string{"self.width = width", "self.K = K; self.layer = nn.Linear(width, width)", "self.K = nn.Parameter(K)", "pass"} {
		assert.Empty(t, holds(body), body)
	}
}

func TestGraphsInACache(t *testing.T) {
	const code = `import functools
model = nn.Linear(2, 2)
@functools.cache
def embed(x):
    return model(x)
def run(loader):
    for x in loader:
        embed(x)
`
	c := facts(t, code).Caches
	require.Len(t, c, 1)
	assert.GreaterOrEqual(t, c[0].Sure, flow.Likely)
	assert.False(t, c[0].Unrecorded)
	c = facts(t, replaced(code, "        embed(x)", "        with torch.no_grad():\n            embed(x)")).Caches
	require.Len(t, c, 1)
	assert.Equal(t, flow.NoGraph, c[0].Sure)
	assert.True(t, c[0].Unrecorded)
}
