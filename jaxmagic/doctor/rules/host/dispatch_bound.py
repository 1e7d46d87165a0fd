"""Finds jitted functions that are called so often and are so short that the device waits for the next call."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from .... import units
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...analysis.reused_memory import parameters_of
from ...record.evidence import Dispatch, Evidence
from ...record.finding import RuleFinding
from ...record.program import Program
from ..rewriting.jit.caveats import caveats_of_loop
from ..rewriting.loops.loop_end import calling_loop, end_of
from ..rewriting.loops.scanned_loop import lines_shown_later, scanned_loop
from ..rewriting.loops.while_loop import while_loop
from ..rewriting.syntax import last_name, source_of_location, with_imports
from ..rule import LEAST_IDLE, Rule, source_at
from .decisions import chosen_by_values
from .functions.given_numbers import numbers_given
from .functions.given_objects import gives_an_object, modules_given
from .functions.varying_static import varying_static
from .host_time import (
    LEAST_NS,
    HostTime,
    host_time,
    jitted_calls,
    matters,
    most_copying_ns,
    programs_named,
    shapes_of,
)
from .independence import independent_calls, mapped_axes
from .syntax import around, called_as, comprehension_around, loop_around, site_of, tree_of, written_as

#: Fewer calls per run are no finding.
_MANY = 10

#: A call is short if the device is idle for it for at least this share of the time that it runs for it.
_SHORT = 0.5


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find short calls that recur."""
    time = host_time(evidence)
    if time is None:
        return
    for call in jitted_calls(evidence, time.use):
        exposed_ns = call.exposed_ns - call.put_ns + call.after_wait_ns
        programs = programs_named(call.name, evidence)
        line = site_of(call.name, programs, evidence)
        idle_ns = (call.exposed_ns - call.put_ns) * time.exposed_scale + _after_waits_ns(call, time)
        idle_ns -= _copies_ns(call, line, programs, evidence)
        cost_ns = idle_ns * (1 - 1 / call.count)  # one call remains
        if call.count < _MANY or exposed_ns < _SHORT * call.busy_ns or not matters(cost_ns, evidence):
            continue
        if len({(each.function, each.location) for each in programs}) > 1:
            continue  # the calls are those of several functions with one name
        if any(each.function is None for each in programs):
            continue  # a part of a derivative of an eager operation: nobody has jitted or called it as such
        defined = next((each.location for each in programs), None)
        alike = len({shapes_of(each) for each in programs} - {None}) <= 1
        advice = _advice(call, line, programs, evidence, alike=alike)
        if advice.code is not None and line is not None:
            cost_ns *= 1 - _share_left(line, evidence)
            if not matters(cost_ns, evidence):
                continue
        yield RuleFinding(
            rule=RULE.name,
            found=note(
                "doctor.dispatch_bound",
                function=call.name,
                count=call.count,
                busy_ns=round(call.busy_ns * time.scale) // call.count,
                idle_ns=round(exposed_ns * time.scale) // call.count,
            ),
            line=defined if line is None else line.location,
            source=source_of_location(defined, evidence) if line is None else source_at(line),
            cost_ns=cost_ns,
            basis="at least",  # Python's own time between the calls does not count
            remedy=advice.remedy,
            code=advice.code,
        )


def _share_left(line: Frame, evidence: Evidence) -> float:
    """Return the share of the host's time in a loop that the code leaves as it is, after the call of all rounds.

    That is the share of the samples, and at least as if each line took as long as the call.
    """
    loop, later = loop_around(line), lines_shown_later(line)
    if loop is None or not later:
        return 0.0
    lines = range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
    samples = [
        (each.line.line, each.samples)
        for each in evidence.host or ()
        if each.line is not None and each.line.file == line.file and each.line.line in lines
    ]
    left = sum(count for number, count in samples if number in later)
    return max(left / max(sum(count for _, count in samples), 1), len(later) / (len(later) + 1))


