"""Finds the names outside of a function that its code assigns: globals, and attributes of the user's modules."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...memory_use.capture.imported import dict_of, is_module, is_users_module
from .remedies.user_functions import all_codes, global_names

#: The value of a name that is not bound.
ABSENT = object()

#: Instructions that assign or delete a global, and a variable of an enclosing function.
_GLOBAL = "STORE_GLOBAL", "DELETE_GLOBAL"
_ENCLOSING = "STORE_DEREF", "DELETE_DEREF"

#: Names with which code may assign globals by other means than a statement.
_ANY_GLOBAL = frozenset({"globals", "exec", "eval", "__dict__", "modules"})

#: Names with which code may import modules by names that it computes.
_ANY_MODULE = frozenset({"__import__", "import_module"})


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

    All attributes of modules that the code names are among them, even if it only reads them. If the code may assign
    globals by other means than a statement, as ``globals()`` does, all globals are among them.
    """
    held = function.__globals__
    if not _ANY_GLOBAL.isdisjoint(global_names(function.__code__)):
        yield from (StoredName(name, Namespace(held), name) for name in tuple(held) if type(name) is str)
    yield from (StoredName(name, Namespace(held), name) for name in _operands(function.__code__, _GLOBAL))
    yield from module_names(function)


def assigned_outside(code: types.CodeType) -> Iterator[str]:
    """Yield the globals, and then the variables of enclosing functions, that some code may assign or delete."""
    yield from _operands(code, _GLOBAL)
    yield from (name for name in _operands(code, _ENCLOSING) if name in code.co_freevars)


def _operands(code: types.CodeType, instructions: tuple[str, ...]) -> Iterator[str]:
    """Yield the names that instructions of some code, and of the functions defined in it, have as their operand."""
    opcodes = {dis.opmap[name] for name in instructions}
    for inner in all_codes(code):
        if not opcodes.isdisjoint(inner.co_code[::2]):  # disassembling takes longer
            yield from (step.argval for step in dis.get_instructions(inner) if step.opcode in opcodes)


def module_names(function: types.FunctionType) -> Iterator[StoredName]:
    """Yield the attributes of the user's modules that the code of a function may read or assign.

    The modules are those that it names, imports by itself, or looks up by a name that it has as text; all of the
    user's if it imports by names that it computes.
    """
    names = list(dict.fromkeys(global_names(function.__code__)))
    texts = (each for code in all_codes(function.__code__) for each in code.co_consts if type(each) is str)
    imported = () if _ANY_MODULE.isdisjoint(names) else [each for each in tuple(sys.modules) if type(each) is str]
    for name in dict.fromkeys([*names, *texts, *imported]):
        module = function.__globals__.get(name)
        yield from attributes_of(name, sys.modules.get(name) if module is None else module, names)


def attributes_of(path: str, value: Any, names: Iterable[str]) -> Iterator[StoredName]:
    """Yield those attributes of a value that have one of the names, if the value is a module of the user's.

    Modules that are attributes themselves are followed.
    """
    modules, met = [(path, value)], {id(value)}
    names = tuple(names)
    for way, module in modules:  # grows meanwhile
        if module is None or not is_module(module) or not is_users_module(held := dict_of(module)):
            continue
        for name in names:
            if name in held:
                yield StoredName(f"{way}.{name}", Namespace(held), name)
                if id(held[name]) not in met:
                    met.add(id(held[name]))
                    modules.append((f"{way}.{name}", held[name]))


def names_read(code: types.CodeType) -> Iterator[str]:
    """Yield the names of globals, attributes and closure variables that some code reads, or has as text."""
    for inner in all_codes(code):
        yield from (each for each in inner.co_consts if type(each) is str)
        for step in dis.get_instructions(inner):
            if step.opname.startswith("LOAD_") and not step.opname.startswith("LOAD_FAST"):
                yield str(step.argval)
