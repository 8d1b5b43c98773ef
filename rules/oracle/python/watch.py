"""What happens at the marks of a running program: expressions are cut, and what
is alive is counted at each iteration of each loop.

Growth is told apart from a high level by comparing iterations of one activation
of a loop. The counts of an activation are made to rise only (a maximum so far),
so that what a loop empties now and then does not grow.
"""

import contextlib
import gc
import itertools
import functools
import threading
import types

import torch
from torch.utils.hooks import RemovableHandle

import census
import checkpoints
import instruments
import marks
import standins


class Enough(BaseException):
    """Ends a program that has no end of its own."""


class Watch:
    """length is how many iterations of a loop are compared; cuts are the places
    to cut, with how. Without collect, cycles stay that only a garbage collection
    frees. What runs before the start is cut, but not counted. What reads data, its
    loops have the length of that."""

    counts_memory = True

    def __init__(self, length, cuts, collect=True, reads=False):
        self.length, self.cuts, self.collect = length, cuts, collect
        self.started = False
        if not collect:
            gc.disable()
        self.stride = max(1, length // 12)
        self.visits = {}
        self.loops = {}
        self.growth = {}
        self.peak = [0, 0, 0, 0, 0]  # nodes, bytes: see census
        self.counts = 0
        self.freed = self.passes = self.watched = 0
        self.since = 0  # iterations since a backward was watched
        self.budget = 10**6 if reads else 600 + 8 * length  # iterations of all loops
        self.most = self.budget if reads else 2 * length  # of one activation
        self.instruments = instruments.Instruments(self)
        self.devices = checkpoints.Devices()
        self.feeding = None  # the counts at the last batch, until a loop takes them

    def names(self):
        return {
            "__at__": self.at,
            "__before__": self.before,
            "__after__": self.after,
            "__decorate__": self.decorate,
            "__loop__": self.loop,
            "__iteration__": self.iteration,
            "__iterations__": self.iterations,
            marks.CUDA: checkpoints.Device("cpu"),
            marks.DEVICE: self.devices.make,
            **self.instruments.names(),
        }

    def settle(self):
        """Leaves what there is out of all counts."""
        census.settle()

    def start(self):
        self.started = True
        self.backward()

    # Places.

    def at(self, place, value):
        self.visit(place)
        how = self.cuts.get(place)
        if how is not None:
            value = CUTS[how](value)
        else:
            self.look()
        return value

    def before(self, place):
        recording = torch.is_grad_enabled()
        how = self.cuts.get(place)
        if how == "record":
            torch.set_grad_enabled(False)
        elif how == "guard":
            threading.Thread.run = torch.no_grad()(threading.Thread.run)
        return recording

    def after(self, place, recording, value):
        torch.set_grad_enabled(recording)
        self.visit(place)
        self.look()
        return _guarded(value) if self.cuts.get(place) == "guard" else value

    def decorate(self, place, decorator):
        """The decorator of a function, which is visited when that is called."""

        def decorated(function):
            inner = function if place in self.cuts else decorator(function)

            @functools.wraps(function)
            def call(*args, **kwargs):
                self.visit(place)
                return inner(*args, **kwargs)

            for name in ("cache_clear", "cache_info"):
                setattr(call, name, getattr(inner, name, lambda: None))
            return call

        return decorated

    def visit(self, place):
        if self.started:
            self.visits[place] = self.visits.get(place, 0) + 1

    def look(self):
        """Takes part in the peak; a few times are enough."""
        self.counts += self.started
        if self.started and self.counts <= 6:
            self.count()

    def count(self):
        parts = census.take(self.collect).parts()
        self.peak = [max(a, b) for a, b in zip(self.peak, parts)]
        return parts

    def backward(self):
        """Watches backward passes: the most bytes that one of them frees, of
        those saved for it. What a loop gathered for it was gathered on purpose.
        Where there are many, those after as many iterations as are compared."""

        def watched(function):
            def call(*args, **kwargs):
                self.passes += 1
                if self.passes > 8 and self.since < self.length or self.watched > 40:
                    return function(*args, **kwargs)
                self.since = 0
                self.watched += 1
                self.instruments.loads.backward()
                self.watched += 1
                before = census.take(self.collect).saved
                result = function(*args, **kwargs)
                self.freed = max(self.freed, before - census.take(self.collect).saved)
                return result

            return call

        torch.autograd.backward = watched(torch.autograd.backward)
        torch.autograd.grad = watched(torch.autograd.grad)

    # Loops.

    def loop(self, key):
        self.loops[key] = _Activation()

    def iteration(self, key):
        self.budget -= 1
        self.since += 1
        if self.budget < 0:
            raise Enough
        if not self.started:
            return
        activation = self.loops.setdefault(key, _Activation())
        i = activation.iterations
        activation.iterations += 1
        if i > self.length:
            if i > self.most:
                raise Enough
            return
        if key in self.growth and len(self.growth[key]) >= 2:
            return
        if i % self.stride == 0 or i == self.length:
            fed = self.feeding if key != "data" else None
            parts = fed or self.count()
            activation.counts.append(parts)
            self.feeding = parts if key == "data" else None
        if i == self.length:
            self.growth.setdefault(key, []).append(activation.growth(self.length))

    def iterations(self, key, values):
        return _Announced(self, key, values)

    def growths(self):
        """For each loop that ran long enough, what each iteration added."""
        return {str(key): [max(part) for part in zip(*rates)] for key, rates in self.growth.items()}


class Blind(Watch):
    """Counts nothing: for trying out whether a program runs."""

    counts_memory = False

    def __init__(self, length, reads=False):
        super().__init__(length, {}, reads=reads)

    def backward(self):
        pass

    def settle(self):
        pass

    def count(self):
        return [0, 0, 0, 0, 0]


class _Announced:
    """The values of a comprehension, announced one by one."""

    def __init__(self, watch, key, values):
        watch.loop(key)
        self.watch, self.key, self.values = watch, key, iter(values)

    def __iter__(self):
        return self

    def __next__(self):
        value = next(self.values)
        self.watch.iteration(self.key)
        return value


class _Activation:
    """One run of a loop from its start to its end."""

    def __init__(self):
        self.iterations = 0
        self.counts = []

    def growth(self, length):
        """What an iteration added, in the later two thirds."""
        first = len(self.counts) // 3
        early = [max(part) for part in zip(*self.counts[: first + 1])]
        late = [max(part) for part in zip(*self.counts)]
        span = length * (len(self.counts) - 1 - first) / (len(self.counts) - 1)
        return [(b - a) / span for a, b in zip(early, late)]


# Ways to cut, by what a finding says is kept. See also before and decorate.


def _each(value, change, seen=None):
    """value with change applied to the tensors in it. What an object holds is
    changed in place, as far as it goes."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return seen[id(value)]
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple):
        parts = [_each(v, change, seen) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, list):
        return [_each(v, change, seen) for v in value]
    if isinstance(value, dict):
        return {k: _each(v, change, seen) for k, v in value.items()}
    if hasattr(type(value), "next_functions"):
        return None  # a node of a graph: there is no less of it
    if isinstance(value, RemovableHandle):
        value.remove()  # what the hook holds is held by nobody else
        return value
    if isinstance(value, BaseException):
        return value.with_traceback(None)  # its frames hold what they computed
    if isinstance(value, itertools.accumulate):  # which holds the sum so far
        kind, (values, *function), *_ = value.__reduce__()
        return kind(_each(values, change), *function)
    if hasattr(value, "__next__"):
        return (_each(v, change) for v in value)
    if isinstance(value, functools.partial):
        return functools.partial(value.func, *_each(value.args, change, seen), **_each(value.keywords, change, seen))
    if isinstance(value, types.FunctionType):
        return _function(value, change, seen)
    if isinstance(value, torch.nn.Module):
        for tensor in value.state_dict().values():
            tensor.data = change(tensor.data)
        return value
    if callable(value) or not hasattr(value, "__dict__"):
        return value
    seen[id(value)] = value
    for name, held in list(vars(value).items()):
        with contextlib.suppress(AttributeError, TypeError):
            object.__setattr__(value, name, _each(held, change, seen))
    return value


def _function(function, change, seen):
    """A function over changed defaults and changed values of its closure."""
    cells = None
    if function.__closure__:
        cells = tuple(types.CellType(_each(cell.cell_contents, change, seen)) for cell in function.__closure__)
    changed = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, cells)
    changed.__defaults__ = _each(function.__defaults__, change, seen)
    changed.__kwdefaults__ = _each(function.__kwdefaults__, change, seen)
    return changed


def _guarded(value):
    """What a guard does that has an effect: on what is made step by step, each
    step is guarded; one that is only named is entered."""
    if hasattr(value, "__enter__") and hasattr(value, "prev"):
        value.__enter__()
    if not hasattr(value, "__next__"):
        return value

    def steps():
        while True:
            with torch.no_grad():
                try:
                    step = next(value)
                except StopIteration:
                    return
            yield step

    return steps()


CUTS = {
    "detach": functools.partial(_each, change=lambda t: t.detach()),
    "copy": functools.partial(_each, change=lambda t: t.clone()),
    "move": functools.partial(_each, change=standins.moved),
    "arguments": functools.partial(_each, change=standins.moved),
    "off": lambda flag: False,
}
