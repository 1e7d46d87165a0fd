"""Finds the operands and arguments of the failing expression, with their types, without running code."""

from __future__ import annotations

import ast
import os
import sys
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ....runtime.around import attribute, is_a, is_exactly, of_type
from ....runtime.tracing import arguments_passed_to, is_array, is_tracer, passed_to, type_of
from ...analysis.failures.expression import before_dot
from ...analysis.failures.messages import short_type
from ...record.failing_code import Operand
from .calls import MISSING, value_of, wrapped_function
from .statement import Place

#: At most this many items of a list are described.
_MOST = 20

#: A longer string is not kept.
_LONGEST = 200


def operands_of(place: Place, frame: FrameType, called: FrameType | None) -> tuple[Operand, ...]:
    """Return the operands of an operator or the arguments of a call, in the order in which JAX gets them.

    A variable of a module may have changed since. So the arguments of JAX's own function count where its frame is
    known, and if a variable differs from them, no type is known.

    Args:
        place: where the frame stopped.
        frame: the frame of the user's code.
        called: the frame of JAX's function that it called; ``None`` if JAX has removed it from the traceback.
    """
    nodes = _positional(place.node, frame)
    values = [value_of(each, frame) for each in nodes]
    passed = None if called is None else _aligned(place.node, values, passed_to(called))
    if called is not None and passed is None:
        return tuple(Operand(text=ast.unparse(each)) for each in nodes)
    passed = passed or []
    values = [
        given if known is MISSING else known
        for known, given in zip(values, [*passed, *[MISSING] * len(nodes)], strict=False)
    ]
    found = [_operand(ast.unparse(node), node, value, frame) for node, value in zip(nodes, values, strict=True)]
    keywords = place.node.keywords if isinstance(place.node, ast.Call) else []
    for each in keywords:
        operand = _operand(ast.unparse(each.value), each.value, value_of(each.value, frame), frame)
        found.append(Operand(text=operand.text, type=operand.type, keyword=each.arg or "**", items=operand.items))
    return tuple(found)


def passed_values(place: Place, frame: FrameType, called: FrameType | None) -> list[tuple[str, Any]]:
    """Return what the failing operation gets, with the text of each, which is empty if that is uncertain."""
    nodes = _positional(place.node, frame)
    values = [value_of(each, frame) for each in nodes]
    keywords = place.node.keywords if isinstance(place.node, ast.Call) else []
    passed = [] if called is None else passed_to(called)
    given = None if called is None else arguments_passed_to(called)
    by_name = {} if given is None else given[1]
    named = [_valued(each.value, value_of(each.value, frame), by_name.get(each.arg or "")) for each in keywords]
    named += [(ast.unparse(node), value) for node, value in zip(nodes, values, strict=True)]
    fitting = _aligned(place.node, values, passed) if passed else None
    for node, value, one in zip(nodes, values, fitting or [], strict=False):
        parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        if parts and is_exactly(one, list, tuple) and len(one) == len(parts):
            named += [_valued(part, value_of(part, frame), each) for part, each in zip(parts, one, strict=True)]
        else:
            named.append(_valued(node, value, one))
    known = {id(value) for _, value in named}
    rest = [each for each in passed if id(each) not in known and not is_exactly(each, list, tuple)]
    return [*named, *(("", each) for each in rest)]


def _valued(node: ast.expr, value: Any, given: Any) -> tuple[str, Any]:
    """Return the text of an argument with its value: the one that was given, if it cannot be read."""
    return ast.unparse(node), given if value is MISSING else value


def _aligned(node: ast.AST | None, values: list[Any], passed: list[Any]) -> list[Any] | None:
    """Return the arguments of JAX's function in the order of the line; ``None`` if that is uncertain.

    The operator of the right operand gets them in reverse, if the left one is no JAX array. A function that
    collects all of its arguments once more has one before them.
    """
    orders = [passed, passed[1:]]
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare):
        if all(each is MISSING for each in values) and not all(is_array(each) or is_tracer(each) for each in passed):
            return None
        orders = [passed, passed[::-1]]
    fitting = [each for each in orders if len(each) >= len(values) and not _differ(values, each)]
    return max(fitting, key=lambda each: _same(values, each), default=None)


