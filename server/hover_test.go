package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// explained is a checker with one finding in the second line.
var explained = checkerFunc(func(_ context.Context, src rules.Source) (rules.Report, error) {
	return rules.Report{Findings: []rules.Finding{{
		Path: src.Path, Code: "GL101", Rule: "accumulate-with-graph", Severity: rules.Error,
		Span: text.Span{Start: 6, End: 10}, Message: "`total` keeps the graph.",
		Memory: rules.Device, Keeps: rules.Graph,
		Evidence: []rules.Evidence{
			{Path: src.Path, Span: text.Span{Start: 0, End: 5}, Message: "made here"},
			{Path: "/not/open.py", Span: text.Span{Start: 0, End: 5}, Message: "kept elsewhere"},
		},
	}}}, nil
})

func TestHoverExplainsAFinding(t *testing.T) {
	tests := []struct{ name, capabilities, want string }{
		{"Markdown", `{"textDocument":{"hover":{"contentFormat":["markdown","plaintext"]}}}`,
			"**GL101** accumulate-with-graph (error: device memory grows, by whole graphs with their activations)\n\n" +
				"`total` keeps the graph.\n\n" +
				"- [line 1](file:///project/train.py#L1): made here\n" +
				"- kept elsewhere\n\n" +
				"[About GL101](https://github.com/graphleak/graphleak/blob/main/rules/leaks/accumulate-with-graph/doc.md)"},
		{"plain text", `{"textDocument":{"hover":{"contentFormat":["plaintext"]}}}`,
			"GL101 accumulate-with-graph (error: device memory grows, by whole graphs with their activations)\n\n" +
				"`total` keeps the graph.\n\n" +
				"- line 1: made here\n" +
				"- kept elsewhere\n\n" +
				"GL101: https://github.com/graphleak/graphleak/blob/main/rules/leaks/accumulate-with-graph/doc.md"},
		{"a client that shows the chain with the diagnostic", `{"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}`,
			"GL101 accumulate-with-graph (error: device memory grows, by whole graphs with their activations)\n\n" +
				"`total` keeps the graph.\n\n\n" +
				"GL101: https://github.com/graphleak/graphleak/blob/main/rules/leaks/accumulate-with-graph/doc.md"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := launch(t, explained)
			e.initialize(test.capabilities)
			e.open(script, 1, "first\nloss = 1\n")
			hover, err := e.hover(script, protocol.Position{Line: 1, Character: 2})
			require.NoError(t, err)
			require.NotNil(t, hover)
			assert.Equal(t, test.want, hover.Contents.(*protocol.MarkupContent).Value)
			assert.Equal(t, span(1, 0, 1, 4), *hover.Range)
		})
	}
}

func TestHoverNamesTheFileOfEvidenceElsewhere(t *testing.T) {
	meter := filepath.Join(t.TempDir(), "meter.py")
	require.NoError(t, os.WriteFile(meter, []byte("\nself.sum += value\n"), 0o600))
	e := launch(t, checkerFunc(func(context.Context, rules.Source) (rules.Report, error) {
		return rules.Report{Findings: []rules.Finding{{
			Evidence: []rules.Evidence{{Path: meter, Span: text.Span{Start: 1, End: 18}, Message: "kept here"}},
		}}}, nil
	}))
	e.initialize(`{}`)
	e.open(script, 1, "x")
	hover, err := e.hover(script, protocol.Position{})
	require.NoError(t, err)
	assert.Contains(t, hover.Contents.(*protocol.MarkupContent).Value, "\n- meter.py, line 2: kept here\n")
}

func TestHoverSaysNothingBesideFindings(t *testing.T) {
	e := launch(t, explained)
	e.initialize(`{}`)
	e.open(script, 1, "first\nloss = 1\n")
	hover, err := e.hover(script, protocol.Position{Line: 1, Character: 6})
	require.NoError(t, err)
	assert.Nil(t, hover)
}

func TestCostSaysWhatAFindingCosts(t *testing.T) {
	for want, f := range map[string]rules.Finding{
		"a higher peak of memory":                                     {Memory: rules.Peak, Keeps: rules.Graph},
		"device memory grows, by whole graphs with their activations": {Memory: rules.Device, Keeps: rules.Graph},
		"host memory grows, by the nodes of freed graphs":             {Memory: rules.Host, Keeps: rules.Nodes},
		"device memory grows, by storage behind views":                {Memory: rules.Device, Keeps: rules.Storage},
		"it costs no memory":                                          {Memory: rules.NoMemory, Keeps: rules.Nothing},
		"host memory grows, by tensors":                               {Memory: rules.Host, Keeps: rules.Values},
	} {
		assert.Equal(t, want, cost(f))
	}
}
