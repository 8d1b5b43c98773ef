package fixes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

// TestWhereACollectionIsCleared checks where the fix of GL202 puts the call, for
// the ends that a hook may have.
func TestWhereACollectionIsCleared(t *testing.T) {
	const module = `import lightning as L
import torch
from torch import nn


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, 10)
        self.outputs = []

    def validation_step(self, batch, batch_idx):
        self.outputs.append(self.net(batch[0]))

    def on_validation_epoch_end(self):
        HOOK
`
	const clear = "self.outputs.clear()"
	for hook, want := range map[string]string{
		"self.log('mean', torch.cat(self.outputs).mean())":                                              "self.log('mean', torch.cat(self.outputs).mean())\n        " + clear,
		"self.last = torch.cat(self.outputs)\n        return None":                                      "self.last = torch.cat(self.outputs)\n        " + clear + "\n        return None",
		"return torch.cat(self.outputs).mean()":                                                         "",
		"if not self.outputs:\n            return\n        print(torch.cat(self.outputs))":              "",
		"for o in self.outputs:\n            if o is None:\n                continue\n        print(1)": "for o in self.outputs:\n            if o is None:\n                continue\n        print(1)\n        " + clear,
		"kept = self.outputs\n        print(torch.cat(kept))":                                           "",
	} {
		src := strings.Replace(module, "HOOK", hook, 1)
		report, err := rules.NewChecker(leaks.All()...).Check(t.Context(), rules.Source{Path: "m.py", Text: []byte(src)})
		require.NoError(t, err)
		require.Len(t, report.Findings, 1, hook)
		fixes := report.Findings[0].Fixes
		if want == "" {
			assert.Empty(t, fixes, hook)
			continue
		}
		require.Len(t, fixes, 1, hook)
		assert.Equal(t, rules.Unsafe, fixes[0].Safety)
		var edits []text.Edit
		for _, e := range fixes[0].Edits {
			edits = append(edits, e.Edit)
		}
		fixed, err := text.Apply([]byte(src), edits)
		require.NoError(t, err)
		assert.Equal(t, strings.Replace(module, "HOOK", want, 1), string(fixed))
	}
}
