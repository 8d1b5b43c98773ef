package torch

import "strings"

// ModuleClass is what is known of a class of torch.nn or of a library of
// models.
type ModuleClass struct {
	// Trainable says that its instances hold parameters, so that their output
	// carries a graph whatever goes in.
	Trainable bool
	// Scalar says that the output is a scalar by default: a loss.
	Scalar bool
	// Outputs is the number of results of a call where it is not one.
	Outputs int
	// StateOfTwo says that the second of two results is a pair: the state of an
	// LSTM.
	StateOfTwo bool
	// Container says that its instances hold the modules they are given.
	Container bool
	// Saves says that its operation keeps tensors for backward.
	Saves bool
	// OneKind says that what each call gives is known: Outputs tensors. Other
	// classes stand for models whose code was not seen.
	OneKind bool
	// Record says that the output is an object of several tensors.
	Record bool
}

// Module is what is known of the module class of a dotted name.
func Module(dotted string) (ModuleClass, bool) {
	prefix, name := cutLast(dotted)
	if prefix == "torch.nn" || strings.HasPrefix(prefix, "torch.nn.modules") {
		c, ok := modules[name]
		return c, ok
	}
	if role, ok := RoleOf(dotted); ok && (role == MakesModel || role == MakesReporter) {
		return ModuleClass{Trainable: true, Saves: true, Record: role == MakesReporter}, true
	}
	return ModuleClass{}, false
}

var modules = func() map[string]ModuleClass {
	m := map[string]ModuleClass{}
	add := func(c ModuleClass, names string) {
		for _, name := range strings.Fields(names) {
			c.OneKind = name != "Module" && name != "DataParallel"
			m[name] = c
		}
	}
	add(ModuleClass{Trainable: true, Saves: true}, `Linear Bilinear LazyLinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
		BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d RMSNorm
		Embedding EmbeddingBag PReLU Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer
		DataParallel RNNCell GRUCell Module LazyConv2d`)
	add(ModuleClass{Trainable: true, Saves: true, Outputs: 2}, `RNN GRU MultiheadAttention LSTMCell`)
	add(ModuleClass{Trainable: true, Saves: true, Outputs: 2, StateOfTwo: true}, `LSTM`)
	add(ModuleClass{Container: true, Saves: true}, `Sequential ModuleList ModuleDict`)
	add(ModuleClass{Saves: true}, `ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softmax LogSoftmax Softmax2d Softplus Softsign
		Hardtanh Hardswish Hardsigmoid Threshold GLU LogSigmoid Dropout Dropout1d Dropout2d Dropout3d AlphaDropout
		MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d
		AdaptiveMaxPool1d AdaptiveMaxPool2d Upsample CosineSimilarity PairwiseDistance`)
	add(ModuleClass{}, `Identity Flatten Unflatten PixelShuffle ZeroPad2d ReflectionPad2d ConstantPad2d Fold Unfold`)
	add(ModuleClass{Saves: true, Scalar: true}, `CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss KLDivLoss
		CosineEmbeddingLoss MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss HingeEmbeddingLoss PoissonNLLLoss GaussianNLLLoss
		SoftMarginLoss MultiMarginLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss CTCLoss AdaptiveLogSoftmaxWithLoss`)
	return m
}()

// ModuleBase reports whether a class of this dotted name makes its subclasses
// neural network modules.
func ModuleBase(dotted string) bool {
	if host := HostOf(dotted); host != nil && host.Module {
		return true
	}
	_, ok := Module(dotted)
	return ok
}

// FunctionBase reports whether a class of this dotted name is a custom
// autograd function.
func FunctionBase(dotted string) bool {
	return dotted == "torch.autograd.Function" || dotted == "torch.autograd.function.Function"
}

// ModuleMethods are methods that only modules have: a value on which one is
// called is a module.
var ModuleMethods = set(`parameters named_parameters zero_grad state_dict load_state_dict train eval modules named_modules children
	register_forward_hook register_forward_pre_hook register_full_backward_hook register_buffer`)

// ModuleEffect is what a method does that nn.Module gives to its subclasses.
type ModuleEffect uint8

// The effects of methods of modules.
const (
	ChangesMode          ModuleEffect = iota + 1 // training or evaluation
	ReturnsItself                                // moves or converts the module in place
	ChangesGradients                             // whether its parameters require gradients
	GivesParameters                              // its parameters
	GivesNamedParameters                         // their names and them
	GivesParts                                   // the modules it is made of
	GivesNamedParts                              // their names and them
	GivesState                                   // a dict of tensors without a graph
	RegistersBuffer                              // an attribute of the name it is given
	ReturnsNothing                               // nothing that matters here
	Forwards                                     // a call of the module itself
	HooksOutput                                  // has a function called with each output
	HooksInput                                   // has a function called with each input
)

// ModuleEffects are the methods of modules whose effect is known.
var ModuleEffects = func() map[string]ModuleEffect {
	m := map[string]ModuleEffect{}
	for effect, names := range map[ModuleEffect]string{
		ChangesMode: `eval train`, ReturnsItself: `to cuda cpu half float double bfloat16 apply share_memory`,
		ChangesGradients: `requires_grad_`, GivesParameters: `parameters buffers`, GivesNamedParameters: `named_parameters named_buffers`,
		GivesParts: `modules children`, GivesNamedParts: `named_modules named_children`, GivesState: `state_dict`,
		RegistersBuffer: `register_buffer`, ReturnsNothing: `zero_grad load_state_dict register_parameter add_module append`,
		Forwards: `forward __call__`, HooksOutput: `register_forward_hook`, HooksInput: `register_forward_pre_hook`,
	} {
		for _, name := range strings.Fields(names) {
			m[name] = effect
		}
	}
	return m
}()

// OptimizerMethods are those of ModuleMethods that optimizers have as well.
var OptimizerMethods = set(`zero_grad state_dict load_state_dict`)

// OptimizerClass reports whether a dotted name is that of an optimizer.
func OptimizerClass(dotted string) bool {
	return strings.HasPrefix(dotted, "torch.optim.") && !strings.Contains(dotted, "lr_scheduler")
}

// Traces reports whether a dotted name is that of a function which records what a
// module does, in a graph that PyTorch keeps.
func Traces(dotted string) bool {
	return dotted == "torch.jit.trace" || dotted == "torch.jit.trace_module"
}

// MakesObject reports whether what a dotted name makes is an object that holds
// no graph of its own: an optimizer, a scaler, a loader, a transform.
func MakesObject(dotted string) bool {
	for _, prefix := range objectFactories {
		if strings.HasPrefix(dotted, prefix) {
			return true
		}
	}
	return false
}

var objectFactories = []string{"torch.optim", "torch.cuda.amp", "torch.utils.", "torch.distributed",
	"torchvision.transforms", "torchvision.datasets"}

// Wrappers are calls that return the module they are given.
var Wrappers = set(`torch.nn.DataParallel torch.nn.parallel.DistributedDataParallel torch.compile torch.jit.script torch.jit.trace
	torch.nn.parallel.DataParallel torch.distributed.fsdp.FullyShardedDataParallel torch.nn.utils.weight_norm
	torch.nn.utils.spectral_norm torch.nn.utils.parametrizations.weight_norm torch.nn.SyncBatchNorm.convert_sync_batchnorm`)

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(names) {
		m[name] = true
	}
	return m
}
