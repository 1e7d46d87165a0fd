"""Finds operations that run one by one outside of jit while the device waits for the next one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .... import units
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Dispatch, Evidence
from ...record.finding import RuleFinding
from ..rewriting.jit.caveats import caveats
from ..rule import LEAST_IDLE, Rule, source_at
from .functions.calling_line import calling_line
from .functions.inside_function import MOST_INSIDE
from .functions.next_step import with_next_step
from .functions.spared import Spared, operations_ns, spared_by
from .functions.spared_in_loop import spared_in_loop
from .functions.transformed_function import jit_outermost
from .host_time import LEAST_NS, MANY, eager_calls, eager_on_device, host_time, matters, names_of_program
from .jitting.advice import Advised, advice_for, beside_calls, group
from .jitting.filled_loops import with_copies
from .jitting.transformed_calls import FEW as FEW_TRANSFORMED
from .jitting.transformed_calls import LARGE_SHARE, transformed_calls
from .jitting.transformed_calls import MANY as MANY_TRANSFORMED
from .numbers.converted_lists import CONVERTING, converted_lists, without_conversions
from .numbers.per_value import of_each_value, per_value, traces

#: The most names of operations that are listed.
MOST_NAMES = 4


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find eager operations, and transformed calls of jitted functions, that keep the device waiting."""
    time = host_time(evidence)
    if time is None:
        return
    yield from transformed_calls(RULE.name, evidence, time)
    calls, lists = eager_calls(evidence, time.use), converted_lists(evidence, time)
    if lists:  # jit would make an argument of each number
        calls, evidence = [each for each in calls if each.name != CONVERTING], without_conversions(evidence)
    count = sum(each.count for each in calls)
    cost_ns = operations_ns(calls, evidence, time)
    transformed = _transformed(calls, evidence)
    many = count >= MANY or transformed >= MANY_TRANSFORMED
    waits_for_host = many and matters(cost_ns, evidence)
    on_device = None if waits_for_host else eager_on_device(evidence)
    if not waits_for_host and on_device is None:
        return
    often = sorted(calls, key=lambda each: -each.count)
    line = calling_line(often, evidence)
    advised = _traced(advice_for(line, count, evidence), evidence)
    if advised.round is not None:
        line = advised.round.line
    if on_device is not None:
        yield _finding(on_device, line, advised, (note("doctor.eager_on_device_gain"),))
        return
    part, remedy, traces = advised.part, advised.remedy, advised.transforms
    spared: Spared | None = None
    if advised.round is not None:
        spared = spared_in_loop(advised.round, calls, evidence, time)
        spared = with_copies(spared, advised.round, evidence, time) if advised.fills else spared
    elif part is not None:
        compiles = traces or remedy.facts.get("way") in ("function", "model")
        spared = spared_by(part, calls, evidence, time, whole=advised.whole, compiles=compiles)
    told = () if spared is None else spared.evidence
    if spared is not None and not matters(spared.time_ns, evidence):  # too few of them are in this function
        known = caveats([], evidence.waits or ())
        together_ns = cost_ns - spared.own_ns
        if matters(together_ns, evidence):
            spared, told, remedy = Spared(together_ns), (), group(evidence, known=known)
        else:
            spared, told = None, (note("doctor.not_jitted_own_calls"),)
            remedy = group(evidence, known=known) if line is None else beside_calls(line, known, evidence)
        remedy = jit_outermost(None, evidence)[0] if 2 * transformed > count else remedy
        advised = advised._replace(remedy=remedy, code=None, applies_to=None)
    elif part is not None and remedy.facts.get("way") in ("function", "outermost"):
        static = "static_arg" in (advised.code or "")
        remedy = with_next_step(remedy, part, evidence, transformed=traces, static=static)
        advised = advised._replace(remedy=remedy)
    found = note(
        "doctor.not_jitted",
        count=count,
        names=", ".join(each.name.strip("_") for each in often[:MOST_NAMES]),
        kinds=len(often),
    )
    yield replace(
        _finding(found, line, advised, told),
        cost_ns=cost_ns if spared is None else spared.time_ns,
        basis="estimated" if spared is None and 2 * transformed <= count else "at least",  # than Python's own time
    )


