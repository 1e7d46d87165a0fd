"""Recognizes wrong calls of JAX's functions by their arguments, where the message alone would not tell."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType, TracebackType
from typing import Any, NamedTuple

from ....runtime.around import is_a, is_exactly, of_type
from ....runtime.tracing import is_array, is_tracer, passed_to
from ...analysis.failures.messages import is_jax_file
from ...analysis.failures.wrong_arguments.values.integers import is_float
from ...analysis.failures.wrong_arguments.wrong_calls import CALLED, RENAMED, shared
from ...record.failure_kind import Kind
from .called import has_float_bound, users_last
from .calls import MISSING, value_of, wrapped_function
from .operands import array_type
from .statement import place_of

#: The first parameter of functions that take several arrays as one sequence.
_SEQUENCES = "arrays", "tup", "operands"

#: Parameters that are a shape or a number of elements.
_SIZES = "shape", "num"

#: Parameters that are an axis or a number of things.
_INTEGERS = "axis", "axes", "axis1", "axis2", "num_classes", "repeats", "offset", "k", "N", "M", "n", "dimension"

#: The kinds of parameters that are passed by position, and by keyword.
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
_KEYWORDS = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


class _Call(NamedTuple):
    """A call at which the user's innermost line failed.

    Attributes:
        node: the call.
        values: the positional arguments; ``MISSING`` for unknown ones.
        parameters: the positional parameters of the function of JAX, without ``self``; empty if they are unknown.
        keywords: the keywords that it takes; ``None`` if they are unknown.
        owner: the object whose method or attribute is called; ``MISSING`` if it is unknown.
        frame: the frame of the line.
        in_jax: whether the call led to code of JAX.
        passed: the variables of the function of JAX, which are its arguments at first; empty if it was not entered.
    """

    node: ast.Call
    values: list[Any]
    parameters: tuple[str, ...]
    keywords: frozenset[str] | None
    owner: Any
    frame: FrameType
    in_jax: bool
    passed: Mapping[str, Any]


def misused(traceback: TracebackType | None, name: str, text: str) -> tuple[Kind, dict[str, str]] | None:
    """Return the kind of an exception, and facts, if the arguments of the failing call explain it.

    Args:
        traceback: the traceback of the exception.
        name: the name of its type.
        text: its message.
    """
    kinds = shared(name, text)
    if not kinds:
        return None
    call = _call(traceback)
    if call is None:
        return ("float bound", {}) if "float bound" in kinds and has_float_bound(traceback) else None
    if any(isinstance(each, ast.Starred) for each in call.node.args):
        kinds = tuple(each for each in kinds if each == "arrays apart")
    known = ((kind, _RECOGNIZED[kind](call, text)) for kind in kinds)
    return next(((kind, facts) for kind, facts in known if facts is not None), None)


def _call(traceback: TracebackType | None) -> _Call | None:
    """Return the call at which the user's innermost line failed; ``None`` if it failed at something else."""
    last = users_last(traceback)
    node = None if last is None else place_of(last.tb_frame.f_code, last.tb_lasti).node
    if last is None or not isinstance(node, ast.Call):
        return None
    frame, inner = last.tb_frame, last.tb_next
    function = _jax_function(value_of(node.func, frame))
    owner = value_of(node.func.value, frame) if isinstance(node.func, ast.Attribute) else None
    bound = is_array(owner) or is_tracer(owner)
    values = [value for each in node.args for value in _known_parts(each, frame)]
    passed: Mapping[str, Any] = {}
    if inner is not None and function is not None and inner.tb_frame.f_code.co_name == function.__name__:
        passed = inner.tb_frame.f_locals
        given = [*passed_to(inner.tb_frame)[bound:], *[MISSING] * len(values)]
        values = [new if old is MISSING else old for old, new in zip(values, given, strict=False)]
    return _Call(
        node=node,
        values=values,
        parameters=tuple(_parameters(function, *_POSITIONAL))[bound:],
        keywords=_keywords(function),
        owner=owner,
        frame=frame,
        in_jax=inner is not None and is_jax_file(inner.tb_frame.f_code.co_filename),
        passed=passed,
    )


