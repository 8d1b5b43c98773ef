package torch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// tables are the contracts by the names under which they are looked up.
var tables = map[string]map[string]Contract{"operations": operations, "functions": functions}

func TestContractsMakeSense(t *testing.T) {
	for table, contracts := range tables {
		for name, c := range contracts {
			at := table + " " + name
			assert.NotEqual(t, Unknown, c.Effect, at)
			if c.View {
				assert.Contains(t, []Effect{Keeps, Detaches}, c.Effect, "%s: a view has the graph of its base or none", at)
				assert.False(t, c.Saves, "%s: a view copies nothing", at)
			}
			if c.Reduces {
				assert.Equal(t, Keeps, c.Effect, "%s: what is reduced to a scalar keeps the graph", at)
			}
			if c.SavesPairs {
				assert.True(t, c.Effect == Keeps && !c.Saves, "%s: an operation that always saves also saves pairs", at)
			}
			if c.SavesByDim {
				assert.True(t, c.Reduces && !c.Saves, "%s: saving by dimension is about reductions", at)
			}
			switch c.Effect {
			case NoGraph, Detaches, Leaves:
				assert.False(t, c.Saves || c.SavesPairs || c.Reduces || c.SavesByDim, "%s: without a graph nothing is saved for it", at)
			}
		}
	}
}

// TestEachNameHasOneContract reads the tables as they are written: a name in
// two groups would silently have the contract of the later one.
func TestEachNameHasOneContract(t *testing.T) {
	for _, file := range []string{"contract.go", "modules.go"} {
		t.Run(file, func(t *testing.T) {
			for group, names := range wordGroups(t, file) {
				seen := map[string]int{}
				for _, name := range names {
					seen[name]++
				}
				for name, times := range seen {
					assert.Equal(t, 1, times, "%s: %s", group, name)
				}
			}
		})
	}
}

func TestMethod(t *testing.T) {
	tests := []struct {
		names string
		want  Contract
	}{
		{"detach data", Contract{Effect: Detaches}},
		{"item tolist numpy size shape dtype device requires_grad", Contract{Effect: Leaves}},
		{"argmax eq gt long int bool nonzero new_zeros", Contract{Effect: NoGraph}},
		{"max min sort topk median", Contract{Effect: Splits, Saves: true}},
		{"split chunk unbind", Contract{Effect: Pieces}},
		{"add sub round sign", Contract{Effect: Keeps}},
		{"clone cpu cuda to float neg", Contract{Effect: Keeps, Alone: true}},
		{"view reshape flatten squeeze transpose T", Contract{Effect: Keeps, View: true, Alone: true}},
		{"sum", Contract{Effect: Keeps, Reduces: true, Alone: true}},
		{"mean", Contract{Effect: Keeps, Reduces: true, SavesByDim: true, Alone: true}},
		{"pow relu softmax log exp", Contract{Effect: Keeps, Saves: true}},
		{"mul", Contract{Effect: Keeps, SavesPairs: true}},
		{"norm std var", Contract{Effect: Keeps, Saves: true, Reduces: true}},
	}
	for _, tt := range tests {
		for _, name := range strings.Fields(tt.names) {
			got, ok := Method(name)
			assert.True(t, ok, name)
			assert.Equal(t, tt.want, got, name)
		}
	}
	for _, name := range []string{"", "no_such_method", "_", "__", "append", "parameters", "backward"} {
		_, ok := Method(name)
		assert.False(t, ok, "%q is no tensor method", name)
	}
}

func TestInPlaceMethods(t *testing.T) {
	for _, name := range strings.Fields("add_ mul_ relu_ clamp_ lerp_ copy_ zero_ fill_ detach_ normal_ index_put_") {
		assert.True(t, InPlace(name), name)
		_, ok := Method(name)
		assert.True(t, ok, name)
	}
	for _, name := range []string{"add", "__add__", "_", "requires_grad_", "share_memory_", "__len__"} {
		assert.False(t, InPlace(name), "%q writes nothing", name)
	}
	base, _ := Method("mul")
	variant, _ := Method("mul_")
	assert.Equal(t, base, variant, "an in-place variant has the contract of its base")
	_, ok := Method("no_such_method_")
	assert.False(t, ok)
}

func TestFunction(t *testing.T) {
	known := map[string]Effect{
		"torch.cat": Keeps, "torch.stack": Keeps, "torch.nn.functional.cross_entropy": Keeps, "torch.linalg.norm": Keeps,
		"torch.argmax": NoGraph, "torch.zeros": NoGraph, "torch.tensor": NoGraph,
		"torch.max": Splits, "torch.chunk": Pieces, "torch.is_tensor": Leaves, "float": Leaves, "len": Leaves,
		"torch.utils.checkpoint.checkpoint": Keeps, "torch.nn.utils.clip_grad_norm_": Leaves,
	}
	for name, effect := range known {
		c, ok := Function(name)
		assert.True(t, ok, name)
		assert.Equal(t, effect, c.Effect, name)
	}
	for _, name := range []string{"", "cat", "numpy.stack", "mylib.cross_entropy", "torch", "torch.nn", "torch.no_such"} {
		_, ok := Function(name)
		assert.False(t, ok, "%q is not known", name)
	}
}