def _transformed(calls: Sequence[Dispatch], evidence: Evidence) -> int:
    """Return how often operations are called by what ``jax.vmap`` or the like returns, which traces in each call."""
    programs = [each for each in evidence.programs or () if each.eager]
    named = {call.name: [each for each in programs if call.name in names_of_program(each)] for call in calls}
    return sum(call.count for call in calls if all(each.transformed for each in named[call.name]))


def _traced(advised: Advised, evidence: Evidence) -> Advised:
    """Return the advice, or that to let jit trace the numbers for whose values operations are compiled one by one."""
    varying = per_value(evidence)
    if varying is None or advised.round is not None or traces(advised.code):
        return advised
    part = advised.part
    inside = part is None or (part.file == varying.line.file and _has(part.function, varying.line.line))
    if not inside:
        return advised
    return advised._replace(remedy=of_each_value(varying, evidence), code=None, applies_to=None)


def _has(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _finding(found: Note, line: Frame | None, advised: Advised, told: tuple[Note, ...]) -> RuleFinding:
    return RuleFinding(
        rule=RULE.name,
        found=found,
        line=None if line is None else line.location,
        source=source_at(line),
        evidence=told,
        remedy=advised.remedy,
        code=advised.code,
        applies_to=advised.applies_to,
    )


RULE = Rule(
    name="not-jitted",
    looks_for="operations outside jit that keep the device waiting",
    decides=f"Reports operations outside jit if there are at least {MANY} per run, or {MANY_TRANSFORMED} under "
    "jax.vmap or the like, and the device is idle for at "
    f"least {units.percent(LEAST_IDLE)} of the run "
    f"without compiling, and at least {units.time(LEAST_NS)}, while the host calls them. "
    "The cost is this idle time, with at most 50 µs of the host's time before each call, and at least the time in "
    "which the host was sampled in operations of JAX, or in jax.grad and the like where these trace functions that "
    "are not jitted, without that of the device; operations that overlap with the device's work cost nothing. The "
    "function to jit is the outermost one that calls nearly all of them, if "
    f"jit can compile it as it is: it has at least {units.percent(MOST_INSIDE)} of the samples in which operations "
    "may have been called, or the code calls little besides. Otherwise it is the outermost one through which as many "
    "calls of the function around their line came, or that function itself. It has "
    "its share of these samples, and no more than the time in which it ran; where there are few samples, no more "
    "than the operations whose programs it was the first to run. Where jit can compile a function as it is, or a "
    "model, the cost is at least the time in it, at the lower end of what the samples allow, without that of the "
    "device. The code for a loop has jitted functions of the statements in a round that compute, as far as their "
    "syntax and the names in them tell, each up to where Python reads a value; then the same holds for their lines. "
    "For a method, the code has those of its own statements, with attributes as arguments, if it knows all that "
    "these statements and the methods that they call do with the object. "
    "No line has more operations than its syntax and its place may call, or those that it was the first to run. "
    "The cost is less by what the calls of the jitted function take: as many of "
    "them, at most, as of its operation that is called least, and each as long as the host calls an operation. What "
    "is left is a lower bound. It leaves out what jit compiles again in each run for an optimizer of Optax that the "
    "run makes anew; the report then says so. If that is too little, also for a function of all operations, the cost "
    "is the idle time of them all, which only a function with the loop inside it saves. The "
    "function and those that it calls are read for what jit would run only once, as "
    "NumPy's random numbers, and for what it cannot compile, as x[x > 0]. Calls of "
    "jax.vmap(f), jax.grad(f) and the like outside jit, where f is jitted, count from "
    f"{MANY_TRANSFORMED} per run on, or {FEW_TRANSFORMED} if they take {units.percent(LARGE_SHARE)} of it: each of "
    "them transforms f again. Where f is not jitted, its transformed calls "
    "cost the time in which they were running, as the samples of the host show, without that of the device; where "
    "most calls of f are not transformed, f itself is jitted. A function that only prepares one item of an array of "
    "NumPy, as its syntax shows, is not to be jitted if its results are joined: NumPy prepares them. Also "
    f"reports operations outside jit for which the device works for half of the run, or {MANY} of them for a tenth "
    "of it, as XLA would fuse them; what that gains is not estimated.",
    source="https://docs.jax.dev/en/latest/jit-compilation.html",
    look=look,
    needs=("programs", "profile"),
)
