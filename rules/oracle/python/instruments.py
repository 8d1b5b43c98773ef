"""Measures what a place does that is not growth in a loop: whether a call frees what
a `del` named, whether what was loaded is there while a model trains, what is made
anew for each step, and what a worker copies of the samples that it reads.

What is seen at a place is kept in numbers with names; what they have to be for a
finding to hold, the caller of this program decides.
"""

import functools
import inspect
import json
import multiprocessing.process
import os
import re
import weakref

import torch
import torch.utils.data

import absent
import behaviour
import census

MOST = 12  # visits of a cleanup that are counted


class Seen(dict):
    """Numbers by place and name."""

    def add(self, place, **numbers):
        seen = self.setdefault(place, {})
        for name, number in numbers.items():
            seen[name] = seen.get(name, 0) + number

    def most(self, place, **numbers):
        seen = self.setdefault(place, {})
        for name, number in numbers.items():
            seen[name] = max(seen.get(name, 0), number)


class Held:
    """Tensors on the device, by references that do not keep them."""

    def __init__(self, *values):
        parts = [p for value in values for p in _tensors(value) if census.storage_address(p) not in census.host]
        self.parts = [(weakref.ref(p), p.numel() * p.element_size()) for p in parts]

    def bytes(self):
        return sum(size for _, size in self.parts)

    def alive(self):
        return sum(size for part, size in self.parts if part() is not None)


def _tensors(value):
    if isinstance(value, torch.nn.Module):
        return [*value.parameters(), *value.buffers()]
    return list(behaviour.tensors(value))


class Cleanups:
    """Calls that are there to free memory, and the `del` statements before and after
    them."""

    def __init__(self, seen, count):
        self.seen, self.count = seen, count
        self.named, self.cleaned = [], False
        self.there = None  # when a cleanup ran that found nothing of what was named
        self.deleting, self.early, self.levels = None, [], {}

    def deletes(self, *values):
        """Before a `del`."""
        if self.cleaned:
            self.named, self.cleaned = [], False
        self.named.append(Held(*values))
        known = set() if self.there is None else {id(t) for t in self.there if t() is not None}
        self.deleting = Held([t for value in values for t in _tensors(value) if id(weakref.ref(t)) in known])

    def deleted(self):
        """After it: what it freed and was there before, an earlier call came too
        early for."""
        freed = self.deleting.bytes() - self.deleting.alive()
        for place in self.early:
            self.seen.add(place, later=freed)
        self.early, self.there = [], None

    def done(self, place, value):
        """After a cleanup."""
        named, alive = sum(h.bytes() for h in self.named), sum(h.alive() for h in self.named)
        self.seen.add(place, named=named, alive=alive)
        if alive == 0:
            self.early.append(place)
            self.there = [weakref.ref(t) for t in census.reachable()[0]]
        self.cleaned = True
        levels = self.levels.setdefault(place, [])
        if len(levels) < MOST:
            levels.append(self.count()[1])
            self.seen.most(place, grown=max(0, levels[-1] - levels[0]) / len(levels))
        return value


class Loads:
    """What files gave, while models train."""

    def __init__(self, seen):
        self.seen, self.held = seen, []

    def loaded(self, place, value):
        self.seen.add(place, loads=1)
        self.held.append((place, Held(value)))
        return value

    def backward(self):
        for place, held in self.held:
            self.seen.most(place, training=held.alive())


class Made:
    """What is made at a place again and again: the state of optimizers that are gone
    after one step, and processes that were started."""

    started = 0  # in this process

    def __init__(self, seen):
        self.seen, self.once, self.in_call = seen, {}, {}

    def make(self, place, make, once):
        if once and place in self.once:
            return self.once[place]
        before = Made.started
        value = make()
        self.in_call[place] = self.in_call.get(place, 0) + 1
        self.seen.add(place, made=1, started=Made.started - before)
        self.seen.most(place, repeated=self.in_call[place])
        if isinstance(value, torch.optim.Optimizer):
            weakref.finalize(value, self._gone, place, value.state, value.steps).atexit = False
        if once:
            self.once[place] = value
        return value

    def _gone(self, place, state, steps):
        if len(steps) == 1:
            self.seen.add(place, lost=sum(t.numel() * t.element_size() for t in behaviour.tensors(dict(state))))