def _after_waits_ns(call: Dispatch, time: HostTime) -> float:
    """Return the idle time of calls that follow waits of the code, as far as the waits do not cost it.

    On the CPU, waiting as such may cost nothing, as the host has nothing else to do; one call has fewer waits.
    """
    after_ns = max(time.use.waited_ns * time.scale - time.wait_cost_ns, 0.0)
    return min(call.after_wait_ns * time.scale, after_ns)


class _Advice(NamedTuple):
    """The remedy, and code to paste."""

    remedy: Note
    code: str | None


def _advice(
    call: Dispatch, line: Frame | None, programs: Sequence[Program], evidence: Evidence, *, alike: bool
) -> _Advice:
    """Advise one call for all: of ``vmap`` where no call needs the result of another, or else of a loop of JAX.

    Both need arguments that differ in nothing but the values of arrays.
    """
    function = call.name
    static = varying_static(function, call.count, line, programs, evidence)
    if static:
        names = ", ".join(static)
        return _Advice(note("doctor.dispatch_bound_static", function=function, arguments=names, alike=alike), None)
    if not alike:
        return _Advice(note("doctor.dispatch_bound_varying", function=function), None)
    name = called_as(function, programs, evidence)
    around_it = None if line is None else calling_loop(line, name, evidence)
    if line is None or around_it is None:
        return _Advice(note("doctor.dispatch_bound_unknown", function=function), None)
    modules, written_so = modules_given(line, evidence, programs), written_as(name, line)
    independent = independent_calls(line, name, evidence)
    chosen = chosen_by_values(around_it.line, around_it.called)
    if chosen and (around_it.end != "count" or independent is None):
        jit = "jax.jit" if modules is None else modules.jit
        return _Advice(note("doctor.dispatch_bound_chosen", function=written_so, chosen=chosen, jit=jit), None)
    if around_it.end != "count":
        code = while_loop(line, evidence) if around_it.end == "value" and modules is None else None
        written = int(code is not None)
        remedy = note(
            "doctor.dispatch_bound_until",
            function=written_so,
            end=around_it.end,
            written=written,
            library="" if modules is None else modules.library,
            modules="" if modules is None else ", ".join(modules.names),
            jit="" if modules is None else modules.jit,
        )
        return _Advice(remedy, code)
    if independent is not None and not gives_an_object(line, evidence, programs):
        within = independent.within
        remedy = note(
            "doctor.dispatch_bound_vmap",
            function=written_so,
            axes=mapped_axes(line, name, independent.loops),
            jit="jax.jit" if modules is None else modules.jit,
            within="" if within is None else replace(line, line=within.lineno).location,
            counts=int(within is not None and end_of(within) == "count"),
            caller=independent.caller,
        )
        return _Advice(remedy, _mapped(line, name) if modules is None else None)
    is_static = any(each.function == function and each.names for each in evidence.static)
    code = None if is_static or modules is not None else scanned_loop(line)
    at, called, loop = around_it.line, around_it.called, around_it.loop
    known = {} if loop is None or code is not None else caveats_of_loop(loop, at, called, evidence)
    remedy = note(
        "doctor.dispatch_bound_scan",
        function=written_so,
        library="" if modules is None else modules.library,
        modules="" if modules is None else ", ".join(modules.names),
        jit="" if modules is None else modules.jit,
        items="" if modules is None or modules.library != "nnx" else _items(at, loop, called),
        **known,
    )
    return _Advice(remedy, code)


