"""Finds the name under which a library exports a function, such as ``flax.linen.BatchNorm``.

The calls of an operation name the file and the function, ``flax/linen/normalization.py`` and ``BatchNorm.__call__``.
Users know the shortest name. Nothing is imported for that and no code of the library runs: only the namespaces of
modules that are loaded are looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType

from ..analysis.inside import library_module, steps_of


def public_name(file: str, function: str) -> str | None:
    """Return the name under which users know a function of an installed library.

    Args:
        file: where it is written.
        function: its qualified name, as Python has it.

    Returns:
        ``None`` where the file is not that of a module that is loaded here, or no public module has the function.

    >>> import numpy.ma
    >>> public_name(numpy.ma.core.__file__, "MaskedArray.mean"), public_name(numpy.ma.core.__file__, "_recursive_or")
    ('numpy.ma.MaskedArray.mean', None)
    >>> public_name("/home/me/train.py", "step")
    """
    return _public_name(file, function, len(sys.modules))


@lru_cache(maxsize=4096)
def _public_name(file: str, function: str, loaded: int) -> str | None:
    """The same, looked for again when modules have been loaded: `loaded` is how many there are."""
    module, steps = library_module(file), steps_of(function)
    if module is None or not steps:
        return None
    names = _names_in(module)
    if steps[0] not in names or names.get("__file__") != file:
        return None
    value = names[steps[0]]
    if isinstance(value, type) and issubclass(value, type):  # users call a class that it has made
        return None
    home = _exported_by(module, steps[0], value)
    return None if home is None else ".".join((home, *steps))


def _exported_by(module: str, name: str, value: object) -> str | None:
    """The outermost public module above the one that defines it; else any other of the package that has it."""
    parts = module.split(".")
    above = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    found = next((each for each in above if _has(each, name, value)), None)
    if found is not None:
        return found
    others = [each for each in list(sys.modules) if each.startswith(f"{parts[0]}.") and _has(each, name, value)]
    return min(others, key=lambda each: (each.count("."), each), default=None)


def _has(module: str, name: str, value: object) -> bool:
    public = not any(step.startswith("_") for step in module.split("."))
    return public and _names_in(module).get(name) is value


def _names_in(module: str) -> Mapping[str, object]:
    """What a module has, read so that one that loads when it is used is not loaded."""
    found = sys.modules.get(module)
    return object.__getattribute__(found, "__dict__") if isinstance(found, ModuleType) else {}