def install():
    """Lets optimizers count their steps, and tells of loaders and processes."""
    make, start = torch.utils.data.DataLoader.__init__, multiprocessing.process.BaseProcess.start

    def made(loader, *args, **kwargs):
        make(loader, *args, **kwargs)
        if Workers.current:
            Workers.current.made(loader)

    def started(process):
        Made.started += 1
        start(process)

    torch.utils.data.DataLoader.__init__, multiprocessing.process.BaseProcess.start = made, started
    kinds = [kind for kind in vars(torch.optim).values() if inspect.isclass(kind) and issubclass(kind, torch.optim.Optimizer)]
    prepare = torch.optim.Optimizer.__init__

    def prepared(optimizer, *args, **kwargs):
        optimizer.steps = []
        prepare(optimizer, *args, **kwargs)

    torch.optim.Optimizer.__init__ = prepared
    for kind in kinds:
        if kind is not torch.optim.Optimizer:
            kind.step = _counted(kind.step)


def _counted(step):
    @functools.wraps(step)
    def counted(optimizer, *args, **kwargs):
        optimizer.steps.append(None)
        return step(optimizer, *args, **kwargs)

    return counted


class Workers:
    """The private memory of a worker that reads all samples of a data set. One
    worker stands for several."""

    current = None  # those of the run

    def __init__(self, seen):
        self.seen, self.place, self.loaders, self.needs = seen, None, [], {}
        Workers.current = self

    def made(self, loader):
        if loader.num_workers and self.place not in (None, *(place for place, _ in self.loaders)):
            self.loaders.append((self.place, loader))
        self.place, loader.num_workers = None, min(1, loader.num_workers)

    def wanted(self, place, value):
        """At the number of workers, which is the place of such a finding."""
        self.place = place
        return value

    def read(self):
        for place, loader in self.loaders:
            try:
                self._read(place, loader)
            except absent.Needed as e:
                self.needs[place] = str(e)

    def _read(self, place, loader):
        data = loader.dataset
        if isinstance(data, torch.utils.data.IterableDataset):
            length = sum(1 for _ in data)
        else:
            length = len(data)
            data[0]  # an error is one in here
        copied, samples = _in_child(lambda: _later_half(data, length))
        self.seen.add(place, copied=copied, samples=samples)


def _later_half(data, length):
    """Reads all samples, as the process of a worker does: what the later half of
    them makes private, and how many those are. In the earlier half, the process
    also writes to what it has of its own."""
    iterable = isinstance(data, torch.utils.data.IterableDataset)
    half, before = length // 2, 0
    order = range(length)
    if isinstance(data, torch.utils.data.Subset):
        order = sorted(order, key=data.indices.__getitem__)  # or each half is all over the memory of the whole
    for i, _ in enumerate(data if iterable else (data[i] for i in order)):
        if i == half:
            before = _private()
    return _private() - before, length - half


def _private():
    with open("/proc/self/smaps_rollup") as f:
        return 1024 * sum(int(n) for n in re.findall(r"^Private_Dirty: +(\d+) kB", f.read(), re.M))


def _in_child(work):
    """Numbers from a process of its own, which shares the memory of this one until
    it writes to it."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writer, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as f:
        text = f.read()
    os.waitpid(child, 0)
    return json.loads(text or "[0, 0]")


class Instruments:
    """All of them, for one run."""

    def __init__(self, watch):
        self.watch, self.seen = watch, Seen()
        self.cleanups, self.loads = Cleanups(self.seen, watch.count), Loads(self.seen)
        self.made, self.workers = Made(self.seen), Workers(self.seen)

    def names(self):
        return {
            "__cleanup__": self.cleanups.done,
            "__deletes__": self.cleanups.deletes,
            "__deleted__": self.cleanups.deleted,
            "__load__": self.loads.loaded,
            "__make__": self.make,
            "__workers__": self.workers.wanted,
        }

    def call(self):
        """Before an entry is called once more."""
        self.made.in_call.clear()

    def make(self, place, make):
        self.watch.visit(place)
        return self.made.make(place, make, place in self.watch.cuts)
