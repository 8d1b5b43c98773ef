package torch

import "strings"

// Device says on which side of the bus a tensor lives.
type Device uint8

// OnAccelerator is what a program moves its tensors to: a GPU, where there is
// one. Whether a run has one is not known.
const (
	UnknownDevice Device = iota
	OnHost
	OnAccelerator
)

// Moves are the methods that move a tensor or a module to a device of their
// own name.
var Moves = map[string]Device{"cuda": OnAccelerator, "xpu": OnAccelerator, "npu": OnAccelerator, "mps": OnAccelerator, "hpu": OnAccelerator, "cpu": OnHost}

// DeviceNamed is the device of a name such as "cuda:0".
func DeviceNamed(name string) Device {
	kind, _, _ := strings.Cut(name, ":")
	if d, ok := Moves[kind]; ok {
		return d
	}
	return UnknownDevice
}

// IsType reports whether a dotted name is that of a type of numbers or of a
// memory format: what x.to() may be given instead of a device.
func IsType(dotted string) bool {
	prefix, name := cutLast(dotted)
	return prefix == "torch" && numberTypes[name] || prefix == "numpy"
}

var numberTypes = set(`float float16 float32 float64 bfloat16 half double int int8 int16 int32 int64 uint8 short long bool
	complex64 complex128 float8_e4m3fn float8_e5m2 channels_last channels_last_3d contiguous_format preserve_format`)

// Creations are functions that make a tensor on the device that they are given,
// else on the host.
var Creations = set(`zeros ones full empty eye arange linspace logspace rand randn randint randperm tensor`)

// LikeTheirs are functions and methods that make a tensor on the device of the
// one that they are given.
var LikeTheirs = set(`zeros_like ones_like full_like empty_like rand_like randn_like randint_like new_tensor new_zeros new_ones new_full new_empty`)

// Duplicates are methods that give a tensor a storage of its own. A column of a
// larger tensor is not contiguous.
var Duplicates = set(`clone contiguous`)

// Gathers are methods that return the tensors which they are given, from all
// processes, where those are.
var Gathers = set(`accelerate.Accelerator.gather accelerate.Accelerator.gather_for_metrics accelerate.Accelerator.pad_across_processes
	accelerate.Accelerator.reduce`)

// OutputFields are parts of the outputs of models that have a number or more for
// each sample, by the names that Transformers gives them.
var OutputFields = set(`logits last_hidden_state hidden_states attentions pooler_output image_embeds text_embeds prediction_logits
	start_logits end_logits sample pred_boxes`)

// TensorForms are attributes of a tensor that are all of it.
var TensorForms = set(`data T mT H real imag`)
