"""Finds the samples of lines that load data: that compute the next item of a loop, and dispatch no work."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Evidence, HostShare
from ..rewriting.loops.attributes import JITTED
from .host_time import best_run, host_time, matters, names_of_program
from .item_calls import calls_any, computes_item, passes_item, preparing
from .syntax import around, function_around, own_nodes

#: From how many samples on: fewer are chance.
LEAST_SAMPLES = 10

#: From how many samples on they are no pause of the process, such as one for another process.
MANY_SAMPLES = 20

#: From how many samples on it is told that there are too few.
_SOME_SAMPLES = 5

#: About so long the host has to load data in a run: samples are planned every millisecond.
LEAST_LOADING_NS = LEAST_SAMPLES * 1_000_000

#: Iterators of Python that only count or combine.
COUNTING = ("range", "enumerate", "zip", "reversed")

#: Modules that wait for another thread or process: data that is loaded there is not loaded by the calling thread.
_OTHER_THREADS = ("concurrent.futures.", "threading.", "queue.", "multiprocessing.", "asyncio.")

#: How the names of JAX's functions end that convert or copy arrays.
_MOVING = (".array", ".asarray", ".device_put")


class Loading(NamedTuple):
    """Samples of lines that load data.

    Attributes:
        lines: the samples and the line that loads in them; those of the line with most samples come first.
        samples: how many there are.
        loading_ns: for how long data is loaded in a run.
        slower_ns: how much longer the run took in which the samples were taken, which may all be while loading.
        cost_ns: how much shorter a run would be without loading.
        is_certain: whether the samples are enough to tell that loading matters.
    """

    lines: list[tuple[HostShare, Frame]]
    samples: int
    loading_ns: float
    slower_ns: float
    cost_ns: float
    is_certain: bool


def unjudged_loading(evidence: Evidence) -> Note | None:
    """Return a note on loading of data that would matter, but of which there are too few samples; or ``None``."""
    loading = loading_of(evidence)
    if loading is None or loading.is_certain:
        return None
    slower_ns = round(loading.slower_ns) if loading.samples >= LEAST_SAMPLES else 0
    return note("doctor.input_unjudged", samples=loading.samples, slower_ns=slower_ns)


def loading_of(evidence: Evidence) -> Loading | None:
    """Return the samples of loading; ``None`` if there are none to speak of, or if they cost nothing that matters."""
    time = host_time(evidence)
    if time is None or evidence.host is None:
        return None
    dispatching = _dispatching(evidence)
    lines = [(each, _loading_line(each, dispatching, evidence)) for each in evidence.host]
    operating = _operating(evidence.host)
    found = [(each, line) for each, line in lines if line is not None and line not in operating]
    samples = sum(each.samples for each, _ in found)
    run_ns, observed_ns = best_run(evidence).wall_ns, evidence.observed.wall_ns
    sampled_ns = samples * _interval_ns(evidence)
    loading_ns = sampled_ns * min(1.0, run_ns / max(observed_ns, 1))
    slower_ns, cost_ns = max(observed_ns - run_ns, 0), min(loading_ns, time.spare_ns)
    if samples < _SOME_SAMPLES or not matters(cost_ns, evidence):
        return None
    no_pause = samples >= MANY_SAMPLES or matters(sampled_ns - slower_ns, evidence)
    counts = counts_of(found)
    found.sort(key=lambda each: -counts[each[1]])
    return Loading(found, samples, loading_ns, slower_ns, cost_ns, samples >= LEAST_SAMPLES and no_pause)


def counts_of(found: Sequence[tuple[HostShare, Frame]]) -> Counter[Frame]:
    """Count the samples of each line."""
    counts = Counter[Frame]()
    for share, line in found:
        counts[line] += share.samples
    return counts


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


def _operating(host: Sequence[HostShare]) -> set[Frame]:
    """Return the lines that are in operations of JAX in most of their samples, also inside what they call.

    What converts or copies arrays may belong to loading, and does not count.
    """
    samples, operations = Counter[Frame](), Counter[Frame]()
    for each in host:
        lines = {*each.stack, *each.loading, *filter(None, [each.line])}
        in_operation = bool(each.in_jax) and not each.in_jax.endswith(_MOVING)
        samples.update(dict.fromkeys(lines, each.samples))
        operations.update(dict.fromkeys(lines, each.samples if in_operation else 0))
    return {line for line, count in operations.items() if 2 * count > samples[line]}


def _loading_line(share: HostShare, dispatching: set[tuple[str, str]], evidence: Evidence) -> Frame | None:
    """Return the line that loads data in some samples; ``None`` if they show something else, as a library in JAX."""
    if share.in_jax:
        return None
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
    if is_next(line):
        return True
    if (line.function, line.file) in dispatching:
        return False
    function = function_around(line)
    return function is not None and any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(function))


def is_next(line: Frame) -> bool:
    """Return whether a line gets the next item of an iterator, by ``next`` or as the head of a loop."""
    nodes = around(line)
    statement = nodes[-1] if nodes else None
    if isinstance(statement, ast.For) and statement.iter.lineno <= line.line < statement.body[0].lineno:
        name = ast.unparse(statement.iter.func) if isinstance(statement.iter, ast.Call) else ""
        return name.split(".")[-1] not in COUNTING
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Name(id="next"))):
            return True
    return False
