package failures

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/rules/leaks"
)

func TestPagesAreForPeopleToo(t *testing.T) {
	pages := Pages()
	ids := make(map[string]bool)
	for _, p := range pages {
		ids[p.ID] = true
	}
	for _, rule := range leaks.All() {
		ids[rule.Code] = true
	}
	for _, p := range pages {
		t.Run(p.ID, func(t *testing.T) {
			for _, related := range p.Related {
				assert.True(t, ids[related], "related to %s, which has no page", related)
				assert.NotEqual(t, p.ID, related)
			}
			assert.Contains(t, p.Body, "```", "a page shows what to write, not only what to do")
			if p.Strength > 0 {
				assert.NotEmpty(t, p.Fixes)
				assert.NotEmpty(t, p.Verify.Command, "how to see that it is fixed")
			}
		})
	}
}

// The ids are part of the interface: other tools rely on them.
func TestContractHasItsPages(t *testing.T) {
	for family, names := range map[string]string{
		"memory.cuda-oom": "graph-retained fragmentation too-large other-process limit impossible-request not-capacity eval-accumulation undetermined",
		"memory.host-oom": "kernel slurm kubernetes ray allocator numpy python dataloader-worker killed-unconfirmed",
		"memory":          "shm file-descriptors mps-oom xpu-oom npu-oom create-graph-cycle growth vllm.startup vllm.kv-cache",
		"cuda":            "device-assert illegal-access environment library",
		"hardware":        "xid ecc",
		"autograd":        "backward-twice inplace no-graph numpy non-scalar nan",
		"distributed":     "nccl-timeout nccl-error desync heartbeat rendezvous ddp-unused ddp-twice peer-lost",
		"data":            "shape dtype device index state-dict loader-worker",
		"env":             "import",
		"signal":          "segfault abort terminated",
		"python":          "exception",
	} {
		for name := range strings.FieldsSeq(names) {
			_, ok := Lookup(family + "." + name)
			assert.True(t, ok, "%s.%s has no page", family, name)
		}
	}
}

func TestLookup(t *testing.T) {
	got, ok := Lookup("unknown")
	assert.True(t, ok)
	assert.Equal(t, "unknown", got.ID)
	_, ok = Lookup("nothing")
	assert.False(t, ok)
}

// The example of a signature is found by that signature, whatever other pages
// look for.
func TestSignaturesDoNotTakeEachOthersMessages(t *testing.T) {
	for _, p := range Pages() {
		for _, s := range p.Signatures {
			t.Run(p.ID+"/"+s.Name, func(t *testing.T) {
				page, name := Recognise(s.Example, s.Scope)
				assert.Equal(t, p.ID+"/"+s.Name, page+"/"+name)
			})
		}
	}
}
