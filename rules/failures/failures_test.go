package failures

import (
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
