package flow_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// fixtures are the example programs of the rules.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	require.NoError(t, filepath.WalkDir("../../rules/leaks", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".py" {
			found[path], err = os.ReadFile(path)
		}
		return err
	}))
	require.NotEmpty(t, found)
	return found
}

// FuzzAnalyze: whatever the program, the analysis ends and what it says is
// about the program.
func FuzzAnalyze(f *testing.F) {
	for _, src := range fixtures(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		tree, err := syntax.Parse(src)
		if err != nil {
			return // refused with a reason: too large, not UTF-8
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		facts, err := flow.NewWorkspace(names.NewResolver(nil)).Analyze(ctx, names.NewModule("", tree))
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatal("the budgets do not hold")
		}
		require.NoError(t, err)
		for _, g := range facts.Growths {
			for _, l := range append(append([]flow.Location{g.Kept, g.Store, g.Target, g.Loop}, g.Made...), g.Freed...) {
				if l.Module == nil || l.Node < 0 || int(l.Node) >= l.Module.Tree.Len() {
					t.Fatalf("a fact about nowhere: %+v", l)
				}
			}
		}
	})
}
