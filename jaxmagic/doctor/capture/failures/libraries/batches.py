"""Recognizes a layer of Equinox that takes one example and is called with a batch."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FrameType
from typing import Any, Protocol

from .....records.call_stack import Frame
from .....runtime.around import attribute, is_exactly, of_type
from .....runtime.tracing import is_array, is_tracer
from ....record.failure import Failure
from ....record.library_use import BatchUse, ModuleUse
from ..calls import MISSING, value_of
from ..statement import Place
from .module_use import library_of, module_as_function, module_given, module_of_arrays, name_of_jax

#: The layers, the attribute that holds the size of the last axis of an example, and the parameter that gets one.
_LAYERS = {
    "Linear": ("in_features", "x"),
    "GRUCell": ("input_size", "input"),
    "LSTMCell": ("input_size", "input"),
}

#: The function that maps over a batch.
_MAP = "vmap"


class _Caller(Protocol):
    """A call that the user's code makes."""

    @property
    def frame(self) -> FrameType: ...

    @property
    def where(self) -> Frame: ...

    @property
    def place(self) -> Place: ...


def module_in(
    failure: Failure,
    place: Place,
    frame: FrameType,
    inner: FrameType | None,
    innermost: FrameType | None,
    callers: Sequence[_Caller],
) -> ModuleUse | BatchUse | None:
    """Return the module that a failing call passes to JAX or calls with a batch; ``None`` if there is none.

    Args:
        failure: what is known about the failure.
        place: where the user's code stopped.
        frame: its frame.
        inner: the innermost frame of a library that it called.
        innermost: the innermost frame of all.
        callers: the calls of the user's code that led there, the outermost first.
    """
    if failure.kind == "hash":
        return module_as_function(place, frame, innermost)
    if failure.kind in ("not array", "grad input"):
        return module_given(place, frame, dict(failure.said))
    if failure.kind == "listed":
        return module_of_arrays(place, frame, dict(failure.said))
    return batch_given(place, frame, inner, callers) if failure.kind in ("product", "broadcast") else None


def batch_given(
    place: Place, frame: FrameType, inner: FrameType | None, callers: Sequence[_Caller]
) -> BatchUse | None:
    """Return how a failing call passes a batch to a layer that takes one example; ``None`` if it does not.

    Args:
        place: where the user's code stopped.
        frame: its frame.
        inner: the innermost frame of a library that it called.
        callers: the calls of the user's code that led there, the outermost first.
    """
    node = place.node
    if inner is None or not isinstance(node, ast.Call) or inner.f_code.co_name != "__call__":
        return None
    called = value_of(node.func, frame)
    layer = inner.f_locals.get("self")
    kind = of_type("__name__", type(layer))
    home = str(of_type("__module__", type(layer)))
    if library_of(called) != "equinox" or kind not in _LAYERS or not home.startswith("equinox.nn"):
        return None
    size, parameter = _LAYERS[kind]
    takes = attribute(layer, size)
    arguments = [value_of(each, frame) for each in node.args]
    shapes = [_shape(each) for each in arguments]
    given = shapes[0] if called is layer and shapes else None  # the layer may have assigned to its parameter
    given = given or _shape(inner.f_locals.get(parameter))
    if not is_exactly(takes, int) or given is None or len(given) < 2 or given[-1] != takes:
        return None
    owner = None if _MAP in frame.f_code.co_names else _owner(node.func, frame)
    jax = name_of_jax(frame)
    whole, location = ("", "") if owner is None else _whole(callers, given, jax)
    return BatchUse(
        layer=f"equinox.nn.{kind}",
        takes=takes,
        given=given,
        module=ast.unparse(node.func),
        mapped=_mapped(node, shapes, given, jax) if owner is None else None,
        owner="" if owner is None else str(of_type("__name__", type(owner))),
        whole=whole,
        location=location,
    )


def _owner(called: ast.expr, frame: FrameType) -> object | None:
    """Return the module of Equinox that a called layer is a part of: other layers of it take one example as well."""
    parts = (value_of(each, frame) for each in ast.walk(called) if isinstance(each, ast.expr) and each is not called)
    own = next(iter(frame.f_locals.values()), None) if frame.f_code.co_argcount else None
    return next((each for each in [*parts, own] if each is not MISSING and library_of(each) == "equinox"), None)


def _is_model(value: object) -> bool:
    """Return whether a value is a module of Equinox, and not a function that Equinox has transformed."""
    home = f"{of_type('__module__', type(value))}."
    return library_of(value) == "equinox" and (home.startswith("equinox.nn.") or not home.startswith("equinox."))


def _whole(callers: Sequence[_Caller], given: tuple[int, ...], jax: str | None) -> tuple[str, str]:
    """Return the call of the outermost module, mapped over the leading axes, and where it is."""
    for each in callers:
        node, frame = each.place.node, each.frame
        if isinstance(node, ast.Call) and _is_model(value_of(node.func, frame)):
            shapes = [_shape(value_of(argument, frame)) for argument in node.args]
            where = each.where
            return _mapped(node, shapes, given, jax) or "", f"{where.cell or where.file}:{where.line}"
    return "", ""


def _shape(value: Any) -> tuple[int, ...] | None:
    return tuple(value.shape) if value is not MISSING and (is_array(value) or is_tracer(value)) else None


def _mapped(
    node: ast.Call, shapes: list[tuple[int, ...] | None], given: tuple[int, ...], jax: str | None
) -> str | None:
    """Return the call mapped over the leading axes, if each argument is known to have them."""
    lead = given[:-1]
    if jax is None or node.keywords or not shapes or any(each is None or each[:-1] != lead for each in shapes):
        return None
    function = ast.unparse(node.func)
    for _ in lead:
        function = f"{jax}.vmap({function})"
    return f"{function}({', '.join(map(ast.unparse, node.args))})"
