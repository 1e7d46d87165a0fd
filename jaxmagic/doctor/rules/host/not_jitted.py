"""Finds operations that run one by one outside of jit while the device waits for the next one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from .... import units
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Evidence, Input
from ...record.finding import RuleFinding
from ..rewriting.called_function import CalledFunction, called_function, changing_read
from ..rewriting.jit_arguments import objects, static_option, untraced
from ..rewriting.jit_caveats import Caveats, caveats, jitted_calls, to_pass
from ..rewriting.jit_obstacles import obstacles
from ..rewriting.jittable import computes_only, counts_to, takes_arrays
from ..rewriting.loops.jitted_round import JittedRound, jitted_round
from ..rewriting.loops.loop_end import end_of
from ..rewriting.loops.while_loop import while_loop
from ..rewriting.meanings import paths_in
from ..rewriting.module_jit import jit_of, jit_of_modules
from ..rewriting.syntax import last_name, lines_run, parameters
from ..rule import LEAST_IDLE, Rule, source_at
from .functions.calling_line import calling_line
from .functions.functions_run import calls_unknown, functions_run, waits_in
from .functions.inputs_inside import inputs_inside, renamed
from .functions.inside_function import MOST_INSIDE
from .functions.next_step import called_in_turn, with_next_step
from .functions.spared import Part, Spared, operations_ns, spared_by
from .functions.spared_in_loop import spared_in_loop
from .functions.transformed_function import (
    is_mostly_transformed,
    jit_outermost,
    round_around,
    transformed_function,
    transforms,
)
from .host_time import LEAST_NS, MANY, eager_calls, eager_on_device, host_time, jitted_operations, matters
from .syntax import Function, around, function_around, loop_around, own_nodes
from .transformed_calls import MANY as MANY_TRANSFORMED
from .transformed_calls import transformed_calls

#: Compiling a loop that jit unrolls into more operations than this takes long.
MOST_UNROLLED = 200

#: The most names of operations that are listed.
MOST_NAMES = 4


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find eager operations, and transformed calls of jitted functions, that keep the device waiting."""
    time = host_time(evidence)
    if time is None:
        return
    yield from transformed_calls(RULE.name, evidence, time)
    calls = eager_calls(evidence, time.use)
    count = sum(each.count for each in calls)
    cost_ns = operations_ns(calls, evidence, time)
    waits_for_host = count >= MANY and matters(cost_ns, evidence)
    on_device = None if waits_for_host else eager_on_device(evidence)
    if not waits_for_host and on_device is None:
        return
    often = sorted(calls, key=lambda each: -each.count)
    line = calling_line(often, evidence)
    advised = _advised(line, count, evidence)
    if advised.round is not None:
        line = advised.round.line
    if on_device is not None:
        yield _finding(on_device, line, advised, (note("doctor.eager_on_device_gain"),))
        return
    part, remedy, traces = advised.part, advised.remedy, advised.transforms
    spared: Spared | None = None
    if advised.round is not None:
        spared = spared_in_loop(advised.round, calls, evidence, time)
    elif part is not None:
        compiles = traces or remedy.facts["way"] == "function"
        spared = spared_by(part, calls, evidence, time, whole=advised.whole, compiles=compiles)
    told = () if spared is None else spared.evidence
    if spared is not None and not matters(spared.time_ns, evidence):  # too few of them are in this function
        spared, advised = None, advised._replace(remedy=group(evidence), code=None, applies_to=None)
    elif part is not None and remedy.facts["way"] in ("function", "outermost"):
        advised = advised._replace(remedy=with_next_step(remedy, part, evidence, transformed=traces))
    found = note(
        "doctor.not_jitted",
        count=count,
        names=", ".join(each.name.strip("_") for each in often[:MOST_NAMES]),
        kinds=len(often),
    )
    yield replace(
        _finding(found, line, advised, told),
        cost_ns=cost_ns if spared is None else spared.time_ns,
        basis="at least" if traces else "estimated",  # tracing in Python counts only in part
    )


class _Advised(NamedTuple):
    """The advice for operations that are called outside of jit.

    Attributes:
        part: what is to be jitted; ``None`` if it is unknown.
        whole: whether it is known to call nearly all of them.
        transforms: whether functions that ``jax.grad`` or the like transforms call some of them.
        remedy: what to do.
        code: code to paste; ``None`` if there is none.
        applies_to: the function that is transformed; ``None`` if none is.
        round: the lines of a loop that the code replaces; ``None`` if it does not.
    """

    part: Part | None
    whole: bool
    transforms: bool
    remedy: Note
    code: str | None
    applies_to: str | None = None
    round: JittedRound | None = None


