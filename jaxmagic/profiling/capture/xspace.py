"""Reads the files of the JAX profiler: ``XSpace`` messages with the planes, lines and events of a host.

``jax.profiler.ProfileData`` reads the events of such a file as well, but neither its compiled modules nor the
metadata that events share.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np

from ...records.names import listed
from ...records.note import Note, note
from ...runtime.gc_pause import held_back
from ...xla.hlo import HloModule
from ...xla.hlo_proto import text
from ...xla.lines.callers import with_own_callers
from ...xla.lines.inherited import without_inherited
from ...xla.read_hlo import read_hlo_proto
from ..record.recording import EventMetadata, ProgramKey, Role, StatValue, Trace, TraceLine
from .wire import Ints
from .xplane import LONGEST_NS, Events, Plane, xspace_messages

#: At most this many lines are named whose events were dropped.
_MOST_NAMES = 3

#: Lines of a device's plane, with their roles.
_LINES: Mapping[str, Role] = {
    "XLA Ops": "operations",
    "Async XLA Ops": "asynchronous",
    "XLA Modules": "programs",
    "Steps": "steps",
    "XLA TraceMe": "waits",
}


def read_recording(files: Iterable[tuple[str, bytes]]) -> Trace:
    """Read the trace of one host or of several.

    Args:
        files: for each host its name, empty if there is only one, and the bytes of its file.

    Raises:
        google.protobuf.message.DecodeError: a file was not written by the profiler, or is truncated.
    """
    with held_back():
        reader = _Reader()
        for host, data in files:
            reader.read(host, parsed(data))
        return reader.recording()


def parsed(data: bytes) -> Any:
    """Parse the bytes of a file as an XSpace.

    Raises:
        google.protobuf.message.DecodeError: the file was not written by the profiler, or is truncated.
    """
    space = xspace_messages()["XSpace"]()
    space.ParseFromString(data)
    return space


class _Reader:
    def __init__(self) -> None:
        self._tracks: list[TraceLine] = []
        self._threads: list[TraceLine] = []
        self._kinds: list[EventMetadata] = []
        self._devices: dict[str, Mapping[str, StatValue]] = {}
        self._modules: dict[ProgramKey, bytes] = {}
        self._notes: list[Note] = []
        self._base_ns = 0
        self._dropped: dict[str, int] = {}

    def recording(self) -> Trace:
        modules, unread = _parsed(self._modules, {each.program for each in self._kinds})
        return Trace(
            tracks=(*self._tracks, *self._threads),
            kinds=tuple(self._kinds),
            devices=self._devices,
            modules=modules,
            unread=unread,
            notes=(*self._notes, *_about_dropped(self._dropped)),
        )

    def read(self, host: str, space: Any) -> None:
        self._notes += [
            note("profiling.profiler_message", text=text(each)) for each in (*space.errors, *space.warnings)
        ]
        if self._base_ns == 0:
            self._base_ns = _base_of(space)
        accelerators = any(_device_of(text(plane.name)) for plane in space.planes)
        for message in space.planes:
            plane = Plane(message, host, self._kinds, self._base_ns)
            device = _device_of(plane.name)
            if plane.name == "/host:metadata":
                self._modules |= {(host, number): module for number, module in plane.modules().items()}
            elif device is not None:
                self._read_device(f"{host} {device}".strip(), plane)
            elif plane.name == "/host:CPU":
                self._read_host(host, plane, operations=not accelerators)
            where = " ".join(each for each in (host, device or "host") if each)
            self._dropped |= {f"{where} {line}": events for line, events in plane.dropped.items()}

    def _read_device(self, device: str, plane: Plane) -> None:
        self._devices[device] = plane.stats() | dict(self._devices.get(device, {}))
        names = [text(line.name) for line in plane.lines]
        streams = any(name.startswith("Stream") for name in names)
        roles = {name: "operations" if name.startswith("Stream") else _LINES.get(name) for name in names}
        if streams:
            roles["XLA Ops"] = None  # derived from the streams
        known = [(name, role, line) for name, line in zip(names, plane.lines, strict=True) if (role := roles[name])]
        events = plane.events_of([line for _, _, line in known])
        for (name, role, _), of_line in zip(known, events, strict=True):
            self._tracks += _tracks(name, device, role, of_line)

    def _read_host(self, host: str, plane: Plane, *, operations: bool) -> None:
        """Read the threads of a host. Without an accelerator they run the operations of the CPU devices."""
        launched = False
        for line in plane.lines:
            if not len(line.events):
                continue
            name = text(line.display_name or line.name)
            events = plane.events(line)
            launched |= operations and bool(events.launch.any())
            devices = self._ordinals(events.kinds) if operations else np.full(len(events.kinds), -1)
            for ordinal in np.unique(devices).tolist():
                of_device = events.where(devices == ordinal)
                if ordinal < 0:
                    self._threads += _tracks(name, None, "host", of_device)
                else:
                    device = f"{host} CPU:{ordinal}".strip()
                    self._devices.setdefault(device, {})
                    nonempty = of_device.where(of_device.end > of_device.start)
                    self._threads += _tracks(name, device, "operations", nonempty)
        if launched:
            self._notes.append(note("profiling.gpu_without_events", host=host))

    def _ordinals(self, kinds: Ints) -> Ints:
        """Return the CPU device of each event by its kind; -1 for events that are not operations."""
        if len(kinds) < len(self._kinds):  # many short lines: avoid work for all kinds
            present, which = np.unique(kinds, return_inverse=True)
            return np.array([_ordinal(self._kinds[kind]) for kind in present.tolist()], np.int64)[which]
        ordinals = np.full(len(self._kinds), -1)
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            ordinals[kind] = _ordinal(self._kinds[kind])
        return ordinals[kinds]


def _about_dropped(dropped: Mapping[str, int]) -> list[Note]:
    """Note which events have been left out because of their times, if any."""
    if not dropped:
        return []
    return [note("profiling.damaged_times", events=sum(dropped.values()), lines=listed(list(dropped), _MOST_NAMES))]


def _base_of(space: Any) -> int:
    """Return the earliest start of a line if times count from 1970: those in picoseconds do not fit into 64 bits.

    Damaged starts are ignored: those further than `LONGEST_NS` from where most events are.
    """
    lines = sorted((line.start_ns, len(line.events)) for plane in space.planes for line in plane.lines)
    half, passed, middle = sum(count for _, count in lines) / 2, 0, 0
    for start, count in lines:
        passed, middle = passed + count, start
        if passed >= half:
            break
    starts = [start for start, count in lines if count and abs(start - middle) <= LONGEST_NS]
    return base_ns if (base_ns := min(starts, default=0)) > LONGEST_NS else 0


def _tracks(name: str, device: str | None, role: Role, events: Events) -> list[TraceLine]:
    """Make a line if there are any events."""
    return [TraceLine(name, device, role, *events)] if len(events.kinds) else []


def _device_of(plane: str) -> str | None:
    """Return ``"GPU:0"`` for ``"/device:GPU:0"``; ``None`` for planes of other things than compute devices.

    A SparseCore is a part of its chip: ``"TPU:0"`` for ``"/device:TPU:0 SparseCore 1"``.
    """
    name = re.fullmatch(r"/device:(\w+:\d+.*?)(?: SparseCore \d+)?", plane)
    return None if name is None or name[1].startswith("CUSTOM") else name[1]


def _ordinal(kind: EventMetadata) -> int:
    """Return the CPU device of an operation; -1 for events that are not operations.

    Calls of a GPU's driver name the operation that they launch as well, but have names of their own.
    """
    if kind.stats.get("hlo_op") != kind.name:
        return -1
    ordinal = kind.stats.get("device_ordinal", 0)
    return ordinal if isinstance(ordinal, int) and ordinal >= 0 else -1


def _parsed(
    modules: Mapping[ProgramKey, bytes], wanted: Container[ProgramKey | None]
) -> tuple[dict[ProgramKey, HloModule], dict[ProgramKey, str]]:
    """Parse the modules of programs that ran. Returns them, and for unreadable ones the type of the error."""
    parsed, unread = {}, {}
    for key, data in modules.items():
        if key in wanted:
            try:
                parsed[key] = with_own_callers(without_inherited(read_hlo_proto(data)))
            except Exception as error:  # another compiler wrote it: the rest is worth seeing
                unread[key] = type(error).__name__
    return parsed, unread
