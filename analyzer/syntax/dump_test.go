package syntax

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden trees in testdata")

// dump writes t as an indented outline: role, kind, what is wrong with the node
// and, for leaves, their text.
func dump(t *Tree) string { return dumpNode(t, t.Root()) }

func dumpNode(t *Tree, root NodeID) string {
	var b strings.Builder
	var node func(n NodeID, depth int)
	node = func(n NodeID, depth int) {
		b.WriteString(strings.Repeat("  ", depth))
		if role := t.Role(n); role != NoField && n != root {
			fmt.Fprintf(&b, "%v: ", role)
		}
		b.WriteString(t.Kind(n).String())
		if t.Missing(n) {
			b.WriteString(" missing")
		}
		if t.Damaged(n) {
			b.WriteString(" damaged")
		}
		if t.nodes[n].first < 0 {
			fmt.Fprintf(&b, " %q", t.Text(n))
		}
		b.WriteByte('\n')
		for c := t.nodes[n].first; c >= 0; c = t.nodes[c].next {
			node(c, depth+1)
		}
	}
	node(root, 0)
	return b.String()
}

// TestGoldenTrees pins what the grammar makes of every construct: the dumps
// show what a new version of it changes.
func TestGoldenTrees(t *testing.T) {
	files, err := filepath.Glob("testdata/*.py")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	seen := map[Kind]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			parse := Parse
			if strings.Contains(file, "notebook") {
				parse = ParseNotebook
			}
			tree, err := parse(src)
			require.NoError(t, err)
			for _, d := range tree.nodes {
				seen[d.kind] = true
			}
			golden := strings.TrimSuffix(file, ".py") + ".tree"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(dump(tree)), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), dump(tree))
		})
	}
	for k := Error; k < kindCount; k++ {
		if k == ParenthesizedListSplat {
			continue // the grammar knows it, but always gives it another name
		}
		assert.True(t, seen[k], "no golden tree has a node of kind %v", k)
	}
}
