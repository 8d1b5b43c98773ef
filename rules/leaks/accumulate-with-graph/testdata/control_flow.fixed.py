"""Sums on paths that are not straight."""

import contextlib
import functools
import time
from contextlib import ExitStack

import torch
import torch.nn.functional as F
from torch import nn


def until_the_data_ends(model: nn.Module, loader):
    it, total = iter(loader), 0.0
    while True:
        try:
            images, labels = next(it)
        except StopIteration:
            break
        total = total + F.cross_entropy(model(images), labels).detach()
    print(total)


# run: until_patience_ends(model, feed(length=40), optimizer)
def until_patience_ends(model: nn.Module, loader, optimizer):
    it = iter(loader)
    patience, total, step = 3, 0.0, 0
    while patience > 0 and step < 36:
        images, labels = next(it)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        total += loss.detach()
        if loss.item() > 100:
            patience -= 1
    print(total / step)


def skips_bad_batches(model: nn.Module, loader, optimizer):
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        if not torch.isfinite(loss):
            continue
        loss.backward()
        optimizer.step()
        total += loss.detach()
    print(total)


def skips_the_backward(model: nn.Module, loader, optimizer):
    """The sum of the steps that are skipped is on no path of a backward."""
    skipped = 0.0
    for i, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        if i % 2 == 0:
            skipped += loss.detach()
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(skipped)


def one_branch_learns(model: nn.Module, loader, optimizer):
    held_out = 0.0
    for i, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        if i % 2:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        else:
            held_out += loss.detach()
    print(held_out)


def both_branches_learn(model: nn.Module, loader, optimizer):
    total = 0.0
    for i, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        if i % 2:
            total += loss.detach()
            loss.backward()
        else:
            (2 * loss).backward()
        optimizer.step()
    print(total)


