package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
)

// A use is one thing that programs do with a sum or a list of losses, from the
// table of the uses that were measured one by one.
type use struct{ holds, code string }

// readUses reads those that run while the values have their graphs.
func readUses(path string) ([]use, error) {
	table, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []use
	for i, row := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		columns := strings.Split(row, "\t")
		if len(columns) != 5 {
			return nil, fmt.Errorf("%s:%d: %d columns", path, i+1, len(columns))
		}
		if holds, graph, code := columns[0], columns[1], columns[4]; graph == "ok" {
			out = append(out, use{holds, code})
		}
	}
	return out, nil
}

// laterUses are programs that leak and then use what they kept in a few ways,
// drawn at random: whatever fix is called safe, all of them must still work and
// give the same.
func laterUses(uses []use, programs, functions int) []string {
	draw := rand.New(rand.NewPCG(4, 5))
	out := make([]string, programs)
	for i := range out {
		var b strings.Builder
		b.WriteString("import copy\nimport json\nimport math\nimport pickle\nimport statistics\n\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n")
		for n := range functions {
			writeFunction(&b, n, draw, uses)
		}
		out[i] = b.String()
	}
	return out
}

func writeFunction(b *strings.Builder, n int, draw *rand.Rand, uses []use) {
	holds := []string{"sum", "list"}[draw.IntN(2)]
	learns := draw.IntN(2) == 0
	fmt.Fprintf(b, "\n\ndef run_%d(model: nn.Module, batches, optimizer):\n    history, log = [], {}\n", n)
	b.WriteString("    total, losses = 0.0, []\n    for x, y in batches:\n        loss = F.cross_entropy(model(x), y)\n")
	if learns {
		b.WriteString("        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n")
	}
	if holds == "sum" {
		b.WriteString("        total += loss\n")
	} else {
		b.WriteString("        losses.append(loss)\n")
	}
	for range 1 + draw.IntN(3) {
		u := uses[draw.IntN(len(uses))]
		for u.holds != holds {
			u = uses[draw.IntN(len(uses))]
		}
		statements := strings.Split(u.code, "; ")
		for i, s := range statements {
			if i == len(statements)-1 && !isStatement.MatchString(s) {
				s = "print(" + s + ")"
			}
			fmt.Fprintf(b, "    %s\n", s)
		}
	}
}

// isStatement says that a use has no value to print.
var isStatement = regexp.MustCompile(`^(for |print\(|[\w.\[\]", *]+ [-+*/]?= )`)