def _advised(line: Frame | None, count: int, evidence: Evidence) -> _Advised:
    """Return what to do about operations, the most of which are called at a line."""
    called = called_function(evidence, count, MOST_UNROLLED - jitted_operations(evidence), line=line)
    traces = transforms(evidence)
    if called is not None:
        whole = Part(called.function, called.file)
        in_round = None if called.whole else _in_round(whole, count, evidence)
        return in_round or _Advised(whole, called.whole, traces, *compile_called(called, evidence))
    transformed = transformed_function(line, evidence) if traces else None
    if traces and (transformed is None or is_mostly_transformed(transformed.part, evidence)):
        one = round_around(transformed, evidence)
        if one is not None:
            remedy = group(evidence, known=caveats([], evidence.waits or ()))
            return _Advised(None, False, traces, _of_round(remedy, one), one.code, round=one)
        part = None if transformed is None else transformed.part
        return _Advised(part, False, traces, *jit_outermost(transformed, evidence), part and part.function.name)
    part = None if line is None or (function := function_around(line)) is None else Part(function, line.file)
    own = _at_line(line, part, count, evidence)
    return own if own.round is not None or part is None else _in_round(part, count, evidence) or own


def _at_line(line: Frame | None, part: Part | None, count: int, evidence: Evidence) -> _Advised:
    remedy, code = _remedy(line, count, evidence)
    one = jitted_round(line, evidence) if line is not None and code is None and _is_of_loop(remedy) else None
    if one is None:
        return _Advised(part, False, False, remedy, code)
    return _Advised(part, False, False, _of_round(remedy, one), one.code, round=one)


def _in_round(part: Part, count: int, evidence: Evidence) -> _Advised | None:
    """Return the advice to jit a round of the loop that calls a function, and other operations; or ``None``."""
    site = called_in_turn(part, evidence)
    found = None if site is None else _at_line(site, None, count, evidence)
    return None if found is None or found.round is None else found


def _is_of_loop(remedy: Note) -> bool:
    """Return whether the advice is to jit some operations of a loop."""
    return remedy.facts["way"] in ("asked", "generator", "group", "loop", "until")


def _of_round(remedy: Note, one: JittedRound) -> Note:
    """Return the advice for code that is written: caveats about other statements do not concern it."""
    facts = remedy.facts
    if facts["way"] not in ("generator", "group", "loop"):
        return remedy
    reads = int(bool(facts.get("reads") or facts.get("decides")))
    return _advice("round", function=str(facts["function"]), known={"parts": len(one.lines), "reads": reads})


def _finding(found: Note, line: Frame | None, advised: _Advised, told: tuple[Note, ...]) -> RuleFinding:
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


def _remedy(line: Frame | None, count: int, evidence: Evidence) -> tuple[Note, str | None]:
    """Return what to do, and code if jit can compile the function around a line as it is."""
    function = None if line is None else function_around(line)
    if line is None or function is None:
        found = obstacles(_functions_seen(evidence), evidence.names)
        return group(evidence, known=caveats(found, evidence.waits or ())), None
    functions = functions_run(function, line.file, evidence)
    waits = waits_in(functions, evidence)
    loop, found = loop_around(line), obstacles(functions, evidence.names)
    changing = changing_read(functions, evidence)
    known = caveats(found, waits) | _jit_of_modules(evidence)
    of_model = _is_of_model(line)
    together = known | to_pass(changing, function if of_model or loop is None else loop, functions)
    undecided = {name: fact for name, fact in together.items() if name not in ("decides", "reads")}
    if of_model:
        return _advice("model", function.name, undecided), None
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(function)):
        return _advice("generator", function.name, together), None
    end = "count" if loop is None else end_of(loop)
    if end == "host" or (end == "value" and known["decides"]):
        way = "until" if end == "value" else "asked"
        code = while_loop(line, evidence) if way == "until" and "jit" not in known else None
        return _advice(way, function.name, {"written": 1} if code else undecided), code
    if loop is not None and count > MOST_UNROLLED:
        return _advice("loop", function.name, together), None
    outer = [each for each in around(line) if isinstance(each, Function) and each is not function]
    plain = all(computes_only(each, paths_in(each, file, evidence.names)) for each, file in functions)
    inputs = renamed(inputs_inside(line, evidence))
    plain = plain and takes_arrays(function, untraced(inputs)) and not calls_unknown(functions, evidence)
    if waits or found or changing or not plain or "jit" in known:
        known |= to_pass(changing, function, functions, jitted_calls(function, line, evidence))
        return group(evidence, function.name, known | _rebinds(function) | _objects(function, inputs)), None
    runs_outer = not re.search(rf"\b{function.name}\b", evidence.code or "")  # else the code calls it directly
    if outer and runs_outer:
        return _advice("outside", function.name, outer=outer[-1].name), None
    return _compile(function.name)


def _objects(function: Function, inputs: Iterable[Input]) -> Caveats:
    """Return the arguments of a function that are objects which jit does not take."""
    given = sorted(objects(inputs) & parameters(function))
    return {"objects": ", ".join(given)} if given else {}


