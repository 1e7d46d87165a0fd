"""The verbs, for people without magics: each one captures, analyses, and returns or keeps a record.

A verb is imported when it is first used, with all that it needs: the first magic of a session waits for its own only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..capture.fence import fence
    from ..storage import load, save
    from .comparison import compare, sweep
    from .earlier import noise_for, put_beside
    from .memory_verbs import live, memory, memory_requirement, memory_watch
    from .profile_verbs import peaks, profile, profile_watch, profiler, read_profile
    from .session import cells, history, keep, last, note_cell, replace_last, take_and_keep
    from .timing import benchmark, stopwatch
    from .views import explore

#: The names here, by the modules they live in.
_MODULES = {
    "..capture.fence": ("fence",),
    "..storage": ("load", "save"),
    ".comparison": ("compare", "sweep"),
    ".earlier": ("noise_for", "put_beside"),
    ".memory_verbs": ("live", "memory", "memory_requirement", "memory_watch"),
    ".profile_verbs": ("peaks", "profile", "profile_watch", "profiler", "read_profile"),
    ".session": ("cells", "history", "keep", "last", "note_cell", "replace_last", "take_and_keep"),
    ".timing": ("benchmark", "stopwatch"),
    ".views": ("explore",),
}

_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "benchmark",
    "cells",
    "compare",
    "explore",
    "fence",
    "history",
    "keep",
    "last",
    "live",
    "load",
    "memory",
    "memory_requirement",
    "memory_watch",
    "noise_for",
    "note_cell",
    "peaks",
    "profile",
    "profile_watch",
    "profiler",
    "put_beside",
    "read_profile",
    "replace_last",
    "save",
    "stopwatch",
    "sweep",
    "take_and_keep",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name], __name__), name)
    return value
