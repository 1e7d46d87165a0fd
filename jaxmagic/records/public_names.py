"""Find the name under which a library exports a function, such as ``flax.linen.BatchNorm``.

The call stack of an operation has the file and the function, ``flax/linen/normalization.py`` and
``BatchNorm.__call__``. Users know the shortest name. Only the namespaces of loaded modules are inspected: nothing is
imported, and no code of the library runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import ModuleType

from .inside import library_module, steps_of

#: At most this many classes are named as candidates for the one that the user called.
_MOST_HEIRS = 2


def public_name(file: str, function: str) -> str | None:
    """Return the name under which users know a function of an installed library.

    Args:
        file: the file in which it is defined.
        function: its qualified name, as in ``__qualname__``.

    Returns:
        The public name; ``None`` if no loaded module has this file, or no public module has the function.

    >>> import numpy.ma
    >>> public_name(numpy.ma.core.__file__, "MaskedArray.mean"), public_name(numpy.ma.core.__file__, "_recursive_or")
    ('numpy.ma.MaskedArray.mean', None)
    >>> public_name("/home/me/train.py", "step")
    """
    return _public_name(file, function, len(sys.modules))


@lru_cache(maxsize=4096)
def _public_name(file: str, function: str, loaded: int) -> str | None:
    """Find the public name; `loaded`, the number of loaded modules, renews the cache when it changes."""
    module = library_module(file)
    names = {} if module is None else _names_in(module)
    first, _, method = function.partition(".")
    if module is None or first not in names or names.get("__file__") != file:
        return None
    value = names[first]
    if isinstance(value, type) and issubclass(value, type):  # a metaclass: users call its classes
        return None
    if first.startswith("_"):
        return _name_of_heirs(module, value, method) if isinstance(value, type) else None
    home = _exported_by(module, first, value)
    return None if home is None else ".".join((home, *steps_of(function)))


def _name_of_heirs(module: str, private: type, method: str) -> str | None:
    """Name the public classes of the package that inherit a method from a private class, unless there are many."""
    package, name = module.partition(".")[0], method.partition(".")[0]
    heirs = [each for each in _below(private) if each.__module__.partition(".")[0] == package]
    same = [each for each in heirs if _inherited(each, name) is _inherited(private, name) is not None]
    homes = {each: _exported_by(each.__module__, each.__name__, each) for each in same}
    known = sorted(".".join((home, each.__name__, *steps_of(method))) for each, home in homes.items() if home)
    return " or ".join(known) if 0 < len(known) <= _MOST_HEIRS else None


def _below(private: type) -> Iterator[type]:
    """Yield all public classes derived from a private one."""
    heirs: list[type] = type.__subclasses__(private)
    for each in heirs:
        if not each.__name__.startswith("_"):
            yield each
        yield from _below(each)


def _inherited(owner: type, name: str) -> object:
    """Return a method of a class or of the first of its bases that has it, without running any code."""
    return next((vars(each)[name] for each in type.mro(owner) if name in vars(each)), None)


def _exported_by(module: str, name: str, value: object) -> str | None:
    """Return the outermost public parent of a module that has the value, or else another module of the package."""
    parts = module.split(".")
    above = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    home = next((each for each in above if _has(each, name, value)), None)
    if home is not None:
        return home
    others = [each for each in list(sys.modules) if each.startswith(f"{parts[0]}.") and _has(each, name, value)]
    return min(others, key=lambda each: (each.count("."), each), default=None)


def _has(module: str, name: str, value: object) -> bool:
    public = not any(step.startswith("_") for step in module.split("."))
    return public and _names_in(module).get(name) is value


def _names_in(module: str) -> Mapping[str, object]:
    """Return the namespace of a module, without triggering the import of a lazy module."""
    loaded = sys.modules.get(module)
    return object.__getattribute__(loaded, "__dict__") if isinstance(loaded, ModuleType) else {}
