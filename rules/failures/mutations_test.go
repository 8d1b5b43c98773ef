package failures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An error of autograd about a tensor that was changed in place names the
// operation; where its result is changed is found in the code.
func TestInplaceChangeIsTracedToItsLine(t *testing.T) {
	for name, c := range map[string]struct {
		operation string
		body      string // of forward, from line 8 on
		line      int    // of the suspect, 0 if there is none
		advice    string
	}{
		"augmented assignment": {"SigmoidBackward0", "h = torch.sigmoid(self.a(x))\nh += 1\nreturn h", 9, "Write `h = h + …` instead."},
		"method":               {"ExpBackward0", "h = self.a(x).exp()\ny = h * 2\nh.mul_(0.5)\nreturn y", 10, "Use `mul`, which returns a new tensor."},
		"part of a tensor":     {"SoftmaxBackward0", "p = F.softmax(x, -1)\np[:, 0] = 0\nreturn p", 9, "Assign to a copy: `p = p.clone()` first."},
		"inplace argument":     {"TanhBackward", "h = torch.tanh(x)\nreturn F.relu(h, inplace=True)", 9, "Leave `inplace=True` out."},
		"operator":             {"MulBackward0", "self.gate = (x * self.w)\nif self.training:\n    self.gate += 1\nreturn self.gate", 10, "Write `self.gate = self.gate + …` instead."},
		"in a loop":            {"SqrtBackward0", "h = x.sqrt()\nfor _ in range(3):\n    h *= 2\nreturn h", 10, "Write `h = h * …` instead."},
		"another tensor":       {"SigmoidBackward0", "h = torch.sigmoid(x)\ny = x.clone()\ny += 1\nreturn h + y", 0, ""},
		"a new tensor":         {"SigmoidBackward0", "h = torch.sigmoid(x)\nh = h + 1\nh += 1\nreturn h", 0, ""},
		"another operation":    {"TanhBackward0", "h = torch.sigmoid(x)\nh += 1\nreturn h", 0, ""},
		"a view":               {"AsStridedBackward0", "h = torch.sigmoid(x)\nh += 1\nreturn h", 0, ""},
		"not told":             {"", "h = torch.sigmoid(x)\nh += 1\nreturn h", 0, ""},
		"before":               {"SigmoidBackward0", "x += 1\nx = torch.sigmoid(x)\nreturn x", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			script := "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        " +
				strings.ReplaceAll(c.body, "\n", "\n        ") + "\n\n\ndef fit(net, loader):\n    for x in loader:\n        net(x).sum().backward()\n"
			at := 1 + strings.Count(script[:strings.Index(script, "net(x).sum()")], "\n")
			told := ""
			if c.operation != "" {
				told = fmt.Sprintf("which is output 0 of %s, ", c.operation)
			}
			log := fmt.Sprintf("Traceback (most recent call last):\n  File \"/job/net.py\", line %d, in fit\n    net(x).sum().backward()\n"+
				"RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.cuda.FloatTensor [4, 8]], %sis at version 1; expected version 0 instead.\n", at, told)
			got := inProject(t, log, "net.py", script)
			assert.Equal(t, "autograd.inplace", got.Failure)
			if c.line == 0 {
				assert.Empty(t, got.Suspects)
				return
			}
			require.Len(t, got.Suspects, 1)
			s := got.Suspects[0]
			assert.Equal(t, c.line, s.Range.Start.Line)
			assert.Contains(t, s.Message, c.advice)
			assert.Contains(t, got.Cause, fmt.Sprintf("In the code that is net.py:%d.", c.line))
			assert.Equal(t, fmt.Sprintf("Change net.py:%d", c.line), got.Fix[0].Title)
			assert.Equal(t, c.advice, got.Fix[0].Detail)
		})
	}
}

func TestInplaceChangeInANotebookIsNamedByItsCell(t *testing.T) {
	const cells = "{\"cells\": [\n {\"cell_type\": \"code\", \"metadata\": {}, \"execution_count\": 1, \"outputs\": [], \"source\": [\"import torch\\n\", \"x = torch.ones(3, requires_grad=True)\\n\"]},\n" +
		" {\"cell_type\": \"code\", \"metadata\": {}, \"execution_count\": 2, \"outputs\": [], \"source\": [\"y = x.exp()\\n\", \"y += 1\\n\", \"y.sum().backward()\\n\"]}\n], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n"
	log := "---------------------------------------------------------------------------\nRuntimeError                              Traceback (most recent call last)\nCell In[2], line 3\n      1 y = x.exp()\n      2 y += 1\n----> 3 y.sum().backward()\n\n" +
		"RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of ExpBackward0, is at version 1; expected version 0 instead.\n"
	got := inProject(t, log, "run.ipynb", cells)
	require.Len(t, got.Suspects, 1)
	assert.Equal(t, 2, got.Suspects[0].Cell)
	assert.Equal(t, 2, got.Suspects[0].Range.Start.Line)
	assert.Contains(t, got.Suspects[0].Message, "(cell 2, line 1)")
}
