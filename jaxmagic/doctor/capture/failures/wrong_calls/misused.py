"""Recognizes wrong calls of JAX's functions by their arguments, where the message alone would not tell."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .....runtime.around import is_a, is_exactly, of_type
from .....runtime.tracing import is_tracer
from ....analysis.failures.wrong_arguments.names.renamed import KEYWORDS, RENAMED
from ....analysis.failures.wrong_arguments.values.integers import is_float
from ....analysis.failures.wrong_arguments.wrong_calls import CALLED, shared
from ....record.failure_kind import Kind
from ..called import has_float_bound
from ..calls import MISSING
from ..operands import array_type
from .axes import axis_beyond, squeezed, too_many_rows, unbound_axis, unpacked_array
from .call import Call, argument, call_at, is_of_array, rank
from .functions import called_apart, no_device, other_arguments, wrong_order
from .keys import no_key
from .layers import apply_order, layer_key
from .options import debug_field, named_axes, no_tuple, number_dtype, other_option, uneven_split, unpacked_keys
from .positional import flattened, kept_axis, tiled

#: The first parameter of functions that take several arrays as one sequence.
_SEQUENCES = "arrays", "tup", "operands"

#: Parameters that are a shape or a number of elements.
_SIZES = "shape", "num"

#: Parameters that are an axis or a number of things.
_INTEGERS = "axis", "axes", "axis1", "axis2", "num_classes", "repeats", "offset", "k", "N", "M", "n", "dimension"


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
    for kind in kinds:
        facts = _OF_TRACEBACK[kind](traceback, text) if kind in _OF_TRACEBACK else None
        if facts is not None:
            return kind, facts
    call = call_at(traceback)
    if call is None:
        return ("float bound", {}) if "float bound" in kinds and has_float_bound(traceback) else None
    if any(isinstance(each, ast.Starred) for each in call.node.args):
        kinds = tuple(each for each in kinds if each in ("arrays apart", "other arguments"))
    known = ((kind, _RECOGNIZED[kind](call, text)) for kind in kinds if kind in _RECOGNIZED)
    return next(((kind, facts) for kind, facts in known if facts is not None), None)


def _arrays_apart(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``jnp.vstack(a, b)``, and count the leading arguments that belong into the list."""
    if call.parameters[:1] not in [(each,) for each in _SEQUENCES] or len(call.values) < 2:
        return None
    starred = [place for place, each in enumerate(call.node.args) if isinstance(each, ast.Starred)]
    if starred:
        after = [rank(argument(each, call.frame)) > 0 for each in call.node.args[starred[0] + 1 :]]
        certain = any(rank(each) > 0 for each in call.values) and all(after)
        return {"count": str(len(call.node.args)), "listed": "", "starred": "1"} if certain else None
    if _listed(call.values[0]) and text.startswith(("'tuple'", "'list'")) and not _listed(call.values[1]):
        return None
    count = next((place for place, each in enumerate(call.values) if _is_option(each)), len(call.values))
    certain = text.startswith(("Passing an array as a dtype", "Cannot construct a dtype")) or any(
        rank(each) > 0 or (_listed(each) and all(rank(part) > 0 for part in each)) for each in call.values[1:count]
    )
    return {"count": str(count), "listed": _listed(call.values[0])} if count > 1 and certain else None


def _is_option(value: Any) -> bool:
    """Return whether an argument is no array: an axis, or a dtype."""
    return value is None or is_exactly(value, int, float, str, type) or of_type("__name__", type(value)) == "dtype"


def _listed(value: Any) -> str:
    return "1" if is_exactly(value, list, tuple) else ""


def _no_shape(call: Call, text: str) -> dict[str, str] | None:
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
        value = argument(given, call.frame)
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


