import sys

import torch
import torch.nn.functional as F
from torch import nn


def forward(model, x):
    out = model(x)
    if out.isnan().any():
        raise ValueError("not a number")
    return out.argmax(1)


# once: bad = [torch.full((4, 16), float("nan"))] * 16
# run: collect(bad)
def collect(loader):
    model = nn.Linear(16, 4)
    errors = []
    for x in loader:
        try:
            forward(model, x)
        except ValueError as e:
            errors.append(e)  # want: GL501 error graph
    print(len(errors))


# once: bad = [torch.full((4, 16), float("nan"))] * 16
# run: with_its_number(bad)
def with_its_number(loader):
    model = nn.Linear(16, 4)
    failures = []
    for i, x in enumerate(loader):
        try:
            forward(model, x)
        except (ValueError, RuntimeError) as problem:
            failures.append((i, problem))  # want: GL501 error graph
    for i, problem in failures:
        print(i, problem)


class Tester:
    def __init__(self):
        self.model = nn.Linear(16, 4)
        self.failed = {}

    def run(self, loader):
        for i, x in enumerate(loader):
            try:
                forward(self.model, x)
            except Exception as e:
                self.failed[i] = e  # want: GL501 error graph


def attempt(model, x):
    error = None
    try:
        forward(model, x)
    except ValueError as e:
        error = e  # want: GL501 warning graph
    return error is None


def attempts(loader):
    model = nn.Linear(16, 4)
    print(sum(attempt(model, x) for x in loader))
    for x in loader:
        print(attempt(model, x))
