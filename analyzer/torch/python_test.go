package torch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMethodsOfCollections(t *testing.T) {
	want := map[string]ContainerEffect{
		"append": Adds, "add": Adds, "put": Adds, "insert": Inserts, "extend": Extends, "update": Updates, "setdefault": Defaults,
		"get": Gets, "pop": Takes, "popleft": Takes, "remove": Drops, "clear": Empties, "copy": Copies, "keys": Keys, "values": Values, "items": Items,
	}
	for name, effect := range want {
		assert.Equal(t, effect, ContainerMethods[name], name)
	}
	assert.Zero(t, ContainerMethods["sort"], "keeps the elements that are there")
}

func TestCollectionsByHowTheyKeepElements(t *testing.T) {
	assert.Equal(t, Counter, Containers["collections.Counter"])
	assert.Equal(t, Dict, Containers["collections.defaultdict"])
	assert.Equal(t, List, Containers["collections.deque"])
	for name := range Containers {
		assert.False(t, Iterators[name], "%s is made at once, not step by step", name)
	}
}

func TestMethodsOfModules(t *testing.T) {
	want := map[string]ModuleEffect{
		"train": ChangesMode, "eval": ChangesMode, "cuda": ReturnsItself, "requires_grad_": ChangesGradients, "parameters": GivesParameters,
		"named_parameters": GivesNamedParameters, "children": GivesParts, "named_modules": GivesNamedParts, "state_dict": GivesState,
		"register_buffer": RegistersBuffer, "load_state_dict": ReturnsNothing, "forward": Forwards,
	}
	for name, effect := range want {
		assert.Equal(t, effect, ModuleEffects[name], name)
	}
	for name := range OptimizerMethods {
		assert.True(t, ModuleMethods[name], name)
	}
}

func TestObjectsWithoutAGraph(t *testing.T) {
	assert.True(t, OptimizerClass("torch.optim.Adam"))
	assert.False(t, OptimizerClass("torch.optim.lr_scheduler.StepLR"), "its step trains nothing")
	for _, name := range []string{"torch.optim.Adam", "torch.cuda.amp.GradScaler", "torch.utils.data.TensorDataset", "torchvision.transforms.Resize"} {
		assert.True(t, MakesObject(name), name)
	}
	assert.False(t, MakesObject("torch.nn.Linear"))
}

func TestOverwritingMethodsAreInPlace(t *testing.T) {
	for name := range Overwrites {
		assert.True(t, InPlace(name), name)
		_, ok := Method(name)
		assert.True(t, ok, name)
	}
}
