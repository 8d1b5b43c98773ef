"""Stand-ins for what fixtures leave to their caller: models, data, optimizers,
environments. And for devices: what is moved to "cuda" stays where it is, what is
moved to the CPU is remembered as host memory.
"""

import itertools
import json
import pathlib
import sys
import tempfile
import types

import torch
import torch.nn.functional as F
from torch import nn

import census

SIZE, FEATURES, CLASSES, STEPS = 4, 16, 10, 3


def install():
    """Makes programs for a GPU and with files run: there is one memory, and
    census.host knows what a program asked to be in host memory."""
    nn.Module.cuda = lambda self, *_, **__: self
    torch.Tensor.cuda = lambda self, *_, **__: self
    torch.Tensor.pin_memory = lambda self, *_: self
    torch.cuda.synchronize = torch.cuda.empty_cache = lambda *_: None
    for name in ("max_memory_allocated", "memory_allocated"):
        setattr(torch.cuda, name, lambda *_: 0)
    libraries()
    torch.Tensor.cpu = lambda self, *_, **__: moved(self)


def moved(tensor):
    """A copy in host memory, with the graph of the tensor."""
    if tensor.storage().data_ptr() in census.host:
        return tensor
    copy = tensor.clone()
    census.host[copy.storage().data_ptr()] = True
    return copy


def written(text, name="lines.txt"):
    """The path of a file in a folder of its own."""
    path = pathlib.Path(tempfile.mkdtemp(dir="."), name)
    path.write_text(text)
    return str(path)


def records(path, fields, count=20000):
    """Writes a file of records with fields."""
    pathlib.Path(path).write_text(json.dumps([{field: f"{field} {i}" for field in fields} for i in range(count)]))


class Scene:
    """One way to supply arguments: what a batch looks like, what a model
    answers, and how many features a batch has."""

    def __init__(self, announced=None, batch="classes", answer="logits", features=FEATURES, size=SIZE,
                 classes=CLASSES, length=14):
        self.announced = announced or (lambda _, values: values)
        self.batch, self.answer, self.features, self.size, self.length = batch, answer, features, size, length
        self.classes = classes
        self.models = []
        self.named = itertools.count()

    def x(self):
        return torch.randn(self.size, self.features)

    def names(self):
        """Names of samples, of which no two are the same."""
        return [f"sample {next(self.named)}" for _ in range(self.size)]

    def make(self):
        return BATCHES[self.batch](self)

    def model(self, answer=None):
        model = Model(self, answer or self.answer)
        self.models.append(model)
        return model

    def feed(self, make=None, length=None):
        return Feed(length or self.length, make or self.make, self.announced)


def _labels(scene):
    return torch.randint(scene.classes, (scene.size,))


class Fields(dict):
    """A batch of named fields, made when they are asked for."""

    def __init__(self, scene):
        super().__init__(input_ids=scene.x(), labels=_labels(scene))
        self.scene = scene

    def __missing__(self, name):
        wanted = any(part in name for part in ("label", "target", "class", "answer"))
        self[name] = _labels(self.scene) if wanted else self.scene.x()
        return self[name]

    def to(self, *_, **__):
        return self


BATCHES = {
    "classes": lambda s: (s.x(), _labels(s)),
    "values": lambda s: (s.x(), torch.randn(s.size, s.classes)),
    "value": lambda s: (s.x(), torch.randn(s.size, 1)),
    "features": lambda s: (s.x(), s.x()),
    "inputs": lambda s: s.x(),
    "fields": Fields,
    "images": lambda s: (torch.randn(s.size, 3, 8, 8), _labels(s)),
    "image": lambda s: torch.randn(s.size, 3, 8, 8),
    "tokens": lambda s: (torch.randint(s.classes, (s.size, STEPS)), torch.randint(s.classes, (s.size, STEPS))),
    "ids": lambda s: torch.randint(s.classes, (s.size, STEPS)),
    "three": lambda s: (s.x(), _labels(s), _labels(s)),
    "three inputs": lambda s: (s.x(), s.x(), s.x()),
    "named": lambda s: (s.names(), s.x()),
    "two views": lambda s: ((s.x(), s.x()), _labels(s)),
    "two tasks": lambda s: (s.x(), _labels(s), torch.randn(s.size, s.classes)),
    "sequences": lambda s: (torch.randn(STEPS, s.size, s.features), torch.randn(STEPS, s.size, s.features)),
    "columns": lambda s: (torch.randint(s.classes, (STEPS, s.size)), torch.randint(s.classes, (STEPS, s.size))),
    "sequence": lambda s: torch.randn(STEPS, s.size, s.features),
}


