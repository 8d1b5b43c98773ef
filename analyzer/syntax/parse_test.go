package syntax

import (
	"os"
	"sync"
	"testing"

	"github.com/smacker/go-tree-sitter/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryKindAndFieldIsInTheGrammar(t *testing.T) {
	g, err := python3()
	require.NoError(t, err)
	for k := Error + 1; k < kindCount; k++ { // ERROR has no symbol of its own
		assert.Contains(t, g.kinds, k)
		assert.NotEmpty(t, k.String())
	}
	for f := NoField; f < fieldCount; f++ {
		assert.Contains(t, g.fields, f)
	}
}

func TestUnknownGrammarIsRefused(t *testing.T) {
	_, err := newGrammar(toml.GetLanguage())
	assert.ErrorContains(t, err, "grammar has the unknown symbol")
}

func TestKindsAndFieldsHaveTheNamesOfTheGrammar(t *testing.T) {
	assert.Equal(t, "for_statement", ForStatement.String())
	assert.Equal(t, "kind(255)", Kind(255).String())
	assert.Equal(t, "return_type", FieldReturnType.String())
	assert.Equal(t, "field(255)", Field(255).String())
}

// Trees are read, and texts parsed, by many goroutines at once.
func TestConcurrentUse(t *testing.T) {
	src, err := os.ReadFile("testdata/broken.py")
	require.NoError(t, err)
	shared, err := Parse(src)
	require.NoError(t, err)
	want := dump(shared)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				assert.Equal(t, want, dump(shared))
				tree, err := Parse(src)
				if assert.NoError(t, err) {
					assert.Equal(t, want, dump(tree))
				}
			}
		})
	}
	wg.Wait()
}
