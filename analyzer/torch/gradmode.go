package torch

// GradMode is what entering a context does to the recording of operations.
type GradMode uint8

// The effects of a context manager on grad mode.
const (
	GradUnchanged GradMode = iota
	GradOff
	GradOn
	GradByFlag // the first argument decides
)

// GradContext is what the context manager or decorator of a dotted name does.
func GradContext(dotted string) GradMode {
	switch dotted {
	case "torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode",
		"torch.autograd.grad_mode.no_grad", "torch.autograd.grad_mode.inference_mode":
		return GradOff
	case "torch.enable_grad", "torch.autograd.enable_grad", "torch.autograd.grad_mode.enable_grad":
		return GradOn
	case "torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled":
		return GradByFlag
	}
	return GradUnchanged
}

// BackwardMethods run a backward on their first argument, or on their receiver
// when they are given none: loss.backward(), accelerator.backward(loss),
// self.manual_backward(loss), engine.backward(loss).
var BackwardMethods = set(`backward manual_backward`)

// ScalingMethods return their argument times a number: scaler.scale(loss).
var ScalingMethods = set(`scale scale_loss`)

// GradientAttributes are attributes that code reads or calls because it wants a
// gradient or the graph.
var GradientAttributes = set(`grad grad_fn requires_grad requires_grad_ retain_grad register_hook`)
