"""Finds loading of data that keeps the device waiting."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .... import units
from ....records.call_stack import Frame
from ....records.note import Note, note
from ....timing.record import Timing
from ...record.evidence import Evidence, HostShare
from ...record.finding import RuleFinding
from ..rule import LEAST_IDLE, Rule, source_at
from .host_time import LEAST_NS, best_run, host_time, matters
from .item_calls import computes_elements, computes_item, may_leave, prefetched_loop, shared_with_loader
from .loading import COUNTING, LEAST_SAMPLES, MANY_SAMPLES, counts_of, is_next, loading_of
from .syntax import Function, around, function_around, tree_of

#: Lines are told apart if one has this many times as many samples as the other: calls that release Python's lock
#: have several times their share. At most so many are listed.
_MOST_CLOSE = 3
_MOST_LINES = 3

#: With a larger share of the samples in comprehensions, another thread would wait for Python's lock.
_MOST_IN_PYTHON = 0.5

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
    loading, time = loading_of(evidence), host_time(evidence)
    if loading is None or time is None or not loading.is_certain:
        return
    found, samples, loading_ns, cost_ns = loading.lines, loading.samples, loading.loading_ns, loading.cost_ns
    first, line = found[0]
    hidden_ns = min(loading_ns, _beside_ns(best_run(evidence), loading_ns), time.hideable_ns, cost_ns)
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
    at = _line_or_function(found)
    yield RuleFinding(
        rule=RULE.name,
        found=note("doctor.input_bound", loading_ns=round(loading_ns)),
        line=at.location,
        source=source_at(at),
        evidence=(note("doctor.input_bound_samples", samples=samples, lines=_listed(found)),),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=_prefetching(round(hidden_ns), ", ".join(shared), leaves) if helps else _otherwise(holds_lock),
        code=_code(*ahead) if helps and ahead is not None and not shared else None,
        applies_to=", ".join(_loaders(loop, first, evidence)) or None,
    )


def _beside_ns(run: Timing, loading_ns: float) -> float:
    """Return how long a run does something else than loading, again and again: it compiles beside one item only."""
    return max(run.wall_ns - run.compile_ns - loading_ns, 0)


def _line_or_function(found: Sequence[tuple[HostShare, Frame]]) -> Frame:
    """Return the line with most samples, or its function if another line of it has nearly as many."""
    (line, most), *others = counts_of(found).most_common(2)
    function = function_around(line)
    close = any(_MOST_CLOSE * count > most and function_around(each) is function for each, count in others)
    return line if function is None or not close else replace(line, line=function.lineno)


def _listed(found: Sequence[tuple[HostShare, Frame]]) -> str:
    """List the lines with most samples, if there are several."""
    counts = counts_of(found).most_common(_MOST_LINES)
    return ", ".join(f"{count} at {line.location}" for line, count in counts) if counts[1:] else ""


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
            if name.split(".")[-1] in (*COUNTING, "iter"):
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


def _loop_over(line: Frame) -> ast.For | None:
    """Return the loop over the items that are loaded at a line, if there is only one."""
    nodes = around(line)
    if nodes and isinstance(nodes[-1], ast.For) and is_next(line):
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
    "make an item without results of the loop and pass it on, also as step(w, load(i)) or in several statements. At "
    f"least {LEAST_SAMPLES} samples of 1 ms have to show the host there. Meanwhile, the device has to be idle for at "
    f"least {units.percent(LEAST_IDLE)} of the run without compiling, and at least {units.time(LEAST_NS)}. Fewer "
    f"than {MANY_SAMPLES} samples count only if the run with samples was not slower than the best run by about the "
    "time of these samples. The cost is this idle time, without the part that waits account for. With --verify, the "
    "code runs repeatedly with the first batch of each shape. That shows how long it would take if loading took no "
    "time: a ceiling, and no gain.",
    source="https://openxla.org/xprof/overview_page",
    look=look,
    needs=("lines", "profile"),
)
