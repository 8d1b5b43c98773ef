import torch
from torch import nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

import kernels


class Saved(Function):
    @staticmethod
    def forward(ctx, x, weight):
        out = x * weight
        ctx.save_for_backward(x, weight, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight, _ = ctx.saved_tensors
        return grad * weight, grad * x


class NumbersAndShapes(Function):
    @staticmethod
    def forward(ctx, x, stride, padding, mode="zeros"):
        ctx.stride, ctx.padding = stride, padding
        ctx.mode = mode
        ctx.shape = x.shape
        ctx.dtype = x.dtype
        ctx.device = x.device
        ctx.needs = ctx.needs_input_grad[0]
        return torch.nn.functional.pad(x, (padding, padding), mode)[..., ::stride]

    @staticmethod
    def backward(ctx, grad):
        out = torch.zeros(ctx.shape, dtype=ctx.dtype, device=ctx.device)
        out[..., :: ctx.stride] = grad
        return out, None, None, None


class Selection(Function):
    @staticmethod
    def forward(ctx, x, k):
        order = x.argsort(dim=1)
        ctx.order = order[:, :k]
        ctx.positive = x > 0
        ctx.best = x.argmax(1)
        ctx.size = x.size(1)
        return x.gather(1, order[:, :k])

    @staticmethod
    def backward(ctx, grad):
        out = grad.new_zeros(len(grad), ctx.size)
        return out.scatter(1, ctx.order, grad), None


class GraphOperation(Function):
    """What it keeps is an object of a library."""

    @staticmethod
    def forward(ctx, graph, features, reverse):
        graph = kernels.transpose(graph) if reverse else graph
        ctx.graph = graph
        ctx.save_for_backward(features)
        return kernels.multiply(graph, features)

    @staticmethod
    def backward(ctx, grad):
        (features,) = ctx.saved_tensors
        return None, kernels.multiply(kernels.transpose(ctx.graph), grad), None


class ClearedInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x.relu()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x = ctx.x
        del ctx.x
        return grad * (x > 0)


class StraightThrough(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Quantise(nn.Module):
    """The attributes of a module are another matter."""

    def __init__(self, bits):
        super().__init__()
        self.bits = bits
        self.seen = 0

    def forward(self, ctx, x):
        ctx.bits = self.bits
        return StraightThrough.apply(x * 2**self.bits)


class Buffers(Function):
    @staticmethod
    def forward(ctx, x, callback):
        ctx.buffers = [x.new_empty(0), x.new_empty(0)]
        ctx.callback = callback
        return kernels.fused(x, *ctx.buffers)

    @staticmethod
    def backward(ctx, grad):
        return ctx.callback(kernels.fused_backward(grad, *ctx.buffers)), None


def context_of_a_block(ctx, x: torch.Tensor):
    """Not a custom function, whatever the name says."""
    ctx.x = x
    return x * 2
