"""Sums up collectives and memory copies."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...record.communication import CollectiveTime, Direction, TransferTime
from ...record.recording import EventMetadata, Role, Trace, TraceLine
from ..attribution import Ints, union_of
from ..classify_ops import ClassifiedOp, whole_number

#: The kinds of collectives, with patterns for opcodes and for names of kernels.
_KINDS = (
    ("ragged-all-to-all", r"ragged.?all.?to.?all"),
    ("all-to-all", r"all.?to.?all"),
    ("all-reduce", r"all.?reduce|psum"),
    ("all-gather", r"all.?gather"),
    ("reduce-scatter", r"reduce.?scatter"),
    ("collective-permute", r"collective.?permute|ppermute"),
    ("collective-broadcast", r"broadcast"),
    ("send", r"send"),
    ("recv", r"recv"),
)

#: Patterns for names of copies, with their directions.
_DIRECTIONS: tuple[tuple[str, Direction], ...] = (
    (r"h(ost)?(2|to)d(evice)?|transfertodevice$", "host to device"),
    (r"d(evice)?(2|to)h(ost)?|transferfromdevice$", "device to host"),
    (r"p(eer)?(2|to)p|memcpypeer", "device to device"),
    (r"d(evice)?(2|to)d(evice)?", "on the device"),
)

#: The memory of both ends in the ``memcpy_details`` of NVIDIA's GPUs, and the side that it is on; others are unknown.
_ENDS = re.compile(r"\bkind_src:(\w+) kind_dst:(\w+)")
_SIDES = {
    **dict.fromkeys(("pageable", "pinned"), "host"),
    **dict.fromkeys(("device", "device_static", "array"), "device"),
}

#: Directions by the sides of both ends, where these decide.
_BETWEEN: Mapping[tuple[str | None, str | None], Direction] = {
    ("host", "device"): "host to device",
    ("device", "host"): "device to host",
}

#: Size and destination in the ``memcpy_details`` of a GPU, and the host's memory space in XLA's shapes.
_SIZE = re.compile(r"\bsize:(\d{1,18})")
_DESTINATION = re.compile(r"\bdest:(\d+)")
_HOST_MEMORY = "S(5)"


def kind_of(name: str, opcode: str) -> str:
    """Return the kind of a collective, as XLA names it.

    >>> kind_of("psum_invariant.7", "all-reduce-start"), kind_of("ncclDevKernel_AllGather_RING_LL", "")
    ('all-reduce', 'all-gather')
    """
    text = (opcode or name).lower()
    return next((kind for kind, pattern in _KINDS if re.search(pattern, text)), opcode or "collective")


class Collectives:
    """The collectives of a trace."""

    def __init__(self) -> None:
        self._rows: dict[tuple[object, ...], _Collective] = {}

    def add(self, device: str, op: ClassifiedOp, times: tuple[int, float, float], spans: tuple[Ints, Ints]) -> None:
        """Add a collective of one device.

        Args:
            device: the name of the device.
            op: the collective.
            times: its count, the sum of its durations, and its attributed device time, in picoseconds.
            spans: its start and end times.
        """
        key = op.module, op.name, op.payload_bytes, op.replica_group_count
        row = self._rows.setdefault(key, _Collective(op))
        row.count += times[0]
        row.total_ps += times[1]
        row.exposed_ps += times[2]
        row.spans.setdefault(device, []).append(spans)

    def times(self) -> tuple[CollectiveTime, ...]:
        """Return the collectives, the one with most time first."""
        rows = sorted(self._rows.values(), key=lambda each: -each.total_ps)
        return tuple(each.time() for each in rows)


@dataclass(slots=True)
class _Collective:
    op: ClassifiedOp
    count: int = 0
    total_ps: float = 0.0
    exposed_ps: float = 0.0
    spans: dict[str, list[tuple[Ints, Ints]]] = field(default_factory=dict)

    def time(self) -> CollectiveTime:
        return CollectiveTime(
            name=self.op.name,
            kind=kind_of(self.op.name, self.op.opcode),
            module=self.op.module,
            devices=len(self.spans),
            count=self.count,
            payload_bytes=self.op.payload_bytes,
            total_ns=round(self.total_ps / 1000),
            exposed_ns=round(self.exposed_ps / 1000),
            wait_ns=_waited_ns(list(self.spans.values())) if self.op.replica_group_count == 1 else None,
        )


def _waited_ns(spans: Sequence[Sequence[tuple[Ints, Ints]]]) -> int | None:
    """Return the straggler wait: how much later the last device started, summed over all executions and devices.

    The Nth executions of all devices are taken for the same one; ``None`` if that cannot be true.
    """
    starts = [np.sort(np.concatenate([start for start, _ in parts])) for parts in spans]
    ends = [np.sort(np.concatenate([end for _, end in parts])) for parts in spans]
    if len(starts) < 2 or len({len(each) for each in starts}) > 1:
        return None
    last = np.max(starts, axis=0)
    if (last > np.min(ends, axis=0)).any():  # one ended before another started: these are not the same execution
        return None
    return int((last - np.stack(starts)).sum()) // 1000


def transfers(recording: Trace, windows: Iterable[tuple[int, int]]) -> tuple[TransferTime, ...]:
    """Return the copies that started in the windows by direction and device, those with most time first."""
    low, high = np.array(list(windows), np.int64).reshape(-1, 2).T
    names = [name.rpartition(":")[2] for name in recording.devices]
    by_direction: dict[tuple[Direction, str | None], _Transfers] = {}
    for track in recording.tracks if len(low) else ():
        at = np.searchsorted(low, track.start_ps, side="right") - 1
        here = (at >= 0) & (track.start_ps < high[np.maximum(at, 0)])
        own = (track.device or "").rpartition(":")[2]
        others = {each for each in names if each != own}
        present = np.unique(track.kinds[here]).tolist()
        copies = {each: _copy(recording.kinds[each], track.role, others) for each in present}
        for kind, copy in copies.items():
            if copy is not None:
                _add(by_direction, track, here & (track.kinds == kind), copy)
    rows = (
        TransferTime(
            direction=direction,
            device=device,
            count=each.count,
            size_bytes=whole_number(each.size_bytes) if each.sized else None,
            total_ns=each.total_ps // 1000,
            time_ns=each.time_ps // 1000,
        )
        for (direction, device), each in by_direction.items()
    )
    return tuple(sorted(rows, key=lambda each: -each.time_ns))


@dataclass(slots=True)
class _Transfers:
    count: int = 0
    size_bytes: int = 0
    sized: bool = True
    spans: list[tuple[Ints, Ints]] = field(default_factory=list)

    @property
    def total_ps(self) -> int:
        return sum(int((end - start).sum()) for start, end in self.spans)

    @property
    def time_ps(self) -> int:
        start, end, _ = union_of(*(np.concatenate(each) for each in zip(*self.spans, strict=True)))
        return int((end - start).sum())


def _add(
    by_direction: dict[tuple[Direction, str | None], _Transfers],
    track: TraceLine,
    chosen: Ints,
    copy: tuple[Direction, int | None],
) -> None:
    direction, size_bytes = copy
    row = by_direction.setdefault((direction, track.device), _Transfers())
    count = int(chosen.sum())
    row.count += count
    row.size_bytes += (size_bytes or 0) * count
    row.sized &= size_bytes is not None
    row.spans.append((track.start_ps[chosen], track.end_ps[chosen]))


def _copy(kind: EventMetadata, role: Role, others: Container[str]) -> tuple[Direction, int | None] | None:
    """Return the direction and the size of a copy; ``None`` for other events.

    On a GPU copies are device events, or on AMD's GPUs kernels whose driver call shows the direction. On a TPU they
    are host events. Copies within a program from or to host memory are asynchronous operations.

    Args:
        kind: metadata of an event that may be a copy.
        role: the role of its line.
        others: the numbers of the other devices of the trace.
    """
    if role == "asynchronous":
        return _moved(kind.stats)
    details = kind.stats.get("memcpy_details")
    size = whole_number(kind.stats.get("size"))
    api = kind.stats.get("api")
    is_copy = role == "operations" and (isinstance(details, str) or isinstance(api, str))
    is_copy |= role == "host" and size is not None
    name = str(api or kind.name).lower()
    direction = next((way for pattern, way in _DIRECTIONS if re.search(pattern, name)), None)
    if ends := _ENDS.search(str(details)):
        sides = _SIDES.get(ends[1]), _SIDES.get(ends[2])
        within: Direction | None = "on the device" if sides == ("device", "device") else None
        direction = _BETWEEN.get(sides) or direction or within
    if direction is None or not is_copy:
        return None
    to = _DESTINATION.search(str(details))
    if direction == "on the device" and to and to[1] in others:
        direction = "device to device"
    if size is not None:
        return direction, size
    in_details = _SIZE.search(str(details))
    return direction, whole_number(int(in_details[1])) or None if in_details else None


def _moved(stats: Mapping[str, object]) -> tuple[Direction, int | None] | None:
    """Return direction and size of an asynchronous copy, whose shape is ``(destination, source, context)``."""
    shape, size = stats.get("shape_with_layout"), whole_number(stats.get("bytes_accessed"))
    if stats.get("hlo_category") != "copy-start" or not isinstance(shape, str):
        return None
    parts = re.findall(r"\w+\[[^\]]*\](?:\{[^}]*\})?", shape)[:2]
    if len(parts) < 2:
        return None
    to, source = (_HOST_MEMORY in each for each in parts)
    if to == source:
        return None
    return "device to host" if to else "host to device", size or None