def _same(values: list[Any], passed: list[Any]) -> int:
    """Count the values that were passed in their places: two numbers, or a number and a key, have one shape."""
    numbers = bool, int, float, complex
    return sum(
        value is given or (is_exactly(value, *numbers) and is_exactly(given, *numbers) and value == given)
        for value, given in zip(values, passed, strict=False)
    )


def passed_arrays(called: FrameType) -> tuple[Operand, ...]:
    """Return the arrays that a library passed to JAX, which have no text on the user's line."""
    return tuple(Operand(text="", type=kind) for each in passed_to(called) if (kind := array_type(each)) is not None)


def names_in(node: ast.AST | None, frame: FrameType) -> tuple[Operand, ...]:
    """Return the variables in a statement, with their types."""
    names = (
        [each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)] if node is not None else []
    )
    return tuple(_operand(ast.unparse(each), each, value_of(each, frame), frame) for each in names[:_MOST])


def index_parts(place: Place, frame: FrameType) -> tuple[Operand, ...]:
    """Return what an assigned element is an element of, and the names in its index and in what changes it."""
    if not isinstance(place.node, ast.Subscript):
        return ()
    array = place.node.value
    owner = array.value if isinstance(array, ast.Subscript) else array
    changing = place.statement.value if isinstance(place.statement, ast.Assign | ast.AugAssign) else None
    names = (*names_in(place.node.slice, frame), *names_in(changing, frame))
    return (_operand(ast.unparse(owner), owner, value_of(owner, frame), frame), *names)


def default_devices() -> tuple[str, int]:
    """Return the platform of JAX's devices, such as ``"cpu"``, and their number."""
    import jax

    return str(jax.default_backend()), len(jax.devices())


def default_float() -> str:
    """Return the dtype that JAX gives to Python floats."""
    import jax

    return "float64" if jax.config.jax_enable_x64 else "float32"


def allowed_platforms() -> tuple[str, bool]:
    """Return the platforms that JAX may use, if a setting names them, and whether an environment variable does."""
    import jax

    allowed = jax.config.jax_platforms or ""
    return allowed, bool(allowed) and os.environ.get("JAX_PLATFORMS") == allowed


def is_percent(node: ast.AST | None, frame: FrameType) -> bool:
    """Return whether an expression formats values with a string and ``%``."""
    return (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_exactly(value_of(node.left, frame), str)
    )


def home_of(place: Place, frame: FrameType) -> str | None:
    """Return the module of the function that is called; ``None`` if it is unknown."""
    node = place.node.func if isinstance(place.node, ast.Call) else None
    owner = value_of(node.value, frame) if isinstance(node, ast.Attribute) else MISSING
    if is_a(owner, ModuleType):
        name = attribute(owner, "__name__")
        return name if is_exactly(name, str) else None
    function = MISSING if node is None else value_of(node, frame)
    function = wrapped_function(function) or function
    return str(function.__module__) if is_exactly(function, FunctionType) else None


def stored_in(place: Place, frame: FrameType) -> str:
    """Return what is known of a NumPy array into which a line assigns: a view, or the floats of a local variable."""
    node = place.node
    array: Any = value_of(node.value, frame) if isinstance(node, ast.Subscript) else MISSING
    if not is_exactly(array, np.ndarray):
        return ""
    if array.base is not None:
        return "view"
    variable = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and not is_outer(place, frame)
    return "floats" if variable and array.dtype.kind in "fc" else ""