def leaves_early(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        total = total + F.cross_entropy(model(images), labels).detach()
        if total > 1e9:
            break
    else:
        print("all", total.item())


def returns_early(model: nn.Module, loader, limit=1e9):
    total = 0.0
    for images, labels in loader:
        total = total + F.cross_entropy(model(images), labels).detach()
        if total > limit:
            return float("inf")
    return total.item()


def if_nothing_failed(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        try:
            loss = F.cross_entropy(model(images), labels)
        except RuntimeError as error:
            print(error)
        else:
            total += loss.detach()
    print(total)


def whatever_happens(model: nn.Module, loader):
    total = loss = 0.0
    for images, labels in loader:
        try:
            loss = F.cross_entropy(model(images), labels)
        finally:
            total = total + loss.detach()
    print(total)


# run: over_all_epochs(model, feed(length=40))
def over_all_epochs(model: nn.Module, loader, epochs=18):
    it, total = iter(loader), 0.0
    for _ in range(epochs):
        for _ in range(2):
            images, labels = next(it)
            total = total + F.cross_entropy(model(images), labels).detach()
    print(total)


def another_sum_starts_anew(model: nn.Module, loader, optimizer):
    total, window = 0.0, 0.0
    for i, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        window += loss.item()
        total += loss.detach()
        if i % 5 == 4:
            print(window / 5)
            window = 0.0
    print(total)


@contextlib.contextmanager
def timer(name):
    start = time.time()
    yield
    print(name, time.time() - start)


def managers_without_a_guard(model: nn.Module, loader):
    total = 0.0
    with timer("evaluation"), torch.autocast("cpu", enabled=False), contextlib.nullcontext():
        for images, labels in loader:
            total += F.cross_entropy(model(images), labels).detach()
    print(total)


def stack_without_a_guard(model: nn.Module, loader):
    total = 0.0
    with ExitStack() as stack:
        stack.enter_context(torch.autocast("cpu", enabled=False))
        for images, labels in loader:
            total += F.cross_entropy(model(images), labels).detach()
    print(total)


def stack_that_was_left(model: nn.Module, loader):
    total = 0.0
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        print("ready", sum(p.numel() for p in model.parameters()))
    for images, labels in loader:
        total += F.cross_entropy(model(images), labels).detach()
    print(total)


def running(model, loader):
    total = 0.0
    for images, labels in loader:
        total = total + F.cross_entropy(model(images), labels).detach()
        yield float(total)


def generator_that_adds_up(model: nn.Module, loader):
    for value in running(model, loader):
        print(value)


def train_step(model: nn.Module, batch, optimizer):
    images, labels = batch
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


# may grow: each call of the recursion holds its loss until it returns
def consume(it, model, optimizer, total=0.0, n=0):
    batch = next(it, None)
    if batch is None:
        return total / n
    loss = train_step(model, batch, optimizer)
    return consume(it, model, optimizer, total + loss.detach(), n + 1)


# may grow: each call of the recursion holds its loss until it returns
def handed_along_a_recursion(model: nn.Module, loader, optimizer):
    print(consume(iter(loader), model, optimizer))


def rest(it, model):
    batch = next(it, None)
    if batch is None:
        return 0.0
    return F.cross_entropy(model(batch[0]), batch[1]) + rest(it, model)  # want: GL101 error graph


def added_on_the_way_back(model: nn.Module, loader):
    print(float(rest(iter(loader), model)))


def total_over(loader, measure):
    total = 0.0
    for batch in loader:
        total = total + measure(*batch).detach()
    return total


def with_a_lambda(model: nn.Module, loader):
    print(float(total_over(loader, lambda images, labels: F.cross_entropy(model(images), labels))))


def loss_of(model, images, labels, weight=1.0):
    return weight * F.cross_entropy(model(images), labels)


def with_a_partial(model: nn.Module, loader):
    measure = functools.partial(loss_of, model, weight=0.5)
    total = 0.0
    for images, labels in loader:
        total += measure(images, labels).detach()
    print(total)


LOSSES = {"ce": F.cross_entropy, "nll": lambda logits, labels: F.nll_loss(F.log_softmax(logits, 1), labels)}


def from_a_table(model: nn.Module, loader, kind="nll"):
    criterion = LOSSES[kind]
    total = 0.0
    for images, labels in loader:
        total += criterion(model(images), labels).detach()
    print(total)


def timed(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        start = time.time()
        try:
            return f(*args, **kwargs)
        finally:
            print(time.time() - start)

    return inner


@timed
def timed_loss(model, images, labels):
    return F.cross_entropy(model(images), labels)


def decorated_by_a_timer(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        total += timed_loss(model, images, labels).detach()
    print(total)


def run_epoch(model, loader, train):
    total = 0.0
    with torch.set_grad_enabled(train):
        for images, labels in loader:
            total += F.cross_entropy(model(images), labels).detach()
    return float(total)


def switched_on(model: nn.Module, loader):
    print(run_epoch(model, loader, train=True))


def switched_back_on(model: nn.Module, loader):
    torch.set_grad_enabled(False)
    print(model(next(iter(loader))[0]).shape)
    torch.set_grad_enabled(True)
    total = 0.0
    for images, labels in loader:
        total = total + F.cross_entropy(model(images), labels).detach()
    print(total)


def statement_without_effect(model: nn.Module, loader):
    torch.no_grad()  # want: GL305 hint graph
    total = 0.0
    for images, labels in loader:
        total += F.cross_entropy(model(images), labels).detach()
    print(total)


@torch.enable_grad()
def measured_with_gradients(model, images, labels):
    return F.cross_entropy(model(images), labels)


def switched_on_by_a_decorator(model: nn.Module, loader):
    total = 0.0
    for images, labels in loader:
        with torch.no_grad():
            loss = measured_with_gradients(model, images, labels)
        total = total + loss.detach()
    print(total)


@torch.no_grad()
def lazy_losses(model, loader):
    return (F.cross_entropy(model(images), labels) for images, labels in loader)  # want: GL305 hint graph


def guarded_too_early(model: nn.Module, loader):
    """The generator runs when the guard is gone."""
    total = 0.0
    for loss in lazy_losses(model, loader):
        total += loss.detach()
    print(total)
