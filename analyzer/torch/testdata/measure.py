"""Measures what operations do to the autograd graph.

    python3 measure.py NAME... > measured.tsv

For each name: whether the result carries the graph of a 64 by 64 input, how
many bytes the operation itself saves for backward, in bytes per element of the
input, and how it was called. The names are methods and properties of tensors,
functions of torch and of torch.nn.functional. What cannot be called with one of
the arguments below is left out.
"""

import sys
import warnings

import torch
import torch.nn.functional as F

SIDE = 64
other = torch.rand(SIDE, SIDE)
index = torch.randint(0, SIDE, (SIDE, SIDE))
labels = torch.randint(0, SIDE, (SIDE,))
mask = torch.rand(SIDE, SIDE) > 0.5

ARGUMENTS = [
    "", "1", "0", "other", "index", "0, index", "mask, 0.0", "mask", "labels", "0, labels", "64, 64", "(64, 64)", "other, 0.5",
    "0, 1", "0, labels, other", "0, index, other", "[1, 1]", "(1, 1), 0", "torch.float64", "2, 2", "1, 1, 1", "mask, other",
    "0, labels, 0.0", "0, (8, 8)",
]
# Operations that need an input of another shape or several with a graph.
CALLS = {
    "mul": "x.mul(x)", "multiply": "x.multiply(x)", "div": "x.div(x)", "divide": "x.divide(x)", "true_divide": "x.true_divide(x)",
    "matmul": "x.matmul(x)", "mm": "x.mm(x)", "addmm": "x.addmm(x, x)", "einsum": "torch.einsum('ij,jk->ik', x, x)",
    "bmm": "x.view(1, 64, 64).bmm(x.view(1, 64, 64))", "baddbmm": "x.view(1, 64, 64).baddbmm(x.view(1, 64, 64), x.view(1, 64, 64))",
    "mv": "x.mv(x[0])", "dot": "x.flatten().dot(x.flatten())", "addcmul": "x.addcmul(x, x)",
    "addcdiv": "x.addcdiv(x, x)", "where": "torch.where(mask, x, other)", "lerp": "x.lerp(other, 0.1)", "dist": "x.dist(other)",
    "conv1d": "F.conv1d(x.view(1, 64, 64), torch.rand(8, 64, 3, requires_grad=True))",
    "conv2d": "F.conv2d(x.view(1, 1, 64, 64), torch.rand(8, 1, 3, 3, requires_grad=True))",
    "conv3d": "F.conv3d(x.view(1, 1, 4, 16, 64), torch.rand(8, 1, 3, 3, 3, requires_grad=True))",
    "linear": "F.linear(x, torch.rand(8, 64, requires_grad=True))", "embedding": "F.embedding(labels, x)",
    "max_pool2d": "F.max_pool2d(x.view(1, 1, 64, 64), 2)", "avg_pool2d": "F.avg_pool2d(x.view(1, 1, 64, 64), 2)",
    "batch_norm": "F.batch_norm(x, None, None, training=True)", "layer_norm": "F.layer_norm(x, (64,))",
    "group_norm": "F.group_norm(x, 4)", "interpolate": "F.interpolate(x.view(1, 1, 64, 64), scale_factor=2)",
    "pixel_shuffle": "F.pixel_shuffle(x.view(1, 4, 32, 32), 2)", "grid_sample":
    "F.grid_sample(x.view(1, 1, 64, 64), torch.rand(1, 8, 8, 2), align_corners=False)", "pad": "F.pad(x, (1, 1))",
    "cross_entropy": "F.cross_entropy(x, labels)", "nll_loss": "F.nll_loss(x, labels)", "kl_div": "F.kl_div(x, other)",
    "scaled_dot_product_attention": "F.scaled_dot_product_attention(x, x, x)", "meshgrid": "torch.meshgrid(x[0], x[1])",
    "cosine_similarity": "F.cosine_similarity(x, other)", "index_put": "x.index_put((labels,), other)", "tensor": "torch.tensor(x)",
    "chain_matmul": "torch.chain_matmul(x, x)", "fmod": "x.fmod(other)", "remainder": "x.remainder(other)", "floor_divide": "x.floor_divide(other)",
    "type": "x.type(torch.float64)", "unflatten": "x.unflatten(0, (8, 8))", "dropout": "F.dropout(x, 0.5)",
    "normal": "torch.normal(x)", "one_hot": "F.one_hot(labels)", "multinomial": "x.multinomial(1)", "bernoulli": "torch.bernoulli(x)",
}


def inputs():
    leaf = torch.rand(SIDE, SIDE, requires_grad=True)
    return leaf + 0.1


def calls(name):
    if name in CALLS:
        yield CALLS[name]
        return
    for arguments in ARGUMENTS:
        yield f"x.{name}({arguments})"
    for module in ("torch", "F"):
        for arguments in ARGUMENTS:
            yield f"{module}.{name}(x, {arguments})".replace(", )", ")")
        yield f"{module}.{name}([x, x])"
    yield f"x.{name}"


def tensors(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in tensors(part)]
    return []


def saved_bytes(result, before):
    """The distinct tensors that the nodes between result and input save."""
    storages, seen, nodes = {}, {before}, [t.grad_fn for t in tensors(result)]
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        for field in dir(node):
            if field.startswith("_saved_"):
                for t in tensors(getattr(node, field)):
                    storages[t.data_ptr(), t.numel()] = t.numel() * t.element_size()
        nodes += [n for n, _ in node.next_functions]
    return sum(storages.values())


def measure(name):
    for call in calls(name):
        x = inputs()
        try:
            result = eval(call, {"torch": torch, "F": F, "x": x, **globals()})
        except Exception:
            continue
        if callable(result):
            continue
        found = tensors(result)
        # Of a pair with indices, the values count.
        graph = any(t.requires_grad for t in found)
        print(name, "graph" if graph else "none", round(saved_bytes(result, x.grad_fn) / x.numel(), 2), call, sep="\t")
        return


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    print("name", "result", "saved", f"call (PyTorch {torch.__version__})", sep="\t")
    for argument in sorted(sys.argv[1:]):
        measure(argument)
