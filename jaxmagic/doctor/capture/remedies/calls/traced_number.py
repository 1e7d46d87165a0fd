"""Lets a jitted function trace a number that was a static argument."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any

from .....records.note import note
from ....record.finding import RuleFinding
from ..remedy import Change, NotTried
from ..tried_code import TriedCode
from ..user_functions import jitted_functions


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the recommended jit of the function.

    JAX finds programs by function: it gets another one, so that the code compiles after the trial as before.
    """
    if finding.per != "run":
        raise NotTried(note("doctor.not_tried_first_run"))
    name = "" if finding.remedy is None else finding.remedy.facts.get("function")
    found = {id(each): each for each in jitted_functions(code.read()) if getattr(each, "__name__", None) == name}
    if len(found) != 1:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    ((number, function),) = found.items()
    traced, calls = _jitted(function.__wrapped__, finding), list[int]()

    def called(*args: Any, **kwargs: Any) -> Any:
        calls[:] = [1]
        return traced(*args, **kwargs)

    return Change({number: called}, met=lambda: bool(calls))


def _jitted(function: Any, finding: RuleFinding) -> Any:
    import jax

    @functools.wraps(function)
    def apart(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    try:
        return jax.jit(apart, **dict(_options(finding)))
    except (TypeError, ValueError):  # options that are no constants
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule)) from None


def _options(finding: RuleFinding) -> Iterator[tuple[str, Any]]:
    """Yield the options of jit in the recommended code."""
    for each in ast.walk(ast.parse(finding.code or "")):
        if isinstance(each, ast.keyword) and each.arg is not None:
            yield each.arg, ast.literal_eval(each.value)
