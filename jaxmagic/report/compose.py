"""Composes the report of a record; each kind of record has a file that is called as the record's own.

A report is imported when it is first shown: the first magic of a session waits for its own only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from .blocks import Block
from .style import Style

#: Composes the report of a record in a style; the last argument is whether it explains its terms.
Compose = Callable[[object, Style, bool], Iterator[Block]]

#: The module that composes the report of each kind of record.
_HOMES = {
    "Timing": "jaxmagic.timing.report",
    "Benchmark": "jaxmagic.benchmarking.report",
    "Comparison": "jaxmagic.comparison.report",
    "Sweep": "jaxmagic.comparison.report.sweep",
    "MemoryProfile": "jaxmagic.memory_use.report",
    "Executable": "jaxmagic.memory_use.report",
    "LiveArrays": "jaxmagic.memory_use.report.live_arrays",
    "HeapDifference": "jaxmagic.memory_use.report.heap",
    "HeapProfile": "jaxmagic.memory_use.report.heap",
    "Profile": "jaxmagic.profiling.report",
    "History": "jaxmagic.overview.report",
}


def compose(record: object, style: Style, *, explain: bool = False) -> Iterator[Block]:
    """Compose the report of a record, block by block.

    Raises:
        TypeError: it is no record.
    """
    kind = type(record)
    if kind.__name__ in _HOMES:
        reports: dict[type, Compose] = import_module(_HOMES[kind.__name__]).REPORTS
        if kind in reports:
            return reports[kind](record, style, explain)
    raise TypeError(f"expected a record; got {kind.__name__}")
