"""Names the two pytrees that ``jax.tree.map`` found to differ, as the failing line writes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import CodeType, FrameType, FunctionType
from typing import Any

from .....runtime.around import attributes, is_a, is_exactly, member
from ....analysis.failures.expression import before_dot
from ....analysis.failures.messages import is_jax_file
from ..calls import MISSING, value_of, wrapped_function
from ..statement import Place

#: JAX's functions that take a function, a pytree, and others like it.
_MAPS = "map", "map_with_path", "tree_map", "tree_map_with_path"

#: Pytrees are looked for in arguments to this depth, and among so many values.
_DEEPEST = 3
_MOST = 200

#: A step of a path: a key, an index, or a field.
_STEP = re.compile(r"\[(?:'[^']*'|-?\d+)\]|\.\w+")


def compared_trees(place: Place, frame: FrameType, called: Sequence[FrameType], path: str | None) -> dict[str, str]:
    """Return how a line writes the first tree, and the other one that differs from it, as far as that is known.

    Args:
        place: the failing call.
        frame: the frame of its line.
        called: the frames of the calls that it led to.
        path: where the trees differ; ``None`` if unknown.
    """
    node = place.node
    if not isinstance(node, ast.Call):
        return {}
    texts, values = _written(node, frame), _compared(called)
    if values is None:
        values = [value_of(each, frame) for each in node.args[1:]] if texts else []
    other = _differing(values, path)
    named = {"tree": 0, "other": other}
    found = {name: _text(number, texts, values, node, frame) for name, number in named.items() if number is not None}
    for name, number in named.items():
        if number is not None and not found[name] and number < len(values):
            found[name] = _updated(values[number], node, frame, path or "")
    return {name: text for name, text in found.items() if text}


def passed_by_caller(calls: Sequence[tuple[Place, FrameType]]) -> dict[str, str]:
    """Return the call that passes the second argument of the failing one, and what it passes for each parameter.

    A caller that got it as an argument only passes it on, so that its own caller counts.

    Args:
        calls: the calls that led to the failing one, which is the first.
    """
    node = calls[0][0].node
    wanted = ast.unparse(node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else ""
    passed: dict[str, str] | None = None
    for (_, inner), (place, frame) in pairwise(calls):
        if wanted not in _parameters(inner.f_code):
            break
        given = _given(place, frame, inner.f_code)
        if passed is not None:
            given = {name: given[text] for name, text in passed.items() if text in given} | {"": given.get("", "")}
        passed, wanted = given, given.get(wanted, "")
    return {} if not passed else {f"caller's {name}".strip(): text for name, text in passed.items()}


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _given(place: Place, frame: FrameType, code: CodeType) -> dict[str, str]:
    """Return what a line passes for each parameter of a function, jitted or not, and by ``""`` what it calls."""
    node = place.node
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return {}
    called = value_of(node.func, frame)
    function = wrapped_function(called) or called
    if not is_exactly(function, FunctionType) or function.__code__ is not code:
        return {}
    given = [*zip(code.co_varnames[: code.co_argcount], node.args, strict=False)]
    given += [(each.arg, each.value) for each in node.keywords if each.arg is not None]
    return {"": ast.unparse(node.func), **{name: ast.unparse(value) for name, value in given}}


def _updated(tree: Any, node: ast.Call, frame: FrameType, path: str) -> str:
    """Return the gradients that an optimizer gets, if they are like a tree at a path, so that it made it of them."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "update" or len(node.args) < 2:
        return ""
    same = _same_node(_at(tree, path), _at(value_of(node.args[0], frame), path))
    return ast.unparse(node.args[0]) if same else ""


def _written(node: ast.Call, frame: FrameType) -> list[str]:
    """Return the trees as a call of JAX's own function writes them; none for another function."""
    function = value_of(node.func, frame)
    if not is_exactly(function, FunctionType) or any(isinstance(each, ast.Starred) for each in node.args):
        return []
    code = function.__code__
    if code.co_name not in _MAPS or not is_jax_file(code.co_filename):
        return []
    return [ast.unparse(each) for each in node.args[1:]]


def _compared(called: Sequence[FrameType]) -> list[Any] | None:
    """Return the trees that JAX compared; ``None`` if its frame is not known."""
    for each in called:
        code, local = each.f_code, each.f_locals
        if code.co_name in _MAPS and is_jax_file(code.co_filename) and is_exactly(local.get("rest"), tuple):
            return [local.get("tree", MISSING), *local["rest"]]
    return None


def _differing(trees: Sequence[Any], path: str | None) -> int | None:
    """Return the number of the tree that differs from the first one; ``None`` if that is not known."""
    if len(trees) == 2:
        return 1
    if not trees or path is None:
        return None
    first = _at(trees[0], path)
    for number, tree in enumerate(trees[1:], 1):
        same = _same_node(first, _at(tree, path))
        if not same:
            return None if same is None else number
    return None


def _at(tree: Any, path: str) -> Any:
    for step in _STEP.findall(path):
        tree = dict(_parts(tree)).get(step, MISSING)
    return tree


def _same_node(first: Any, other: Any) -> bool | None:
    """Return whether two nodes have the same type and children; ``None`` if that is not known."""
    if first is MISSING or other is MISSING:
        return None
    if type(first) is not type(other):
        return False
    if is_exactly(first, dict):
        return set(first) == set(other)
    return len(first) == len(other) if is_exactly(first, list, tuple) else None


def _text(number: int, texts: Sequence[str], values: Sequence[Any], node: ast.Call, frame: FrameType) -> str:
    if number < len(texts):
        return texts[number]
    tree = values[number] if number < len(values) else MISSING
    given = [*node.args, *(each.value for each in node.keywords)]
    if tree is MISSING or is_exactly(tree, bool, int, float, str, type(None)):
        return ""
    inside = (path for each in given for path in _inside(value_of(each, frame), ast.unparse(each), tree, [_MOST]))
    return next(inside, "")


def _inside(value: Any, text: str, tree: Any, left: list[int], depth: int = 0) -> Iterator[str]:
    """Yield how a tree is reached from an argument that is, or holds, the same object."""
    left[0] -= 1
    if value is tree:
        yield text
    elif depth < _DEEPEST and left[0] > 0:
        for step, each in _parts(value):
            yield from _inside(each, f"{before_dot(text)}{step}", tree, left, depth + 1)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if is_exactly(value, dict):
        yield from ((f"[{key!r}]", each) for key, each in value.items() if is_exactly(key, str, int))
    elif is_exactly(value, list, tuple):
        yield from ((f"[{number}]", each) for number, each in enumerate(value))
    elif is_a(value, tuple):
        fields = member(type(value), "_fields") or ()
        yield from ((f".{field}", each) for field, each in zip(fields, tuple.__iter__(value), strict=False))
    elif value is not MISSING:
        yield from ((f".{name}", each) for name, each in (attributes(value) or {}).items())