def _known_parts(node: ast.expr, frame: FrameType) -> list[Any]:
    """Return the value of an argument, or the values that a star passes: two unknown ones if they are unknown."""
    if not isinstance(node, ast.Starred):
        return [_known(node, frame)]
    value = value_of(node.value, frame)
    return [*value] if is_exactly(value, list, tuple) else [MISSING, MISSING]


def _known(node: ast.expr, frame: FrameType) -> Any:
    """Return the value of an argument; ``MISSING`` also for a property of an array, such as its shape."""
    value = value_of(node, frame)
    owner = value_of(node.value, frame) if isinstance(node, ast.Attribute) else None
    return MISSING if is_array(owner) or is_tracer(owner) else value


def _jax_function(value: Any) -> FunctionType | None:
    """Return a function of JAX, without ``jit`` around it; ``None`` for anything else."""
    function = wrapped_function(value) or value
    if not is_exactly(function, FunctionType) or not is_jax_file(function.__code__.co_filename):
        return None
    known: FunctionType = function
    return known if str(known.__module__).partition(".")[0] == "jax" else None


def _parameters(function: FunctionType | None, *kinds: object) -> list[str]:
    """Return the parameters of a function that are of some kinds; none if they are unknown."""
    if function is None:
        return []
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each.name for each in parameters if each.kind in kinds]


def _keywords(function: FunctionType | None) -> frozenset[str] | None:
    """Return the keywords that a function takes; ``None`` if it passes any on, as methods of traced values do."""
    if function is None or _parameters(function, inspect.Parameter.VAR_KEYWORD):
        return None
    return frozenset(_parameters(function, *_KEYWORDS))


def _is_of_array(call: _Call) -> bool:
    return is_array(call.owner) or is_tracer(call.owner)


def _rank(value: Any) -> int:
    """Return the number of axes of an array of JAX or NumPy, or a traced value; -1 for other values."""
    kind = None if value is MISSING else array_type(value)
    return -1 if kind is None else len([each for each in kind.partition("[")[2].removesuffix("]").split(",") if each])


def _arrays_apart(call: _Call, text: str) -> dict[str, str] | None:
    """Recognize ``jnp.vstack(a, b)``, and count the leading arguments that belong into the list."""
    if call.parameters[:1] not in [(each,) for each in _SEQUENCES] or len(call.values) < 2:
        return None
    starred = [place for place, each in enumerate(call.node.args) if isinstance(each, ast.Starred)]
    if starred:
        after = [_rank(_known(each, call.frame)) > 0 for each in call.node.args[starred[0] + 1 :]]
        certain = any(_rank(each) > 0 for each in call.values) and all(after)
        return {"count": str(len(call.node.args)), "listed": "", "starred": "1"} if certain else None
    if _listed(call.values[0]) and text.startswith(("'tuple'", "'list'")) and not _listed(call.values[1]):
        return None
    count = next((place for place, each in enumerate(call.values) if _is_option(each)), len(call.values))
    certain = text.startswith(("Passing an array as a dtype", "Cannot construct a dtype")) or any(
        _rank(each) > 0 or (_listed(each) and all(_rank(part) > 0 for part in each)) for each in call.values[1:count]
    )
    return {"count": str(count), "listed": _listed(call.values[0])} if count > 1 and certain else None


def _is_option(value: Any) -> bool:
    """Return whether an argument is no array: an axis, or a dtype."""
    return value is None or is_exactly(value, int, float, str, type) or of_type("__name__", type(value)) == "dtype"


def _listed(value: Any) -> str:
    return "1" if is_exactly(value, list, tuple) else ""


