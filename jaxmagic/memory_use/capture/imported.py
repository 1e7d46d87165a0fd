"""Finds which of the imported modules are the user's. The answer is kept until modules are imported or removed."""

from __future__ import annotations

import functools
import sys
import sysconfig
import types
import weakref
from itertools import chain
from typing import Any, NamedTuple

#: Packages of the shell. The shell refers to the whole session, and holds no array but under names that are searched.
SHELL = frozenset(("IPython", "ipykernel", "traitlets", "zmq", "tornado"))
_LIBRARIES = SHELL | {"jax", "jaxlib", "jaxmagic", "builtins"}


_AROUND_MAGICS = SHELL | {"decorator"}  # IPython 7 makes magics with it

#: Folders and files of jaxmagic that are about magics.
_MAGICS = frozenset({"magics", "magic", "extension"})


class Imported(NamedTuple):
    """All imported modules.

    Attributes:
        of_the_user: the names of modules that are neither installed nor part of Python.
        addresses: the ids of all modules and of their globals. An object that refers to its module, such as a
            compiled function of numba, does not hold what is in the module.
    """

    of_the_user: tuple[str, ...]
    addresses: frozenset[int]


#: The last answer, by the ids of all modules. Cleared when a module is deleted, as its id may be reused.
_last: dict[tuple[int, ...], tuple[Imported, list[weakref.ref[Any]]]] = {}


def imported() -> Imported:
    """Classify ``sys.modules``. A session has thousands of modules, which almost never change between two calls."""
    there = sys.modules.copy()
    addresses = tuple(map(id, there.values()))
    if addresses not in _last:
        modules = {name: each for name, each in there.items() if is_module(each)}
        alive = [weakref.ref(each, lambda _: _last.clear()) for each in modules.values()]
        _last.clear()
        _last[addresses] = _look(modules), alive
    found, _ = _last.get(addresses) or (_look(there), [])
    return found


def _look(modules: dict[str, Any]) -> Imported:
    held = {name: dict_of(each) for name, each in modules.items() if is_module(each)}
    users = (name for name, each in held.items() if type(name) is str and is_users_module(each))
    return Imported(tuple(users), frozenset(chain(map(id, modules.values()), map(id, held.values()))))


def is_module(node: Any) -> bool:
    """Return whether this is a module, without :func:`isinstance`, which would read its ``__class__``."""
    return issubclass(type(node), types.ModuleType)


def dict_of(module: types.ModuleType) -> dict[str, Any]:
    """Return the globals of a module, even if its class overrides ``__dict__``."""
    held: dict[str, Any] = vars(types.ModuleType)["__dict__"].__get__(module)
    return held


def is_users_module(held: dict[str, Any]) -> bool:
    """Return whether a module with these globals is neither installed nor part of Python."""
    name, file = held.get("__name__"), held.get("__file__")
    if type(name) is not str or name.partition(".")[0] in _LIBRARIES:
        return False
    if name == "__main__":
        return True
    if type(file) is not str:
        return held.get("__spec__") is None
    return not file.startswith(_python_paths()) and "site-packages" not in file and "dist-packages" not in file


@functools.cache
def _python_paths() -> tuple[str, ...]:
    return tuple({sysconfig.get_path(each) for each in ("stdlib", "platstdlib")})


def is_of_magics(frame: types.FrameType) -> bool:
    """Return whether a frame belongs to IPython or to a magic, which refer to all names of the session again."""
    name = dict.get(frame.f_globals, "__name__")
    if type(name) is not str:
        return False
    package, *folders = name.split(".")
    return package in _AROUND_MAGICS or (package == "jaxmagic" and not _MAGICS.isdisjoint(folders))
