"""Runs marked programs and says what they did. One line of JSON in for each
program, one out.

Each run is a process of its own, forked from this one after PyTorch was imported,
so that a run starts from the same state and nothing that it leaks is in the next
one's counts.
"""

import ast
import asyncio
import contextlib
import gc
import inspect
import io
import itertools
import json
import os
import random
import re
import resource
import select
import signal
import sys
import time
import types
import warnings

import numpy
import torch

import absent
import behaviour
import checkpoints
import instruments
import marks
import scenes
import standins
import watch

SHORT, LONG = 12, 360  # iterations compared; the longer one when a short run grows
TRIAL = 3  # iterations when trying out what an entry needs
SECONDS, CPU_SECONDS = 20, 6  # for one run, which may wait for something for ever
RAISES = re.compile(r"backward through the graph a second time|modified by an inplace operation")
NO_END = "no end after some seconds"
TRIES = 8  # shapes of one scene


class Program:
    def __init__(self, request):
        self.name, self.source = request["name"], request["source"]
        self.folder, self.package = request.get("folder", ""), request.get("package", "")
        self.places = [marks.Place(f) for f in request["findings"]]
        if request.get("controls"):
            self.places += marks.controls(self.source, request["controls"])
        self.values = request.get("values", False)
        self.plain = ast.parse(self.source)
        self.tree = marks.marked(self.source, self.places)
        self.script = compile(self.tree, self.name, "exec")
        self.definitions = compile(_definitions(self.tree), self.name, "exec")
        self.comments = _comments(self.source)
        self.free = _free_names(self.tree)
        self.fields = _fields(self.tree)
        self.libraries = absent.imported(self.tree)

    def within(self, entry):
        """The places in the text of an entry; in that of a script are those that are
        in no other."""
        whole = entry.partition(".")[0]
        nodes = {getattr(node, "name", ""): node for node in self.tree.body}
        if entry != "script":
            return [p.id for p in self.places if _covers(nodes[whole], p)]
        return [p.id for p in self.places if not any(_covers(node, p) for name, node in nodes.items() if name)]

    def entries(self):
        """What is run by itself: the script, then functions and classes."""
        if any(_runs(node) for node in self.tree.body):
            yield "script", 0
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                line = min([node.lineno] + [d.lineno for d in node.decorator_list])
                yield node.name, line
                if isinstance(node, ast.ClassDef) and "run" not in self.comments.get(line, ()):
                    yield from ((f"{node.name}.{method}", line) for method in self.methods(node))

    def reach(self, entry):
        """All that an entry may run of its file, as text to compare."""
        parts = {getattr(node, "name", None): node for node in self.plain.body}
        found = {}
        pending = list(parts) if entry == "script" else [entry.partition(".")[0]]
        pending.extend(n.id for node in self.plain.body if not hasattr(node, "name") for n in _names(node))
        while pending:
            name = pending.pop()
            if name in parts and name not in found:
                found[name] = ast.dump(parts[name])
                pending.extend(n.id for n in _names(parts[name]))
        others = [ast.dump(node) for node in self.plain.body if not hasattr(node, "name")]
        return [found[name] for name in sorted(found, key=str)] + others

    def said(self, line, key):
        return "; ".join(self.comments.get(line, {}).get(key, ()))

    def called(self, entry):
        """Whether others of the program name an entry."""
        others = (node for node in self.tree.body if getattr(node, "name", None) != entry)
        return any(n.id == entry for node in others for n in _names(node))

    def methods(self, cls):
        """Of a class with findings, the methods that others may call."""
        if any(cls.lineno <= p.start[0] <= cls.end_lineno for p in self.places):
            for node in cls.body:
                method = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                if method and not node.name.startswith("_") and not node.decorator_list:
                    yield node.name

    def cuts(self, but=None, peaks=True):
        """The places to cut: all but one, with or without those that only cost a
        peak."""
        return {p.id: p.cut for p in self.places if p.id != but and p.cut and (peaks or not p.peak)}


def _covers(node, place):
    return node.lineno <= place.start[0] <= node.end_lineno


