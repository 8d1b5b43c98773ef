"""Libraries that are not installed.

A program may name them: an import, a base class, a decorator and an annotation need
no library. As soon as an entry does something with a part of one, it ends, and says
what it needs. So one function that needs a library does not keep the others of its
file from being run.
"""

import ast
import importlib.machinery
import re
import sys
import types


class Needed(Exception):
    """Something that is not there, such as "torchmetrics"."""


class State:
    """Which libraries a program names, and whether a part of one may be called:
    what a module does while it is read is not what is measured."""

    def __init__(self):
        self.named = frozenset()
        self.reading = False


state = State()


def imported(tree):
    """The top-level modules that a program imports and cannot do without: an import
    in a `try` has another way."""
    names = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.split(".")[0])
        elif not isinstance(node, ast.Try):
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(names)


class Finder:
    """Finds what nobody else has found."""

    @staticmethod
    def find_spec(name, _path=None, _target=None):
        top = name.split(".")[0]
        if top not in state.named or top == "torch":
            return None
        return importlib.machinery.ModuleSpec(name, Finder, is_package=True)

    @staticmethod
    def create_module(spec):
        return Library(spec.name)

    @staticmethod
    def exec_module(_module):
        pass


class Library(types.ModuleType):
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Part(f"{self.__name__}.{name}")


class Part:
    """Something of a library. What is done with it while a module is read gives
    another part."""

    def __init__(self, name):
        vars(self)["_name"] = name

    def _used(self, *_, **__):
        if state.reading:
            return self
        raise Needed(self._name.split(".")[0])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Part(f"{self._name}.{name}")

    __call__ = __bool__ = __iter__ = __len__ = __enter__ = __contains__ = __setattr__ = __setitem__ = __add__ = _used

    def __getitem__(self, _key):
        return self

    def __or__(self, _other):
        return self

    __ror__ = __or__

    def __instancecheck__(self, _value):
        return False  # where there is no such class, nothing is of it

    def __mro_entries__(self, _bases):
        def refuse(_cls, *_, **__):
            raise Needed(self._name.split(".")[0])

        return (type(self._name.split(".")[-1], (), {"__new__": refuse}),)


def install():
    sys.meta_path.append(Finder)


LATER = re.compile(
    r"module 'torch[\w.]*' has no attribute '(\w+)'|No module named '(torch\.[\w.]+)'|"
    r"cannot import name '(\w+)' from 'torch|load_state_dict\(\) got an unexpected keyword argument '(assign)'")


def reason(error):
    """What an error says is missing here, or nothing."""
    needed = re.match(r"Needed: (.*)$", error)
    if needed:
        return needed[1]
    later = LATER.search(error)
    if later:
        return "a later PyTorch, with " + next(name for name in later.groups() if name)
    if re.search(r"not compiled with CUDA|NVIDIA driver|Unknown backend: nccl", error):
        return "a GPU"
    missing = re.search(r"No module named '([\w.]+)'", error)
    return missing[1] if missing else ""
