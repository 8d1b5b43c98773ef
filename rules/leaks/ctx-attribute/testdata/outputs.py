import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function


class Tanh(Function):
    @staticmethod
    def forward(ctx, x):
        out = x.tanh()
        ctx.out = out  # want: GL403 warning graph
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad * (1 - ctx.out**2)


class ScaledExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale: float):
        """The attribute itself is returned."""
        ctx.scale = scale
        ctx.result = torch.exp(x * scale)  # want: GL403 warning graph
        return ctx.result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.result * ctx.scale, None


class SortedSoftmax(Function):
    @staticmethod
    def forward(ctx, scores: torch.Tensor, dim: int):
        values, order = torch.sort(scores.softmax(dim), dim)
        ctx.cache = (values, dim, scores.shape)  # want: GL403 warning graph
        return values, order

    @staticmethod
    def backward(ctx, grad, _):
        values, dim, shape = ctx.cache
        return (grad * values - values * (grad * values).sum(dim, True)).view(shape), None


class ClearedByBackward(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sigmoid()
        ctx.y = y  # want: GL403 hint graph
        return y

    @staticmethod
    def backward(ctx, grad):
        y = ctx.y
        ctx.y = None
        return grad * y * (1 - y)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 10)

    def forward(self, x):
        hidden = Tanh.apply(self.linear(x))
        hidden = ScaledExp.apply(hidden, 0.5)
        values, order = SortedSoftmax.apply(hidden, 1)
        return ClearedByBackward.apply(values)


def train(loader, optimizer):
    head = Head()
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(head(x), y).backward()
        optimizer.step()
