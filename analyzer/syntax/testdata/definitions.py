@torch.no_grad()
@decorator
def evaluate(model, /, x: Tensor, y=1, *args: int, z: str = "a", key, **kwargs) -> float:
    """Docstring."""
    return model(x)


def bare(*, key): ...


def star(*rest, **more): ...


def unpack(*args: *Ts, **kw: P.kwargs): ...


async def step(self): await self.go()


@dataclass
class Meter(Base, metaclass=Meta):
    total: float = 0.0
    count: int

    def update(self, value):
        self.total += value


class Empty: pass


class Generic[T: (int, str), *Ts, **P]:
    def method[U](self, x: U) -> list[U] | None: ...


type Pair[T] = tuple[T, T]
f = lambda: 0
g = lambda x, *a, y=1, **k: x if y else a
