"""Makes an object in a jitted function, with the attributes that methods read which the function calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..syntax import loaded, parameters, stored
from .own_class import OwnClass, used_of

#: The argument for the class of the object.
_CLASS = "cls"

#: Says why the object is made without ``__init__``.
_ONLY = "# an object of its class, with nothing but what is passed"


class OwnObject(NamedTuple):
    """An object for the methods that a jitted function calls.

    Attributes:
        begin: the lines that make it.
        given: the arguments besides, by their names, with what is passed for them.
        static: the arguments that jit has to know.
    """

    begin: tuple[str, ...]
    given: Mapping[str, str]
    static: tuple[str, ...]


def with_object(
    own: OwnClass, computed: Sequence[ast.stmt], given: Sequence[str], attributes: Mapping[str, str]
) -> OwnObject | None:
    """Return what makes the object that some statements use; ``None`` if the names for that are taken.

    Its class is that of the caller's object, which may have other methods. A copy of that object would have to be
    a static argument, for which jit compiles again for each object and keeps it alive.

    Args:
        own: the class.
        computed: the statements, with variables in place of attributes.
        given: what the jitted function gets.
        attributes: the variables that stand for attributes, with these.
    """
    use = used_of(own, computed)
    names = {each: attributes[each].split(".") for each in given if each in attributes}
    plain = all(len(parts) == 2 and parts[0] == own.owner for parts in names.values())
    if use is None or not plain:
        return None
    held = {attribute: name for name, (_, attribute) in names.items()}
    more = [each for each in (*use.traced, *use.static) if each not in held]
    taken = loaded([own.method]) | stored([own.method]) | parameters(own.method) | {*given}
    if {_CLASS, *more} & taken or _CLASS in more:
        return None
    held |= {each: each for each in more}
    static = (*(held[each] for each in use.static), _CLASS)
    begin = [f"{own.owner} = object.__new__({_CLASS})  {_ONLY}"]
    if held:
        begin.append(f"{', '.join(f'{own.owner}.{each}' for each in held)} = {', '.join(held.values())}")
    passed = {each: f"{own.owner}.{each}" for each in more}
    return OwnObject(tuple(begin), {**passed, _CLASS: f"type({own.owner})"}, static)
