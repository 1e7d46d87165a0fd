"""Where devices spent their time, as tables: the columns with their types, and the rows."""

from __future__ import annotations

from collections.abc import Iterable

from ..compilation.tables import compilations
from ..report.table import MOMENT, Table
from .analysis.roofline import peaks_of, place
from .analysis.scope_tree import scope_rows
from .analysis.source_lines import LineTime, line_times
from .record.profile import Profile

_LINE = {
    "file": "string",
    "line": "Int64",
    "function": "string",
    "time_ns": "Int64",
    "share": "Float64",
    "count": "Int64",
    "total_ns": "Int64",
    "cell": "string",
    "split": "boolean",
    "operations": "string",
    "inside": "string",
}

_OPERATION = {
    "operation": "string",
    "category": "string",
    "device": "string",
    "count": "Int64",
    "total_ns": "Int64",
    "self_ns": "Int64",
    "mean_ns": "Float64",
    "time_ns": "Int64",
    "share": "Float64",
    "flops": "Int64",
    "multiplied": "string",
    "flops_per_s": "Float64",
    "accessed_bytes": "Int64",
    "bytes_per_s": "Float64",
    "of_roof": "Float64",
    "module": "string",
    "shape": "string",
    "scope": "string",
    "source": "string",
    "inside": "string",
    "asynchronous": "boolean",
}

_KERNEL = {
    "kernel": "string",
    "operation": "string",
    "module": "string",
    "device": "string",
    "count": "Int64",
    "total_ns": "Int64",
    "min_ns": "Int64",
    "median_ns": "Int64",
    "max_ns": "Int64",
    "launch_ns": "Int64",
    "grid": "string",
    "block": "string",
    "registers": "Int64",
    "full_name": "string",
}

_PROFILE = {
    "started_at": MOMENT,
    "code": "string",
    "runs": "Int64",
    "wall_ns": "Int64",
    "recorded_ns": "Int64",
    "device_ns": "Int64",
    "devices": "Int64",
    "error": "string",
    "kept": "string",
}

_SCOPE = {
    "scope": "string",
    "depth": "Int64",
    "time_ns": "Int64",
    "self_ns": "Int64",
    "share": "Float64",
}

_DEVICE = {
    "device": "string",
    "busy_ns": "Int64",
    "compute_ns": "Int64",
    "copy_ns": "Int64",
    "collective_ns": "Int64",
    "exposed_copy_ns": "Int64",
    "exposed_collective_ns": "Int64",
    "barrier_ns": "Int64",
    "idle_ns": "Int64",
    "compile_idle_ns": "Int64",
    "transfer_idle_ns": "Int64",
    "peak_flops": "Float64",
    "peak_bytes": "Float64",
    "peaks_from": "string",
    "model": "string",
}

_MEMORY = {
    "allocator": "string",
    "time_ns": "Int64",
    "held_bytes": "Int64",
}

_STEP = {
    "device": "string",
    "step": "Int64",
    "name": "string",
    "start_ns": "Int64",
    "time_ns": "Int64",
    "compute_ns": "Int64",
    "collective_ns": "Int64",
    "copy_ns": "Int64",
    "input_ns": "Int64",
    "host_ns": "Int64",
    "idle_ns": "Int64",
}

_COLLECTIVE = {
    "operation": "string",
    "kind": "string",
    "module": "string",
    "devices": "Int64",
    "count": "Int64",
    "payload_bytes": "Int64",
    "total_ns": "Int64",
    "exposed_ns": "Int64",
    "wait_ns": "Int64",
}

_TRANSFER = {
    "direction": "string",
    "device": "string",
    "count": "Int64",
    "size_bytes": "Int64",
    "total_ns": "Int64",
    "time_ns": "Int64",
    "bytes_per_s": "Float64",
}

_PROGRAM = {
    "program": "string",
    "devices": "Int64",
    "time_ns": "Int64",
    "array": "string",
    "name": "string",
    "shape": "string",
    "pieces": "string",
}


_EVENT = {
    "track": "string",
    "device": "string",
    "shows": "string",
    "name": "string",
    "activity": "string",
    "start_ns": "Int64",
    "length_ns": "Int64",
    "detail": "string",
}


def profiles(profiles: Iterable[Profile]) -> Table:
    """A row a profile, as a whole."""
    rows = [
        (
            *(each.started_at, each.code, each.runs, each.wall_ns, each.recorded_ns, each.device_ns),
            *(len(each.device_uses), each.error, each.kept),
        )
        for each in profiles
    ]
    return Table(_PROFILE, rows)


def lines(profile: Profile) -> Table:
    """A row a line; the one without a file is the time that reaches none."""
    return Table(_LINE, [_line(each, profile) for each in line_times(profile)])


def _line(line: LineTime, profile: Profile) -> tuple[object, ...]:
    frame = line.frame
    place = (None,) * 4 if frame is None else (frame.file, frame.line, frame.function, frame.cell)
    file, number, function, cell = place
    names = sorted(line.operations, key=lambda each: -line.operations[each])
    share = _share(line.time_ns, profile)
    return (
        *(file, number, function, line.time_ns, share, line.count, line.total_ns, cell, line.split),
        ", ".join(names) or None,
        ", ".join(sorted(line.inside, key=lambda each: -line.inside[each])) or None,
    )


