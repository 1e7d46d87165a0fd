"""Recognizes methods that get arguments by position as in PyTorch: whether the axis stays, axes, numbers."""

from __future__ import annotations

import ast
from typing import Any

from .....runtime.around import is_exactly
from ..calls import MISSING
from .call import Call, is_of_array, rank

#: What follows on the axis in functions of JAX that take no ``keepdims`` there.
_BEHIND_AXIS = "dtype", "out"


#: Messages of JAX alone, which may have left its own calls out of the traceback.
_OF_JAX = "Unexpected value for 'order' argument", "repeat requires ndarray or scalar arguments"


def kept_axis(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.sum(1, True)``, and say which argument it is."""
    if "axis" not in call.parameters or not _is_method_or_function(call):
        return None
    place = call.parameters.index("axis") + 1
    if call.parameters[place : place + 1] not in [(each,) for each in _BEHIND_AXIS] or len(call.values) != place + 1:
        return None
    value, free = call.values[place], not any(each.arg in ("axis", "keepdims") for each in call.node.keywords)
    return {"place": str(place), "parameter": call.parameters[place]} if is_exactly(value, bool) and free else None


def flattened(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.flatten(1)``, and say from which axis on."""
    known = {each.arg: call.value_of(each.value) for each in call.node.keywords}
    given: list[Any] = call.values if not known else [known.get("start_dim")]
    if not _is_method(call, "flatten", text) or len(given) != 1 or not is_exactly(given[0], int) or len(known) > 1:
        return None
    return {"start": str(given[0])}


def tiled(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.repeat(2, 3)``, which repeats the whole array in PyTorch: with a number for each axis."""
    listed = call.node.args[0] if len(call.node.args) == 1 else None
    sizes = call.values
    if isinstance(listed, ast.Tuple | ast.List):
        sizes = [call.value_of(each) for each in listed.elts]
    if not _is_method(call, "repeat", text) or call.node.keywords or len(sizes) < 2:
        return None
    counts = all(is_exactly(each, int) and each >= 0 for each in sizes)
    return {"count": str(len(sizes))} if counts and len(sizes) >= rank(call.owner) else None


def _is_method(call: Call, name: str, text: str) -> bool:
    """Return whether a call is one of a method of an array: JAX has the function of that name in its message."""
    if not isinstance(call.node.func, ast.Attribute) or call.node.func.attr != name:
        return False
    return is_of_array(call) or (call.owner is MISSING and (call.in_jax or text.startswith((f"_{name}()", *_OF_JAX))))


def _is_method_or_function(call: Call) -> bool:
    return is_of_array(call) or call.in_jax_module