def _runs(node):
    """Whether a statement of a module does more than to name things."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    repeats = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.comprehension)
    return any(isinstance(n, repeats) for n in ast.walk(node))


def _names(tree):
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name))


def _definitions(tree):
    """What functions and classes of a module may need of it: all but its loops."""
    loops = (ast.For, ast.AsyncFor, ast.While)
    return ast.Module([node for node in tree.body if not isinstance(node, loops)], tree.type_ignores)


def _comments(source):
    """By the line after them, the comments that say how something is run."""
    found, pending = {}, {}
    for number, line in enumerate(source.split("\n"), 1):
        m = re.match(r"# (once|run|may grow|may change|on purpose): (.*)$", line)
        if m:
            pending.setdefault(m[1], []).append(m[2])
        elif pending:
            found[number], pending = pending, {}
    return found


class Run:
    """One run of one entry."""

    def __init__(self, program, entry, line, scene, length, cuts, collect=True):
        self.program, self.entry = program, entry
        self.comment = program.comments.get(line, {})
        self.reads = any(place.instrument == "workers" for place in program.places)
        self.watch = watch.Blind(length, self.reads) if cuts is None else watch.Watch(length, cuts, collect, self.reads)
        self.scene = standins.Scene(self.watch.iterations, **scene, length=length + 2)
        self.record = behaviour.Record()

    def start(self):
        torch.manual_seed(0)
        random.seed(0)
        stop_clocks()
        numpy.random.seed(0)
        absent.state.named, absent.state.reading = self.program.libraries, True
        module = types.ModuleType("__main__" if self.entry == "script" else "program")
        sys.modules[module.__name__] = module
        vars(module).update(self.watch.names(), print=self.record.print)
        if self.program.folder:
            sys.path.insert(0, self.program.folder)
            module.__package__ = self.program.package
        sys.argv = [self.program.name]
        cast = scenes.Cast(self.scene, module, self.watch.devices.given)
        if self.reads:
            standins.records(scenes.PATH, self.program.fields)
        torch.load = checkpoints.loader(self.scene, self.watch.devices)
        for name in self.program.free:
            try:
                vars(module)[name] = cast.by_name(name)
            except scenes.NoStandIn:
                continue
        if self.entry != "script":
            exec(self.program.definitions, vars(module))
            self.watch.settle()
        self.watch.start()
        absent.state.reading = False
        try:
            if self.entry == "script":
                exec(self.program.script, vars(module))
            else:
                self.call(module, cast)
        except watch.Enough:
            pass
        if self.watch.counts_memory:
            self.watch.instruments.workers.read()
        own = [v for v in vars(module).values() if isinstance(v, torch.nn.Module)]
        self.record.models(self.scene.models + own)

    def call(self, module, cast):
        if "run" in self.comment:
            scope = scenes.Scope(cast, module)
            exec("\n".join(self.comment.get("once", ())), scope)
            body = compile("\n".join(self.comment["run"]), "run", "exec")
            self.repeat(lambda: exec(body, scope))
            return
        name, _, method = self.entry.partition(".")
        entry = getattr(module, name)
        if method:
            bound = getattr(cast.instance(entry), method)
            self.repeat(lambda: self.finish(bound(*cast.arguments(bound))))
            return
        if inspect.isclass(entry):
            if issubclass(entry, torch.autograd.Function):
                self.repeat(lambda: self.differentiate(entry, cast))
                return
            if not issubclass(entry, torch.nn.Module):
                raise scenes.NoStandIn("how to use this class is not known")
            self.train(cast.instance(entry), cast)
            return
        self.repeat(lambda: self.finish(entry(*cast.arguments(entry))))

    def repeat(self, call):
        """Calls once; where no loop in there ran long enough, the calls are the
        iterations."""
        self.watch.loop("calls")
        self.watch.instruments.call()
        call()
        if self.watch.growth:
            return
        for _ in range(self.watch.length + 2):
            self.watch.iteration("calls")
            self.watch.instruments.call()
            call()

    def train(self, model, cast):
        """What a loop that trains a module does with it, as a part of a network."""
        earlier = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([*model.parameters(), earlier], lr=1e-3)

        def step():
            inputs = cast.arguments(type(model).forward, skip=1)
            floats = [isinstance(x, torch.Tensor) and x.is_floating_point() for x in inputs]
            out = model(*(x * earlier if floating else x for x, floating in zip(inputs, floats)))
            loss = sum(t.float().mean() for t in behaviour.tensors(out) if t.requires_grad)
            if isinstance(loss, torch.Tensor):
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        self.repeat(step)

    def differentiate(self, function, cast):
        values = cast.arguments(function.forward, skip=1)
        for t in behaviour.tensors(values):
            if t.is_floating_point():
                t.requires_grad_()
        results = behaviour.tensors(function.apply(*values))
        torch.autograd.backward([t.sum() for t in results if t.grad_fn is not None])

    def finish(self, result):
        """Takes what a call gives, to its end where it is given bit by bit."""
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        if hasattr(result, "__next__"):
            for i, value in enumerate(result):
                self.record.result(value)
                if i > self.watch.length + 2:
                    break
            return
        self.record.result(result)
        graphs = [t for t in behaviour.tensors(result) if t.grad_fn is not None]
        if graphs:  # what a caller does who is given a graph
            self.watch.passes = self.watch.watched = 0
            with contextlib.suppress(RuntimeError):  # where it was freed
                torch.autograd.backward([t.sum() for t in graphs])


def _free_names(tree):
    """Names that a module reads and neither it nor Python defines."""
    bound, read = set(dir(__builtins__)), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
    return sorted(read - bound)


def _fields(tree):
    """The names by which a program takes something of something."""
    slices = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    return sorted({s.value for s in slices if isinstance(s, ast.Constant) and isinstance(s.value, str)})


def forked(work):
    """What work() returns, from a process of its own; None if it has no end."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        try:
            text = _line(reader, time.monotonic() + SECONDS)
        finally:
            os.close(reader)
            with contextlib.suppress(ProcessLookupError):  # it ended, and so did all that it started
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return json.loads(text) if text else None
    try:
        os.setpgid(0, 0)  # with the processes that a program starts, which may outlive it
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        gc.freeze()  # what is to be counted is made from here on
        sys.stdout = sys.stderr = io.StringIO()
        warnings.simplefilter("ignore")
        answer = work()
        with os.fdopen(writer, "w") as f:
            f.write(json.dumps(answer) + "\n")
    finally:
        os._exit(0)


