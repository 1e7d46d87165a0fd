"""Finds the arguments that a call donates, of ``jax.jit`` or ``eqx.filter_jit``.

``nnx.jit`` gives its modules new arrays after each call, so nothing leads from them to the arrays that were donated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .....runtime.around import attribute, of_type
from .....runtime.functions import donated_arguments


def arguments_donated(called: Any, call: ast.Call, skipped: int) -> Iterator[ast.expr]:
    """Iterate over the arguments that a call donates.

    Args:
        called: the jitted function; nothing is donated by anything else.
        call: its call.
        skipped: how many arguments come before those of the call, as ``self`` does.
    """
    if str(of_type("__module__", type(called))).partition(".")[0] == "equinox":
        yield from _by_equinox(called, call, skipped)
        return
    donated = donated_arguments(called)
    if donated is None:
        return
    numbers, names = donated
    yield from (each for number, each in enumerate(call.args) if number + skipped in numbers)
    yield from (each.value for each in call.keywords if each.arg in names)


def _by_equinox(called: Any, call: ast.Call, skipped: int) -> Iterator[ast.expr]:
    """``eqx.filter_jit`` donates the first argument, those that follow, or both."""
    first, rest = (attribute(called, name) is True for name in ("donate_first", "donate_rest"))
    given = [*call.args, *(each.value for each in call.keywords)]
    yield from (each for number, each in enumerate(given) if (rest if number + skipped else first))
