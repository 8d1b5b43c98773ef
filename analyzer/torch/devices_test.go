package torch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDevicesByName(t *testing.T) {
	for name, want := range map[string]Device{
		"cuda": OnAccelerator, "cuda:1": OnAccelerator, "mps": OnAccelerator, "xpu:0": OnAccelerator, "cpu": OnHost, "cpu:0": OnHost, "meta": UnknownDevice, "": UnknownDevice,
	} {
		assert.Equal(t, want, DeviceNamed(name), name)
	}
}

func TestTypesAreNoDevices(t *testing.T) {
	for _, name := range []string{"torch.float16", "torch.bfloat16", "torch.long", "torch.channels_last", "numpy.float32"} {
		assert.True(t, IsType(name), name)
	}
	for _, name := range []string{"torch.device", "torch.cuda", "torch", "device", ""} {
		assert.False(t, IsType(name), name)
	}
}

// TestWhereTensorsAreMade: what makes a tensor has no graph, and what makes it
// like another one is told from what makes it on its own.
func TestWhereTensorsAreMade(t *testing.T) {
	for name := range Creations {
		c, ok := Function("torch." + name)
		assert.True(t, ok, name)
		assert.Equal(t, NoGraph, c.Effect, name)
		assert.False(t, LikeTheirs[name], name)
	}
	for name := range LikeTheirs {
		c, ok := Method(name)
		assert.True(t, ok, name)
		assert.Equal(t, NoGraph, c.Effect, name)
	}
	for name := range Duplicates {
		c, ok := Method(name)
		assert.True(t, ok, name)
		assert.Equal(t, Keeps, c.Effect, name)
	}
}