def _line(reader, deadline):
    """One line, or nothing if there is none by then. That nobody can write any more
    says nothing: a process that a program started may be left."""
    text = b""
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([reader], [], [], max(0, deadline - time.monotonic()))
        part = os.read(reader, 1 << 16) if ready else b""
        if not part:
            return b""
        text += part
    return text


def attempt(run):
    """Runs, and returns what went wrong."""
    try:
        run.start()
    except (Exception, SystemExit) as e:
        return f"{type(e).__name__}: {str(e)[:300]}"
    return ""


def outcome(run):
    def work():
        error = attempt(run)
        return {
            "error": error,
            "visits": run.watch.visits,
            "growth": run.watch.growths(),
            "peak": run.watch.peak,
            "freed": run.watch.freed,
            "seen": run.watch.instruments.seen,
            "needs": run.watch.instruments.workers.needs,
            "behaviour": run.record.parts,
        }

    nothing = {"error": NO_END, "visits": {}, "growth": {}, "seen": {}, "behaviour": {}}
    return forked(work) or nothing


def scene_for(program, entry, line):
    """The first scene in which an entry runs, and why the first one failed if
    there is none. All are tried in one process."""

    def work():
        first = ""
        for scene in scenes.scenes():
            wanted, tried = [scene], 0
            while wanted and tried < TRIES:
                scene = wanted.pop(0)
                tried += 1
                trial = Run(program, entry, line, scene, TRIAL, None)
                error = attempt(trial)
                if not error or RAISES.search(error):  # the latter is what a finding may be about
                    return scene, ""
                first = first or error
                if error.startswith(("NoStandIn", "Needed", "ModuleNotFoundError", "ImportError")):
                    return None, error
                wanted.extend(scenes.adapted(scene, error, trial.scene.length))
        return None, first

    return forked(work) or (None, NO_END)


def run(program, entry, line, scene, length, cuts, collect=True):
    return outcome(Run(program, entry, line, scene, length, cuts, collect))


def settled(program, entry, line, scene, rest):
    """A run with cuts, made long if the short one grows: many a loop empties
    what it keeps, or has it full, after a number of steps only."""
    alone = "." in entry  # a method, of whose object others know how long it lives
    parts = 3 if program.values else 2
    if not alone and not rest["error"] and any(max(rate[:parts]) > 0 for rate in rest["growth"].values()):
        return run(program, entry, line, scene, LONG, program.cuts(peaks=False))
    return dict(rest)


