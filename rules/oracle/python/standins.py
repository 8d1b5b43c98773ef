"""Stand-ins for what fixtures leave to their caller: models, data, optimizers,
environments. And for devices: what is moved to "cuda" stays where it is, what is
moved to the CPU is remembered as host memory.
"""

import torch
import torch.nn.functional as F
from torch import nn

import census

SIZE, FEATURES, CLASSES, STEPS = 4, 16, 10, 3


def pretend_devices():
    """Makes programs for a GPU run: there is one memory, and census.host knows
    what a program asked to be in host memory."""
    nn.Module.cuda = lambda self, *_, **__: self
    torch.Tensor.cuda = lambda self, *_, **__: self
    torch.Tensor.pin_memory = lambda self, *_: self
    torch.cuda.synchronize = torch.cuda.empty_cache = lambda *_: None
    for name in ("max_memory_allocated", "memory_allocated"):
        setattr(torch.cuda, name, lambda *_: 0)
    torch.Tensor.cpu = lambda self, *_, **__: moved(self)


def moved(tensor):
    """A copy in host memory, with the graph of the tensor."""
    if tensor.storage().data_ptr() in census.host:
        return tensor
    copy = tensor.clone()
    census.host[copy.storage().data_ptr()] = True
    return copy


class Scene:
    """One way to supply arguments: what a batch looks like, what a model
    answers, and how many features a batch has."""

    def __init__(self, announced=None, batch="classes", answer="logits", features=FEATURES, size=SIZE, length=14):
        self.announced = announced or (lambda _, values: values)
        self.batch, self.answer, self.features, self.size, self.length = batch, answer, features, size, length
        self.models = []

    def describe(self):
        return {"batch": self.batch, "answer": self.answer, "features": self.features, "size": self.size}

    def rand(self, *shape):
        return torch.randn(*shape)

    def x(self):
        return torch.randn(self.size, self.features)

    def make(self):
        return BATCHES[self.batch](self)

    def model(self):
        model = Model(self)
        self.models.append(model)
        return model

    def feed(self, make=None):
        return Feed(self.length, make or self.make, self.announced)


def _labels(scene):
    return torch.randint(CLASSES, (scene.size,))


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
    "values": lambda s: (s.x(), torch.randn(s.size, CLASSES)),
    "value": lambda s: (s.x(), torch.randn(s.size, 1)),
    "features": lambda s: (s.x(), s.x()),
    "inputs": lambda s: s.x(),
    "fields": Fields,
    "images": lambda s: (torch.randn(s.size, 3, 8, 8), _labels(s)),
    "image": lambda s: torch.randn(s.size, 3, 8, 8),
    "tokens": lambda s: (torch.randint(CLASSES, (s.size, STEPS)), torch.randint(CLASSES, (s.size, STEPS))),
    "ids": lambda s: torch.randint(CLASSES, (s.size, STEPS)),
    "three": lambda s: (s.x(), _labels(s), _labels(s)),
    "three inputs": lambda s: (s.x(), s.x(), s.x()),
    "named": lambda s: (["a", "b", "c", "d"][: s.size], s.x()),
    "sequences": lambda s: (torch.randn(STEPS, s.size, s.features), torch.randn(STEPS, s.size, s.features)),
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

    def __init__(self, scene):
        super().__init__()
        self.answer = scene.answer
        self.embed = nn.Embedding(CLASSES, FEATURES)
        self.body = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU())
        self.head = nn.Linear(32, CLASSES)

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

    def step(self, _action):
        self.steps += 1
        return self.observation(), 1.0, self.steps % 10 == 0

    def close(self):
        pass
