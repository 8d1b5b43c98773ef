"""What is alive: nodes of autograd graphs, the tensors that they saved, and the
storages of the tensors that Python can reach.

Everything that was there before a program started is frozen out of the garbage
collector's lists, so that a census looks at what the program made only.
"""

import ctypes
import gc
import weakref

import torch

# Storages that the program moved to host memory, by address. There is no second
# device to move them to, so moving is remembered (see standins.py).
host = {}


class Census:
    """Counts at one moment."""

    __slots__ = ("nodes", "saved", "values", "storage", "heap")

    def __init__(self, nodes, saved, values, storage, heap):
        self.nodes = nodes  # of graphs
        self.saved = saved  # bytes that nodes saved for a backward pass
        self.values = values  # bytes of tensors on the device, storages that are shared once
        self.storage = storage  # bytes of storages that no tensor uses
        self.heap = heap  # bytes of the process, with what nobody can reach any more

    def parts(self):
        return [self.nodes, self.saved, self.values, self.storage, self.heap]


class _Heap(ctypes.Structure):
    """struct mallinfo2 of the C library."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


try:
    _mallinfo = ctypes.CDLL(None).mallinfo2
    _mallinfo.restype = _Heap
except AttributeError:  # another C library: the heap is not measured
    _mallinfo = _Heap


def take(collect=True):
    if collect:
        gc.collect()
    heap = _mallinfo()
    tensors, nodes = reachable()
    seen = _graph(nodes)
    saved, sizes, used = {}, {}, {}
    for node in seen.values():
        for tensor in _saved_by(node):
            if not _is_parameter(tensor):
                address = storage_address(tensor)
                saved[address] = saved.get(address) or tensor.storage().nbytes()
    for tensor in tensors:
        address = storage_address(tensor)
        if address in host:
            continue
        sizes[address] = sizes.get(address) or tensor.storage().nbytes()
        used[address] = used.get(address, 0) + tensor.numel() * tensor.element_size()
    unused = sum(max(0, size - used[address]) for address, size in sizes.items())
    return Census(len(seen), sum(saved.values()), sum(sizes.values()), unused, heap.uordblks + heap.hblkhd)


_earlier = []  # weak references


def settle():
    """Takes what is there for what was there before: only its tensors are looked at
    from here on, which may come to hold a graph or a gradient."""
    gc.collect()
    tensors = [o for o in gc.get_objects() if _kind(type(o)) == "tensor"]
    _earlier.extend(map(weakref.ref, tensors))
    gc.freeze()


_kinds = {}


def _kind(cls):
    """What the instances of a class are."""
    if cls not in _kinds:
        _kinds[cls] = "tensor" if issubclass(cls, torch.Tensor) else "node" if hasattr(cls, "next_functions") else ""
    return _kinds[cls]


def reachable():
    """All tensors and nodes that Python objects are."""
    tensors, nodes, seen = [], [], set()
    pending = [o for o in (earlier() for earlier in _earlier) if o is not None]
    for o in gc.get_objects():
        kind = _kind(type(o))
        if kind == "tensor":
            pending.append(o)
        elif kind:
            nodes.append(o)
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen or tensor.layout is not torch.strided:
            continue
        seen.add(id(tensor))
        tensors.append(tensor)
        if tensor.grad_fn is not None:
            nodes.append(tensor.grad_fn)
        if tensor.is_leaf and tensor.grad is not None:
            pending.append(tensor.grad)
    return tensors, nodes


def _graph(nodes):
    """The nodes that can be reached from nodes. A node's Python object is made
    when it is asked for, and it is the same one for as long as it is held."""
    seen = {}
    while nodes:
        node = nodes.pop()
        if node is None or id(node) in seen:
            continue
        seen[id(node)] = node
        nodes.extend(successor for successor, _ in node.next_functions)
    return seen


_fields = {}


def _saved_by(node):
    """The tensors that a node holds for its backward, none once it was freed."""
    kind = type(node)
    if kind not in _fields:
        _fields[kind] = [name for name in dir(kind) if name.startswith("_saved_")]
    found = []
    for name in _fields[kind]:
        try:
            value = getattr(node, name)
        except RuntimeError:  # freed: one failure stands for all of the node
            break
        found.extend(value if isinstance(value, (tuple, list)) else [value])
    try:
        found.extend(getattr(node, "saved_tensors", ()))  # of a torch.autograd.Function
    except RuntimeError:
        pass
    return [v for v in found if isinstance(v, torch.Tensor) and v.layout is torch.strided]


def _is_parameter(tensor):
    return tensor.is_leaf and tensor.requires_grad


def storage_address(tensor):
    """The address of a tensor's storage."""
    return tensor.data_ptr() - tensor.storage_offset() * tensor.element_size()
