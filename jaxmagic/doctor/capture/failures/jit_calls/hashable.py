"""Writes an argument with tuples, frozensets and pairs in place of what cannot be hashed, and how to read it back."""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .....runtime.around import attributes, is_a, is_exactly, member, of_type
from ..calls import MISSING
from .unhashable import HASHABLE, fields_of, names_in, pairs_of, unhashable_in

#: Items are converted one by one up to this number, and arrays up to this number of elements.
_MOST_ITEMS, _MOST_ELEMENTS = 8, 100

#: Items that are converted all in the same way are looked through up to this number.
_MOST_ALIKE = 10_000

#: The variables of comprehensions, by how deep they are inside of others.
_VARIABLES = "each", "inner", "part", "item"

#: Stands for what is passed, in an expression of the original.
_PASSED = "\0"


class Hashable(NamedTuple):
    """An expression that can be hashed, and what makes the original of it.

    Attributes:
        text: the expression.
        back: an expression of the original, with a mark for what is passed; the mark if that is read as the original.
        parts: the values of a dictionary that are converted back, by their keys.
    """

    text: str
    back: str = _PASSED
    parts: tuple[tuple[str, Hashable], ...] = ()

    def lines(self, path: str) -> Iterator[str]:
        """Iterate over the statements that assign the original to a path."""
        if self.parts:
            yield f"{path} = dict({path})"
            for key, part in self.parts:
                yield from part.lines(f"{path}[{key}]")
        elif self.back != _PASSED:
            yield f"{path} = {self.of(path)}"

    def of(self, text: str) -> str:
        """Return the expression of the original for an expression of what is passed."""
        return self.back.replace(_PASSED, text)


class _Unknown(Exception):
    """An expression cannot be converted mechanically."""


