"""Recognizes an assignment to ``x.at[i]`` by the line, where Python complains of the index."""

from __future__ import annotations

import ast
import re
from types import TracebackType

from .....runtime.tracing import is_array, is_tracer
from ....analysis.failures.messages import is_jax_file
from ....record.failure_kind import Kind
from ..called import users_last
from ..calls import MISSING, value_of
from ..statement import place_of

#: What Python and JAX say of an index that is no integer of Python, before it shows that nothing can be assigned.
_OF_INDEX = re.compile(
    r"[Oo]nly integer scalar arrays can be converted to a scalar index|The __index__\(\) method was called on traced"
)


def assigned_at(traceback: TracebackType | None, text: str) -> Kind | None:
    """Return the kind of an error about the index of ``x.at[i] = y``; ``None`` if the line is no such assignment.

    ``x.at`` has no method that assigns, so Python first makes an integer of the index.
    """
    if not _OF_INDEX.match(text):
        return None
    last = users_last(traceback)
    if last is None or (last.tb_next is not None and not is_jax_file(last.tb_next.tb_frame.f_code.co_filename)):
        return None
    node = place_of(last.tb_frame.f_code, last.tb_lasti).node
    if not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Load):
        return None
    element = node.value if isinstance(node.value, ast.Subscript) else None
    at = node.value if element is None else element.value
    if not isinstance(at, ast.Attribute) or at.attr != "at":
        return None
    array = value_of(at.value, last.tb_frame)
    if array is not MISSING and not is_array(array) and not is_tracer(array):
        return None
    return "at element" if element is None and isinstance(node.ctx, ast.Store) else "at use"