def operations(profile: Profile) -> Table:
    """A row an operation and device; rates are those of the time that it took, of no other operation's."""
    rows, peaks = [], peaks_of(profile)
    for each in profile.operation_times:
        found = place(each, peaks)
        seconds = each.total_ns / 1e9 / each.count
        counted = each.accessed_bytes is not None and each.accessed_bytes > 0 and each.flops is not None
        values = {
            "operation": each.name,
            "mean_ns": each.mean_ns,
            "share": _share(each.time_ns, profile),
            "flops_per_s": each.flops / seconds if each.flops and seconds else None,
            "bytes_per_s": (each.accessed_bytes or 0) / seconds if counted and seconds else None,
            "multiplied": each.multiplied or None,
            # More than all means that the data were in a cache, or that the peak is too low: not a share of it.
            "of_roof": None if found is None or found.of_roof > 1 else found.of_roof,
        }
        rows.append(tuple(values[name] if name in values else getattr(each, name) for name in _OPERATION))
    return Table(_OPERATION, rows)


def kernels(profile: Profile) -> Table:
    """A row a kernel, for one operation and of one size, and device."""
    rows = []
    for each in profile.kernel_times:
        sizes = {name: ",".join(map(str, getattr(each, name))) or None for name in ("grid", "block")}
        values = {"kernel": each.name, **sizes}
        rows.append(tuple(values[name] if name in values else getattr(each, name) for name in _KERNEL))
    return Table(_KERNEL, rows)


def scopes(profile: Profile) -> Table:
    """A row a scope, each before what is in it; ``self_ns`` add up to the device time."""
    return Table(
        _SCOPE,
        [
            (scope, depth, time_ns, self_ns, _share(time_ns, profile))
            for scope, depth, time_ns, self_ns in scope_rows(profile)
        ],
    )


def devices(profile: Profile) -> Table:
    """A row a device."""
    texts = [name for name in _DEVICE if _DEVICE[name] == "string"]
    return Table(
        _DEVICE,
        [
            tuple(getattr(each, name) or None if name in texts else getattr(each, name) for name in _DEVICE)
            for each in profile.device_uses
        ],
    )


def memory(profile: Profile) -> Table:
    """A row a time at which an allocator gave or took back."""
    rows = [
        (each.allocator, time_ns, held_bytes)
        for each in profile.allocator_uses
        for time_ns, held_bytes in zip(each.time_ns, each.held_bytes, strict=True)
    ]
    return Table(_MEMORY, rows)


def steps(profile: Profile) -> Table:
    """A row a step and device."""
    rows = [
        (found.device, number, found.name, *(getattr(found, name)[number] for name in list(_STEP)[3:]))
        for found in profile.step_times
        for number in range(len(found.time_ns))
    ]
    return Table(_STEP, rows)


def collectives(profile: Profile) -> Table:
    """A row a collective operation, over all devices."""
    rows = [(each.name, *(getattr(each, name) for name in list(_COLLECTIVE)[1:])) for each in profile.collectives]
    return Table(_COLLECTIVE, rows)


def transfers(profile: Profile) -> Table:
    """A row a direction and device."""
    return Table(_TRANSFER, [tuple(getattr(each, name) for name in _TRANSFER) for each in profile.transfers])


def programs(profile: Profile) -> Table:
    """A row an array that a program takes or gives; the time is that of the program."""
    rows = []
    for each in profile.programs:
        for what, arrays in (("input", each.inputs), ("output", each.outputs)):
            for array in arrays:
                pieces = None if array.pieces is None else ",".join(map(str, array.pieces))
                whose = (each.name, each.devices, each.time_ns)
                rows.append((*whose, what, array.name or None, array.shape, pieces))
    return Table(_PROGRAM, rows)


def timeline(profile: Profile) -> Table:
    """A row an event: of a device, of the host, or a gap of a device."""
    rows: list[tuple[object, ...]] = []
    for track in profile.timeline.tracks if profile.timeline else ():
        labels = [profile.timeline.labels[number] for number in track.labels] if profile.timeline else []
        for label, start_ns, length_ns in zip(labels, track.start_ns, track.length_ns, strict=True):
            where = (track.name, track.device, track.shows)
            rows.append((*where, label.name, label.activity, start_ns, length_ns, label.detail or None))
    return Table(_EVENT, rows)


def _share(time_ns: int, profile: Profile) -> float | None:
    return time_ns / profile.device_ns if profile.device_ns else None


TABLES = {
    Profile: {
        "lines": lines,
        "operations": operations,
        "kernels": kernels,
        "scopes": scopes,
        "devices": devices,
        "steps": steps,
        "memory": memory,
        "collectives": collectives,
        "transfers": transfers,
        "programs": programs,
        "timeline": timeline,
        "compilations": lambda record: compilations([record]),
    }
}