class _Converting(NamedTuple):
    """The values of expressions, and the names of modules, for a conversion."""

    value_at: Callable[[ast.expr], Any]
    modules: Mapping[str, str]

    def node(self, node: ast.expr) -> Hashable:
        """Convert an expression, each part of a literal on its own."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) if not any(
                isinstance(each, ast.Starred) for each in items
            ):
                return _items([self.node(each) for each in items], isinstance(node, ast.List))
            case ast.Set():
                plain = all(_is_plain(each, self.value_at) for each in node.elts)
                return Hashable(f"frozenset({ast.unparse(node)})") if plain else _unknown()
            case ast.Dict(keys=keys, values=values) if None not in keys:
                texts = [each for each in keys if each is not None]
                if not all(_is_plain(each, self.value_at) for each in texts):
                    raise _Unknown
                found = {ast.unparse(key): self.node(each) for key, each in zip(texts, values, strict=True)}
                inside = ", ".join(f"{key}: {each.text}" for key, each in found.items())
                return _pairs(f"{{{inside}}}", found)
            case ast.Call(func=called) if is_a(self.value_at(called), type) and fields_of(self.value_at(called)):
                return self._made(node)
        value = self.value_at(node)
        return _unknown() if value is MISSING else self.value(_atom(node), value)

    def _made(self, node: ast.Call) -> Hashable:
        """Convert the arguments of a call that makes a dataclass."""
        given = [*node.args, *(each.value for each in node.keywords)]
        made = self.value_at(node.func)
        if getattr(made, "__hash__", None) is None or any(each.arg is None for each in node.keywords):
            raise _Unknown
        found = [self.node(each) for each in given]
        fields = [*list(fields_of(made))[: len(node.args)], *(each.arg or "" for each in node.keywords)]
        words = ["" if place < len(node.args) else f"{name}=" for place, name in enumerate(fields)]
        text = ", ".join(f"{word}{each.text}" for word, each in zip(words, found, strict=True))
        changed = {name: each for name, each in zip(fields, found, strict=True) if each.back != _PASSED}
        return Hashable(f"{ast.unparse(node.func)}({text})", self._replaced(changed))

    def value(self, text: str, value: Any, depth: int = 0) -> Hashable:
        """Convert what an expression is, by its value."""
        if not any(unhashable_in(value, "")):
            return Hashable(text)
        if depth >= len(_VARIABLES):
            raise _Unknown
        kind = type(value)
        if is_exactly(value, set):
            return Hashable(f"frozenset({text})")
        if is_exactly(value, collections.deque) and not any(
            found for each in value for found in unhashable_in(each, "")
        ):
            return Hashable(f"tuple({text})")
        if is_exactly(value, list, tuple):
            return self._sequence(text, value, depth)
        if is_exactly(value, dict) or (is_a(value, dict) and of_type("__name__", kind) == "OrderedDict"):
            found = {key: self.value(f"{text}[{key!r}]", each, depth) for key, each in dict.items(value)}
            changed = {key: each for key, each in found.items() if each != Hashable(f"{text}[{key!r}]")}
            if len(changed) > _MOST_ITEMS or not all(is_exactly(each, str, int) for each in changed):
                raise _Unknown
            new = ", ".join(f"{key!r}: {each.text}" for key, each in changed.items())
            whole = f"{{**{text}, {new}}}" if changed else text
            return _pairs(whole, {repr(key): each for key, each in found.items()})
        if of_type("__name__", kind) == "ndarray" and of_type("__module__", kind) == "numpy":
            return self._array(text, value)
        return self._with_fields(text, value, depth)

    def _with_fields(self, text: str, value: Any, depth: int) -> Hashable:
        """Convert the fields of a frozen dataclass or of a named tuple."""
        kind = type(value)
        names = list(names_in(kind)) if is_a(value, tuple) else list(fields_of(kind))
        held = dict(zip(names, tuple.__iter__(value), strict=False)) if is_a(value, tuple) else attributes(value)
        if (
            not names
            or held is None
            or not set(names) <= set(held)
            or (member(kind, "__hash__") is None and not _may_freeze(kind))
        ):
            raise _Unknown
        fields = {name: self.value(f"{text}.{name}", held[name], depth) for name in names}
        given = ", ".join(f"{name}={each.text}" for name, each in fields.items() if each.text != f"{text}.{name}")
        new = f"{self._dataclasses()}.replace({text}, {given})" if given else text
        new = f"{text}._replace({given})" if is_a(value, tuple) else new
        changed = {name: each for name, each in fields.items() if each.back != _PASSED}
        return Hashable(new, self._replaced(changed, is_a(value, tuple)))

    def _replaced(self, changed: Mapping[str, Hashable], named: bool = False) -> str:
        given = ", ".join(f"{name}={each.of(f'{_PASSED}.{name}')}" for name, each in changed.items())
        if not given:
            return _PASSED
        return f"{_PASSED}._replace({given})" if named else f"{self._dataclasses()}.replace({_PASSED}, {given})"

    def _dataclasses(self) -> str:
        return self.modules.get("dataclasses", "dataclasses")

    def _sequence(self, text: str, value: Sequence[Any], depth: int) -> Hashable:
        """Convert the items of a list or a tuple: all in the same way, or one by one."""
        if len(value) > _MOST_ALIKE:
            raise _Unknown
        if not any(found for each in value for found in unhashable_in(each, "")):
            return Hashable(f"tuple({text})")
        name = _VARIABLES[depth]
        alike = {self.value(name, each, depth + 1) for each in value}
        if len(alike) == 1:
            (one,) = alike
            function = one.text.removesuffix(f"({name})")
            new = (
                f"map({function}, {text})"
                if function in ("tuple", "frozenset")
                else f"{one.text} for {name} in {text}"
            )
            back = f"{one.of(name)} for {name} in {_PASSED}"
            back = _PASSED if one.back == _PASSED else f"[{back}]" if is_exactly(value, list) else f"tuple({back})"
            return Hashable(f"tuple({new})", back)
        if len(value) > _MOST_ITEMS:
            raise _Unknown
        items = [self.value(f"{text}[{place}]", each, depth) for place, each in enumerate(value)]
        return _items(items, is_exactly(value, list))

    def _array(self, text: str, value: Any) -> Hashable:
        """Convert a small array of NumPy to numbers."""
        if value.ndim > len(_NUMBERS) - 1 or value.size > _MOST_ELEMENTS or value.dtype.kind not in "biuf":
            raise _Unknown
        name = self.modules.get("numpy", "np")
        return Hashable(_NUMBERS[value.ndim].format(text), f"{name}.asarray({_PASSED}, {value.dtype.name!r})")


#: The elements of an array as Python's numbers, by the number of its axes.
_NUMBERS = "{}.item()", "tuple({}.tolist())", "tuple(map(tuple, {}.tolist()))"


def hashable(
    node: ast.expr, value_at: Callable[[ast.expr], Any], modules: Mapping[str, str], *, read_by_key: bool
) -> Hashable | None:
    """Return an expression with tuples, frozensets and pairs in place of what cannot be hashed; ``None`` if unknown.

    Args:
        node: the expression.
        value_at: what gives the value of an expression without running code, or ``MISSING``.
        modules: the names that the code has for modules.
        read_by_key: whether the function reads the argument as a dictionary.
    """
    converting = _Converting(value_at, modules)
    try:
        items = pairs_of(node, value_at)
        if items is None:
            return converting.node(node)
        found = converting.node(items)
        is_passed_on = all(each.back == _PASSED for _, each in found.parts)
        return found if read_by_key or not is_passed_on else Hashable(found.text)
    except _Unknown:
        return None


def _unknown() -> Hashable:
    raise _Unknown


def _items(items: Sequence[Hashable], of_list: bool) -> Hashable:
    """Return a tuple of what is converted one by one."""
    text = ", ".join(each.text for each in items)
    back = ", ".join(each.of(f"{_PASSED}[{place}]") for place, each in enumerate(items))
    comma = "," if len(items) == 1 else ""
    changed = any(each.back != _PASSED for each in items)
    return Hashable(f"({text}{comma})", _PASSED if not changed else f"[{back}]" if of_list else f"({back}{comma})")


def _pairs(text: str, found: Mapping[str, Hashable]) -> Hashable:
    """Return the pairs of a dictionary, in its order, in which the function may go over them."""
    changed = {key: each.of(f"dict({_PASSED})[{key}]") for key, each in found.items() if each.back != _PASSED}
    new = ", ".join(f"{key}: {each}" for key, each in changed.items())
    back = f"dict({_PASSED}) | {{{new}}}" if new else f"dict({_PASSED})"
    return Hashable(f"tuple({text}.items())", back, tuple(found.items()))


def _may_freeze(kind: type) -> bool:
    """Return whether a class is a dataclass with nothing but the usual options, derived from nothing."""
    options = member(kind, "__dataclass_params__")
    named = {"init": True, "repr": True, "eq": True, "order": False, "unsafe_hash": False, "frozen": False}
    return len(of_type("__mro__", kind)) == 2 and all(
        getattr(options, name, None) is each for name, each in named.items()
    )


def _atom(node: ast.expr) -> str:
    """Return an expression behind which a method or an index can be written."""
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else f"({text})"


def _is_plain(node: ast.expr, value_at: Callable[[ast.expr], Any]) -> bool:
    """Return whether an expression is a number, a text or the like."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    value = value_at(node)
    return isinstance(inner, ast.Constant) or (value is not MISSING and is_exactly(value, *HASHABLE))
