package flow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
)

// explosion is a function in which each of k functions calls the next one
// several times, in loops: running all of it would take for ever.
func explosion(k int) string {
	var b strings.Builder
	for i := range k {
		fmt.Fprintf(&b, "def f%d(x):\n    for a in x:\n        for b in a:\n            x = g(f%d(a), f%d(b)) + f%d(x)\n    return x\n\n\n", i, i+1, i+1, i+1)
	}
	fmt.Fprintf(&b, "def f%d(x):\n    return x\n\n\n", k)
	return b.String()
}

func TestAFunctionThatExplodesDoesNotHideTheRest(t *testing.T) {
	src := explosion(8) + inEachStepOf("f0(x)\ntotal += loss")
	assert.Equal(t, []string{"loss: nodes"}, described(analyze(t, src)))
}

func TestFactsTellThatTheBudgetRanOut(t *testing.T) {
	for name, tt := range map[string]struct {
		src   string
		short bool
	}{
		"all of it was run":     {inEachStepOf("total += loss"), false},
		"a function explodes":   {explosion(8) + inEachStepOf("f0(x)\ntotal += loss"), true},
		"calls within calls":    {explosion(20) + inEachStepOf("y"), true},
		"nested too deeply":     {imports + "x = " + strings.Repeat("-", 3_000) + "x\n", true},
		"nothing about PyTorch": {"x = 1\n" + explosion(8), false},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := syntax.Parse([]byte(tt.src))
			require.NoError(t, err)
			facts, err := flow.NewWorkspace(names.NewResolver(nil)).Analyze(t.Context(), names.NewModule("", tree))
			require.NoError(t, err)
			assert.Equal(t, tt.short, facts.CutShort)
		})
	}
}

// TestAResetBeyondTheBudget runs a loop that takes more steps than a called
// function may, ending in each of many places.
func TestAResetBeyondTheBudget(t *testing.T) {
	for lines := 4_000; lines < 16_000; lines += 4_000 {
		src := imports + "def train(model, loader, optimizer):\n    total = 0\n    for step, (x, y) in enumerate(loader):\n" +
			"        loss = F.mse_loss(model(x), y)\n        total += loss\n        loss.backward()\n        optimizer.step()\n" +
			strings.Repeat("        y = f(y)\n", lines) +
			"        if step % 10 == 0:\n            total = 0\n\n\n" +
			"def main(model, loader, optimizer):\n    train(model, loader, optimizer)\n"
		tree, err := syntax.Parse([]byte(src))
		require.NoError(t, err)
		facts, err := flow.NewWorkspace(names.NewResolver(nil)).Analyze(t.Context(), names.NewModule("", tree))
		require.NoError(t, err)
		assert.Empty(t, described(facts.Growths), lines)
	}
}

func TestDeepNestingIsSurvived(t *testing.T) {
	const depth = 5_000
	for name, src := range map[string]string{
		"parentheses": "x = " + strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth),
		"additions":   "x = 1" + strings.Repeat(" + 1", depth),
		"attributes":  "x = y" + strings.Repeat(".y", depth),
		"calls":       "x = f" + strings.Repeat("(f", depth) + strings.Repeat(")", depth),
		"lambdas":     "x = " + strings.Repeat("lambda: ", depth) + "1",
		"conditions":  "x = " + strings.Repeat("1 if y else ", depth) + "2",
	} {
		tree, err := syntax.Parse([]byte("import torch\n" + src + "\n"))
		require.NoError(t, err, name)
		facts, err := flow.NewWorkspace(names.NewResolver(nil)).Analyze(t.Context(), names.NewModule("", tree))
		require.NoError(t, err, name)
		assert.Empty(t, facts.Growths, name)
	}
}

func TestACancelledAnalysisReturnsSoon(t *testing.T) {
	tree, err := syntax.Parse([]byte("import torch\n" + strings.Repeat(explosion(7), 20)))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := flow.NewWorkspace(names.NewResolver(nil)).Analyze(ctx, names.NewModule("", tree))
		done <- err
	}()
	select {
	case err := <-done:
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	case <-time.After(time.Minute):
		t.Fatal("still running a minute after its context ended")
	}
}

// TestFactsAreTheSameEachTime looks for an order of maps that shows.
func TestFactsAreTheSameEachTime(t *testing.T) {
	src := meter("self.total += value\nself.values.append({'loss': value, 'n': n})") + around("seen, logs = [], {}", `
seen.append((out, loss))
logs.setdefault('loss', []).append(loss)
for name, value in (('a', loss), ('b', out.mean())):
    logs[name] = logs.get(name, 0.0) + value`)
	first := everything(analyze(t, src))
	require.NotEmpty(t, first)
	for range 20 {
		require.Equal(t, first, everything(analyze(t, src)))
	}
}

// everything is all that facts say, as text.
func everything(growths []flow.Growth) []string {
	var out []string
	for _, g := range growths {
		var parts []string
		for _, p := range g.Parts {
			parts = append(parts, fmt.Sprint(p.Text(), p.Scalar))
		}
		out = append(out, fmt.Sprint(described([]flow.Growth{g}), g.Store.Text(), g.Target.Text(), g.Loop.Text(), g.Sure, texts(g.Made), texts(g.Freed),
			texts(g.Seeds), parts, g.Adds, g.Decays, g.Escapes, g.Evaluation, g.Implicit, g.SideOutput))
	}
	return slices.Clip(out)
}
