"""Paths on which a sum is reset, detached, guarded, or the sum of one iteration."""

import contextlib
import functools
from contextlib import ExitStack

import torch
import torch.nn.functional as F
from torch import nn


def only_the_first_batch(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        total += F.cross_entropy(model(images), labels)
        break
    print(total)


def until_the_counter_is_full(model: nn.Module, loader, optimizer):
    window, count = 0.0, 0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if count < 5:
            window = window + loss
            count += 1
        else:
            print(window / count)
            window, count = 0.0, 0


def when_the_counter_is_full(model: nn.Module, loader):
    window, count = 0.0, 0
    for images, labels in loader:
        window = window + F.cross_entropy(model(images), labels)
        count += 1
        if count == 6:
            print(float(window / count))
            window, count = 0.0, 0


def detached_whatever_happens(model: nn.Module, loader):
    total = torch.zeros(())
    for images, labels in loader:
        try:
            total = total + F.cross_entropy(model(images), labels)
        finally:
            total = total.detach()
    print(total)


@contextlib.contextmanager
def timer(name):
    yield
    print(name)


def one_of_two_managers(model: nn.Module, loader):
    total = 0.0
    with timer("evaluation"), torch.no_grad():
        for images, labels in loader:
            total += F.cross_entropy(model(images), labels)
    print(total)


def one_of_a_stack(model: nn.Module, loader):
    total = 0.0
    with ExitStack() as stack:
        for manager in (torch.no_grad(), torch.autocast("cpu", enabled=False)):
            stack.enter_context(manager)
        for images, labels in loader:
            total += F.cross_entropy(model(images), labels)
    print(total)


def guard_kept_in_a_variable(model: nn.Module, loader):
    guard = torch.no_grad()
    total = 0.0
    for images, labels in loader:
        with guard:
            total = total + F.cross_entropy(model(images), labels)
    print(total)


def guard_chosen_by_a_flag(model: nn.Module, loader, train=False):
    total = 0.0
    for images, labels in loader:
        with torch.enable_grad() if train else torch.no_grad():
            total = total + F.cross_entropy(model(images), labels)
    print(float(total))


class Recorder:
    """What it keeps is gone when it is left."""

    def __init__(self):
        self.total = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        print(float(self.total))
        self.total = 0.0

    def add(self, loss):
        self.total = self.total + loss


def left_in_each_iteration(model: nn.Module, loader):
    recorder = Recorder()
    for images, labels in loader:
        with recorder:
            recorder.add(F.cross_entropy(model(images), labels))


def numbers(model, loader):
    for images, labels in loader:
        yield F.cross_entropy(model(images), labels).item()


def generated_numbers(model: nn.Module, loader):
    total = 0.0
    for value in numbers(model, loader):
        total += value
    print(total)


@torch.no_grad()
def guarded_losses(model, loader):
    for images, labels in loader:
        yield F.cross_entropy(model(images), labels)


def generated_under_a_guard(model: nn.Module, loader):
    total = 0.0
    for loss in guarded_losses(model, loader):
        total += loss.detach()
    print(total)


def consume(it, model, total=0.0):
    batch = next(it, None)
    if batch is None:
        return total
    images, labels = batch
    return consume(it, model, total + F.cross_entropy(model(images), labels).item())


def number_along_a_recursion(model: nn.Module, loader):
    print(consume(iter(loader), model))


class TreeNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf, self.node = nn.Linear(16, 10), nn.Linear(20, 10)

    def forward(self, tree):
        if isinstance(tree, torch.Tensor):
            return self.leaf(tree)
        left, right = tree
        return torch.tanh(self.node(torch.cat([self(left), self(right)], 1)))


def over_a_tree(loader):
    network = TreeNetwork()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for images, labels in loader:
        loss = F.cross_entropy(network(((images, images), (images, images))), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def penalty(module, weight=1e-4):
    """A sum over a tree of modules is as long as the tree."""
    total = sum(p.pow(2).sum() for p in module.parameters(recurse=False))
    for child in module.children():
        total = total + weight * penalty(child)
    return total


def with_a_penalty(model: nn.Module, loader, optimizer):
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels) + penalty(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def detach_all(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, dict):
        return {k: detach_all(v) for k, v in value.items()}
    return [detach_all(v) for v in value]


def detached_by_a_recursion(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        parts = detach_all([F.cross_entropy(model(images), labels)])
        total = total + parts[0]
    print(total)


def total_over(loader, measure):
    total = 0.0
    for batch in loader:
        total = total + measure(*batch)
    return total


def with_a_lambda(model: nn.Module, loader):
    print(total_over(loader, lambda images, labels: F.cross_entropy(model(images), labels).item()))


def detached(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs).detach()

    return inner


class WithoutGradients:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        with torch.no_grad():
            return self.f(*args)


@detached
def detached_loss(model, images, labels):
    return F.cross_entropy(model(images), labels)


@WithoutGradients
def guarded_loss(model, images, labels):
    return F.cross_entropy(model(images), labels)


@torch.no_grad()
def decorated_loss(model, images, labels):
    return F.cross_entropy(model(images), labels)


def by_decorators(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        total += detached_loss(model, images, labels)
        total += guarded_loss(model, images, labels)
        total += decorated_loss(model, images, labels)
    print(total)


def run_epoch(model, loader, optimizer=None):
    is_train = optimizer is not None
    total = 0.0
    with torch.set_grad_enabled(is_train):
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            if is_train:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() if is_train else loss
    return float(total)


def switched_off(model: nn.Module, loader):
    print(run_epoch(model, loader))


def consumed_under_a_guard(model: nn.Module, loader):
    """The map runs where it is consumed."""
    losses = map(lambda batch: F.cross_entropy(model(batch[0]), batch[1]), loader)
    total = 0.0
    with torch.no_grad():
        for loss in losses:
            total += loss
    print(total)


total_of_parts = 0.0


def add_part(loss):
    global total_of_parts
    total_of_parts = total_of_parts + loss


def global_that_starts_anew(model: nn.Module, loader):
    global total_of_parts
    for images, labels in loader:
        total_of_parts = 0.0
        for part, part_labels in zip(images.chunk(2), labels.chunk(2)):
            add_part(F.cross_entropy(model(part), part_labels))
        print(float(total_of_parts))
