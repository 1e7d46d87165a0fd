"""The verbs, for people without magics: each one captures, analyses, and returns or keeps a record."""

from ..capture.fence import fence
from ..storage import load, save
from .comparison import compare, sweep
from .earlier import noise_for, put_beside
from .memory_verbs import live, memory, memory_requirement, memory_watch
from .profile_verbs import peaks, profile, profile_watch, profiler, read_profile
from .session import cells, history, keep, last, note_cell, replace_last, take_and_keep
from .timing import benchmark, stopwatch
from .views import explore

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
