"""Marks a program so that a run can be watched.

Two kinds of marks go into the syntax tree. The expression of each finding passes
through a function that can *cut* it: take from it what the finding says it keeps.
Whatever growth ends when one expression is cut was kept there. And each iteration
of each loop is announced, which is where things are counted.
"""

import ast
import itertools
import re

AT, BEFORE, AFTER, DECORATE = "__at__", "__before__", "__after__", "__decorate__"
CLEANUP, DELETES, DELETED, LOAD, MAKE, WORKERS = "__cleanup__", "__deletes__", "__deleted__", "__load__", "__make__", "__workers__"
CUDA, DEVICE = "__cuda__", "__device__"
LOOP, ITERATION, ITERATIONS = "__loop__", "__iteration__", "__iterations__"


class Place:
    """A finding's expression: from (line, column) to (line, column), lines from
    one and columns in bytes from zero, as in the syntax tree."""

    def __init__(self, finding):
        self.id = finding["id"]
        self.start, self.end = tuple(finding["start"]), tuple(finding["end"])
        self.cut, self.peak, self.cycle = finding["cut"], finding["peak"], finding["cycle"]
        self.instrument = finding.get("instrument", "")
        self.found = False

    def is_at(self, node):
        return self.start == _start(node) and self.end == _end(node)

    def is_in(self, node):
        return _start(node) <= self.start and self.end <= _end(node)


def _start(node):
    return node.lineno, node.col_offset


def _end(node):
    return node.end_lineno, node.end_col_offset


TEMPTING = {  # what a finding that an instrument bears out would name
    "cleanup": re.compile(r"gc\.collect|torch\.\w+\.empty_cache"),
    "load": re.compile(r"torch\.load"),
    "make": re.compile(r"(torch\.)?optim\.[A-Z]\w+|torch\.jit\.trace|next"),
    "workers": re.compile(r"(torch\.utils\.data\.)?DataLoader"),
}
CONTROLS = 1000  # the first of their places


def controls(source, instrument):
    """Places in a program without findings: an instrument must see nothing there."""
    nodes = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and TEMPTING[instrument].fullmatch(ast.unparse(node.func)):
            found = [k.value for k in node.keywords if k.arg == "num_workers"] if instrument == "workers" else [node]
            nodes.extend(found)
    return [Place({"id": CONTROLS + i, "start": _start(node), "end": _end(node), "cut": "", "peak": False, "cycle": False,
                   "instrument": instrument}) for i, node in enumerate(nodes)]


def marked(source, places):
    """The syntax tree of a program with marks."""
    tree = ast.parse(source)
    _unwrap(source, tree, places)
    _settle(tree, places)
    tree = ast.fix_missing_locations(_Marker(places).visit(tree))
    return tree


def _unwrap(source, tree, places):
    """Takes the parentheses off the places of expressions in parentheses: they are
    no part of an expression in the tree."""
    text = source.encode()
    lines = [0, *itertools.accumulate(len(line) + 1 for line in text.split(b"\n"))]

    def at(position):
        return lines[position[0] - 1] + position[1]

    spans = {(at(_start(n)), at(_end(n))): (_start(n), _end(n)) for n in ast.walk(tree) if isinstance(n, ast.expr)}
    for place in places:
        first, last = at(place.start), at(place.end)
        while (first, last) not in spans and text[first:first + 1] == b"(" and text[last - 1:last] == b")":
            inner = text[first + 1:last - 1]
            first += 1 + len(inner) - len(inner.lstrip())
            last -= 1 + len(inner) - len(inner.rstrip())
        place.start, place.end = spans.get((first, last), (place.start, place.end))