def _rebinds(function: Function) -> Caveats:
    """Return the variables of code around a function that it assigns to."""
    names = {
        name for each in own_nodes(function) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names
    }
    return {"rebinds": ", ".join(sorted(names))} if names else {}


def _compile(function: str) -> tuple[Note, str | None]:
    return _advice("function", function), f"{function} = jax.jit({function})"


def compile_called(called: CalledFunction, evidence: Evidence) -> tuple[Note, str | None]:
    """Return the advice to jit a function by what it gets: modules need the jit of their library."""
    name, arguments = called.function.name, called.arguments
    jit, needed = "jax.jit", ""
    if arguments.library is not None:
        jit, needed = jit_of(arguments.library, called.function, called.file, evidence.names)
    options = "" if arguments.library == "equinox" else static_option(arguments.static)
    advice = note(
        "doctor.not_jitted_remedy",
        way="function",
        function=name,
        library=arguments.library or "",
        functions=", ".join(arguments.functions),
        rounds=counts_to(called.function, {*arguments.static}) if arguments.library == "equinox" else "",
        jit=jit,
    )
    return advice, "\n".join(filter(None, [needed, f"{name} = {jit}({name}{options})"]))


def _functions_seen(evidence: Evidence) -> list[tuple[Function, str]]:
    """Return the functions that called programs, or were sampled, and what they call; not those that load data."""
    loading = {each.line for each in evidence.host or () if each.loading}
    loading -= {each.called_at for each in evidence.programs or ()}
    seen = ((function_around(line), line.file) for line in lines_run(evidence) if line not in loading)
    found = (functions_run(each, file, evidence) for each, file in dict.fromkeys(seen) if each is not None)
    return list(dict.fromkeys(each for functions in found for each in functions))


def group(evidence: Evidence, function: str = "", known: Caveats | None = None) -> Note:
    """Return the advice to put operations into a jitted function, which may get modules of a library."""
    return _advice("group", function, {**_jit_of_modules(evidence), **(known or {})})


def _jit_of_modules(evidence: Evidence) -> Caveats:
    """Return the jit of the library of the modules that the code calls or reads, if that is not JAX's."""
    jit = jit_of_modules(evidence)
    return {} if jit == "jax.jit" else {"jit": jit}


def _advice(way: str, function: str = "", known: Caveats | None = None, *, outer: str = "") -> Note:
    return note("doctor.not_jitted_remedy", way=way, function=function, outer=outer, **known or {})


def _is_of_model(line: Frame) -> bool:
    """Return whether a line is in a method of a model of flax or equinox, which is jitted where it is called."""
    classes = (each for each in around(line) if isinstance(each, ast.ClassDef))
    return any(last_name(base) == "Module" for each in classes for base in each.bases)


RULE = Rule(
    name="not-jitted",
    looks_for="operations outside jit that keep the device waiting",
    decides=f"Reports operations outside jit if there are at least {MANY} per run and the device is idle for at "
    f"least {units.percent(LEAST_IDLE)} of the run "
    f"without compiling, and at least {units.time(LEAST_NS)}, while the host calls them. "
    "The cost is this idle time, with at most 50 µs of the host's time before each call, and at least the time in "
    "which the host was sampled in operations of JAX, without that of the device; operations that overlap "
    "with the device's work cost nothing. The function to jit is the outermost one that calls nearly all of them, if "
    f"jit can compile it as it is: it has at least {units.percent(MOST_INSIDE)} of the samples in which operations "
    "may have been called, or the code calls little besides. Otherwise it is the outermost one through which as many "
    "calls of the function around their line came, or that function itself. It has "
    "its share of these samples, and no more than the time in which it ran; where there are few samples, no more "
    "than the operations whose programs it was the first to run. Where jit can compile a function as it is, the "
    "cost is at least the time in it, at the lower end of what the samples allow, without that of the device. The "
    "code for a loop has jitted functions of the statements in a round that compute, as far as their syntax and the "
    "names in them tell, each up to where Python reads a value; then the same holds for their lines. "
    "The cost is less by what the calls of the jitted function take: as many of "
    "them, at most, as of its operation that is called least, and each as long as the host calls an operation. The "
    "function and those that it calls are read for what jit would run only once, as "
    "NumPy's random numbers, and for what it cannot compile, as x[x > 0]. Calls of "
    "jax.vmap(f), jax.grad(f) and the like outside jit, where f is jitted, count from "
    f"{MANY_TRANSFORMED} per run on: each of them transforms f again. Where f is not jitted, its transformed calls "
    "cost the time in which they were running, as the samples of the host show, without that of the device; where "
    "most calls of f are not transformed, f itself is jitted. Also "
    f"reports operations outside jit for which the device works for half of the run, or {MANY} of them for a tenth "
    "of it, as XLA would fuse them; what that gains is not estimated.",
    source="https://docs.jax.dev/en/latest/jit-compilation.html",
    look=look,
    needs=("programs", "profile"),
)
