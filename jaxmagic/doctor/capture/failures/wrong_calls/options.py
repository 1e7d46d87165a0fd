"""Recognizes options of another kind than a function of JAX takes, and keys that are unpacked."""

from __future__ import annotations

import ast
import re
from string import Formatter
from types import FrameType, TracebackType
from typing import Any

from .....runtime.around import is_exactly
from ..called import users_last
from ..calls import MISSING, value_of
from ..operands import array_type
from ..statement import place_of
from .call import Call, is_of_array, jax_function, rank

#: Options of transformations that are positions, and those that are names.
_POSITIONS, _NAMES = ("static_argnums", "donate_argnums", "argnums"), ("static_argnames", "donate_argnames")


def other_option(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``static_argnums="n"`` and ``static_argnames=0``."""
    for each in call.node.keywords if call.in_jax_module else ():
        value: Any = call.value_of(each.value)
        if each.arg in _POSITIONS and is_exactly(value, str):
            return {"option": each.arg}
        if each.arg in _NAMES and is_exactly(value, int):
            return {"option": each.arg}
    return None


def number_dtype(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``jax.random.normal(key, shape, 0.5)``, whose third argument is a dtype."""
    if not call.in_jax_module or "dtype" not in call.parameters:
        return None
    place = call.parameters.index("dtype")
    node = next((each.value for each in call.node.keywords if each.arg == "dtype"), None)
    value: Any = call.values[place] if place < len(call.values) else MISSING if node is None else call.value_of(node)
    if not is_exactly(value, int, float) and rank(value) < 0:
        return None
    known = {"place": str(place if node is None else -1), "parameters": ", ".join(call.parameters)}
    first = call.parameters.index("shape") if "shape" in call.parameters[:place] else place
    given = call.node.args[first:]
    if node is None and len(given) > 1 and all(_may_be_size(call, each) for each in given):
        return {**known, "sizes": str(first)}
    return {**known, "bounds": "1"} if node is None and _has_bounds(call, place) else known


def _may_be_size(call: Call, node: ast.expr) -> bool:
    value: Any = call.value_of(node)
    unknown = value is MISSING and not isinstance(node, ast.Tuple | ast.List)
    return unknown or (is_exactly(value, int) and value > 0)


def _has_bounds(call: Call, place: int) -> bool:
    """Return whether a call ends with a shape and two bounds, the first of which stands in place of the dtype."""
    if call.parameters[place - 1 : place + 2] != ("shape", "dtype", "minval") or len(call.values) != place + 2:
        return False
    low, high = call.values[place:]
    numbers = is_exactly(low, int, float) and is_exactly(high, int, float)
    return numbers and low < high and is_exactly(call.values[place - 1], int, tuple) and not call.node.keywords


def no_tuple(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``lax.dynamic_slice(x, 0, 3)``, whose starts and sizes are tuples."""
    name = ast.unparse(call.node.func).rpartition(".")[2]
    last = {"dynamic_slice": 3, "dynamic_update_slice": 3}.get(name)
    if last is None or not call.in_jax_module:
        return None
    first = 1 if name == "dynamic_slice" else 2
    places = [place for place in range(first, min(last, len(call.values))) if is_exactly(call.values[place], int)]
    return {"places": ",".join(map(str, places))} if places else None


def uneven_split(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``jnp.split(x, n)`` of an axis that ``n`` does not divide."""
    called = call.node.func
    return {} if call.in_jax_module and isinstance(called, ast.Attribute) and called.attr == "split" else None


def debug_field(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``jax.debug.print("{x}", x)``, which names a field and passes its value by position.

    If fields and values differ otherwise, the facts are how many of each there are, and the names that differ.
    """
    if not call.in_jax_module or not ast.unparse(call.node.func).endswith("debug.print"):
        return None
    words: Any = call.values[0] if call.values else None
    fields = re.findall(r"\{([A-Za-z_]\w*)(?:[:!][^{}]*)?\}", words) if is_exactly(words, str) else []
    named = is_exactly(words, str) and len(fields) == words.count("{") == len(call.values) - 1
    if named and not call.node.keywords and text.startswith("'"):
        return {"fields": ",".join(fields)}
    return _fields(call, words) if is_exactly(words, str) else None


def _fields(call: Call, words: str) -> dict[str, str] | None:
    """Return how many fields have no name, how many values, and which names differ; ``None`` if they fit."""
    try:
        fields = [name for _, name, _, _ in Formatter().parse(words) if name is not None]
        parts = [re.split(r"[.\[]", each)[0] for each in fields]
    except ValueError:
        return None
    options = "ordered", "partitioned", "skip_format_check"
    given = [each.arg for each in call.node.keywords if each.arg not in options]
    if None in given or any(isinstance(each, ast.Starred) for each in call.node.args):
        return None
    places = len([each for each in parts if not each or each.isdecimal()])
    names = [each for each in dict.fromkeys(parts) if each and not each.isdecimal()]
    missing, extra = [each for each in names if each not in given], [each for each in given if each not in names]
    if places == len(call.node.args) - 1 and not missing and not extra:
        return None
    return {
        "places": str(places),
        "values": str(len(call.node.args) - 1),
        "missing": ", ".join(missing),
        "extra": ", ".join(each for each in extra if each is not None),
    }


def named_axes(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``x.transpose(axes=(1, 0))``, a method that takes its axes by position."""
    names = [each.arg for each in call.node.keywords]
    method = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else ""
    return {} if is_of_array(call) and method == "transpose" and names == ["axes"] and not call.values else None


def unpacked_keys(traceback: TracebackType | None, text: str) -> dict[str, str] | None:
    """Recognize one key, or those of ``jax.random.split(key, n)``, that are unpacked into another number of names."""
    last = users_last(traceback)
    place = None if last is None else place_of(last.tb_frame.f_code, last.tb_lasti)
    match None if place is None else place.statement:
        case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)], value=ast.Call() as call) if (
            last is not None
        ):
            function = jax_function(value_of(call.func, last.tb_frame))
            called = ast.unparse(call.func).rpartition(".")[2]
            starred = any(isinstance(each, ast.Starred) for each in (*names, *call.args))
            known = function is not None and "random" in function.__module__ and called in ("split", "key")
            count = _number_of_keys(call, last.tb_frame) if called == "split" else 1
            if known and not starred and count not in (None, len(names)):
                return {"maker": called, "names": str(len(names)), "count": str(count)}
        case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)], value=value) if last is not None:
            single = re.fullmatch(r"key<\w+>\[\]", array_type(value_of(value, last.tb_frame)) or "")
            if single and not any(isinstance(each, ast.Starred) for each in names):
                return {"maker": "key", "names": str(len(names)), "count": "1"}
    return None


def _number_of_keys(call: ast.Call, frame: FrameType) -> int | None:
    """Return how many keys ``jax.random.split()`` makes; ``None`` if that is unknown, or no single number."""
    named = {each.arg: each.value for each in call.keywords}
    if not len(call.args) <= 2 or not set(named) <= {"key", "num"}:
        return None
    given = named.get("num", call.args[1] if len(call.args) == 2 else None)
    value = 2 if given is None else value_of(given, frame)
    return value if is_exactly(value, int) else None
