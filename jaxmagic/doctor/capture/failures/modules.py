"""Finds the names that the user's code has for modules, and what JAX has in place of a name that it lacks."""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

from ....runtime.around import attributes, member, members
from ....runtime.tracing import array_classes, is_array, is_tracer
from ...analysis.failures.wrong_arguments.names.methods import CHANGING, FIRST, KNOWN
from ...analysis.failures.wrong_arguments.names.replaced import MODULES, replacement_of, subject_of
from .calls import is_missing, value_of

#: Modules that code usually has under a name of its own.
_MODULES = "jax", "jax.numpy", "jax.lax", "numpy", "functools", "dataclasses"

#: Modules of JAX in which a name is looked up that another one lacks, in this order.
_SEARCHED = "jax", "jax.numpy", "jax.lax", "jax.nn", "jax.numpy.linalg", "jax.scipy.special", "jax.random"

#: How like a name has to be to one that is missing, from 0 to 1.
_ALIKE = 0.8


def module_names(frame: FrameType) -> tuple[tuple[str, str], ...]:
    """Return modules and the names that the code of a frame has for them."""
    with suppress(RuntimeError):  # another thread adds a variable
        known = [*frame.f_locals.items(), *frame.f_globals.items()]
        pairs = ((module, _name(known, sys.modules.get(module))) for module in _MODULES)
        return tuple((module, name) for module, name in pairs if name is not None)
    return ()


def name_of_module(frame: FrameType, module: str) -> str:
    """Return the name that the code of a frame has for a module; its own if it has none."""
    with suppress(RuntimeError):
        known = [*frame.f_locals.items(), *frame.f_globals.items()]
        return _name(known, sys.modules.get(module)) or module
    return module


def _name(known: list[tuple[str, object]], module: object) -> str | None:
    if module is None:
        return None
    return next((name for name, value in known if value is module and name.isidentifier()), None)


def about_missing(said: Mapping[str, str]) -> dict[str, str] | None:
    """Return what JAX or NumPy has in place of a name or a module that JAX lacks; ``None`` if that is unknown.

    Args:
        said: the module, and the name that it lacks; the module alone if that is missing itself.
    """
    module, name = said["module"], said.get("name", "")
    if not name:
        return {"subject": MODULES[module]} if module in MODULES else None
    path = replacement_of(name)
    subject = "" if path and _exists(path) else subject_of(module, name)
    if not subject and not _exists(path):
        path = next((f"{each}.{name}" for each in _SEARCHED if each != module and _exists(f"{each}.{name}")), "")
    if subject:
        return {"subject": subject}
    if path:
        return {"replacement": path, "parameters": _parameters(_member(path)), **_positional(_member(path))}
    if name in _public("numpy"):
        return {"numpy": "1"}
    similar = difflib.get_close_matches(name, _public(module), 3, _ALIKE)
    return {"similar": ", ".join(similar)} if similar else None


def about_attribute(said: Mapping[str, str]) -> dict[str, str] | None:
    """Return what JAX or NumPy has in place of an attribute that arrays of JAX lack; ``None`` if that is unknown.

    Args:
        said: the name of the attribute.
    """
    name = said["name"]
    if name in KNOWN or name.startswith("block"):  # waiting for a traced value
        return {}
    paths = (f"{each}.{name}" for each in ("jax.numpy", "jax.nn", "jax.numpy.linalg"))
    array = members(_member("jax.Array"))
    if said.get("tracer") and name in array:
        return {"concrete": "1"}
    found = next((each for each in paths if _first_parameter(_member(each)) in FIRST), None)
    if found is not None:
        return {"replacement": found}
    numpy = _member("numpy.ndarray")
    if numpy is not None and name in members(numpy) and not name.startswith("_") and name not in CHANGING:
        return {"numpy": "1"}
    similar = difflib.get_close_matches(name, [each for each in array if not each.startswith("_")], 3, _ALIKE)
    return {"similar": ", ".join(similar)} if similar else None


def lacking_in(statement: ast.AST | None, failed: ast.AST | None, frame: FrameType) -> str:
    """Return the attributes in a statement that no array of JAX has, each with what JAX has in its place.

    Those of values that are no arrays are left out, and those that the failing expression has read. In place of a
    method is the name of a function, a question mark if it is translated in another way, or nothing.

    Args:
        statement: the failing statement.
        failed: the failing expression.
        frame: its frame.
    """
    has = [*ast.walk(failed.value)] if isinstance(failed, ast.Attribute) else []
    nodes = [each for each in ast.walk(statement) if each not in has] if statement is not None else []
    owned = [(each.attr, value_of(each.value, frame)) for each in nodes if isinstance(each, ast.Attribute)]
    names = sorted({name for name, owner in owned if is_missing(owner) or is_array(owner) or is_tracer(owner)})
    kinds = array_classes()
    lacking = [each for each in names if all(member(kind, each) is None for kind in kinds)]
    found = {name: {} if name in KNOWN else about_attribute({"name": name}) for name in lacking}
    return ", ".join(
        f"{name}:{'' if about is None else about.get('replacement', '?' if not about else '')}"
        for name, about in found.items()
    )


def _public(module: str) -> list[str]:
    held = attributes(sys.modules.get(module)) or {}
    return [each for each in held if not each.startswith("_")]


def _member(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return (attributes(sys.modules.get(module)) or {}).get(name)


def _exists(path: str) -> bool:
    """Return whether a module of JAX that is loaded has a name."""
    return bool(path) and _member(path) is not None


def _signature(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _parameters(function: Any) -> str:
    """Return the parameters of a function that can be passed as keywords; empty if they are unknown."""
    return ", ".join(each.name for each in _signature(function) if each.kind is not each.POSITIONAL_ONLY)


def _positional(function: Any) -> dict[str, str]:
    """Return the positional parameters without a default, and how many there are; nothing if any number is taken."""
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = _signature(function)
    if not parameters or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return {}
    taken = [each for each in parameters if each.kind in kinds]
    return {"required": ", ".join(each.name for each in taken if each.default is each.empty), "most": str(len(taken))}


def _first_parameter(function: Any) -> str:
    return next((each.name for each in _signature(function)), "")
