package torch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClaimsComeBeforeTheTables(t *testing.T) {
	c := NewClaims([]Claim{
		{Name: "torchmetrics.CatMetric.update", Role: Shows},
		{Name: "lab.core.ops.to_host", Role: Cuts},
		{Name: "lab.Trainer.on_batch", Called: EachStep},
	})
	for dotted, want := range map[string]Role{
		"torchmetrics.CatMetric.update":             Shows,
		"torchmetrics.aggregation.CatMetric.update": Shows,
		"torchmetrics.CatMetric.reset":              Resets,
		"lab.core.ops.to_host":                      Cuts,
		"lab.to_host":                               Cuts, // handed on by the package
		"lab.core.ops.fast.to_host":                 Cuts,
		"lab.Trainer":                               MakesHelper,
	} {
		got, ok := c.RoleOf(dotted)
		assert.True(t, ok, dotted)
		assert.Equal(t, want, got, dotted)
	}
	for _, dotted := range []string{"lab.other.to_host", "labs.to_host", "to_host", "lab.core.ops.to_device", "lab.Trainer.on_batch"} {
		_, ok := c.RoleOf(dotted)
		assert.False(t, ok, dotted)
	}
	assert.Equal(t, EachStep, c.CalledOf("lab.training.Trainer", "on_batch"))
	assert.Equal(t, NotCalled, c.CalledOf("lab.training.Trainer", "on_epoch"))
	assert.True(t, c.Within("lab"))

	var none *Claims
	_, ok := none.RoleOf("lab.to_host")
	assert.False(t, ok)
	role, ok := none.RoleOf("torchmetrics.CatMetric.update")
	assert.True(t, ok)
	assert.Equal(t, Collects, role)
	assert.Equal(t, NotCalled, none.CalledIn("/lab/train.py", "step"))
	assert.Nil(t, NewClaims(nil))
}

func TestClaimsAboutFiles(t *testing.T) {
	c := NewClaims([]Claim{{Name: "lab.ops.to_host", Role: Cuts}, {Name: "lab.Meter.update", Role: Shows}, {Name: "train.step", Called: TrainingStep}})
	for _, tt := range []struct {
		path, name string
		known      bool
	}{
		{"/home/me/lab/ops.py", "to_host", true},
		{"/home/me/src/lab/ops/__init__.py", "to_host", true},
		{"/home/me/lab/ops/host.py", "to_host", true},
		{"/home/me/ops.py", "to_host", false},
		{"/home/me/lab/other.py", "to_host", false},
		{"/home/me/lab/meters.py", "Meter.update", true},
		{"/home/me/lab/meters.py", "Other.update", false},
		{"", "to_host", false},
	} {
		_, known := c.ClaimedIn(tt.path, tt.name)
		assert.Equal(t, tt.known, known, "%s in %s", tt.name, tt.path)
	}
	assert.Equal(t, TrainingStep, c.CalledIn("/home/me/train.py", "step"))
}

func TestNamesOfClaims(t *testing.T) {
	for _, name := range []string{"lab.to_host", "lab.Meter.update", "lab.модуль.f"} {
		require.NoError(t, Claim{Name: name}.Check(), name)
	}
	for _, name := range []string{"", "to_host", "lab.", ".to_host", "lab.to host", "lab.*", "lab..f", "lab.f()"} {
		require.Error(t, Claim{Name: name}.Check(), name)
	}
}
