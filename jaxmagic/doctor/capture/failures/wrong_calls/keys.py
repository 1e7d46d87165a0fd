"""Recognizes functions of ``jax.random`` that get no key as their first argument, or get it in another place."""

from __future__ import annotations

import ast
import re
from typing import Any

from .....runtime.around import is_exactly
from ..calls import MISSING
from ..operands import array_type
from .call import Call

#: The types of one key, or of several: those of ``jax.random.key()``, and the numbers of ``jax.random.PRNGKey()``.
_KEY = re.compile(r"key<\w+>\[[\d,]*\]|u32\[(?:\d+,)*[24]\]")

#: Messages on a call without a key, or with a seed in its place.
_MISSING_KEY = re.compile(
    r"unexpected PRNG|\w+\(\) missing|JAX encountered invalid .* expected key_data to have ndim"
)

#: Functions that return a key.
_MAKERS = "key", "PRNGKey", "fold_in", "wrap_key_data"


def no_key(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a function of ``jax.random`` that is called without a key, or with something else in its place."""
    if call.parameters[:1] != ("key",) or not call.in_jax_module:
        return None
    held = _held_elsewhere(call)
    if held is not None:
        return {"held": held, "second": "".join(call.parameters[1:2])}
    if not _MISSING_KEY.match(text):
        return None
    keyword = next((each for each in call.node.keywords if each.arg == "key"), None)
    value: Any = call.value_of(keyword.value) if keyword else call.values[0] if call.values else MISSING
    if is_exactly(value, int) and value >= 0:
        draws = len(call.values) > 1 or any(each.arg == "shape" for each in call.node.keywords)
        known = call.parameters[1:2] == ("num",) or (call.parameters[1:2] == ("shape",) and draws)
        return {"seed": "1", "value": str(value), "certain": "1" if known else ""}
    missing = not call.values and keyword is None
    shape = is_exactly(value, tuple) or (bool(call.node.args) and isinstance(call.node.args[0], ast.Tuple))
    if not missing and not (shape and call.parameters[1:2] == ("shape",)):
        return None
    return {"missing": "1", "certain": "1"}


def _held_elsewhere(call: Call) -> str | None:
    """Return the place or the keyword of the only key, if that is not where the function expects it."""
    places = {str(place): (node, call.values[place]) for place, node in enumerate(call.node.args)}
    named = {each.arg or "": (each.value, call.value_of(each.value)) for each in call.node.keywords}
    keys = [name for name, (node, value) in {**places, **named}.items() if _is_key(node, value)]
    right = ["key"] if not places else ["0"] if "key" not in named else []
    return keys[0] if len(keys) == 1 and keys != right else None


def _is_key(node: ast.expr, value: Any) -> bool:
    if isinstance(node, ast.Call) and value is MISSING:
        return ast.unparse(node.func).rpartition(".")[2] in _MAKERS
    kind = None if value is MISSING else array_type(value)
    return kind is not None and _KEY.fullmatch(kind) is not None
