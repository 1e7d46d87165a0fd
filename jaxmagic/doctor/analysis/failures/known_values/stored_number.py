"""Explains a conversion to a number, or an array of NumPy, that the line stores outside of the traced function."""

from __future__ import annotations

import ast

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression
from .passed_functions import maps_in, passed_on


def stored_number(failure: Failure, failing: Expression | None, name: str) -> Note | None:
    """Return the advice to store a value after the call; ``None`` if the line stores it nowhere else.

    Args:
        failure: what is known about the failure.
        failing: the failing expression.
        name: what converts the value or its elements, such as ``"float"``, ``"item"`` or ``"np.asarray"``.
    """
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or not dict(failure.said).get("outlives"):
        return None
    mapped = next(iter(maps_in(node)), None)  # as in history.extend(map(float, x))
    if mapped is None and passed_on(failure, failing):
        return None
    is_method = isinstance(node.func, ast.Attribute) and not node.args
    value = node.func.value if isinstance(node.func, ast.Attribute) and is_method else next(iter(node.args), None)
    value = value if mapped is None else mapped.args[1]
    if value is None:
        return None
    text = ast.unparse(value)
    new = text if text.isidentifier() else "value"
    returned = ast.Name(new, ast.Load())
    if mapped is not None:
        mapped.args[1] = returned
    elif isinstance(node.func, ast.Attribute) and is_method:
        node.func.value = returned
    else:
        node.args[0] = returned
    known = {each.name for each in failure.values} - {new}
    alone = not any(ast.unparse(each) in known for each in ast.walk(failing.statement) if isinstance(each, ast.expr))
    traced = failure.traced
    outermost = traced is not None and traced.transform == "jit" and not failure.nested
    return note(
        "doctor.write_number_after",
        value=text if failure.own or mapped is not None else "",
        name=new,
        need=name,
        function="" if traced is None else traced.function,
        outermost=outermost,
        differentiated=traced is None and not failure.vmapped,
        code=(failing.with_node(node) or "") if alone else "",
    )