def _no_shape(call: _Call, text: str) -> dict[str, str] | None:
    """Recognize a float, an array or a text for a shape."""
    parameter = next((each for each in call.parameters if each in _SIZES), None)
    if parameter is None:
        return None
    place = call.parameters.index(parameter)
    if place < len(call.values):
        value = call.values[place]
    else:
        place = -1
        given = next((each.value for each in call.node.keywords if each.arg == parameter), None)
        if given is None:
            return None
        value = _known(given, call.frame)
        value = call.passed.get(parameter, MISSING) if value is MISSING else value
    kind = _type(value)
    floats = text.startswith("'")
    if kind == "float" if floats else kind not in ("float", ""):
        said = kind
    elif value is MISSING:
        said = "float" if floats else ""
    else:
        return None
    known = {"parameter": parameter, "place": str(place), "type": said}
    return {
        **known,
        "parameters": ", ".join(call.parameters),
        "number": repr(float(value)) if kind == "float" else "",
    }


def _type(value: Any) -> str:
    """Return the type of a value that is no shape; empty if it may be one, or is unknown or traced."""
    if is_a(value, float) or str(of_type("__name__", type(value))).startswith("float"):  # also one of NumPy
        return "float"
    if is_exactly(value, str):
        return "str"
    return "" if value is MISSING or is_tracer(value) else array_type(value) or ""


def _float(call: _Call, text: str) -> dict[str, str] | None:
    """Recognize a float for an axis or a number of things."""
    known = dict(zip(call.parameters, call.values, strict=False))
    places = {name: place for place, name in enumerate(call.parameters[: len(call.values)])}
    nodes = dict(zip(call.parameters, call.node.args, strict=False))
    for each in call.node.keywords:
        known[each.arg or ""], nodes[each.arg or ""] = _known(each.value, call.frame), each.value
    if call.keywords is None and not call.parameters and not _is_of_array(call) and not call.in_jax:
        return None
    floats = [
        name
        for name in _INTEGERS
        if name in nodes and (_type(known[name]) == "float" or (known[name] is MISSING and is_float(nodes[name])))
    ]
    return {"parameter": floats[0], "place": str(places.get(floats[0], -1))} if len(floats) == 1 else None


def _sizes_apart(call: _Call, text: str) -> dict[str, str] | None:
    """Recognize ``jnp.zeros(2, 3)``, and say which arguments belong into the tuple."""
    if "shape" not in call.parameters or "dtype" not in call.parameters:
        return None
    first = call.parameters.index("shape")
    between = call.parameters[first + 1 : call.parameters.index("dtype")]
    if between not in [(), ("fill_value",)]:
        return None
    end = len(call.values) - len(between)
    sizes = call.values[first:end]
    if len(sizes) < 2 or not all(is_exactly(each, int) or each is MISSING for each in sizes):
        return None
    return {"first": str(first), "end": str(end)} if any(is_exactly(each, int) for each in sizes) else None


def _viewed(call: _Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.view(-1)``."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr != "view" or not call.values:
        return None
    known = _is_of_array(call) or (call.owner is MISSING and call.in_jax)
    sizes = is_exactly(call.values[0], int, tuple) or call.values[0] is MISSING
    return {} if known and sizes and not call.node.keywords else None


def _renamed(call: _Call, text: str) -> dict[str, str] | None:
    """Recognize a keyword of PyTorch, if the function or the method has the parameter that JAX calls otherwise."""
    names = [each.arg for each in call.node.keywords if each.arg in RENAMED]
    new = [RENAMED[each] for each in names if each is not None]
    known = _is_of_array(call) if call.keywords is None else call.keywords.issuperset(new)
    if not names or not known:
        return None
    given = [*call.parameters[: len(call.values)], *(each.arg for each in call.node.keywords)]
    free = not set(new) & set(given) and bool(call.parameters or not call.values)
    return {"keywords": " and ".join(filter(None, names)), "free": "1" if free else ""}


def _called_attribute(call: _Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.size(0)``."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in CALLED or not _is_of_array(call):
        return None
    return {"attribute": function.attr}


#: How each problem is recognized in a call.
_RECOGNIZED: dict[Kind, Callable[[_Call, str], dict[str, str] | None]] = {
    "arrays apart": _arrays_apart,
    "no shape": _no_shape,
    "float": _float,
    "float bound": lambda call, text: None,
    "sizes apart": _sizes_apart,
    "view": _viewed,
    "renamed": _renamed,
    "called attribute": _called_attribute,
}
