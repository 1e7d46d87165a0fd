"""Finds loading of data that keeps the device waiting."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .... import units
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Evidence, HostShare
from ...record.finding import RuleFinding
from ..rewriting.loops.attributes import JITTED
from ..rule import LEAST_IDLE, Rule, source_at
from .host_time import LEAST_NS, best_run, host_time, matters, names_of_program
from .item_calls import (
    calls_any,
    computes_elements,
    computes_item,
    may_leave,
    passes_item,
    prefetched_loop,
    preparing,
    shared_with_loader,
)
from .syntax import Function, around, function_around, own_nodes, tree_of

#: From how many samples on: fewer are chance.
_LEAST_SAMPLES = 20

#: About so long the host has to load data in a run: samples are planned every millisecond.
LEAST_LOADING_NS = _LEAST_SAMPLES * 1_000_000

#: With a larger share of the samples in comprehensions, another thread would wait for Python's lock.
_MOST_IN_PYTHON = 0.5

#: Iterators of Python that only count or combine.
_COUNTING = ("range", "enumerate", "zip", "reversed")

#: Modules that wait for another thread or process: data that is loaded there is not loaded by the calling thread.
_OTHER_THREADS = ("concurrent.futures.", "threading.", "queue.", "multiprocessing.", "asyncio.")

_PREFETCHED = """\
from concurrent.futures import ThreadPoolExecutor

def prefetched(items):
    items, end = iter(items), object()
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(next, items, end)
        while (item := ahead.result()) is not end:
            ahead = pool.submit(next, items, end)
            yield item

{note}for {target} in prefetched({items}):"""


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find lines that fetch the next item of an iterator while the device is idle."""
    time = host_time(evidence)
    if time is None or evidence.host is None:
        return
    dispatching = _dispatching(evidence)
    loading = [(each, _loading_line(each, dispatching, evidence)) for each in evidence.host]
    found = [(each, line) for each, line in loading if line is not None]
    samples = sum(each.samples for each, _ in found)
    run_ns = best_run(evidence).wall_ns
    loading_ns = samples * _interval_ns(evidence) * min(1.0, run_ns / max(evidence.observed.wall_ns, 1))
    cost_ns = min(loading_ns, time.spare_ns)
    if samples < _LEAST_SAMPLES or not matters(cost_ns, evidence):
        return
    first, line = found[0]
    hidden_ns = min(loading_ns, max(run_ns - loading_ns, 0), time.hideable_ns, cost_ns)
    loop = _loop_at(first.loading[-1]) if first.loading else _loop_over(line)
    ahead = None if loop is None else (_written(loop.target), ast.unparse(loop.iter), "")
    if loop is None and computes_item(line):
        ahead = prefetched_loop(line)
    in_python = sum(each.samples for each, _ in found if _of_elements(each))
    holds_lock = in_python > _MOST_IN_PYTHON * samples
    helps = matters(hidden_ns, evidence) and not holds_lock
    place = first.loading[-1] if first.loading else line
    shared = [] if loop is None else shared_with_loader(loop, place)
    leaves = int(loop is not None and may_leave(loop))
    yield RuleFinding(
        rule=RULE.name,
        found=note("doctor.input_bound", loading_ns=round(loading_ns)),
        line=line.location,
        source=source_at(line),
        evidence=(note("doctor.input_bound_samples", samples=samples),),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=_prefetching(round(hidden_ns), ", ".join(shared), leaves) if helps else _otherwise(holds_lock),
        code=_code(*ahead) if helps and ahead is not None and not shared else None,
        applies_to=", ".join(_loaders(loop, first, evidence)) or None,
    )


def _of_elements(share: HostShare) -> bool:
    """Return whether samples show Python's own work on elements of an item, which holds Python's lock."""
    return share.line is not None and not share.called and not share.loading and computes_elements(share.line)


def _prefetching(hidden_ns: int, shared: str, leaves: int) -> Note:
    return note("doctor.input_bound_prefetch", hidden_ns=hidden_ns, shared=shared, leaves=leaves)


def _otherwise(holds_lock: bool) -> Note:
    return note("doctor.input_bound_in_numpy") if holds_lock else note("doctor.input_bound_faster")


def _code(target: str, items: str, replaced: str) -> str:
    note = f"# replaces {replaced}\n" if replaced else ""
    return _PREFETCHED.format(note=note, target=target, items=items)


def _written(target: ast.expr) -> str:
    """Return the target of a loop as code, without parentheses around several names."""
    return (
        ", ".join(map(ast.unparse, target.elts))
        if isinstance(target, ast.Tuple) and target.elts[1:]
        else ast.unparse(target)
    )


def _interval_ns(evidence: Evidence) -> float:
    """Return the time between two samples: longer than planned if C holds Python's lock, or CPUs are busy."""
    samples = sum(each.samples for each in evidence.host or ())
    return max(evidence.host_interval_ns, evidence.observed.host_ns / max(samples, 1))


def _dispatching(evidence: Evidence) -> set[tuple[str, str]]:
    """Return the functions that call jitted programs or wait: an operation outside of jit may make an item."""
    programs = [each for each in evidence.programs or () if not each.eager]
    lines = [each.line for each in evidence.waits or ()] + [each.called_at for each in programs]
    found = {(each.function, each.file) for each in lines if each is not None}
    for program in programs:
        instructions = () if program.module is None else program.module.instructions.values()
        found |= {(frame.function, frame.file) for each in instructions for frame in each.stack}
    return found


