package torch

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRoleOf(t *testing.T) {
	want := map[string]Role{
		"timm.utils.NativeScaler.__call__":             Trains,
		"mmengine.optim.OptimWrapper.update_params":    Trains,
		"accelerate.Accelerator":                       MakesHelper,
		"accelerate.Accelerator.prepare":               Prepares,
		"accelerate.Accelerator.prepare_model":         Prepares,
		"accelerate.Accelerator.backward":              Backwards,
		"lightning.Fabric.setup":                       Prepares,
		"lightning.fabric.fabric.Fabric.setup":         Prepares,
		"pytorch_lightning.core.LightningModule.log":   Shows,
		"deepspeed.initialize":                         MakesEngine,
		"apex.amp.initialize":                          Prepares,
		"apex.amp.scale_loss":                          Scales,
		"horovod.torch.allreduce":                      Passes,
		"timm.utils.AverageMeter.update":               Collects,
		"timm.create_model":                            MakesModel,
		"timm.models.resnet18":                         MakesModel,
		"torchmetrics.MeanMetric":                      MakesHelper,
		"torchmetrics.MeanMetric.update":               Shows,
		"torchmetrics.aggregation.CatMetric.update":    Collects,
		"torchmetrics.AUROC":                           MakesHelper,
		"transformers.Trainer.log":                     Collects,
		"transformers.Seq2SeqTrainer.compute_loss":     MakesLoss,
		"transformers.BertForMaskedLM.from_pretrained": MakesReporter,
		"transformers.AutoModelForCausalLM.generate":   Cuts,
		"torch_geometric.nn.global_mean_pool":          Passes,
		"torch_geometric.nn.GCNConv":                   MakesModel,
		"torch_geometric.nn.conv.GCNConv":              MakesModel,
		"torchvision.models.resnet18":                  MakesModel,
		"torch.hub.load":                               MakesModel,
	}
	for name, role := range want {
		got, ok := RoleOf(name)
		assert.True(t, ok, name)
		assert.Equal(t, role, got, name)
	}
	for _, name := range []string{
		"", "accelerate", "Accelerator.backward", "mylib.Accelerator.backward", "accelerate.Accelerator.gather",
		"transformers.AutoTokenizer.from_pretrained", "torch_geometric.utils.degree", "torchmetrics.functional.accuracy", "timm.utils.accuracy",
		"torchvision.transforms.Resize",
	} {
		_, ok := RoleOf(name)
		assert.False(t, ok, "%q has no role", name)
	}
}

func TestHostOf(t *testing.T) {
	for _, name := range []string{
		"lightning.pytorch.LightningModule", "pytorch_lightning.LightningModule", "lightning.LightningModule",
		"pytorch_lightning.core.lightning.LightningModule", "pytorch_lightning.callbacks.Callback", "transformers.Trainer",
		"transformers.TrainerCallback", "fastai.callback.core.Callback", "skorch.callbacks.Callback", "catalyst.dl.Runner",
		"torchmetrics.Metric", "ignite.metrics.Metric",
	} {
		host := HostOf(name)
		require.NotNil(t, host, name)
		assert.True(t, strings.HasSuffix(name, "."+host.Class), name)
	}
	for _, name := range []string{"", "Callback", "torch.nn.Module", "keras.callbacks.Callback", "lightning.pytorch.Trainer"} {
		assert.Nil(t, HostOf(name), name)
	}
	assert.True(t, ModuleBase("lightning.LightningModule"))
	assert.False(t, ModuleBase("lightning.pytorch.callbacks.Callback"))
}

func TestHooksAreReadWithTheirArguments(t *testing.T) {
	host := &Host{Hooks: map[When]string{StepEnd: `after() on_end(trainer batch)
		on_log(args * logs model)`}}
	assert.Equal(t, []Hook{
		{Name: "after"},
		{Name: "on_end", Arguments: []string{"trainer", "batch"}},
		{Name: "on_log", Arguments: []string{"args"}, Keywords: []string{"logs", "model"}},
	}, host.At(StepEnd))
	assert.Empty(t, host.At(Step))
}

// TestLibrariesMakeSense holds what is written of libraries to what can be true
// of any.
func TestLibrariesMakeSense(t *testing.T) {
	packages := map[string]bool{}
	for _, l := range libraries {
		require.NotEmpty(t, l.Packages)
		assert.NotEmpty(t, l.Source, l.Packages[0])
		for _, p := range l.Packages {
			assert.False(t, packages[p], "%s is described twice", p)
			packages[p] = true
		}
		names := map[string]bool{}
		for role, words := range l.Calls {
			assert.NotZero(t, role, l.Packages[0])
			for _, name := range strings.Fields(words) {
				assert.False(t, names[name], "%s: %s has two roles", l.Packages[0], name)
				names[name] = true
				_, err := path.Match(name, "")
				assert.NoError(t, err, name)
			}
		}
		for i := range l.Hosts {
			makesSense(t, l.Packages[0], &l.Hosts[i])
		}
	}
}

func makesSense(t *testing.T, library string, h *Host) {
	at := library + " " + h.Class
	hooks := map[string]bool{}
	given := map[string]bool{}
	for when, text := range h.Hooks {
		assert.Equal(t, strings.Count(text, "("), len(h.At(when)), "%s: %s", at, text)
		for _, hook := range h.At(when) {
			assert.NotEmpty(t, hook.Name, "%s: %s", at, text)
			assert.False(t, hooks[hook.Name], "%s: %s is called at two points", at, hook.Name)
			hooks[hook.Name] = true
			for _, argument := range append(hook.Arguments, hook.Keywords...) {
				given[argument] = true
			}
		}
	}
	for name := range h.Gives {
		owner, _, attribute := strings.Cut(name, ".")
		assert.True(t, attribute && owner == "" || given[owner], "%s: no hook is given %s", at, name)
	}
	assert.True(t, h.Returns == Dropped || len(h.At(Step)) > 0, "%s: no step returns a loss", at)
	for _, name := range strings.Fields(h.Unrecorded + " " + h.Calls) {
		assert.True(t, hooks[name], "%s: %s is no hook", at, name)
	}
}
