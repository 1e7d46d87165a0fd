"""The checks of what cannot be known without an accelerator, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from memory_checks import hostile, memory
from profile_checks import graphs, streams, sums
from timing_checks import (
    completeness,
    dropped_transfer,
    first_is_ready,
    first_runs,
    full_queue,
    host_reads,
    idle,
    truth,
)
from work import Row, Work

CHECKS: Mapping[str, Callable[[Work], Iterator[Row]]] = {
    "is_ready": first_is_ready,
    "completeness": completeness,
    "dropped": dropped_transfer,
    "idle": idle,
    "truth": truth,
    "queue": full_queue,
    "reads": host_reads,
    "first_runs": first_runs,
    "graphs": graphs,
    "sums": sums,
    "memory": memory,
    "hostile": hostile,
    "streams": streams,
}
