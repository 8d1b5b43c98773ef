import sys

import torch
import torch.nn.functional as F
from torch import nn


def forward(model, x):
    out = model(x)
    if out.isnan().any():
        raise ValueError("not a number")
    return out.argmax(1)


def collect(loader):
    model = nn.Linear(16, 4)
    errors = []
    for x in loader:
        try:
            forward(model, x)
        except ValueError as e:
            errors.append(e)  # want: GL501 error graph
    print(len(errors))


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
