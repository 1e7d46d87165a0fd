"""Names and options of what was jitted, as JAX's own objects have them."""

from __future__ import annotations

import functools
import os
import re
from typing import Any

from ...runtime.around import enclosed
from .static_values import static_words

#: The types in the text of a traced function, which are told as those of its arguments.
_TYPES = re.compile(r":[\w<>]+\[[^\]]*\]")

#: Its equations, from which on that text would take more than some 40 ms.
_LONG = 500


def debug_info(jaxpr: Any) -> Any:
    """Return what JAX keeps about a traced function for its own messages, if anything."""
    return getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)


def jit_options(info: Any) -> dict[str, str]:
    """Return what ``jax.jit`` was told, as far as programs differ by it; what is left out is as JAX has it."""
    found = {
        "static arguments": ", ".join(sorted(static_names(info))),
        "donated arguments": ", ".join(sorted(_names(info, "donate"))),
    }
    for name in ("in_shardings", "out_shardings"):
        leaves = getattr(info, f"{name}_leaves", ())
        told = [each for each in leaves if type(each).__name__ != "UnspecifiedValue"]
        found[name] = ", ".join(map(str, leaves)) if told else ""
    for name in ("keep_unused", "device", "backend", "compiler_options_kvs"):
        found[name.removesuffix("_kvs")] = str(getattr(info, name, None) or "")
    return {name: value or "none" for name, value in found.items()}


def operation_parameters(function: Any) -> tuple[dict[str, str], dict[str, tuple[int, str]]]:
    """The parameters of a primitive that is run by itself, and the sources of the functions that it was given."""
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
            places = {os.path.basename(place) for _, place in sources if place}
            content = map(steps_of, _as_tuple(value))  # their lines may be the same
            functions[name] = hash((*sources, *content)), ", ".join(sorted(places))
    return words, functions


def steps_of(traced: Any) -> str:
    """Return what a traced function does, without types; of a long one its operations alone."""
    steps = getattr(traced, "jaxpr", traced).eqns
    if len(steps) > _LONG:
        return " ".join(each.primitive.name for each in steps)
    return _TYPES.sub("", str(traced))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def split_source(source: object) -> tuple[str | None, str | None]:
    """``"f at /path/file.py:12"`` as JAX writes it, in two."""
    if not isinstance(source, str):
        return None, None
    name, _, location = source.partition(" at ")
    return name, location or None


def is_internal(location: str | None) -> bool:
    """Tell whether a location is in JAX's own code."""
    return location is not None and location.startswith(_jax_directory())


@functools.cache
def _jax_directory() -> str:
    import jax

    return os.path.dirname(jax.__file__) + os.sep


def parameter_names(info: Any) -> tuple[str, ...]:
    """Return the names of the parameters of what was jitted."""
    return tuple(getattr(getattr(info, "fun_signature", None), "parameters", ()))


def static_names(info: Any) -> frozenset[str]:
    """Return the names of its static arguments."""
    return _names(info, "static")


def _names(info: Any, what: str) -> frozenset[str]:
    """The parameters that ``jax.jit`` was told to be static, or donated, by position or by name."""
    names = set(getattr(info, f"{what}_argnames", None) or ())
    positions = set(getattr(info, f"{what}_argnums", None) or ())
    parameters = parameter_names(info)
    return frozenset(names | {parameters[i] for i in positions if -len(parameters) <= i < len(parameters)})