def _loading_line(share: HostShare, dispatching: set[tuple[str, str]], evidence: Evidence) -> Frame | None:
    """Return the line that loads data in some samples; ``None`` if they show something else."""
    if share.line is None or _loads(share, share.line, dispatching):
        return share.line
    if share.loading or share.called.startswith(("jax", "jaxlib", *_OTHER_THREADS)):
        return None
    lines = share.stack or (share.line,)
    at = next((at for at, each in enumerate(lines) if (each.function, each.file) in dispatching), None)
    if at is None:
        return None
    line, inside = lines[at], lines[at - 1].function if at else ""
    if inside and passes_item(line, inside):
        return line
    if not computes_item(line) and preparing(line, _jitted_names(evidence)) is None:
        return None
    return None if line == share.line and _runs_programs(line, evidence) else line


def _runs_programs(line: Frame, evidence: Evidence) -> bool:
    """Return whether a line itself may call programs, or wait for them."""
    programs = evidence.programs or ()
    lines = [*(each.line for each in evidence.waits or ()), *(each.called_at for each in programs)]
    return line in lines or calls_any(line, _jitted_names(evidence))


def _jitted_names(evidence: Evidence) -> set[str]:
    """Return the names by which the code, and functions that it leads to, call jitted functions."""
    programs = evidence.programs or ()
    read = {each.path.rpartition(".")[2] for each in evidence.inputs if each.type == JITTED}
    names = {each.name for each in evidence.jitted} | {name for each in programs for name in names_of_program(each)}
    return names | read


def _loads(share: HostShare, line: Frame, dispatching: set[tuple[str, str]]) -> bool:
    """Return whether a line computes the next item of a loop, or belongs to a generator, and dispatches no work."""
    if share.called.startswith(("jax", "jaxlib", *_OTHER_THREADS)):
        return False
    if share.loading:
        return not any((each.function, each.file) in dispatching for each in share.loading[:-1])
    if _is_next(line):
        return True
    if (line.function, line.file) in dispatching:
        return False
    function = function_around(line)
    return function is not None and any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(function))


def _loop_at(line: Frame) -> ast.For | None:
    """Return the loop whose items are computed where a line is, which may have its body as well."""
    return next(
        (
            each
            for each in reversed(around(line))
            if isinstance(each, ast.For) and each.iter.lineno <= line.line <= (each.iter.end_lineno or 0)
        ),
        None,
    )


def _loaders(loop: ast.For | None, share: HostShare, evidence: Evidence) -> Iterator[str]:
    """Yield what gives the loop its items, as ``"loader"`` or, if it is called for that, ``"batches()"``.

    A parameter is what the code passes for it, if it calls the function at one place.
    """
    place = share.loading[-1] if share.loading else share.line
    function = None if place is None else function_around(place)
    for name in () if loop is None else _sources(loop.iter):
        passed = None if function is None else _passed(name, function, evidence.code)
        yield from [name] if passed is None else _sources(passed)


def _sources(items: ast.expr) -> Iterator[str]:
    """Yield the loaders in an expression; for Python's own functions that combine items, those in their arguments."""
    match items:
        case ast.Name() | ast.Attribute():
            yield ast.unparse(items)
        case ast.Call(func=ast.Name() | ast.Attribute() as called, args=given):
            name = ast.unparse(called)
            if name.split(".")[-1] in (*_COUNTING, "iter"):
                for each in given:
                    yield from _sources(each)
            else:
                yield f"{name}()"


def _passed(name: str, function: Function, code: str | None) -> ast.expr | None:
    """Return what the code passes for a parameter of a function; ``None`` if it is none, or that is not known."""
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    try:
        nodes = [*ast.walk(ast.parse(code or ""))]
    except (SyntaxError, ValueError):
        return None
    calls = [each for each in nodes if isinstance(each, ast.Call) and ast.unparse(each.func) == function.name]
    if len(calls) != 1 or any(isinstance(each, ast.Starred) for each in calls[0].args):
        return None
    given = dict(zip(parameters, calls[0].args, strict=False))
    return (given | {each.arg: each.value for each in calls[0].keywords if each.arg is not None}).get(name)


def _is_next(line: Frame) -> bool:
    nodes = around(line)
    statement = nodes[-1] if nodes else None
    if isinstance(statement, ast.For) and statement.iter.lineno <= line.line < statement.body[0].lineno:
        name = ast.unparse(statement.iter.func) if isinstance(statement.iter, ast.Call) else ""
        return name.split(".")[-1] not in _COUNTING
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Name(id="next"))):
            return True
    return False


def _loop_over(line: Frame) -> ast.For | None:
    """Return the loop over the items that are loaded at a line, if there is only one."""
    nodes = around(line)
    if nodes and isinstance(nodes[-1], ast.For) and _is_next(line):
        return nodes[-1]
    function, tree = function_around(line), tree_of(line)
    if function is None or tree is None:
        return None
    loops = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.For)
        and isinstance(each.iter, ast.Call)
        and isinstance(each.iter.func, ast.Name)
        and each.iter.func.id == function.name
    ]
    return loops[0] if len(loops) == 1 else None


RULE = Rule(
    name="input-bound",
    looks_for="loading of data that keeps the device waiting",
    decides="Reports lines that compute the next item of a loop, lines inside a generator, and lines of a loop that "
    "make an item without results of the loop and pass it on, also as step(w, load(i)) or in several statements, if "
    "at least "
    f"{_LEAST_SAMPLES} samples of 1 ms show the host there, and the device is idle meanwhile for at least "
    f"{units.percent(LEAST_IDLE)} of the run "
    f"without compiling and at least {units.time(LEAST_NS)}. The cost is this idle time, "
    "without what waits account for. With --verify, the code runs with the first batch of each shape again and "
    "again, which shows what it would take if loading took no time: a ceiling, and no gain.",
    source="https://openxla.org/xprof/overview_page",
    look=look,
    needs=("lines", "profile"),
)
