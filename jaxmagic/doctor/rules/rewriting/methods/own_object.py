"""Makes an object in a jitted function, with the attributes that methods read which the function calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..syntax import loaded, parameters, stored, tree_of
from .own_class import OwnClass, used_of


class OwnObject(NamedTuple):
    """An object for the methods that a jitted function calls.

    Attributes:
        begin: the lines that make it.
        given: the attributes that are arguments besides, by their names.
        static: the arguments that jit has to know.
    """

    begin: tuple[str, ...]
    given: tuple[str, ...]
    static: tuple[str, ...]


def with_object(
    own: OwnClass, computed: Sequence[ast.stmt], given: Sequence[str], attributes: Mapping[str, str]
) -> OwnObject | None:
    """Return what makes the object that some statements use; ``None`` if its class has no name beside the method.

    Args:
        own: the class.
        computed: the statements, with variables in place of attributes.
        given: what the jitted function gets.
        attributes: the variables that stand for attributes, with these.
    """
    use, tree = used_of(own, computed), tree_of(own.file)
    names = {each: attributes[each].split(".") for each in given if each in attributes}
    plain = all(len(parts) == 2 and parts[0] == own.owner for parts in names.values())
    if use is None or tree is None or own.node not in tree.body or not plain:
        return None
    held = {attribute: name for name, (_, attribute) in names.items()}
    more = [each for each in (*use.traced, *use.static) if each not in held]
    taken = loaded([own.method]) | stored([own.method]) | parameters(own.method) | {*given}
    if {*more} & taken or own.node.name in taken - loaded([tree]):
        return None
    held |= {each: each for each in more}
    static = tuple(held[each] for each in use.static)
    begin = [f"{own.owner} = object.__new__({own.node.name})"]
    if held:
        begin.append(f"{', '.join(f'{own.owner}.{each}' for each in held)} = {', '.join(held.values())}")
    return OwnObject(tuple(begin), tuple(more), static)