class Feed:
    """A data loader: as many batches as are needed to see growth."""

    def __init__(self, length, make, announced):
        self.length, self.make, self.announced = length, make, announced
        self.batch_size = SIZE
        self.sampler = self.batch_sampler = self
        self.dataset = range(length * SIZE)

    def __len__(self):
        return self.length

    def __iter__(self):
        return self.announced("data", (self.make() for _ in range(self.length)))

    async def __aiter__(self):
        for batch in self:
            yield batch

    def __getitem__(self, i):
        if i >= self.length:
            raise IndexError(i)
        return self.make()

    def set_epoch(self, _):
        pass


class Answer:
    """The output of models that answer with an object."""

    def __init__(self, logits, labels):
        self.logits, self.hidden_states = logits, (logits,)
        self.last_hidden_state = self.pooler_output = logits
        self.loss = F.cross_entropy(logits, labels)

    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else (self.loss, self.logits)[key]


class Model(nn.Module):
    """A perceptron for whatever it is given: each row is brought to one width."""

    def __init__(self, scene, answer):
        super().__init__()
        self.answer = answer
        self.embed = nn.Embedding(CLASSES, FEATURES)
        self.body = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU())
        self.encoder = self.backbone = self.layer4 = self.body  # as parts of models are called
        self.head = nn.Linear(32, scene.classes)

    def rows(self, x):
        if x.dtype in (torch.int64, torch.int32):
            return self.embed(x)
        x = x.flatten(1) if x.dim() > 1 else x.unsqueeze(0)
        if x.shape[1] < FEATURES:
            x = F.pad(x, (0, FEATURES - x.shape[1]))
        return x[:, :FEATURES]

    def forward(self, x=None, *rest, **named):
        if x is None:
            x = next(v for v in named.values() if isinstance(v, torch.Tensor))
        logits = self.head(self.body(self.rows(x)))
        if self.answer == "object":
            labels = named.get("labels")
            if labels is None:
                labels = next((r for r in rest if r.dtype == torch.int64), torch.zeros(len(logits), dtype=torch.long))
            return Answer(logits, labels)
        if self.answer == "pair":
            return logits, logits.mean(dim=-1, keepdim=True)
        if self.answer == "loss":
            return logits.logsumexp(-1).mean()
        if self.answer == "value":
            return logits[..., :1]
        if self.answer == "same":
            return logits[..., :1] + x if x.is_floating_point() else logits
        return logits


class Backbone(nn.Module):
    """A model of an image library: what its parts are called, and little else."""

    def __init__(self, *_, num_classes=CLASSES, **__):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1)
        self.layer1, self.layer2, self.layer3, self.layer4 = (_block() for _ in range(4))
        self.features = self.backbone = nn.Sequential(self.layer1, self.layer2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4, num_classes)

    def forward(self, x):
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.conv1(x)))))
        return self.fc(self.avgpool(x).flatten(1))


def _block():
    return nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.ReLU())


class Library(types.ModuleType):
    """A library that is not installed: each of its functions makes a model."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Backbone


def libraries():
    """Supplies small libraries that many programs use and that need not be
    installed: progress bars, which change nothing, and models of images."""
    for name in ("tqdm", "tqdm.auto"):
        bar = types.ModuleType(name)
        bar.tqdm = Progress
        bar.trange = lambda *bounds, **_: Progress(range(*bounds))
        sys.modules[name] = bar
    for name in ("torchvision", "torchvision.models"):
        sys.modules.setdefault(name, Library(name))
    sys.modules["torchvision"].models = sys.modules["torchvision.models"]


class Progress:
    def __init__(self, values=(), *_, **__):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __getattr__(self, _):
        return lambda *_, **__: None


class Writer:
    """A logger, which keeps nothing."""

    def __getattr__(self, _):
        return lambda *_, **__: None


class Each(dict):
    """Something for every name."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, name):
        self[name] = self.make()
        return self[name]


class Queue:
    """A queue of an event loop, which ends with None."""

    def __init__(self, scene):
        self.scene, self.left = scene, scene.length

    async def get(self):
        self.left -= 1
        return self.scene.make() if self.left >= 0 else None


class Environment:
    """A task for an agent, with episodes of ten steps."""

    def __init__(self, scene):
        self.scene, self.steps = scene, 0
        self.finished = False

    def observation(self):
        return torch.randn(self.scene.features)

    def reset(self, *_, **__):
        self.steps = 0
        return self.observation()

    def step(self, _action=None):
        """As many things as the scene says: with info, and with truncation."""
        self.steps += 1
        done = self.steps % 10 == 0
        state = self.observation()
        if self.scene.answer == "value":
            return state, 1.0, done, {}
        if self.scene.answer == "pair":
            return state, 1.0, done, False, {}
        if self.scene.answer == "object":
            return state
        return state, 1.0, done

    def close(self):
        pass
