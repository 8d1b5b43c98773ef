"""Chooses what to call a function of a fixture with.

A comment above a function or class says how it is run where its parameters do
not tell; `# once:` holds what is done before the first iteration:

    # once: meter = Meter()
    # run: meter.update(model(x).mean())

Names in it are those of the fixture and of the stand-ins. Otherwise parameters are
supplied by their annotation and name, in one scene after the other, until the
function runs. A scene that has the wrong number of features is tried again with
the number that PyTorch asks for.
"""

import builtins
import inspect
import json
import pathlib
import re
import types

import torch
from torch import nn

import standins

KINDS = ["classes", "inputs", "values", "fields", "features", "tokens", "images", "image", "value", "three", "ids",
         "three inputs", "named", "two views", "two tasks", "sequences", "sequence", "columns"]
ANSWERS = ["logits", "object", "pair", "value", "loss", "same"]


class NoStandIn(Exception):
    """A parameter that nothing is known to stand for."""


def scenes():
    for answer in ANSWERS:
        for kind in KINDS:
            yield {"batch": kind, "answer": answer}


ASKED = [  # what a shape error says, and which part of a scene it is about
    (r"shapes cannot be multiplied \(\d+x\d+ and (\d+)x\d+\)", "features"),
    (r"size mismatch, got \d+, \d+x(\d+),\d+", "features"),
    (r"input.size\(-1\) must be equal to input_size. Expected (\d+)", "features"),
    (r"input has inconsistent input_size: got \d+,? expected (\d+)", "features"),
    (r"expected input with shape \[\*, (\d+)\]", "features"),
    (r"target size \(torch.Size\(\[\d+, (\d+)\]\)\) that is different", "classes"),
    (r"running_mean should contain \d+ elements not (\d+)", "features"),
    (r"Input batch size \d+ doesn't match hidden\d? batch size (\d+)", "size"),
    (r"Expected hidden(?:\[0\])? size \(\d+, \d+, \d+\), got \[\d+, (\d+), \d+\]", "size"),
]


