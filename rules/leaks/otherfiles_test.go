package leaks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/graphleak/graphleak/rules"
)

// An edit of another file keeps to that file's line ends, tabs, byte order mark and
// encoding, whatever those of the checked one are.
func TestAFixWritesAsEachFileIsWritten(t *testing.T) {
	const meter = "# -*- coding: latin-1 -*-\n# r\xe9sum\xe9\nimport torch as t\n\n\nclass Meter:\n\tdef __init__(self):\n\t\tself.sum = 0\n\n" +
		"\tdef add(self, value):\n\t\tself.sum += value  # total\n"
	const train = "from torch import nn\nfrom meter import Meter\n\n\ndef train(model: nn.Module, loader, optimizer):\n    meter = Meter()\n    for x in loader:\n" +
		"        loss = model(x).mean()\n        loss.backward()\n        optimizer.step()\n        meter.add(loss)\n"
	want := strings.Replace(meter, "\t\tself.sum +=", "\t\tif isinstance(value, t.Tensor):\n\t\t\tvalue = value.detach()\n\t\tself.sum +=", 1)
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	plain := func(s string) string { return s }
	marked := func(s string) string {
		_, s, _ = strings.Cut(s, "\n")
		return "\ufeff" + strings.ReplaceAll(s, "\xe9", "é")
	}
	for name, c := range map[string]struct{ checked, other func(string) string }{
		"line feeds in both":          {plain, plain},
		"carriage returns in another": {plain, crlf},
		"carriage returns in checked": {crlf, plain},
		"carriage returns in both":    {crlf, crlf},
		"byte order mark":             {plain, marked},
		"all at once":                 {crlf, func(s string) string { return crlf(marked(s)) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := []txtar.File{{Name: "train.py", Data: []byte(c.checked(train))}, {Name: "meter.py", Data: []byte(c.other(meter))}}
			for _, f := range files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
			}
			report := check(t, rules.NewChecker(All()...), rules.Source{Path: filepath.Join(dir, "train.py"), Text: files[0].Data})
			require.Len(t, report.Findings, 1)
			require.Len(t, report.Findings[0].Fixes, 2)
			assert.Equal(t, c.other(want), string(applied(t, dir, files, report.Findings[0].Fixes[1])[1]))
		})
	}
}
