package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVerifyIsFilled(t *testing.T) {
	v := Verify{Command: "sacct -j {step|JOB}", Expect: "A line with process {pid|id of the worker}.", Shell: true}
	assert.Equal(t, Verify{Command: "sacct -j 12.0", Expect: "A line with process id of the worker.", Shell: true}, v.filled(map[string]string{"step": "12.0"}))
	python := Verify{Command: "print({p.device for p in model.parameters()})"}
	assert.Equal(t, python, python.filled(nil))
}
