# Every statement that is not a definition.
x = y = 1
x: int = 2
a, *b = c
[d, (e, f)] = g
x += 1
total = total + \
    loss
del x, a[0]
assert x, "message"
pass; global_name = 1

if x:
    pass
elif y:
    x = 1
else:
    x = 2

for i, (a, b) in enumerate(pairs):
    if not i:
        continue
    break
else:
    pass

while True:
    break
else:
    pass

try:
    f()
except ValueError as e:
    raise RuntimeError("x") from e
except (TypeError, KeyError):
    raise
else:
    pass
finally:
    close()

try:
    f()
except* OSError:
    pass

with torch.no_grad():
    y = model(x)
with open(a) as f, open(b) as (g, h):
    pass
with (open(a) as f,
      open(b)):
    pass


def scope():
    global total
    nonlocal count
    return total


async def stream():
    async for x in y:
        await x
    async with z as w:
        yield w
    yield
    yield from x
    return
