a: list[int] | None
b: Callable[[int, str], float] = f
c: "Forward"
d: a.b.C[int]
def f(x: int | str, y: Optional[Tensor] = None, *z: tuple[int, ...]) -> dict[str, list[int]]: ...
type A = int
type B[T: int] = list[T]
def g[T: int, *Ts](x: T, *args: *Ts): ...
e: module.Inner.Type
h: list[int].Item
