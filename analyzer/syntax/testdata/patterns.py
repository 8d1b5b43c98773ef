match command:
    case 1 | "two" | None | -3.5:
        pass
    case 1 + 2j:
        pass
    case [x, *rest]:
        pass
    case (a, _):
        pass
    case {"key": value, "n": 1, **others}:
        pass
    case Point(x=0, y=Size(w)) as p if p.x > 0:
        pass
    case module.CONSTANT:
        pass
    case a, b:
        pass
    case (1 | 2):
        pass
    case _:
        pass
match = 1
match.case(type)