def measure(program, entry, line, scene):
    """Runs an entry as it is, then with cuts: every place that keeps something,
    every place at all, every one but one, and one alone where that shows nothing."""
    at = program, entry, line, scene
    plain = run(*at, SHORT, {})
    report = {
        "entry": entry,
        "called": program.called(entry),
        "grows": program.said(line, "may grow"),
        "changes": program.said(line, "may change"),
        "meant": program.said(line, "on purpose"),
        "scene": scene,
        "plain": plain,
        "rest": plain,
        "cut": plain,
        "alone": {},
        "without": {},
    }
    visited = [p for p in program.places if str(p.id) in plain["visits"] and p.cut]
    keep = [p for p in visited if not p.peak]
    peak = [p for p in visited if p.peak]
    if keep:
        report["rest"] = report["cut"] = run(*at, SHORT, program.cuts(peaks=False))
    if peak:
        report["cut"] = run(*at, SHORT, program.cuts())
    for place in keep:
        report["alone"][place.id] = plain if len(keep) == 1 else run(*at, SHORT, program.cuts(place.id, peaks=False))
    for place in keep:
        if place.cycle:  # a collection would free it, some time
            report["alone"][place.id] = run(*at, SHORT, program.cuts(place.id, peaks=False), collect=False)
            report["cycles"] = run(*at, SHORT, program.cuts(peaks=False), collect=False)
    for place in peak:
        report["alone"][place.id] = plain if len(visited) == 1 else run(*at, SHORT, program.cuts(place.id))
    for place in keep:
        if len(keep) > 1 and not _more(report["alone"][place.id], report["rest"]):
            # What it keeps, others have to have made.
            report["without"][place.id] = run(*at, SHORT, {place.id: place.cut})
    report["long"] = settled(*at, report["rest"])
    return report


def _more(run, other):
    """Whether anything grows more in a run than in another one."""
    none = [0] * 5
    return any(a > b for loop, rate in run["growth"].items() for a, b in zip(rate[:4], other["growth"].get(loop, none)))


def examine(request):
    program = Program(request)
    variants = [(v["label"], Program({**request, **v})) for v in request.get("variants") or ()]
    reports = []
    for entry, line in program.entries():
        scene, error = scene_for(program, entry, line)
        if scene is None:
            reports.append({"entry": entry, "error": error, "needs": absent.reason(error), "within": program.within(entry)})
            continue
        report = measure(program, entry, line, scene)
        report["variants"], known = {}, [program.reach(entry)]
        for label, variant in variants:
            lines = dict(variant.entries())
            shown = report["alone"] or report["plain"]["seen"]
            if entry not in lines or not shown or variant.reach(entry) in known:
                continue
            known.append(variant.reach(entry))
            at = variant, entry, lines[entry], scene
            after = run(*at, SHORT, {})
            after["same"] = behaviour.compare(report["plain"]["behaviour"], after["behaviour"])
            rest = run(*at, SHORT, variant.cuts(peaks=False)) if variant.places else after
            after["long"] = settled(*at, rest)
            report["variants"][label] = after
        reports.append(report)
    for report in reports:
        _strip(report)
    return {"name": program.name, "places": [p.id for p in program.places if p.found], "entries": reports}


def _strip(report):
    """Leaves out what was only needed to compare."""
    for value in list(report.values()):
        if isinstance(value, dict):
            value.pop("behaviour", None)
            _strip(value)


def stop_clocks():
    """Makes programs that print how long something took print the same."""
    ticks = itertools.count()
    time.time = time.perf_counter = time.monotonic = time.process_time = lambda: float(next(ticks))


def main():
    torch.set_num_threads(1)
    standins.install()
    absent.install()
    checkpoints.install()
    instruments.install()
    torch.zeros(1, requires_grad=True).sum().backward()  # what PyTorch makes once
    sys.modules["probe"] = types.ModuleType("probe")  # of programs that were measured otherwise
    sys.modules["probe"].tick = sys.modules["probe"].note = lambda *_: None
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = examine(request)
        except Exception as e:  # one program must not end the others
            answer = {"name": request["name"], "error": f"{type(e).__name__}: {e}", "entries": []}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
