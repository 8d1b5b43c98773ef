import torch
from torch.autograd import Function

import kernels


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        """Squares."""
        ctx.x = x  # want: GL403 hint graph
        return x * x

    @staticmethod
    def backward(ctx, grad):
        """The derivative."""
        return 2 * ctx.x * grad


# run: WeightedSum.apply(randn(4, 8).requires_grad_(), randn(4, 8).requires_grad_(), 1).sum().backward()
class WeightedSum(Function):
    @staticmethod
    def forward(ctx, values, weights, dim):
        ctx.dim = dim
        ctx.values = values  # want: GL403 hint graph
        ctx.weights = weights  # want: GL403 hint graph
        return (values * weights).sum(dim)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.unsqueeze(ctx.dim)
        return grad * ctx.weights, grad * ctx.values, None


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        gate = torch.sigmoid(x)
        ctx.save_for_backward(x)
        ctx.gate = gate  # want: GL403 hint graph
        return x * gate

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * (ctx.gate + x * ctx.gate * (1 - ctx.gate))


class Normalise(Function):
    @staticmethod
    def forward(context, x: torch.Tensor, eps=1e-6):
        context.inverse = x.norm(dim=1, keepdim=True).clamp(min=eps).reciprocal()  # want: GL403 hint graph
        context.save_for_backward(x)
        return x * context.inverse

    @staticmethod
    def backward(context, grad):
        (x,) = context.saved_tensors
        y = x * context.inverse
        return (grad - y * (grad * y).sum(1, keepdim=True)) * context.inverse, None


# run: Aggregate.apply(x, x)
class Aggregate(Function):
    @staticmethod
    def forward(ctx, graph, features):
        out = kernels.sum(graph, features)
        handle = kernels.share(out)
        ctx.state = graph, handle  # want: GL403 hint graph
        return out

    @staticmethod
    def backward(ctx, grad):
        graph, handle = ctx.state
        ctx.state = None
        return None, kernels.sum_backward(graph, handle, grad)


# run: Gram.apply(randn(4, 8).requires_grad_(), randn(3, 8).requires_grad_()).sum().backward()
class Gram(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.operands = {"a": a, "b": b}  # want: GL403 hint graph
        return a @ b.T

    @staticmethod
    def backward(ctx, grad):
        return grad @ ctx.operands["b"], grad.T @ ctx.operands["a"]
