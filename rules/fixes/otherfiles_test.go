package fixes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/usage"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

const library = `import torch.nn.functional as F
from torch import nn

total = 0.0
losses = []


class Run:
    def __init__(self, model: nn.Module):
        self.model, self.total, self.losses = model, 0.0, []

    def start(self, batches):
        for x, y in batches:
            STORE


def run(model: nn.Module, batches):
    model.eval()
    total, losses = 0.0, []
    for x, y in batches:
        STORE
    return HELD


def fill(model: nn.Module, batches):
    global total
    for x, y in batches:
        STORE
`

// across are the ways in which another file comes to what a library keeps: each with
// which of the stores in the library that is.
var across = map[string]struct {
	store int
	get   string
}{
	"an attribute":             {0, "runs = library.Run(model)\nHELD = runs.HELD\n"},
	"the result of a function": {1, "HELD = library.run(model, batches)\n"},
	"a variable of the module": {2, "from library import HELD\n"},
	"all names of the module":  {2, "from library import *\n"},
}

// TestNoFixBreaksAUseInAnotherFile tries each use of the measured matrix in a file
// that imports the one that leaks.
func TestNoFixBreaksAUseInAnotherFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, content string) { require.NoError(t, os.WriteFile(at(name), []byte(content), 0o600)) }
	write("pyproject.toml", "")
	safe := 0
	for _, u := range uses(t) {
		held, store := "total", "total += F.mse_loss(model(x), y)"
		if u.holds == "list" {
			held, store = "losses", "losses.append(F.mse_loss(model(x), y))"
		}
		src := strings.ReplaceAll(strings.ReplaceAll(library, "HELD", held), "STORE", store)
		src = strings.Replace(strings.Replace(src, "            "+held, "            self."+held, 1), "model(x)", "self.model(x)", 1)
		write("library.py", src)
		for name, way := range across {
			main := "import copy\nimport json\nimport math\nimport pickle\nimport statistics\nimport numpy as np\nimport torch\nimport library\n" +
				"history, log = [], {}\n" + strings.ReplaceAll(way.get, "HELD", held) + strings.ReplaceAll(u.code, "; ", "\n") + "\n"
			write("main.py", main)
			resolver := names.NewResolver(names.NewDisk(nil))
			checker := rules.NewChecker(leaks.All()...).With(rules.Files{
				Project: usage.New([]string{dir}, nil, func(string) *names.Resolver { return resolver }),
			})
			report, err := checker.Check(t.Context(), rules.Source{Path: at("library.py"), Text: []byte(src)})
			require.NoError(t, err)
			found := false
			for _, f := range report.Findings {
				if strings.Count(src[:f.Span.Start], "mse_loss") != way.store {
					continue
				}
				found = true
				for _, fix := range f.Fixes {
					number := strings.Contains(fix.Edits[len(fix.Edits)-1].New, ".item()")
					switch {
					case number && u.item != "ok" && u.item != "changes":
						assert.NotEqual(t, rules.Safe, fix.Safety, "item is called safe for %s although %s in another file gives %s", name, u.code, u.item)
					case !number && u.detach != "ok":
						assert.NotEqual(t, rules.Safe, fix.Safety, "detach is called safe for %s although %s in another file %s", name, u.code, u.detach)
					case !number && fix.Safety == rules.Safe:
						safe++
					}
				}
			}
			assert.True(t, found, "the leak is not found for %s with %s:\n%s", name, u.code, src)
		}
	}
	assert.Greater(t, 2*safe, len(across)*len(uses(t)), "too few of the fixes are safe")
}
