"""Tables of lines, operations, kernels and scopes."""

from __future__ import annotations

from ...report.table import Table
from ..analysis.roofline import peaks_of, place
from ..analysis.scope_tree import scope_rows
from ..analysis.source_lines import LineTime, line_times
from ..record.profile import Profile

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


_SCOPE = {
    "scope": "string",
    "depth": "Int64",
    "time_ns": "Int64",
    "self_ns": "Int64",
    "share": "Float64",
}


def lines(profile: Profile) -> Table:
    """Make one row per line; the row without a file is the time without a line."""
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
    """Make one row per operation and device. Rates are work over the operation's own duration."""
    rows, peaks = [], peaks_of(profile)
    for each in profile.operation_times:
        placed = place(each, peaks)
        seconds = each.total_ns / 1e9 / each.count
        counted = each.accessed_bytes is not None and each.accessed_bytes > 0 and each.flops is not None
        values = {
            "operation": each.name,
            "mean_ns": each.mean_ns,
            "share": _share(each.time_ns, profile),
            "flops_per_s": each.flops / seconds if each.flops and seconds else None,
            "bytes_per_s": (each.accessed_bytes or 0) / seconds if counted and seconds else None,
            "multiplied": each.multiplied or None,
            # More than 1: the data were in a cache, or the peak rate is too low, so there is no meaningful share.
            "of_roof": None if placed is None or placed.roofline_efficiency > 1 else placed.roofline_efficiency,
        }
        rows.append(tuple(values[name] if name in values else getattr(each, name) for name in _OPERATION))
    return Table(_OPERATION, rows)


def kernels(profile: Profile) -> Table:
    """Make one row per kernel, operation, launch size and device."""
    rows = []
    for each in profile.kernel_times:
        sizes = {name: ",".join(map(str, getattr(each, name))) or None for name in ("grid", "block")}
        values = {"kernel": each.name, **sizes}
        rows.append(tuple(values[name] if name in values else getattr(each, name) for name in _KERNEL))
    return Table(_KERNEL, rows)


def scopes(profile: Profile) -> Table:
    """Make one row per scope, parents before children; ``self_ns`` add up to the device time."""
    return Table(
        _SCOPE,
        [
            (scope, depth, time_ns, self_ns, _share(time_ns, profile))
            for scope, depth, time_ns, self_ns in scope_rows(profile)
        ],
    )


def _share(time_ns: int, profile: Profile) -> float | None:
    return time_ns / profile.device_ns if profile.device_ns else None
