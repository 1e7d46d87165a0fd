"""Compiles a jitted function with and without donated arguments, and compares the memory that both need."""

from __future__ import annotations

import inspect

from .....records.note import note
from ....record.finding import RuleFinding
from ..remedy import NotTried, Sizes, calls_in_advice, constant_of, names_given
from ..tried_code import TriedCode
from .calls import Call, jitted_calls, need_with
from .smaller import donated_parameters


def propose(finding: RuleFinding, code: TriedCode) -> Sizes:
    """Compile the function that the code calls, with the arguments donated that the finding names."""
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
    before, after = need_with(call, already), need_with(call, (*already, *donated))
    if before is None or after is None:
        raise NotTried(note("doctor.not_tried_sizes"))
    return Sizes(before, after, (note("doctor.donated", names=", ".join(donated)),))
