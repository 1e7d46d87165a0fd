"""The verbs, for people without magics: each one captures, analyses, and returns or keeps a record."""

from ..capture.fence import fence
from ..storage import load, save
from .comparison import compare, sweep
from .session import history, keep, last
from .timing import benchmark, stopwatch
from .views import explore

__all__ = [
    "benchmark",
    "compare",
    "explore",
    "fence",
    "history",
    "keep",
    "last",
    "load",
    "save",
    "stopwatch",
    "sweep",
]