def _float(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a float for an axis or a number of things."""
    known = dict(zip(call.parameters, call.values, strict=False))
    places = {name: place for place, name in enumerate(call.parameters[: len(call.values)])}
    nodes = dict(zip(call.parameters, call.node.args, strict=False))
    for each in call.node.keywords:
        known[each.arg or ""], nodes[each.arg or ""] = argument(each.value, call.frame), each.value
    if call.keywords is None and not call.parameters and not is_of_array(call) and not call.in_jax:
        return None
    floats = [
        name
        for name in _INTEGERS
        if name in nodes and (_type(known[name]) == "float" or (known[name] is MISSING and is_float(nodes[name])))
    ]
    return {"parameter": floats[0], "place": str(places.get(floats[0], -1))} if len(floats) == 1 else None


def _sizes_apart(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``jnp.zeros(2, 3)``, and say which arguments belong into the tuple.

    Not in ``jax.random.normal(key, 2, 3)``, where 3 may be a scale or a bound, as in NumPy's function.
    """
    last = next((each for each in ("dtype", "order") if each in call.parameters), None)
    if "shape" not in call.parameters or last is None or call.parameters[0] == "key":
        return None
    first = call.parameters.index("shape")
    between = call.parameters[first + 1 : call.parameters.index(last)]
    if between not in [(), ("fill_value",)]:
        return None
    end = len(call.values) - len(between)
    sizes = call.values[first:end]
    if len(sizes) < 2 or not all(is_exactly(each, int) or each is MISSING for each in sizes):
        return None
    return {"first": str(first), "end": str(end)} if any(is_exactly(each, int) for each in sizes) else None


def _viewed(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.view(-1)``."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr != "view" or not call.values:
        return None
    known = is_of_array(call) or (call.owner is MISSING and call.in_jax)
    sizes = is_exactly(call.values[0], int, tuple) or call.values[0] is MISSING
    return {} if known and sizes and not call.node.keywords else None


def _renamed(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a keyword of another library, if the function or the method has the parameter under JAX's name.

    A method of a traced value does not show which parameters it has.
    """
    names = [each.arg for each in call.node.keywords if each.arg in KEYWORDS]
    new = [KEYWORDS[each] for each in names if each is not None]
    shared = RENAMED.keys() >= set(names)
    known = is_of_array(call) and shared if call.keywords is None else call.keywords.issuperset(new)
    if not names or not known:
        return None
    given = [*call.parameters[: len(call.values)], *(each.arg for each in call.node.keywords)]
    others = {each.arg for each in call.node.keywords if each.arg not in KEYWORDS}
    taken = call.keywords is None or others <= call.keywords
    free = not set(new) & set(given) and bool(call.parameters or not call.values) and taken
    return {"keywords": " and ".join(filter(None, names)), "free": "1" if free else ""}


def _called_attribute(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.size(0)``."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr not in CALLED or not is_of_array(call):
        return None
    return {"attribute": function.attr}


def _array_axis(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``jnp.max(x, y)``, whose second argument is the axis."""
    arrays = len(call.values) == 2 and rank(call.values[1]) > 0 and call.in_jax_module
    return {} if arrays and call.parameters[1:2] == ("axis",) else None


#: How problems are recognized that do not show in the failing call.
_OF_TRACEBACK: dict[Kind, Callable[[TracebackType | None, str], dict[str, str] | None]] = {
    "unpacked": unpacked_keys,
    "array unpacked": unpacked_array,
    "axis": axis_beyond,
    "pmap rows": too_many_rows,
}

#: How each problem is recognized in a call.
_RECOGNIZED: dict[Kind, Callable[[Call, str], dict[str, str] | None]] = {
    "arrays apart": _arrays_apart,
    "no shape": _no_shape,
    "float": _float,
    "float bound": lambda call, text: None,
    "sizes apart": _sizes_apart,
    "array axis": _array_axis,
    "number dtype": number_dtype,
    "view": _viewed,
    "kept axis": kept_axis,
    "flattened": flattened,
    "tiled": tiled,
    "renamed": _renamed,
    "called attribute": _called_attribute,
    "called apart": called_apart,
    "order": wrong_order,
    "other arguments": other_arguments,
    "device": no_device,
    "no key": no_key,
    "other option": other_option,
    "starts": no_tuple,
    "uneven": uneven_split,
    "field": debug_field,
    "named axes": named_axes,
    "squeeze": squeezed,
    "axis name": unbound_axis,
    "layer key": layer_key,
    "apply order": apply_order,
}
