"""Finds whether the array that a line assigns into can be replaced where it is held, without running code."""

from __future__ import annotations

import ast
from types import FrameType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any

from ....runtime.around import attributes, classes, is_a, is_exactly, member, members, of_type
from ...record.failure import Holder
from .calls import MISSING, value_of
from .statement import Place


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
