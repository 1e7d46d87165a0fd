"""Finds what holds the array that a line assigns into, and what it was taken from, without running code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any

from ....runtime.around import attributes, classes, is_a, is_exactly, member, members, of_type
from ....runtime.tracing import is_array, is_tracer
from ...record.failing_code import Holder
from .calls import MISSING, value_of
from .statement import Place, definition


def holder_of(place: Place, frame: FrameType) -> Holder | None:
    """Return what holds the array of ``array[i] = x``; ``None`` if it is unknown.

    In ``a.x[0][1] = 2``, the array is ``a.x[0]`` if ``a.x`` is a list or a dictionary, and ``a.x`` otherwise.
    """
    if not isinstance(place.node, ast.Subscript):
        return None
    array = place.node.value
    if isinstance(array, ast.Subscript):
        container = value_of(array.value, frame)
        if not is_exactly(container, list, dict):
            array = array.value
    if isinstance(array, ast.Name):
        return "open"
    if isinstance(array, ast.Subscript):
        return "open" if is_exactly(value_of(array.value, frame), list, dict) else None
    if not isinstance(array, ast.Attribute):
        return None
    owner = value_of(array.value, frame)
    return None if owner is MISSING else _of_attribute(owner, array.attr)


def holder_at(place: Place, frame: FrameType) -> Holder | None:
    """Return what holds the array of ``array.at[i] = x`` and ``array.at[i] += x``; ``None`` if it is unknown."""
    node = place.node.target if isinstance(place.node, ast.AugAssign) else place.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute) or node.value.attr != "at":
        return None
    array = node.value.value
    if isinstance(array, ast.Subscript) and not is_exactly(value_of(array.value, frame), list, dict):
        return None
    return holder_of(place._replace(node=ast.Subscript(value=array, slice=node.slice)), frame)


def source_of(place: Place, frame: FrameType) -> Iterator[tuple[str, str]]:
    """Say what the variable of ``row[i] = x`` was taken from: ``x[0]``, or what a loop goes over.

    ``"back"`` is the statement that writes the variable back, and ``"lost"`` tells that nothing reads it in the loop.
    """
    name = _root(place.node)
    line = getattr(place.node, "lineno", 0)
    code = frame.f_code
    home = definition(place.tree, code.co_name, code.co_firstlineno) or place.tree
    nodes = [each for each in ast.walk(home) if getattr(each, "lineno", line + 1) <= line] if home is not None else []
    stored = [each for each in nodes if isinstance(each, ast.Name) and each.id == name]
    last = max((each.lineno for each in stored if isinstance(each.ctx, ast.Store)), default=0)
    for each in nodes:
        match each:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name() | ast.Attribute() | ast.Subscript()):
                if target == name and each.lineno == last:
                    yield "taken", ast.unparse(each.value)
                    yield "back", _back(each.value, name, frame)
            case ast.For(target=target, iter=iterated) if each.lineno == last:
                inside = [node for node in ast.walk(each) if isinstance(node, ast.Name) and node.id == name]
                if place.node in [*ast.walk(each)] and any(node in inside for node in ast.walk(target)):
                    items = _gone_over(target, iterated, name)
                    value = value_of(items, frame)
                    yield "taken", ast.unparse(items)
                    yield "lost", "1" if len(inside) == 2 else ""  # the target of the loop, and the failing one
                    yield "over", "1" if is_array(value) or is_tracer(value) else ""


def _gone_over(target: ast.expr, iterated: ast.expr, name: str) -> ast.expr:
    """Return what a variable of a loop goes over, also within ``enumerate()`` and ``zip()``."""
    match target, iterated:
        case ast.Tuple(elts=[_, ast.Name(id=second)]), ast.Call(func=ast.Name(id="enumerate"), args=[items, *_]):
            return items if second == name else iterated
        case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=args):
            found = (each for part, each in zip(parts, args, strict=False) if ast.unparse(part) == name)
            return next(found, iterated)
    return iterated


def _back(taken: ast.expr, name: str, frame: FrameType) -> str:
    """Return the statement that writes a part of an array, a list or a dictionary back; empty if there is none."""
    if not isinstance(taken, ast.Subscript) or any(isinstance(each, ast.Call) for each in ast.walk(taken)):
        return ""
    owner, whole = value_of(taken.value, frame), ast.unparse(taken.value)
    if is_exactly(owner, list, dict):
        return f"{ast.unparse(taken)} = {name}"
    if (
        not isinstance(taken.value, ast.Name)
        or whole not in frame.f_locals
        or not (is_array(owner) or is_tracer(owner))
    ):
        return ""
    at = ast.Subscript(ast.Attribute(taken.value, "at", ast.Load()), taken.slice, ast.Load())
    return f"{whole} = {ast.unparse(at)}.set({name})"


def _root(node: ast.AST | None) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _of_attribute(owner: Any, name: str) -> Holder | None:
    kinds = of_type("__mro__", type(owner))
    if any(of_type("__name__", each) == "Module" and _package(each) == "equinox" for each in kinds):
        return "equinox"
    if is_a(owner, type):
        return "open" if is_exactly(owner, type) else None
    setter = next(kind for kind, own in zip(kinds, classes(owner), strict=True) if "__setattr__" in own)
    if setter is not object and setter is not ModuleType and setter is not SimpleNamespace:
        return "dataclass" if _is_frozen(setter, name) else None
    known = member(type(owner), name)
    if is_a(owner, tuple):
        return "namedtuple" if is_exactly(member(type(owner), "_fields"), tuple) and known is not None else None
    if is_exactly(known, property):
        return "property" if known.fset is None else None
    if is_exactly(known, MemberDescriptorType):  # one of __slots__
        return "open"
    if known is not None and any(member(type(known), each) is not None for each in ("__set__", "__delete__")):
        return None
    return "open" if name in (attributes(owner) or {}) else None


def _is_frozen(kind: type, name: str) -> bool:
    """Return whether the ``__setattr__`` that a class defines is the one of a frozen dataclass with this field."""
    own = members(kind)
    params: Any = own.get("__dataclass_params__")
    fields: Any = own.get("__dataclass_fields__")
    if of_type("__module__", type(params)) != "dataclasses" or not is_exactly(fields, dict):
        return False
    return params.frozen is True and name in dict.keys(fields)


def _package(kind: type) -> str:
    module = of_type("__module__", kind)
    return module.partition(".")[0] if is_exactly(module, str) else ""
