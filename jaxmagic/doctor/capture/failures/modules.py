"""Finds the names that the user's code has for modules."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import FrameType

#: Modules that code usually has under a name of its own.
_MODULES = "jax", "jax.numpy", "jax.lax", "numpy", "functools"


def module_names(frame: FrameType) -> tuple[tuple[str, str], ...]:
    """Return modules and the names that the code of a frame has for them."""
    with suppress(RuntimeError):  # another thread adds a variable
        known = [*frame.f_locals.items(), *frame.f_globals.items()]
        pairs = ((module, _name(known, sys.modules.get(module))) for module in _MODULES)
        return tuple((module, name) for module, name in pairs if name is not None)
    return ()


def _name(known: list[tuple[str, object]], module: object) -> str | None:
    if module is None:
        return None
    return next((name for name, value in known if value is module and name.isidentifier()), None)
