"""Tells which of the imported modules are the user's; looked up anew only when modules were imported or removed."""

from __future__ import annotations

import functools
import sys
import sysconfig
import types
import weakref
from itertools import chain
from typing import Any, NamedTuple

#: What lies behind the shell is the whole session; it holds no array but under a name that is looked at.
SHELL = frozenset(("IPython", "ipykernel", "traitlets", "zmq", "tornado"))
_LIBRARIES = SHELL | {"jax", "jaxlib", "jaxmagic", "builtins"}


_AROUND_MAGICS = SHELL | {"decorator"}  # with which IPython 7 makes them

#: Folders and files of ours that are about magics.
_MAGICS = frozenset({"magics", "magic", "extension"})


class Imported(NamedTuple):
    """All modules that are imported.

    Attributes:
        of_the_user: the names of those that are neither installed nor Python's own.
        addresses: of all modules, and of the dictionaries of their names. An object that knows its module, such as a
            compiled function of numba's, does not hold what is in it.
    """

    of_the_user: tuple[str, ...]
    addresses: frozenset[int]


#: The last answer, by the addresses of all modules; empty when one of them has gone, as another may get its address.
_last: dict[tuple[int, ...], tuple[Imported, list[weakref.ref[Any]]]] = {}


def imported() -> Imported:
    """Look at ``sys.modules``. A session has thousands, and they are the same as at the last look almost always."""
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
    """Tell whether this is a module; not :func:`isinstance`, which asks an object for its class."""
    return issubclass(type(node), types.ModuleType)


def dict_of(module: types.ModuleType) -> dict[str, Any]:
    """Return the dictionary of a module's names, whatever its class has in the place of ``__dict__``."""
    held: dict[str, Any] = vars(types.ModuleType)["__dict__"].__get__(module)
    return held


def is_users_module(held: dict[str, Any]) -> bool:
    """Tell whether a module with these names is neither installed nor Python's own."""
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
    """Tell whether it is one of IPython's or of a magic.

    From those all names of the session can be reached once more.
    """
    name = dict.get(frame.f_globals, "__name__")
    if type(name) is not str:
        return False
    package, *folders = name.split(".")
    return package in _AROUND_MAGICS or (package == "jaxmagic" and not _MAGICS.isdisjoint(folders))
