"""Reads values and the names of functions on a line, without running code."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Mapping, Sequence
from types import FrameType, FunctionType, ModuleType
from typing import Any, Protocol

from ....runtime.around import attribute, attributes, is_a, is_exactly, member, of_type
from .statement import Place

#: Stands for a value that cannot be had without running code.
MISSING = object()


class Names(Protocol):
    """The variables that code sees: those of a frame, or of a function that is not running."""

    @property
    def f_locals(self) -> Mapping[str, Any]:
        """Return the local variables."""

    @property
    def f_globals(self) -> Mapping[str, Any]:
        """Return the variables of the module."""


def value_of(node: ast.AST, frame: Names) -> Any:
    """Return the value of a name or of an attribute of one, without running code; ``MISSING`` if that is impossible.

    A method is returned as the function in its class.
    """
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, frame)
        if owner is MISSING:
            return MISSING
        found = attribute(owner, node.attr)
        if found is None and is_a(owner, type):
            found = member(owner, node.attr)
        return MISSING if found is None or is_exactly(found, property) else found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = value_of(node.operand, frame)
        return -number if is_exactly(number, int, float) else MISSING
    if isinstance(node, ast.Subscript):
        owner, key = value_of(node.value, frame), value_of(node.slice, frame)
        if is_exactly(owner, list, tuple, dict) and is_exactly(key, int, str):
            try:
                return owner[key]
            except (LookupError, TypeError):
                return MISSING
    return MISSING


def called_name(place: Place, frame: FrameType, packages: Sequence[str] = ("numpy", "scipy")) -> str | None:
    """Return the full name of a function of NumPy or SciPy that an expression calls, such as ``"numpy.linalg.det"``.

    A method is named after the module of its object's class.

    Args:
        place: the expression.
        frame: the frame in which it was evaluated.
        packages: the packages whose functions are named.
    """
    return None if not isinstance(place.node, ast.Call) else _full_name(place.node.func, frame, packages)


def functions_called(
    statement: ast.AST | None, frame: FrameType, packages: Sequence[str] = ("numpy", "scipy")
) -> dict[str, str]:
    """Return the functions that a statement calls, as they are written, with their full names.

    That of ``np.vectorize(f)(x)`` is ``"numpy.vectorize()"``, that of ``np.add.reduce(x)`` is ``"numpy.add.reduce"``,
    that of a method of an array ``"numpy.ndarray.dot"``, and that of one of a generator of random numbers begins with
    ``"numpy.random."``.
    """
    named: dict[str, str] = {}
    for each in ast.walk(statement) if statement is not None else ():
        if not isinstance(each, ast.Call):
            continue
        function: ast.expr = each.func
        behind = ""
        if isinstance(function, ast.Call):
            function, behind = function.func, "()"
        elif isinstance(function, ast.Attribute) and _is_ufunc(value_of(function.value, frame)):
            behind = f".{function.attr}"
            function = function.value
        name = _full_name(function, frame, packages)
        if name is not None:
            of_object = isinstance(function, ast.Attribute) and not is_a(value_of(function.value, frame), ModuleType)
            if of_object and isinstance(function, ast.Attribute) and not name.startswith("numpy.random."):
                name = f"{name.partition('.')[0]}.ndarray.{function.attr}"
            named[ast.unparse(each.func)] = name + behind
    return named


def _is_ufunc(value: object) -> bool:
    return bool(of_type("__name__", type(value)) == "ufunc")


def _full_name(node: ast.expr, frame: FrameType, packages: Sequence[str]) -> str | None:
    name = module = None
    if isinstance(node, ast.Attribute):
        owner, name = value_of(node.value, frame), node.attr
        module = attribute(owner, "__name__") if is_a(owner, ModuleType) else of_type("__module__", type(owner))
        if is_a(owner, ModuleType) and str(module).partition(".")[0] not in packages:  # as flax.linen has JAX's relu
            found = value_of(node, frame)
            module = found.__module__ if is_exactly(found, FunctionType) else attribute(found, "__module__")
    elif isinstance(node, ast.Name):
        function = value_of(node, frame)
        name, module = attribute(function, "__name__"), attribute(function, "__module__")
        if is_exactly(function, FunctionType):
            name, module = function.__name__, _public_home(function)
        if _is_ufunc(function):
            name, module = getattr(function, "__name__", None), _home_of(function)
    if not is_exactly(module, str) or not is_exactly(name, str):
        return None
    return f"{module}.{name}" if str(module).partition(".")[0] in packages else None


def _public_home(function: FunctionType) -> str | None:
    """Return the innermost public module around the one that defines a function, if it exports the function."""
    parts = str(function.__module__).split(".")
    private = next((place for place, each in enumerate(parts) if each.startswith("_")), len(parts))
    home = ".".join(parts[:private])
    return home if (attributes(sys.modules.get(home)) or {}).get(function.__name__) is function else None


def jax_twin(full: str | None) -> str:
    """Return the function of ``jax.scipy`` with the name of one of SciPy's; empty if there is none."""
    module, _, name = f"jax.{full}".rpartition(".")
    if not module.startswith("jax.scipy"):
        return ""
    try:
        found = importlib.import_module(module)
    except ImportError:
        return ""
    return f"{module}.{name}" if name in (attributes(found) or {}) else ""


def _home_of(ufunc: object) -> str | None:
    """Return the module that exports a universal function, which does not say so itself."""
    names = "numpy", "scipy.special"
    loaded = ((name, sys.modules.get(name)) for name in names)
    return next((name for name, each in loaded if any(ufunc is it for it in (attributes(each) or {}).values())), None)


def is_missing(value: object) -> bool:
    """Return whether a value is what :func:`value_of` returns where it is impossible to tell the value."""
    return value is MISSING


def wrapped_function(jitted: Any) -> FunctionType | None:
    """Return the Python function that was jitted, if `jitted` was made by ``jax.jit`` of just that."""
    function = attribute(jitted, "__wrapped__") if is_jitted(jitted) else None
    return function if is_exactly(function, FunctionType) else None


def is_jitted(value: Any) -> bool:
    """Return whether a value was made by ``jax.jit``."""
    return value is not MISSING and of_type("__name__", type(value)) == "PjitFunction"
