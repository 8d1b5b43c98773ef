"""Measures which later uses of a sum or list of losses survive a fix.

    python3 measure.py > uses.tsv

Each use is run three times: on values that carry a graph, as the leak makes
them, on detached ones, and on Python floats. "ok" means that it gives what it
gave before, "changes" that it gives something else, and otherwise the error is
named. A graph that makes no difference is no difference: tensors are compared
by value.
"""

import collections
import contextlib
import copy
import io
import json
import math
import pickle
import statistics
import warnings

import numpy as np
import torch

SUM = """
total / 3
total * 100 / len(batches)
(total / 3).item()
-total
abs(total)
total ** 0.5
total % 2
total // 2
total.item()
total.detach()
total.cpu()
total.data
total.to("cpu")
total.detach().cpu().numpy()
total.mean()
total.sum()
total.tolist()
total.requires_grad
total.grad_fn is None
total.device
total.size()
total.shape
total.dtype
total.dim()
total.clone()
total.zero_()
total.add_(1)
total.sqrt()
total.backward()
float(total)
int(total)
str(float(total))
bool(total)
round(float(total), 4)
round(total, 4)
f"{total:.4f}"
f"{total / 3:.4f}"
"%.4f" % total
"%d %.3f" % (3, total)
"{:.4f}".format(total)
print(float(total))
math.exp(total)
math.sqrt(total / 3)
math.isnan(total)
torch.exp(total)
torch.sqrt(total)
torch.isnan(total)
torch.as_tensor(total)
torch.tensor([total])
torch.stack([total, total])
torch.is_tensor(total)
isinstance(total, torch.Tensor)
isinstance(total, float)
json.dumps(float(total))
total < 1e9
1 if total < 1e9 else 2
min(1e9, total)
max(total, 0)
total == total
copy.deepcopy(total)
len(pickle.dumps(float(total)))
total is None
[total][0] / 2
{"loss": total}["loss"] / 2
(lambda v: v.item())(total)
(lambda v: v / 2)(total)
np.exp(float(total))
history.append(total)
log["loss"] = total / 3
mean = total / 3; mean.item()
mean = total / 3; f"{mean:.3f}"
mean = total; mean /= 3; mean * 2
total *= 2; total / 3
total /= len(batches); f"{total:.3f}"
total = total / 3; total.item()
other = total; other.cpu()
""".strip().splitlines()

LIST = """
sum(losses) / len(losses)
sum(losses).item()
f"{sum(losses) / len(losses):.4f}"
len(losses)
losses[-1].item()
losses[0] / 2
losses[0].cpu()
float(losses[-1])
min(losses)
max(losses)
f"{max(losses):.3f}"
sorted(losses)[0] / 2
torch.stack(losses).mean()
torch.tensor(losses)
torch.mean(torch.Tensor(losses))
torch.stack(losses).sum().backward()
[v.item() for v in losses]
[v / 2 for v in losses]
[float(v) for v in losses]
for v in losses: v.item()
for v in losses: print(float(v))
losses[1] in losses
losses.index(losses[1])
losses.clear(); len(losses)
losses.append(torch.tensor(1.0)); torch.stack(losses)
losses.extend([1.0, 2.0]); sum(losses)
losses += [1.0]; sum(losses) / len(losses)
np.mean([float(v) for v in losses])
json.dumps([float(v) for v in losses])
copy.copy(losses)[0].detach()
statistics.mean([float(v) for v in losses])
first, *rest = losses; first.item()
first, *rest = losses; first / 2
dict(enumerate(losses))[0].item()
recent = losses[-2:]; sum(recent) / 2
recent = losses[-2:]; torch.stack(recent)
""".strip().splitlines()


def losses(kind):
    weight = torch.tensor(1.5, requires_grad=True)
    made = [(weight * k).exp() / 3 for k in (1.0, 0.5, 0.25)]
    for loss in made:
        loss.backward()
    if kind == "detach":
        return [loss.detach() for loss in made]
    if kind == "item":
        return [loss.item() for loss in made]
    return made


def plain(value):
    """The value without its graph and without its precision."""
    if isinstance(value, torch.Tensor):
        return ("tensor", plain(value.detach().tolist()))
    if isinstance(value, (float, np.floating)):
        return float(f"{float(value):.4g}")
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def run(use, kind):
    names = {
        "torch": torch, "np": np, "math": math, "json": json, "copy": copy, "pickle": pickle, "statistics": statistics,
        "batches": [1, 2, 3], "history": [], "log": {}, "losses": losses(kind), "total": sum(losses(kind)),
    }
    *statements, last = use.split("; ")
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            for statement in statements:
                exec(statement, names)
            try:
                value = eval(last, names)
            except SyntaxError:
                value = exec(last, names)
    except Exception as error:
        return type(error).__name__, None
    return "ok", (plain(value), output.getvalue())


def number(value):
    """Where a tensor of one element and a float mean the same."""
    if isinstance(value, tuple) and len(value) == 2 and value[0] == "tensor" and isinstance(value[1], float):
        return value[1]
    if isinstance(value, (list, tuple)):
        return [number(v) for v in value]
    if isinstance(value, dict):
        return {k: number(v) for k, v in value.items()}
    return value


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("holds", "graph", "detach", "item", f"use (PyTorch {torch.__version__})", sep="\t")
    for holds, uses in (("sum", SUM), ("list", LIST)):
        for use in uses:
            state, before = run(use, "graph")
            row = [holds, state]
            for kind in ("detach", "item"):
                fixed, after = run(use, kind)
                if fixed == "ok" and state == "ok" and number(before) != number(after):
                    fixed = "changes"
                row.append(fixed)
            print(*row, use, sep="\t")
