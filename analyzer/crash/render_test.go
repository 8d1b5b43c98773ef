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
		Verify:       Verify{"nvidia-smi", "It is flat."},
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

func TestRedactionMasksTheSameThingTheSameWay(t *testing.T) {
	d := &Diagnosis{
		Cause:      "mira@node-a and bert@example.org and 10.1.2.3, not 127.0.0.1; mirabelle stays, root@localhost too",
		Initiating: &Initiating{Host: "node-a"},
		Collateral: []Collateral{{Host: "gpu-7.cluster", Event: "connect to 10.1.2.3 and 10.9.9.9 from gpu-7.cluster"}},
		Evidence: []Evidence{
			{Text: `File "/home/mira/proj/train.py" by mira`},
			{Text: `C:\Users\kim\proj and kim`},
			{Text: "HF_TOKEN=hf_abcdefghijklmnopqrstuv api_key: 'sk-abcdefghijklmnopqrstuvwx' password=hunter22"},
			{Text: "Authorization: Bearer abc.def-ghi and https://mira:pw12345@git.example.org/x"},
			{Text: "wandb 0123456789abcdef0123456789abcdef01234567 and fe80::1:2 and AKIAABCDEFGHIJKLMNOP"},
		},
		Fix:     []Fix{{"End process on node-a", "/home/mira"}},
		Missing: []string{"the log of node-a"},
	}
	r := d.Redacted()
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	for _, secret := range []string{
		"mira@", "/mira", "kim", "node-a", "gpu-7", "10.1.2.3", "10.9.9.9", "bert", "hf_abc", "sk-abc", "hunter22", "abc.def", "pw12345",
		"0123456789abcdef", "fe80::1:2", "AKIA",
	} {
		assert.NotContains(t, string(raw), secret)
	}
	assert.Contains(t, r.Cause, "127.0.0.1")
	assert.Contains(t, r.Cause, "mirabelle")
	assert.Contains(t, r.Cause, "root@localhost")
	assert.Equal(t, r.Initiating.Host, strings.TrimPrefix(r.Missing[0], "the log of "))
	assert.Contains(t, r.Fix[0].Title, r.Initiating.Host)
	assert.Equal(t, r.Fix[0].Detail, "/home/"+strings.TrimPrefix(r.Evidence[0].Text[strings.LastIndex(r.Evidence[0].Text, " "):], " "))
	assert.Contains(t, r.Evidence[0].Text, "proj/train.py", "what does not identify stays")
	assert.Equal(t, "node-a", d.Initiating.Host, "the original is as it was")
}
