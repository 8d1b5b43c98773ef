a and b or not c
-x ** +y @ z // ~w % 2
a < b <= c != d is not e not in f
a << 1 | b & c ^ d
x if y else z
(n := len(x))
f(x, *args, key=1, **kwargs)
f(x for x in y)
f()(a)[0].b.c(d)
x[0], x[1:2], x[::2, ..., None], x[a:b, c]
(a, b), (), (a,), [a, b], [], {a, b}, {}, {"k": v, **more}
[*a, *b]
print(*(a, b))
[x for x in y if x for z in x]
{x for x in y}
{k: v async for k, v in z}
(x async for x in y)
(yield)
await x
True, False, None, ...
x = *a, b
del (a), [b]
(a
 + b)
print = type
match = x.print
f((*a))