def _items(line: Frame, loop: ast.AST | None, called: str) -> str:
    """Return the variables of a ``for`` loop, or of the comprehension around a line, that a call there is given."""
    comprehension = comprehension_around(line) if loop is None else None
    if isinstance(comprehension, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        loops: list[ast.AST] = [each.target for each in comprehension.generators]
    else:
        loops = [loop.target] if isinstance(loop, ast.For | ast.AsyncFor) else []
    calls = [each for each in ast.walk(around(line)[-1]) if isinstance(each, ast.Call)]
    made = [each for each in calls if last_name(each.func) == called]
    given = {each.id for call in made for each in ast.walk(call) if isinstance(each, ast.Name)}
    targets = [each.id for target in loops for each in ast.walk(target) if isinstance(each, ast.Name)]
    return ", ".join(each for each in targets if each in given)


def _copies_ns(call: Dispatch, line: Frame | None, programs: Sequence[Program], evidence: Evidence) -> float:
    """Return how much of the idle time copies of arguments may take, at most: one call would have to copy them too.

    Each call copies as many arguments as it hands over: those that the first call passed from the host, or else the
    largest ones. Numbers take no time. Infinite if the sizes are unknown.
    """
    if call.puts < call.count or call.puts <= call.count * numbers_given(
        called_as(call.name, programs, evidence), line, evidence
    ):
        return 0.0
    sizes = [_copied_bytes(each, math.ceil(call.puts / call.count)) for each in programs]
    return most_copying_ns(call, call.count * max(sizes, default=math.inf))


def _copied_bytes(program: Program, count: int) -> float:
    """Return the size of so many arguments that a call copies, at most; infinite if it is unknown."""
    all_bytes = program.executable.argument_bytes
    parameters = [] if program.module is None else parameters_of(program.module)
    if len(program.from_host) >= count:
        parameters = [each for each in parameters if each.number in program.from_host]
    sizes = sorted(each.size_bytes for each in parameters)
    largest = sum(sizes[-count:]) if sizes and all(sizes) else math.inf
    return min(largest, math.inf if all_bytes is None else all_bytes)


def _mapped(line: Frame, function: str) -> str | None:
    """Rewrite ``name = np.vectorize(lambda r: float(f(r)))``, if the lambda does nothing else."""
    match around(line)[-1]:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="vectorize"),
                args=[ast.Lambda(args=parameters, body=read)],
                keywords=[],
            ),
        ):
            pass
        case _:
            return None
    match read:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Call() as call], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Call() as call, attr="item"), args=[], keywords=[]):
            pass
        case _:
            return None
    plain = f"{function}({', '.join(each.arg for each in parameters.args)})"
    if ast.unparse(call) != plain or len(parameters.args) != len(ast.unparse(parameters).split(",")):
        return None
    return with_imports(f"{name} = jax.jit(jnp.vectorize({function}))  # returns arrays of JAX", tree_of(line))


RULE = Rule(
    name="dispatch-bound",
    looks_for="short calls of jitted functions, between which the device is idle",
    decides=f"Reports a jitted function that is called at least {_MANY} times per run, if the device is idle during "
    f"these calls for at least {units.percent(LEAST_IDLE)} of the run without compiling, at least "
    f"{units.time(LEAST_NS)}, and at least half as long as it runs for them. The cost is a lower bound: this idle "
    "time of all calls but one, without copying, and without what waits cost. It also leaves out the share of the "
    "host's time in lines that the suggested code keeps after the call of all rounds. Where every "
    "call gets host arrays that are not numbers, as far as the syntax and the inputs show, the cost is less by the "
    "longest time that copying them may take, at 1 GB/s. The advice is jax.vmap where the syntax shows that no call "
    "needs the result of another: in a comprehension, in map or np.vectorize, or in a for loop that computes the "
    "arguments from nothing else. If loops around it may need earlier results, the advice is one such call in each "
    "pass. Elsewhere the advice is jax.lax.scan if the loop only counts or goes over items, and "
    "otherwise jax.lax.while_loop, or several steps between two checks of the condition that ends the loop. For "
    "modules of flax.nnx these are nnx.scan and nnx.while_loop. There is no such loop if the syntax shows that "
    "Python chooses an argument by values that it reads. A static argument that differs from call to call is "
    "named first, as it prevents all of these.",
    source="https://docs.jax.dev/en/latest/gpu_performance_tips.html",
    look=look,
    needs=("programs", "profile"),
)
