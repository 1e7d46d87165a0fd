"""Tells what can be compiled beyond a function: the calls of a loop in one, or all that an iteration does."""

from __future__ import annotations

import ast
from dataclasses import replace

from .....records.call_stack import Frame, is_users
from .....records.note import Note
from ....record.evidence import Evidence
from ...rewriting.jit.caveats import caveats_of_loop
from ...rewriting.loops.loop_end import calling_loop
from ...rewriting.new_objects import optimizers_given
from ..independence import is_independent, mapped_axes, pair_axes
from ..syntax import Comprehension, Loop, around, calls_of, function_around, loop_around
from .given_objects import gives_an_object
from .inside_function import is_in, least_called
from .spared import Part

#: Fewer calls per run are not worth another step.
_MANY = 10


def with_next_step(remedy: Note, part: Part, evidence: Evidence, *, transformed: bool, static: bool = False) -> Note:
    """Return the advice to jit a function, with what compiles again, and what spares its calls if a loop makes many.

    Args:
        remedy: the advice.
        part: the function.
        evidence: the observations of the runs.
        transformed: whether its calls are those of ``jax.grad`` or the like.
        static: whether some of its arguments have to be static, which ``jax.vmap`` would trace.
    """
    site = called_at(part, evidence)
    anew = [] if site is None else optimizers_given(part.function, site)
    remedy = replace(remedy, facts=remedy.facts | {"anew": ", ".join(anew)}) if anew else remedy
    name = part.function.name
    times = least_called(part.function, part.file, evidence) or 0
    found = None if site is None or times < _MANY else calling_loop(site, name, evidence)
    if site is None or found is None or found.end != "count":
        return remedy
    nested = _loops_around(site, name) > 1
    changes = remedy.facts.get("library") == "nnx" or gives_an_object(site, evidence)
    independent = is_independent(site, name) and not changes
    if not transformed and not static and not nested and found.line == site and independent:
        facts: dict[str, bool | int | float | str] = {"then": "vmap", "axes": mapped_axes(site, name)}
    elif nested and not (transformed or static or changes) and (pair := pair_axes(site, name, evidence)) is not None:
        facts = {"then": "pairs", "axes": pair.inner, "outer_axes": pair.outer}
    elif found.loop is not None and not nested:
        known = caveats_of_loop(found.loop, found.line, found.called, evidence)
        facts = {"then": "step", "line": found.line.location, **{key: known[key] for key in known if key == "reads"}}
    else:
        return remedy
    return replace(remedy, facts=facts | remedy.facts)


def called_in_turn(part: Part, evidence: Evidence) -> Frame | None:
    """Return the only line that calls a function, if it is in a loop whose rounds may need one another's results."""
    site = called_at(part, evidence)
    if site is None or loop_around(site) is None or is_independent(site, part.function.name):
        return None
    return site


def _loops_around(site: Frame, name: str) -> int:
    """Return how many loops are around a call, of which ``vmap`` and ``scan`` replace one each."""
    nodes = around(site)
    calls = {id(call) for node in nodes[-1:] for call in calls_of(name, node, site)}
    inside = [node for each in nodes[-1:] for node in ast.walk(each) if isinstance(node, Comprehension)]
    inner = sum(len(each.generators) for each in inside if any(id(node) in calls for node in ast.walk(each)))
    home = next((number for number, each in enumerate(nodes) if each is function_around(site)), 0)
    return inner + sum(isinstance(each, Loop) for each in nodes[home:])


def called_at(part: Part, evidence: Evidence) -> Frame | None:
    """Return the only line of the user's that calls a function, as the stacks of operations show it.

    They are those of their first calls, or else of their compilations, which other code may have caused.
    """
    eager = [each for each in evidence.programs or () if each.eager]
    led = [[is_in(frame, part.function, part.file) for frame in each.called_from] for each in eager]
    found = {
        each.called_from[len(inside) - inside[::-1].index(True)]
        for each, inside in zip(eager, led, strict=True)
        if any(inside[:-1]) and not inside[-1]
    }
    if found:
        return found.pop() if len(found) == 1 else None
    if any(inside[-1:] == [True] for inside in led):
        return None  # it is the examined code, and a loop that calls jaxmagic is not
    for program in eager:
        for each in () if program.module is None else program.module.instructions.values():
            inside = next((n for n, frame in enumerate(each.stack) if is_in(frame, part.function, part.file)), 0)
            found |= set(list(filter(is_users, each.stack[:inside]))[-1:])
    run = {
        frame.file for each in evidence.host or () for frame in each.stack
    }  # others compiled the operations before
    found = {each for each in found if each.file in run} if run else found
    return found.pop() if len(found) == 1 else None
