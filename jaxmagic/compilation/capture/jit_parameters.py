"""Read the names and options of jitted functions from JAX's own objects."""

from __future__ import annotations

import functools
import os
import re
from typing import Any

from ...records.cell_names import place_known_as
from ...runtime.around import enclosed
from .static_values import static_words

#: The types in the text of a jaxpr; differences between them are reported for the arguments.
_TYPES = re.compile(r":[\w<>]+\[[^\]]*\]")

#: The number of equations from which on the text of a jaxpr takes more than about 40 ms.
_LONG = 500


def debug_info(jaxpr: Any) -> Any:
    """Return JAX's own debug info of a traced function, if there is any."""
    return getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)


def jit_options(info: Any) -> dict[str, str]:
    """Return the options of ``jax.jit`` that programs depend on, in words; ``"none"`` for the defaults."""
    options = {
        "static arguments": ", ".join(sorted(static_names(info))),
        "donated arguments": ", ".join(sorted(_names(info, "donate"))),
    }
    for name in ("in_shardings", "out_shardings"):
        leaves = getattr(info, f"{name}_leaves", ())
        specified = any(type(each).__name__ != "UnspecifiedValue" for each in leaves)
        options[name] = ", ".join(map(str, leaves)) if specified else ""
    for name in ("keep_unused", "device", "backend", "compiler_options_kvs"):
        options[name.removesuffix("_kvs")] = str(getattr(info, name, None) or "")
    return {name: value or "none" for name, value in options.items()}


def operation_parameters(function: Any) -> tuple[dict[str, str], dict[str, tuple[int, str]]]:
    """Return the parameters of an eagerly run primitive, and the sources of the functions among them."""
    if not getattr(function, "_apply_primitive", False):
        return {}, {}
    try:
        parameters = enclosed(function)["params"]
    except (AttributeError, KeyError):
        return {}, {}
    words, functions = static_words(parameters), {}
    for name, value in parameters.items():
        sources = [split_source(getattr(debug_info(each), "func_src_info", None)) for each in _as_tuple(value)]
        if sources and all(source is not None for source, _ in sources):
            words[name] = f"{sources[0][0]} (object {abs(hash(tuple(map(id, _as_tuple(value))))):#x})"
            places = {os.path.basename(place_known_as(place) or place) for _, place in sources if place}
            content = map(steps_of, _as_tuple(value))  # different functions may be defined on the same line
            functions[name] = hash((*sources, *content)), ", ".join(sorted(places))
    return words, functions


def steps_of(traced: Any) -> str:
    """Return the text of a jaxpr without types; only the names of the primitives if it is long."""
    steps = getattr(traced, "jaxpr", traced).eqns
    if len(steps) > _LONG:
        return " ".join(each.primitive.name for each in steps)
    return _TYPES.sub("", str(traced))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def split_source(source: object) -> tuple[str | None, str | None]:
    """Split ``"f at /path/file.py:12"``, as JAX writes it, into name and location."""
    if not isinstance(source, str):
        return None, None
    name, _, location = source.partition(" at ")
    return name, location or None


def is_internal(location: str | None) -> bool:
    """Return whether a location is in JAX's own code."""
    return location is not None and location.startswith(_jax_directory())


@functools.cache
def _jax_directory() -> str:
    import jax

    return os.path.dirname(jax.__file__) + os.sep


def parameter_names(info: Any) -> tuple[str, ...]:
    """Return the parameter names of a jitted function."""
    return tuple(getattr(getattr(info, "fun_signature", None), "parameters", ()))


def static_names(info: Any) -> frozenset[str]:
    """Return the names of the static arguments of a jitted function."""
    return _names(info, "static")


def _names(info: Any, what: str) -> frozenset[str]:
    """Return the parameters that were declared static (or donated) to ``jax.jit``, by position or by name."""
    names = set(getattr(info, f"{what}_argnames", None) or ())
    positions = set(getattr(info, f"{what}_argnums", None) or ())
    parameters = parameter_names(info)
    return frozenset(names | {parameters[i] for i in positions if -len(parameters) <= i < len(parameters)})
