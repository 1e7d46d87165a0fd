"""Recognizes functions of the user's that JAX called with other arguments than they take."""

from __future__ import annotations

import ast
from types import TracebackType

from ....records.call_stack import Frame, is_users
from .operands import home_of
from .statement import place_of


def was_called_by_jax(traceback: TracebackType | None, function: str) -> bool:
    """Return whether the user's innermost line calls a function of JAX's, which called one with this name in turn.

    Args:
        traceback: the traceback of the exception.
        function: the name of the function that got wrong arguments.
    """
    last = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_users(Frame(function=code.co_name, file=code.co_filename, line=0)):
            last = traceback
        traceback = traceback.tb_next
    if last is None:
        return False
    place = place_of(last.tb_frame.f_code, last.tb_lasti)
    node = place.node
    if not isinstance(node, ast.Call):
        return False
    home = home_of(place, last.tb_frame) or ""
    return (
        home.partition(".")[0] == "jax" and ast.unparse(node.func).rpartition(".")[2] != function.rpartition(".")[2]
    )
