"""Objects that hooks on tensors refer to, and what other hooks keep in them."""
import functools
import weakref

import torch


class Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Rule:
    """The graph holds the wrapper, which holds the object, which holds the gradient."""

    def __init__(self):
        self.above = None

    def before(self, module, inputs):
        @functools.wraps(self.attribute)
        def wrapper(grad_input, grad_output):
            return self.attribute(module, grad_input, self.above)

        out = Identity.apply(inputs[0])
        out.grad_fn.register_hook(wrapper)
        return (out.clone(),)

    def backwards(self, module, grad_input, grad_output):
        self.above = grad_output  # want: GL404 hint graph

    def attribute(self, module, grad_input, grad_output):
        return grad_output


class ClearedRule:
    """Gives the gradient up once it was read."""

    def __init__(self):
        self.received = None

    def before(self, module, inputs):
        def wrapper(grad_input, grad_output):
            received, self.received = self.received, None
            return received

        out = Identity.apply(inputs[0])
        out.grad_fn.register_hook(wrapper)
        return (out.clone(),)

    def cleared_backwards(self, module, grad_input, grad_output):
        self.received = grad_output


class WeakRule:
    """The hook refers to the object by a weak reference."""

    def __init__(self):
        self.seen = None

    def before(self, module, inputs):
        own = weakref.ref(self)

        def wrapper(grad_input, grad_output):
            return own().seen

        out = Identity.apply(inputs[0])
        out.grad_fn.register_hook(wrapper)
        return (out.clone(),)

    def weak_backwards(self, module, grad_input, grad_output):
        self.seen = grad_output


class Recorder:
    """No graph holds it."""

    def __init__(self):
        self.gradient = None

    def record(self, module, grad_input, grad_output):
        self.gradient = grad_output[0]


def register(model, rule_of):
    handles = []
    for name, child in model.named_modules():
        rule = rule_of(name)
        handles.append(child.register_forward_pre_hook(rule.before))
        handles.append(child.register_full_backward_hook(rule.backwards))
        handles.append(child.register_full_backward_hook(rule.cleared_backwards))
        handles.append(child.register_full_backward_hook(rule.weak_backwards))
        handles.append(child.register_full_backward_hook(Recorder().record))
    return handles
