"""Recognizes axes that an array lacks, or that have another size, and arrays that are unpacked."""

from __future__ import annotations

import ast
import re
from types import FrameType, TracebackType
from typing import Any

from .....runtime.around import is_exactly
from .....runtime.tracing import is_array, is_tracer
from ....analysis.failures.messages import is_jax_file
from ....analysis.failures.wrong_arguments.names.renamed import INDICES
from ..called import users_last
from ..calls import MISSING, value_of
from ..operands import array_type
from ..statement import place_of
from .call import Call, jax_function, rank

#: The first parameters of functions and methods that take an axis.
_ARRAYS = "self", "a", "x", "arr"


def axis_beyond(traceback: TracebackType | None, text: str) -> dict[str, str] | None:
    """Recognize an axis that an array lacks by the variables of JAX's function, which fails to index its shape."""
    last = users_last(traceback)
    entry = None if last is None else last.tb_next
    while entry is not None:
        names = entry.tb_frame.f_locals
        if is_jax_file(entry.tb_frame.f_code.co_filename) and "axis" in names:
            count = rank(next((names[each] for each in _ARRAYS if each in names), MISSING))
            axes: Any = names["axis"]
            if rank(axes) > 0:  # another array in its place
                return None
            given = axes if is_exactly(axes, tuple, list) else [axes]
            wrong = [each for each in given if is_exactly(each, int) and not -count <= each < count]
            if count >= 0 and wrong:
                return {"axis": str(wrong[0]), "rank": str(count)}
        entry = entry.tb_next
    return None


def too_many_rows(traceback: TracebackType | None, text: str) -> dict[str, str] | None:
    """Recognize more rows than devices in a call of what ``jax.pmap`` returns, which removes an axis of size 1."""
    last = users_last(traceback)
    inner = None if last is None else last.tb_next
    file = "" if inner is None else inner.tb_frame.f_code.co_filename.replace("\\", "/")
    return {} if file.endswith("/jax/_src/pmap.py") else None


def squeezed(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a call of ``squeeze()`` with an axis of another size than 1."""
    found = re.search(r"shape=(\([\d, ]*\)) and dimensions=(\([\d, ]*\))", text)
    if found is None or ast.unparse(call.node.func).rpartition(".")[2] != "squeeze":
        return None
    return {"shape": found[1], "axes": found[2]}


def unbound_axis(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a collective under ``jax.shard_map`` along an axis that its mesh lacks: JAX does not say so."""
    given = dict(zip(call.parameters, call.values, strict=False))
    given |= {each.arg or "": call.value_of(each.value) for each in call.node.keywords}
    axis = given.get("axis_name")
    known = call.in_jax_module and is_exactly(axis, str) and text in ("", repr(axis))
    return {"axis": str(axis)} if known else None


def unpacked_array(traceback: TracebackType | None, text: str) -> dict[str, str] | None:
    """Recognize an array that is unpacked into another number of names than its first axis has elements."""
    last = users_last(traceback)
    if last is None or last.tb_next is not None:  # Python itself complains of the line
        return None
    match place_of(last.tb_frame.f_code, last.tb_lasti).statement:
        case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)], value=value):
            each = 0
        case ast.For(target=ast.Tuple(elts=names) | ast.List(elts=names), iter=value):
            each = 1
        case _:
            return None
    starred, array = any(isinstance(part, ast.Starred) for part in names), value_of(value, last.tb_frame)
    kind = array_type(array) or ""
    if is_array(array) or is_tracer(array) or kind.startswith("key<"):
        sizes = kind.partition("[")[2].removesuffix("]").split(",")
        inner = starred or sizes[each : each + 1] in ([], [str(len(names))])  # as in (a, b), c = x
        return None if inner else {"names": str(len(names)), "type": kind, "each": "1" * each}
    if isinstance(value, ast.Call) and not each and not starred:
        pair = len(names) == 2 and _has_indices(value, last.tb_frame)
        return {"names": str(len(names)), "type": ""} if pair or _returns_array(value, last.tb_frame) else None
    return None


def _returns_array(call: ast.Call, frame: FrameType) -> bool:
    """Return whether a function of JAX is called that says that it returns one array."""
    function = jax_function(value_of(call.func, frame))
    returned = None if function is None else function.__annotations__.get("return")
    return str(getattr(returned, "__name__", returned)).rpartition(".")[2] == "Array"


def _has_indices(call: ast.Call, frame: FrameType) -> bool:
    """Return whether a call of JAX returns values, and in PyTorch their indices as well, as ``x.max(1)``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in INDICES:
        return False
    owner = value_of(call.func.value, frame)
    return is_array(owner) or is_tracer(owner) or jax_function(value_of(call.func, frame)) is not None