def is_outer(place: Place, frame: FrameType) -> bool:
    """Return whether an array, or an element, is changed in a variable of an outer function or of the module."""
    node: ast.AST | None = place.node
    if isinstance(node, ast.Attribute):  # x.fill(1)
        node = node.value
    elif isinstance(node, ast.Call) and node.args:  # jnp.put(x, 0, 1)
        node = node.args[0]
    while isinstance(node, ast.Subscript):
        node = node.value
    code = frame.f_code
    inside = code.co_name == "<module>" or frame.f_locals is frame.f_globals
    return isinstance(node, ast.Name) and not inside and node.id not in (*code.co_varnames, *code.co_cellvars)


def _positional(node: ast.AST | None, frame: FrameType) -> list[ast.expr]:
    """Return the operands of an operator, the object of an index or attribute, or a call's positional arguments.

    Those of a method come after its object.
    """
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return [node.left, node.comparators[0]]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Subscript | ast.Attribute):
        return [node.value]
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return []
    function = node.func
    if isinstance(function, ast.Attribute) and _is_method(function, frame):
        return [function.value, *node.args]
    return list(node.args)


def _is_method(node: ast.Attribute, frame: FrameType) -> bool:
    """Return whether a call is one of an array's method; also of what an expression computes, such as ``(a + b)``."""
    owner = value_of(node.value, frame)
    if owner is MISSING:
        root: ast.expr = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        return not isinstance(root, ast.Name) or not is_a(value_of(root, frame), ModuleType)
    return array_type(owner) is not None


def _differ(values: list[Any], passed: list[Any]) -> bool:
    """Return whether a value has another shape than the one that was passed in its place."""
    return any(
        value is not MISSING and _shape(value) != _shape(given)
        for value, given in zip(values, passed, strict=False)
        if _shape(value) is not None or _shape(given) is not None
    )


def _shape(value: Any) -> str | None:
    kind = array_type(value)
    return "[]" if is_exactly(value, int, float, bool, complex) else None if kind is None else kind[kind.find("[") :]


def array_type(value: Any) -> str | None:
    """Return the short type of a traced value, a JAX array or a NumPy array; ``None`` for other values."""
    if is_tracer(value) or is_array(value):
        kind = type_of(value)
        return None if kind is None else short_type(kind)
    numpy = sys.modules.get("numpy")
    home, name = str(of_type("__module__", type(value))), of_type("__name__", type(value))
    if name == "PRNGKeyArray" and home.partition(".")[0] == "jax":
        return f"{value.dtype.name}[{','.join(map(str, value.shape))}]"
    if numpy is not None and (is_exactly(value, numpy.ndarray) or is_a(value, numpy.generic)):
        return short_type(f"{value.dtype.name}[{','.join(map(str, value.shape))}]")
    return None


def _operand(text: str, node: ast.expr, value: Any, frame: FrameType) -> Operand:
    items: tuple[Operand, ...] = ()
    whole = before_dot(text)
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) <= _MOST:
        known = list(value) if is_exactly(value, list, tuple) and len(value) == len(node.elts) else None
        items = tuple(
            _operand(ast.unparse(each), each, _either(value_of(each, frame), known, place), frame)
            for place, each in enumerate(node.elts)
        )
    elif is_exactly(value, list, tuple) and len(value) <= _MOST:
        items = tuple(Operand(text=f"{whole}[{place}]", type=_type(each)) for place, each in enumerate(value))
    elif is_exactly(value, dict) and len(value) <= _MOST:
        items = tuple(
            Operand(text=f"{whole}[{key!r}]", type=_type(each))
            for key, each in value.items()
            if is_exactly(key, str, int)
        )
    string = value if is_exactly(value, str) and len(value) <= _LONGEST else None
    return Operand(text=text, type=_type(value), string=string, items=items)


def _either(value: Any, known: list[Any] | None, place: int) -> Any:
    return known[place] if value is MISSING and known is not None else value


def _type(value: Any) -> str | None:
    if value is MISSING:
        return None
    return array_type(value) or str(of_type("__name__", type(value)))
