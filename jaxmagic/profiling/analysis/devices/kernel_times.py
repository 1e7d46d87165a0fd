"""Sums up GPU kernels: count, durations, launch size and launch latency."""

from __future__ import annotations

import re

import numpy as np

from ...record.kernels import KernelTime
from ...record.recording import EventMetadata
from ..attribution import Ints
from .activity import DeviceWork, OpClassifier
from .kernel_names import kernel_function

#: A part of ``kernel_details``, such as ``grid:1280,1,1``.
_DETAIL = re.compile(r"(\w+):([\d,]+)")

#: No thread has more registers; a larger number in the trace is wrong.
_MOST_REGISTERS = 1024


def kernels_of(device: str, work: DeviceWork, classifier: OpClassifier) -> list[KernelTime]:
    """Summarize the kernels on the streams of a device; different launch sizes are separate rows."""
    rows: dict[tuple[object, ...], list[int]] = {}
    for number in work.on_streams():
        key = classifier.of(number).identity, classifier.kind(number).name, _details(classifier.kind(number))
        rows.setdefault(key, []).append(number)
    return [_row(device, numbers, work, classifier) for numbers in rows.values()]


def _row(device: str, numbers: list[int], work: DeviceWork, classifier: OpClassifier) -> KernelTime:
    first = numbers[0]
    op, full_name = classifier.of(first), classifier.kind(first).name
    columns = [work.launched(each) for each in numbers]
    start, end, launches = (np.concatenate(each) for each in zip(*columns, strict=True))
    times = (end - start) // 1000
    details = dict(_details(classifier.kind(first)))
    registers = details.get("regs", (0,))[0]
    return KernelTime(
        name=kernel_function(full_name),
        full_name=full_name,
        operation=op.name,
        module=op.module,
        device=device,
        count=len(times),
        total_ns=int((end - start).sum()) // 1000,
        min_ns=int(times.min()),
        median_ns=int(np.median(times)),
        max_ns=int(times.max()),
        grid=details.get("grid", ()),
        block=details.get("block", ()),
        registers=registers if 0 < registers <= _MOST_REGISTERS else None,
        launch_ns=_latency_ns(start, classifier.calls.starts(launches)),
    )


def _latency_ns(start: Ints, called: Ints) -> int | None:
    """Return the median launch latency; ``None`` if unknown, or negative because the clocks disagree."""
    known = called >= 0
    if not known.any():
        return None
    median = int(np.median(start[known] - called[known])) // 1000
    return median if median >= 0 else None


def _details(kind: EventMetadata) -> tuple[tuple[str, tuple[int, ...]], ...]:
    details = _DETAIL.findall(str(kind.stats.get("kernel_details", "")))
    wanted = [(name, numbers) for name, numbers in details if name in ("grid", "block", "regs")]
    return tuple((name, tuple(int(each) for each in numbers.split(",") if each)) for name, numbers in wanted)