def _settle(tree, places):
    """Moves each place to the expression that stands for it: the smallest one
    that has all of it. What is stored stands for where it is stored."""
    for place in places:
        best = None
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and place.is_at(node):
                node = node.value
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and _targets(node, place):
                node = node.value
            elif not isinstance(node, ast.expr) or not _is_read(node) or not place.is_in(node):
                continue
            if best is None or _start(best) <= _start(node) and _end(node) <= _end(best):
                best = node
        if best is None:
            continue
        if any(best in getattr(node, "decorator_list", ()) for node in ast.walk(tree)):
            place.cut = "uncached"
        place.start, place.end, place.found = _start(best), _end(best), True


def _is_read(node):
    return isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load)


def _targets(assignment, place):
    targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
    return any(place.is_in(target) for target in targets)


class _Marker(ast.NodeTransformer):
    def __init__(self, places):
        self.places = {}
        for place in places:
            if place.found:
                self.places.setdefault((place.start, place.end), []).append(place)
        self.cleanups = any(place.instrument == "cleanup" for place in places)
        self.loops = 0

    def visit(self, node):
        marked = super().visit(node)
        if isinstance(node, ast.expr) and _is_read(node):
            for place in self.places.pop((_start(node), _end(node)), ()):
                marked = _wrapped(marked, place)
        return marked

    def visit_Constant(self, node):
        return _cuda(node) if isinstance(node.value, str) and node.value.split(":")[0] == "cuda" else node

    def visit_JoinedStr(self, node):
        if node.values and isinstance(node.values[0], ast.Constant) and str(node.values[0].value).startswith("cuda:"):
            return _cuda(node)
        return self.generic_visit(node)

    def visit_MatchValue(self, node):
        return node  # a pattern, which may be no call

    def visit_IfExp(self, node):
        """A program that asks for a GPU is run as if there were one."""
        if ast.unparse(node.test) == "torch.cuda.is_available()" and isinstance(node.body, ast.Constant):
            return self.visit(node.body)
        return self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if ast.unparse(node.func) == "torch.device":
            node.func = ast.copy_location(ast.Name(DEVICE, ast.Load()), node.func)
        return node

    def visit_Delete(self, node):
        names = [ast.Name(target.id, ast.Load()) for target in node.targets if isinstance(target, ast.Name)]
        if not self.cleanups or not names:
            return node
        before, after = ast.Expr(_call(DELETES, *names)), ast.Expr(_call(DELETED))
        return [ast.copy_location(before, node), node, ast.copy_location(after, node)]

    def visit_For(self, node):
        self.generic_visit(node)
        self.loops += 1
        node.body.insert(0, ast.Expr(_call(ITERATION, ast.Constant(self.loops))))
        return [ast.copy_location(ast.Expr(_call(LOOP, ast.Constant(self.loops))), node), node]

    visit_While = visit_AsyncFor = visit_For

    def visit_comprehension(self, node):
        self.generic_visit(node)
        if not node.is_async:
            self.loops += 1
            node.iter = _call(ITERATIONS, ast.Constant(self.loops), node.iter)
        return node


def _wrapped(expression, place):
    mark = ast.Constant(place.id)
    if place.instrument == "make":
        nothing = ast.arguments([], [], None, [], [], None, [])
        call = _call(MAKE, mark, ast.Lambda(nothing, expression))
    elif place.instrument:
        call = _call({"cleanup": CLEANUP, "load": LOAD, "workers": WORKERS}[place.instrument], mark, expression)
    elif place.cut == "arguments" and isinstance(expression, ast.Call):
        expression.args = [_call(AT, ast.Constant(place.id), a) for a in expression.args]
        call = _call(AT, mark, expression)
    elif place.cut == "uncached":
        call = _call(DECORATE, mark, expression)
    elif place.cut in ("record", "guard"):
        call = _call(AFTER, mark, _call(BEFORE, ast.Constant(place.id)), expression)
    else:
        call = _call(AT, mark, expression)
    return ast.copy_location(call, expression)


def _call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _cuda(node):
    return ast.copy_location(ast.Name(CUDA, ast.Load()), node)