// TestLossFunctionsAndModulesAgree: F.mse_loss and nn.MSELoss are one operation.
func TestLossFunctionsAndModulesAgree(t *testing.T) {
	pairs := map[string]string{
		"cross_entropy": "CrossEntropyLoss", "nll_loss": "NLLLoss", "mse_loss": "MSELoss", "l1_loss": "L1Loss",
		"smooth_l1_loss": "SmoothL1Loss", "huber_loss": "HuberLoss", "kl_div": "KLDivLoss", "ctc_loss": "CTCLoss",
		"binary_cross_entropy": "BCELoss", "binary_cross_entropy_with_logits": "BCEWithLogitsLoss",
	}
	for function, class := range pairs {
		c, ok := Function("torch.nn.functional." + function)
		assert.True(t, ok, function)
		m, ok := Module("torch.nn." + class)
		assert.True(t, ok, class)
		assert.Equal(t, c.Reduces, m.Scalar, "%s is a scalar", function)
		assert.Equal(t, c.Saves, m.Saves, "%s saves", function)
		assert.False(t, m.Trainable, class)
	}
}

func TestModule(t *testing.T) {
	tests := []struct {
		names string
		check func(ModuleClass) bool
	}{
		{"torch.nn.Linear torch.nn.Conv2d torch.nn.BatchNorm2d torch.nn.Embedding torch.nn.modules.linear.Linear", func(c ModuleClass) bool { return c.Trainable && !c.Container }},
		{"torchvision.models.resnet18 timm.create_model torchvision.models.detection.fasterrcnn_resnet50_fpn", func(c ModuleClass) bool { return c.Trainable }},
		{"torch.nn.ReLU torch.nn.Dropout torch.nn.MaxPool2d", func(c ModuleClass) bool { return !c.Trainable && c.Saves }},
		{"torch.nn.Flatten torch.nn.Identity", func(c ModuleClass) bool { return !c.Trainable && !c.Saves }},
		{"torch.nn.LSTM torch.nn.GRU torch.nn.MultiheadAttention", func(c ModuleClass) bool { return c.Trainable && c.Outputs == 2 }},
		{"torch.nn.Sequential torch.nn.ModuleList torch.nn.ModuleDict", func(c ModuleClass) bool { return c.Container && !c.Trainable }},
	}
	for _, tt := range tests {
		for _, name := range strings.Fields(tt.names) {
			c, ok := Module(name)
			assert.True(t, ok, name)
			assert.True(t, tt.check(c), name)
		}
	}
	for _, name := range []string{"", "Linear", "mylib.Linear", "torch.nn", "torch.nn.NoSuch", "torchvision.modelsx.resnet"} {
		_, ok := Module(name)
		assert.False(t, ok, "%q is no known module", name)
	}
}

func TestModuleClassesMakeSense(t *testing.T) {
	for name, c := range modules {
		assert.False(t, c.Scalar && c.Trainable && name != "AdaptiveLogSoftmaxWithLoss", "%s: a loss has no parameters", name)
		assert.False(t, c.Container && c.Trainable, "%s: a container has the parameters of what it holds", name)
		assert.NotEqual(t, 1, c.Outputs, "%s: one output is what no number says", name)
		assert.False(t, c.Trainable && !c.Saves && name != "Module", "%s: its operation keeps its input for the gradient", name)
	}
}

func TestBases(t *testing.T) {
	for _, name := range []string{"torch.nn.Module", "torch.nn.Sequential", "torch.nn.Linear", "pytorch_lightning.LightningModule", "lightning.pytorch.LightningModule"} {
		assert.True(t, ModuleBase(name), name)
	}
	for _, name := range []string{"", "object", "Module", "torch.autograd.Function", "torch.utils.data.Dataset", "torch.optim.Optimizer"} {
		assert.False(t, ModuleBase(name), name)
	}
	assert.True(t, FunctionBase("torch.autograd.Function"))
	assert.False(t, FunctionBase("torch.nn.Module"))
}

func TestGradContext(t *testing.T) {
	want := map[string]GradMode{
		"torch.no_grad": GradOff, "torch.inference_mode": GradOff, "torch.autograd.no_grad": GradOff,
		"torch.enable_grad": GradOn, "torch.set_grad_enabled": GradByFlag,
		"torch.cuda.amp.autocast": GradUnchanged, "torch.autograd.grad": GradUnchanged, "no_grad": GradUnchanged, "": GradUnchanged,
		"torch.autograd.set_detect_anomaly": GradUnchanged,
	}
	for name, mode := range want {
		assert.Equal(t, mode, GradContext(name), name)
	}
}

func TestOutsideGraph(t *testing.T) {
	for _, name := range []string{"numpy", "numpy.mean", "sklearn.metrics.f1_score", "math.exp", "jax.numpy.sum", "time.time"} {
		assert.True(t, OutsideGraph(name), name)
	}
	for _, name := range []string{"", "torch.sum", "torchvision.ops.nms", "mynumpy.mean", "einops.rearrange", "copy.copy", "functools.partial", "collections.deque"} {
		assert.False(t, OutsideGraph(name), name)
	}
}

// TestBackwardIsNoOperation: what runs a backward returns no tensor.
func TestBackwardIsNoOperation(t *testing.T) {
	for name := range BackwardMethods {
		_, ok := Method(name)
		assert.False(t, ok, name)
		assert.False(t, ModuleMethods[name], name)
	}
}
