"""Finds the names outside of a function that its code assigns: globals, and attributes of the user's modules."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...memory_use.capture.imported import dict_of, is_module, is_users_module
from .remedies.user_functions import all_codes, global_names

#: The value of a name that is not bound.
ABSENT = object()

_STORES = "STORE_GLOBAL", "DELETE_GLOBAL"
_STORE_OPCODES = frozenset(dis.opmap[name] for name in _STORES)


class Namespace:
    """The variables of a module, compared by identity.

    Args:
        names: the values by name.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace) and self.names is other.names

    def __hash__(self) -> int:
        return id(self.names)


class StoredName(NamedTuple):
    """A name that some code may assign.

    Attributes:
        path: the Python expression that reads it in that code.
        namespace: where it is bound.
        name: the name there.
    """

    path: str
    namespace: Namespace
    name: str

    def value(self) -> Any:
        """Return what the name is bound to now; ``ABSENT`` if it is not bound."""
        return dict.get(self.namespace.names, self.name, ABSENT)


def stored_names(function: types.FunctionType) -> Iterator[StoredName]:
    """Yield the names that a function, and those defined in it, may assign outside of themselves.

    All attributes of modules that the code names are among them, even if it only reads them.
    """
    for code in all_codes(function.__code__):
        if not _STORE_OPCODES.isdisjoint(code.co_code[::2]):  # disassembling takes longer
            for step in dis.get_instructions(code):
                if step.opname in _STORES:
                    yield StoredName(step.argval, Namespace(function.__globals__), step.argval)
    yield from module_names(function)


def module_names(function: types.FunctionType) -> Iterator[StoredName]:
    """Yield the attributes of the user's modules that the code of a function may read or assign."""
    names = list(dict.fromkeys(global_names(function.__code__)))
    for module in names:
        yield from attributes_of(module, function.__globals__.get(module), names)


def attributes_of(path: str, value: Any, names: Iterable[str]) -> Iterator[StoredName]:
    """Yield those attributes of a value that have one of the names, if the value is a module of the user's."""
    if value is not None and is_module(value) and is_users_module(held := dict_of(value)):
        yield from (StoredName(f"{path}.{name}", Namespace(held), name) for name in names if name in held)
