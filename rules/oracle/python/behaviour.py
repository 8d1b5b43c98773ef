"""What a program shows of what it computed: the numbers that it printed and
returned, and the parameters of its models at the end."""

import math
import re

import torch

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\bnan\b|\binf\b")
MOST = 4000  # numbers of one part


class Record:
    def __init__(self):
        self.parts = {"printed": [], "returned": [], "parameters": []}

    def print(self, *values, **_):
        for value in values:
            self._add("printed", value)

    def result(self, value):
        self._add("returned", value)

    def models(self, models):
        for model in models:
            self._add("parameters", [p.detach() for p in model.parameters()])

    def _add(self, part, value):
        room = MOST - len(self.parts[part])
        if room > 0:
            self.parts[part].extend(list(numbers(value))[:room])


def compare(before, after):
    """"bits", "close", or the first number that differs."""
    verdict = "bits"
    for part, numbers in before.items():
        others = after.get(part, [])
        if len(numbers) != len(others):
            return f"{part}: {len(numbers)} numbers before, {len(others)} after"
        for a, b in zip(numbers, others):
            if a == b or math.isnan(a) and math.isnan(b):
                continue
            if not math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5):
                return f"{part}: {a!r} before, {b!r} after"
            verdict = "close"
    return verdict


def numbers(value, depth=0):
    """The numbers of a value, in order."""
    if isinstance(value, torch.Tensor):
        yield from (float(v) for v in value.detach().flatten().tolist()[:500] if not isinstance(v, complex))
    elif isinstance(value, (bool, int, float)):
        yield float(value)
    elif isinstance(value, str):
        yield from (float(n) for n in NUMBER.findall(re.sub(r"grad_fn=<\w+>", "", value)))
    elif hasattr(value, "tolist"):
        yield from numbers(value.tolist(), depth)
    elif depth > 6:
        return
    elif isinstance(value, dict):
        for v in value.values():
            yield from numbers(v, depth + 1)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from numbers(v, depth + 1)
    elif hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module)):
        yield from numbers(vars(value), depth + 1)


def tensors(value, depth=0):
    """The tensors of a value."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth > 6:
        return
    elif isinstance(value, dict):
        for v in value.values():
            yield from tensors(v, depth + 1)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from tensors(v, depth + 1)
    elif hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module)):
        yield from tensors(vars(value), depth + 1)
