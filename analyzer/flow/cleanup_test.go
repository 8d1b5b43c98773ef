package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCleanupsFindWhatIsStillReferredTo(t *testing.T) {
	const program = `import gc


def free(thing):
    del thing
    gc.collect()


def use(x):
    model = nn.Linear(4, 4)
    %s
`
	tests := []struct{ name, body, holder string }{
		{"an optimizer", "optimizer = torch.optim.Adam(model.parameters()); del model; gc.collect()", "optimizer"},
		{"another variable", "other = model; del model; gc.collect()", "other"},
		{"a list", "models = [model]; del model; torch.cuda.empty_cache()", "models"},
		{"the caller", "free(model)", "model"},
		{"the caller, by name", "free(thing=model)", "model"},
		{"nobody", "del model; gc.collect()", ""},
		{"nobody, after both are deleted", "optimizer = torch.optim.Adam(model.parameters()); del model, optimizer; gc.collect()", ""},
		{"nobody, of what is made for the call", "free(nn.Linear(4, 4))", ""},
		{"nobody, in the end", "o = torch.optim.Adam(model.parameters()); del model; gc.collect(); del o; gc.collect()", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			holder := ""
			for _, c := range facts(t, fmt.Sprintf(program, tt.body)).Cleanups {
				for _, h := range c.Held {
					holder = h.Name
				}
			}
			assert.Equal(t, tt.holder, holder)
		})
	}
}

func TestCleanupsThatComeTooEarly(t *testing.T) {
	tests := []struct {
		body string
		want bool
	}{
		{"torch.cuda.empty_cache(); del h", true},
		{"torch.cuda.empty_cache(); del h; torch.cuda.empty_cache()", false},
		{"torch.cuda.empty_cache(); del n", false},
		{"del h; torch.cuda.empty_cache()", false},
		{"gc.collect(); del h", false},
	}
	for _, tt := range tests {
		late := false
		for _, c := range facts(t, "import gc\n\n\ndef use(x):\n    h = nn.Linear(4, 4)(x)\n    n = 3\n    "+tt.body+"\n").Cleanups {
			late = late || c.Late.Module != nil
		}
		assert.Equal(t, tt.want, late, tt.body)
	}
}
