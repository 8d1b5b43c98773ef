package crash

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func rank(n int) *int { return &n }

func example() *Diagnosis {
	full, failed := 900, 880
	return &Diagnosis{
		Version: 1, Failure: "memory.cuda-oom.graph-retained", Family: "memory", Title: "A leak", Confidence: Medium,
		Cause:      "Live tensors hold 23 GiB. `train.py:7` keeps *everything*.",
		Initiating: &Initiating{Rank: rank(2), Host: "node-a", Line: 40, When: "step 880"},
		Collateral: []Collateral{{Rank: rank(0), Host: "node-b", Line: 50, Event: "A collective operation timed out"}},
		Evidence:   []Evidence{{Line: 40, Text: "RuntimeError: `CUDA` <out> of memory in /home/mira/proj", Why: "the failure"}},
		Arithmetic: []string{"a > b"},
		Growth: &Growth{Quantity: "allocated", Slope: 9.6, Unit: "MiB/step", R: 0.99, Points: [][2]float64{{1, 100}, {2, 200}, {3, 300}, {4, 400}},
			PredictedStep: &full, FailedStep: &failed, Shape: "steady", Meaning: "Something is kept."},
		Fix:          []Fix{{"Detach", "Add loss.detach()."}},
		Verify:       Verify{Command: "nvidia-smi", Expect: "It is flat."},
		Missing:      []string{"the step"},
		Suspects:     []Suspect{{Path: "train.py", Range: Range{Position{7, 3}, Position{7, 9}}, Code: "GL101", Message: "`total` keeps it."}},
		Alternatives: []Alternative{{"memory.cuda-oom.too-large", Low, "flat"}},
	}
}

func TestTextAnswersInTheOrderPeopleAsk(t *testing.T) {
	text := example().Text(72, false)
	assert.NotContains(t, text, "\x1b")
	at := 0
	for _, part := range []string{
		"A leak\n", "confidence medium", "Live tensors hold", "rank 2, host node-a, line 40, step 880", "train.py:7:3 GL101",
		"line 40: RuntimeError", "a > b", "Allocated memory: +9.6 MiB a step", "▁▃▅█", "Something is kept.", "full at step 900; it failed at step 880", "Detach", "nvidia-smi", "rank 0: A collective",
		"too-large (low)", "the step",
	} {
		i := strings.Index(text[at:], part)
		require.GreaterOrEqual(t, i, 0, "%q after\n%s", part, text[:at])
		at += i
	}
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 72)
	}
	assert.Contains(t, example().Text(72, true), "\x1b[")
}

func TestMarkdownKeepsTextFromBeingMarkup(t *testing.T) {
	md := example().Markdown()
	assert.Contains(t, md, "`train.py:7` keeps \\*everything\\*.")
	assert.Contains(t, md, "- ``line 40: RuntimeError: `CUDA` <out> of memory in /home/mira/proj``")
	assert.Contains(t, md, "# A leak\n")
	assert.Contains(t, md, "- a \\> b")
	assert.Equal(t, "`` a` ``", codeSpan("a`"))
	assert.Equal(t, "a \\` b\\_c", escapeMarkdown("a ` b_c"), "a lone back quote opens no code")
}

func TestJSONHasEveryKeyOfTheContract(t *testing.T) {
	raw, err := json.Marshal(&Diagnosis{Version: 1, Failure: unknownID, Confidence: Low})
	require.NoError(t, err)
	assert.JSONEq(t, `{"version":1,"failure":"unknown","family":"","title":"","confidence":"low","cause":"","initiating":null,
		"collateral":[],"evidence":[],"arithmetic":[],"growth":null,"fix":[],"verify":{"command":"","expect":""},"missing":[],
		"suspects":[],"alternatives":[]}`, string(raw))
	raw, err = json.Marshal(example())
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"initiating":{"rank":2,"host":"node-a","line":40,"when":"step 880"}`)
	assert.Contains(t, string(raw), `"suspects":[{"path":"train.py","range":{"start":{"line":7,"column":3},"end":{"line":7,"column":9}},"code":"GL101","message":"`)
	assert.Contains(t, string(raw), `"predictedStep":900`)
}
