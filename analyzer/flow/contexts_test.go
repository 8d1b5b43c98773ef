package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/analyzer/flow"
)

func TestTensorsInContexts(t *testing.T) {
	const function = `class Op(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        %s

    @staticmethod
    def backward(ctx, grad):
        %s
        return grad * 2, None
`
	tests := []struct {
		name, forward, backward string
		want                    map[string]flow.ContextRole
	}{
		{"an input", "ctx.x = x; return x * n", "pass", map[string]flow.ContextRole{"x": flow.InputTensor}},
		{"a number", "ctx.n = n; return x * n", "pass", nil},
		{"an output", "y = torch.exp(x); ctx.y = y; return y", "pass", map[string]flow.ContextRole{"y": flow.OutputTensor}},
		{"an output of several", "y = torch.exp(x); ctx.y = y; return y, n", "pass", map[string]flow.ContextRole{"y": flow.OutputTensor}},
		{"the output has another name", "ctx.y = torch.exp(x); return ctx.y", "pass", map[string]flow.ContextRole{"torch.exp(x)": flow.OutputTensor}},
		{"the name gets another value", "y = torch.exp(x); ctx.y = y; y = y + 1; return y", "pass", map[string]flow.ContextRole{"y": flow.IntermediateTensor}},
		{"an intermediate", "e = torch.exp(x); ctx.e = e; return e * 2", "pass", map[string]flow.ContextRole{"e": flow.IntermediateTensor}},
		{"two in a tuple", "e = torch.exp(x); ctx.cache = x, n, e; return e * 2", "pass", map[string]flow.ContextRole{"x": flow.InputTensor, "e": flow.IntermediateTensor}},
		{"indices", "i = torch.argsort(x); ctx.i = i[:3]; return x[i]", "pass", nil},
		{"a mask", "ctx.mask = x > 0; return x * n", "pass", nil},
		{"nothing", "ctx.buffer = x.new_empty(0); return x * n", "pass", nil},
		{"what other code made of the output", "y = torch.exp(x); h = share(y); ctx.h = h; return y", "pass", map[string]flow.ContextRole{"h": flow.SharedTensor}},
		{"what other code made of the input", "h = share(x); ctx.h = h; return x * n", "pass", nil},
		{"an input that backward clears", "ctx.x = x; return x * n", "ctx.x = None", nil},
		{"an input that backward deletes", "ctx.x = x; return x * n", "del ctx.x", nil},
		{"an output that backward clears", "y = torch.exp(x); ctx.y = y; return y", "ctx.y = None", map[string]flow.ContextRole{"y": flow.OutputTensor}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got map[string]flow.ContextRole
			for _, a := range facts(t, fmt.Sprintf(function, tt.forward, tt.backward)).Contexts {
				for _, tensor := range a.Tensors {
					if got == nil {
						got = map[string]flow.ContextRole{}
					}
					got[tensor.Text()] = tensor.Role
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}
