package failures

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules/leaks"
)

func TestSearch(t *testing.T) {
	for text, want := range map[string]string{
		"RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn":                       "autograd.no-graph",
		"Traceback (most recent call last):\nRuntimeError: CUDA error: device-side assert triggered\nand more of it": "cuda.device-assert",
		"cuda fragmentation": "memory.cuda-oom.fragmentation",
		"NCCL timeout":       "distributed.nccl-timeout",
		"total_loss += loss": "GL101",
	} {
		found := Search(leaks.All(), text)
		require.NotEmpty(t, found, text)
		assert.Equal(t, want, found[0].ID, text)
	}
	assert.Empty(t, Search(leaks.All(), "zebra quux"))
	assert.Empty(t, Search(leaks.All(), ""))
	assert.LessOrEqual(t, len(Search(leaks.All(), "memory tensor graph loss")), maxHits)
}
