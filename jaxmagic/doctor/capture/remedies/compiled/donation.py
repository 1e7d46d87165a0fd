"""Compiles a jitted function with and without donated arguments: what both need, and how both are called."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any

from .....memory_use.capture.executables import need_of
from .....records.note import note
from .....timing.capture.wait import search_and_wait
from ....record.finding import RuleFinding
from ..remedy import NotTried, ProgramCall, Sizes, calls_in_advice, constant_of, names_given
from ..tried_code import TriedCode
from .calls import Call, ProgramWith, jitted_calls, program_with
from .smaller import donated_parameters

#: Programs that need more do not run: a trial makes copies of their arguments, and keeps some results.
_MOST_BYTES = 2**28


def propose(finding: RuleFinding, code: TriedCode) -> Sizes:
    """Compile the function that the code calls, with the arguments donated that the finding names."""
    if finding.found.kind == "doctor.eager_updates":  # these are outside of any jitted function
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    for call in jitted_calls(code):
        donated = [name for name in _donated(finding, call) if name in call.arguments]
        if donated:
            return _compared(call, donated)
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _donated(finding: RuleFinding, call: Call) -> list[str]:
    """Return the parameters to donate: named by the finding, or in the code that it recommends."""
    parameters = list(inspect.signature(call.function).parameters)
    names = names_given(finding)
    for each in calls_in_advice(finding, "(jit|partial)"):
        named, numbered = constant_of(each, "donate_argnames"), constant_of(each, "donate_argnums")
        names += [named] if isinstance(named, str) else list(named or ())
        numbers = [numbered] if isinstance(numbered, int) else list(numbered or ())
        names += [parameters[number] for number in numbers if number < len(parameters)]
    return list(dict.fromkeys(names))


def _compared(call: Call, donated: list[str]) -> Sizes:
    already = donated_parameters(call)
    programs = program_with(call, already), program_with(call, (*already, *donated))
    before, after = (need_of(each.compiled.runtime_executable()).peak_bytes for each in programs)
    if before is None or after is None:
        raise NotTried(note("doctor.not_tried_sizes"))
    calls = tuple(_on_copies(each, call, (*already, *donated)) for each in programs) if _can_run(call, before) else ()
    runnable = programs[0].computes and len(calls) == len(programs)
    notes = (note("doctor.donated", names=", ".join(donated)),)
    return Sizes(before, after, notes, (calls[0], calls[1]) if runnable else None)


def _can_run(call: Call, need_bytes: int) -> bool:
    """Return whether the arrays of a call are there, and can be copied without asking."""
    import jax

    arrays = [each for each in jax.tree.leaves(call.values(call.traced())) if isinstance(each, jax.Array)]
    return need_bytes <= _MOST_BYTES and not any(each.is_deleted() for each in arrays)


def _on_copies(program: ProgramWith, call: Call, donated: Collection[str]) -> ProgramCall:
    """Return calls of a program, each with new copies of some arguments."""
    import jax

    given: list[Any] = []

    def prepare() -> None:
        values = ((name, call.arguments[name]) for name in program.names)
        given[:] = [jax.tree.map(jax.numpy.copy, each) if name in donated else each for name, each in values]
        search_and_wait(given)

    def called() -> Any:
        values = tuple(given)
        given.clear()
        results = program.compiled(*values)
        search_and_wait(results)
        return results

    return ProgramCall(prepare, called)
