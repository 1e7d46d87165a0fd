"""Recognizes a function that computes with each leaf of a module of Equinox, some of which are no arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType, FunctionType, TracebackType
from typing import Any

from .....records.call_stack import Frame, is_users
from .....records.cell_names import known_as
from .....runtime.around import is_exactly, of_type
from .....runtime.tracing import is_array, is_tracer
from .....tracebacks import calls_in
from ..calls import MISSING, value_of
from ..held import arrays_in
from ..statement import place_of
from .module_use import library_of, name_of

#: How Python's message begins, and the types in it that say that one of the trees has no leaf.
_MESSAGE, _NO_LEAF = "unsupported operand type(s) for ", "NoneType"

#: Modules inside of modules are searched down to this depth.
_DEPTH = 20


def mapped_module(traceback: TracebackType | None, text: str) -> dict[str, str] | None:
    """Return what is known about a call that computes with each leaf of a module; ``None`` if it is another error.

    The facts are the leaf that failed and its type, the call as it is written, its function and its line, the module,
    and the call that computes with the arrays alone.

    Args:
        traceback: the traceback of the exception.
        text: its message.
    """
    if traceback is None or not text.startswith(_MESSAGE):
        return None
    *entries, innermost = calls_in(traceback)
    leaves = [each for each in innermost.tb_frame.f_locals.values() if not _is_plain(each)]
    users = [each for each in [*entries, innermost] if _is_users(each.tb_frame)]
    for entry in reversed(users):
        frame, node = entry.tb_frame, place_of(entry.tb_frame.f_code, entry.tb_lasti).node
        function: Any = value_of(node.func, frame) if isinstance(node, ast.Call) else MISSING
        if isinstance(node, ast.Call) and is_exactly(function, FunctionType) and _maps(function):
            return _facts(node, frame, leaves, text, f"{known_as(frame.f_code.co_filename)}:{entry.tb_lineno}")
    return None


def _facts(node: ast.Call, frame: FrameType, leaves: list[Any], text: str, location: str) -> dict[str, str] | None:
    arguments = [*node.args, *(each.value for each in node.keywords)]
    values = [(each, value_of(each, frame)) for each in arguments]
    modules = [(each, value) for each, value in values if value is not MISSING and library_of(value) == "equinox"]
    holding = [(each, found) for each, value in modules for found in _leaves(ast.unparse(each), value, leaves)]
    path, leaf = next((found for _, found in holding if not _is_array(found[1])), ("", None))
    if not path and _NO_LEAF in text:  # an array that the other tree has no leaf for
        path, leaf = next((found for _, found in holding), ("", None))
    kind = str(of_type("__name__", type(leaf)))
    if not path or not (_NO_LEAF in text or kind in text):
        return None
    texts = list(dict.fromkeys(ast.unparse(each) for each, _ in holding))
    return {
        "leaf": path,
        "type": "" if _is_array(leaf) else kind,
        "called": ast.unparse(node.func),
        "module": texts[0],
        "location": location,
        "call": ast.unparse(node),
        **_mended(node, texts, name_of("equinox", frame), alone=len(modules) == len(texts)),
    }


def _mended(node: ast.Call, modules: list[str], name: str, *, alone: bool) -> dict[str, str]:
    """Return the call that computes with the arrays of modules alone, and how it passes them and takes the rest.

    Args:
        node: the call.
        modules: the modules as they are written.
        name: the name that the user's code has for Equinox.
        alone: whether there is no other module, such as a gradient, which has no leaf for integers.
    """
    copy = ast.parse(ast.unparse(node), mode="eval").body
    assert isinstance(copy, ast.Call)
    if ast.unparse(copy.func).endswith("apply_updates"):
        copy.func = ast.parse(f"{name}.apply_updates", mode="eval").body
        for each in copy.keywords:
            each.arg = "model" if each.arg == "params" else each.arg
        return {"mended": ast.unparse(copy)}
    kept = "is_array" if alone else "is_inexact_array"
    arrays = {each: f"{name}.filter({each}, {name}.{kept})" for each in modules}
    copy.args = [_replaced(each, arrays) for each in copy.args]
    for each in copy.keywords:
        each.value = _replaced(each.value, arrays)
    combined = f"{name}.combine({{}}, {modules[0]})"
    return {
        "mended": combined.format(ast.unparse(copy)),
        "arrays": arrays[modules[0]],
        "combined": combined.format("result"),
    }


def _replaced(node: ast.expr, texts: dict[str, str]) -> ast.expr:
    text = texts.get(ast.unparse(node))
    return node if text is None else ast.parse(text, mode="eval").body


def _leaves(name: str, module: Any, leaves: list[Any]) -> Iterator[tuple[str, Any]]:
    """Iterate over those of some leaves that a module has, with their paths."""
    return arrays_in(name, module, lambda value: any(value is each for each in leaves), _DEPTH, static=False)


def _maps(function: FunctionType) -> bool:
    """Return whether a function computes with each leaf of what it gets: ``jax.tree.map``, or one of Optax."""
    home = str(function.__module__).partition(".")[0]
    return home == "optax" or (home == "jax" and function.__name__ in ("map", "tree_map"))


def _is_plain(value: object) -> bool:
    return is_exactly(value, bool, int, float, complex, str, type(None))


def _is_array(value: object) -> bool:
    return is_array(value) or is_tracer(value)


def _is_users(frame: FrameType) -> bool:
    return is_users(Frame(function=frame.f_code.co_name, file=frame.f_code.co_filename, line=0))
