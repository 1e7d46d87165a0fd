"""Checkpoints a function inside a jitted one, or takes its batch in parts: memory by compiling, time by running."""

from __future__ import annotations

import ast
import types
from typing import Any

from .....records.note import Note, note
from ....analysis.parsed_code import parsed
from ....record.finding import RuleFinding
from ..calls.jitted_function import Jitted
from ..function_copies import FunctionCopies
from ..remedy import Change, NotTried, Sizes, calls_in_advice, first_arguments, names_given
from ..tried_code import TriedCode
from ..user_functions import functions_seen
from .calls import Call, jitted_calls, need_with
from .split_batch import defined_beside

_NAMES = "(checkpoint|remat)"


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the jitted function with the function checkpointed that the finding names, or as the finding has it."""
    import jax

    if calls_in_advice(finding, "scan"):
        return _in_parts(finding, code)
    names = [*names_given(finding), *first_arguments(calls_in_advice(finding, _NAMES)), *_decorated(finding)]
    for call in jitted_calls(code):
        seen = (each for each in functions_seen(call.own) if each is not call.own)
        function = next((each for each in seen if each.__name__ in names), None)
        if function is not None:
            changed = FunctionCopies({id(function): jax.checkpoint(function)}).of(call.own)
            return _changed(call, changed, note("doctor.checkpointed", name=function.__name__))
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _in_parts(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the function that the finding's code defines, in place of the jitted one of the same name."""
    definition = ast.parse(finding.code or "").body[0]
    if isinstance(definition, ast.FunctionDef):
        for call in jitted_calls(code):
            own = call.own
            if type(own) is not types.FunctionType or own.__name__ != definition.name:
                continue
            if own.__defaults__ or own.__kwdefaults__:  # they would be computed again
                break
            changed = defined_beside(own, finding.code or "")
            return _changed(call, changed, note("doctor.taken_in_parts", name=own.__name__))
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _changed(call: Call, changed: Any, about: Note) -> Change:
    """Propose a function in place of the jitted one, with what both need."""
    before, after = (need_with(call._replace(function=each), ()) for each in (call.own, changed))
    if before is None or after is None:
        raise NotTried(note("doctor.not_tried_sizes"))
    return Change({id(call.function): Jitted(changed).call}, notes=(about,), sizes=Sizes(before, after))


def _decorated(finding: RuleFinding) -> list[str]:
    """Return the functions that the finding's code decorates with ``jax.checkpoint``."""
    tree = parsed(finding.code)
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    return [
        each.name
        for each in functions
        if any("checkpoint" in text or "remat" in text for text in map(ast.unparse, each.decorator_list))
    ]