def adapted(scene, error, length):
    """The scenes that an error asks for, where feeds have a length."""
    for pattern, part in ASKED:
        found = re.search(pattern, error)
        if found and int(found[1]) != scene.get(part):
            yield {**scene, part: int(found[1])}
    if "out of bounds" in error and "classes" not in scene:
        yield {**scene, "classes": 2}
    found = re.search(r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", error)
    if found and found[1] != found[2]:
        sizes = {int(found[1]), int(found[2])}
        for part, usual in (("classes", standins.CLASSES), ("features", standins.FEATURES)):
            now = scene.get(part, usual)
            if now in sizes and length not in sizes:  # which is no width
                yield {**scene, part: (sizes - {now}).pop()}


MODELS = re.compile(
    r"(.*_)?(model|net|network|module|encoder|decoder|student|teacher|online|critic|policy|actor|generator|"
    r"discriminator|head|backbone|detector|classifier|learner|embedder|extractor|trunk|f|g|d|layer|target_net)\d?$", re.I)
CRITICS = re.compile(r"(.*_)?critic\d?$", re.I)
HEADS = re.compile(r"(.*_)?(head|out|output|classifier|readout|critic)$")
FEEDS = re.compile(r"(.*_)?(loader|batches|data|dataset|dataloader|pairs|chunks|held_out|samples|signal|stream|frames|readings|"
                   r"sequences|source|corpus|queries|documents|rows|volumes|prompts|texts|images_of|requests|sequence|first|second|micro_batches)$", re.I)
GROUPS = re.compile(r"(loaders|dataloaders|feeds)$")
OPTIMIZERS = re.compile(r"(.*_)?(optimizer|optim|opt|og|od|opt_\w+|optimiser)$", re.I)
EPOCHS = re.compile(r"(.*_)?(epochs|episodes)$")
COUNTS = re.compile(r"(n|(.*_)?(steps|updates|iterations|iters|rounds|horizon|limit|length|n_\w+|max_\w+))$")
SIZES = re.compile(r"(.*_)?(width|features|dim|hidden|size|units|channels)$")
BATCHES = re.compile(r"(batch|sample)$")
INPUTS = re.compile(r"(x|xs|images?|inputs?|tokens|features|observation|state|states|obs|prompt|h|src|source|real|fake|noise)\d?$")
VALUES = re.compile(r"(loss|value|t|logits|embeddings|score)$")
LABELS = re.compile(r"(y|ys|labels?|targets?|classes_of)$")
PATH = "checkpoint.pt"
NAMESPACES = re.compile(r"(args|opts?|options|config|cfg|conf|hparams|settings)$")
CRITERIA = re.compile(r"(.*_)?(criterion|loss_fn|loss_of|loss_function|measure|objective)$")
SCALARS = {"lr": 0.1, "rate": 0.1, "gamma": 0.9, "tau": 0.01, "temperature": 1.0, "eps": 1e-6, "momentum": 0.9,
           "decay": 0.9, "beta": 0.9, "threshold": 0.5, "weight": 0.5, "classes": standins.CLASSES, "interval": 5,
           "every": 5, "vocabulary": standins.CLASSES, "words": standins.CLASSES, "train": True, "name": "name",
           "depth": 2, "experts": 4, "codes": 8, "epoch": 0, "k": 3, "window": 20, "capacity": 10, "epsilon": 0.1,
           "gpu": 0, "rank": 0, "workers": 2, "resume": PATH, "checkpoint": PATH}


class Cast:
    """What stands in for names in one run."""

    def __init__(self, scene, module, device):
        self.scene, self.module, self.device = scene, module, device
        self.kept = {}  # stand-ins that live as long as the run
        self.optimizers = []

    def by_name(self, name, annotation=None):
        if name in self.kept:
            return self.kept[name]
        value, lasts = self._annotated(name, annotation) or self._made(name, self._class(annotation))
        if lasts:
            self.kept[name] = value
        return value

    def _annotated(self, name, annotation):
        """A module of PyTorch, where the annotation says so."""
        features, classes = self.scene.features, self.scene.classes
        if annotation is nn.Module:
            return self.model(name), True
        if annotation in (nn.GRUCell, nn.LSTMCell, nn.RNNCell, nn.GRU, nn.LSTM, nn.RNN):
            made = annotation(features, features)
        elif annotation is nn.Linear:
            made = nn.Linear(features, classes if HEADS.match(name) else features)
        elif annotation is nn.ModuleList:
            made = nn.ModuleList(nn.Linear(features, features) for _ in range(3))
        else:
            return None
        self.scene.models.append(made)
        return made, True

    def _class(self, annotation):
        if isinstance(annotation, str):
            annotation = getattr(self.module, annotation, None)
        own = inspect.isclass(annotation) and getattr(annotation, "__module__", "") == self.module.__name__
        return annotation if own else None

    def _made(self, name, cls):
        scene = self.scene
        if cls is not None:
            return self.instance(cls), True
        if OPTIMIZERS.match(name):
            parameters = [p for model in scene.models for p in model.parameters()]
            return torch.optim.SGD(parameters or [nn.Parameter(torch.zeros(1))], lr=1e-3), True
        if CRITERIA.match(name):
            return _criterion, True
        if name == "device":
            return self.device, True
        if name == "env" or name.endswith("environment"):
            return standins.Environment(scene), True
        if name in ("writer", "logger", "log"):
            return standins.Writer(), True
        if NAMESPACES.match(name):
            return Namespace(self), True
        if name == "path":
            return PATH, True
        if name == "paths":
            return [PATH] * scene.length, True
        if name == "cell":
            return self._annotated(name, nn.GRUCell)
        if name == "tasks":
            return scene.feed(lambda: (scene.make(), scene.make())), True
        if name == "weights":
            return [0.5] * scene.length, True
        if name == "heads":
            return standins.Each(scene.model), True
        if name == "queue":
            return standins.Queue(scene), True
        if name == "it":
            return iter(scene.feed()), False
        if name == "layers":
            return self._annotated(name, nn.ModuleList)
        if name == "models":
            return [scene.model() for _ in range(3)], True
        if name in SCALARS:
            return SCALARS[name], True
        if EPOCHS.match(name):
            return 14, True
        if COUNTS.match(name):
            return scene.length, True
        if GROUPS.match(name):
            return {"train": scene.feed(), "val": scene.feed()}, True
        if FEEDS.match(name):
            return scene.feed(), True
        if MODELS.match(name):
            return self.model(name), True
        if BATCHES.match(name):
            return scene.make(), False
        if INPUTS.match(name):
            return _part(scene.make(), 0), False
        if VALUES.match(name):
            return scene.model()(_part(scene.make(), 0)), False
        if LABELS.match(name):
            return _part(scene.make(), 1), False
        if SIZES.match(name):
            return scene.features, True
        raise NoStandIn(f"nothing stands in for {name!r}")

    def model(self, name):
        """A critic answers with one value, where scenes say nothing else."""
        values = CRITICS.match(name) and self.scene.answer == "logits"
        return self.scene.model("value" if values else None)

    def instance(self, cls):
        own = any("__init__" in vars(base) for base in cls.__mro__ if not base.__module__.startswith(("torch", "builtins")))
        made = cls(*self.arguments(cls.__init__, skip=1, sizes=True)) if own else cls()
        if isinstance(made, nn.Module):
            self.scene.models.append(made)
        return made

    def arguments(self, function, skip=0, sizes=False):
        """Values for the parameters of a function that have no default, where
        sizes says that `features` is their number. The optimizer comes last: it
        takes the parameters of all models."""
        wanted = []
        for p in list(inspect.signature(function).parameters.values())[skip:]:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                continue
            if p.kind == p.KEYWORD_ONLY and p.default is p.empty:
                raise NoStandIn(f"{p.name} is a keyword")
            if p.default is not p.empty:
                break
            wanted.append(p)
        order = sorted(range(len(wanted)), key=lambda i: bool(OPTIMIZERS.match(wanted[i].name)))
        values = [None] * len(wanted)
        for i in order:
            name, annotation = wanted[i].name, wanted[i].annotation
            values[i] = self.scene.features if sizes and SIZES.match(name) else self.by_name(name, annotation)
        return values


class Namespace:
    """Settings, each of which stands for its name."""

    def __init__(self, cast):
        self._cast = cast

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._cast.by_name(name)

    __getitem__ = __getattr__


class Scope(dict):
    """The names of a `# run:` comment."""

    def __init__(self, cast, module):
        super().__init__()
        self.cast, self.names = cast, vars(module)

    def __missing__(self, name):
        if name in self.names:
            return self.names[name]
        if hasattr(builtins, name):
            raise KeyError(name)
        maker = MAKERS.get(name)
        if maker:
            return maker(self.cast)
        try:
            return self.cast.by_name(name)
        except NoStandIn:
            raise KeyError(name) from None


MAKERS = {
    "randn": lambda cast: torch.randn,
    "randint": lambda cast: lambda *shape: torch.randint(standins.CLASSES, shape),
    "feed": lambda cast: cast.scene.feed,
    "Model": lambda cast: lambda answer="logits": standins.Model(standins.Scene(), answer),
    "written": lambda cast: standins.written,
    "given": lambda cast: types.SimpleNamespace,
    "json": lambda cast: json,
    "pathlib": lambda cast: pathlib,
    "nn": lambda cast: nn,
    "torch": lambda cast: torch,
}


def _part(batch, i):
    if isinstance(batch, (tuple, list)):
        return batch[min(i, len(batch) - 1)]
    return batch


def _criterion(output, target):
    if target.dtype == torch.int64:
        return nn.functional.cross_entropy(output, target)
    return nn.functional.mse_loss(output, target)
