"""Where memory goes, as tables: the columns with their types, and the rows. What makes frames of them says pandas."""

from __future__ import annotations

from collections.abc import Sequence

from ..compilation.tables import compilations
from ..records.inside import line_in_memory
from ..report.table import Table
from .analysis.heap import beside
from .record.heap import HeapDifference, HeapProfile
from .record.live_arrays import HeldArray, LiveArrays
from .record.memory_profile import Executable, MemoryProfile
from .record.usage import MemoryTimeline

_EXECUTABLE = {
    "name": "string",
    "ran": "boolean",
    "compiled": "boolean",
    "peak_bytes": "Int64",
    "argument_bytes": "Int64",
    "output_bytes": "Int64",
    "temporary_bytes": "Int64",
    "alias_bytes": "Int64",
    "host_bytes": "Int64",
    "host_argument_bytes": "Int64",
    "host_output_bytes": "Int64",
    "host_temporary_bytes": "Int64",
    "host_alias_bytes": "Int64",
    "constant_bytes": "Int64",
    "generated_code_bytes": "Int64",
    "limit_bytes": "Int64",
    "fits": "boolean",
    "steps": "Int64",
}

_ALLOCATION = {
    "executable": "Int64",
    "name": "string",
    "allocation": "Int64",
    "kind": "string",
    "aliased": "boolean",
    "space": "Int64",
}

_BUFFER = {
    "offset_bytes": "Int64",
    "size_bytes": "Int64",
    "first": "Int64",
    "last": "Int64",
    "instruction": "string",
    "shape": "string",
    "op_name": "string",
    "source": "string",
    "inside": "string",
    "captured": "string",
}

_ARRAY = {
    "shape": "string",
    "dtype": "string",
    "sharding": "string",
    "devices": "Int64",
    "size_bytes": "Int64",
    "own_bytes": "Int64",
    "names": "string",
}

_HEAP = {
    "function": "string",
    "file": "string",
    "line": "Int64",
    "cell": "string",
    "inside": "string",
    "kind": "string",
    "device": "string",
    "before_bytes": "Int64",
    "after_bytes": "Int64",
    "change_bytes": "Int64",
    "before_count": "Int64",
    "after_count": "Int64",
    "change_count": "Int64",
    "stack": "string",
}


def executables(programs: Sequence[Executable]) -> Table:
    """A row a program, in bytes on each of its devices."""
    return Table(_EXECUTABLE, [tuple(getattr(each, column) for column in _EXECUTABLE) for each in programs])


def buffers(programs: Sequence[Executable]) -> Table:
    """A row a buffer, with the place of its program in the record; none of a program that is not mapped.

    ``first`` and ``last`` are steps of its schedule.
    """
    rows = [
        (
            *(number, program.name, place, allocation.kind, allocation.aliased, allocation.space),
            *(getattr(buffer, column) for column in _BUFFER if column != "captured"),
            " or ".join(buffer.captured) or None,
        )
        for number, program in enumerate(programs)
        for place, allocation in enumerate(program.allocations or ())
        for buffer in allocation.buffers
    ]
    return Table(_ALLOCATION | _BUFFER, rows)


def arrays(held: Sequence[HeldArray]) -> Table:
    """A row an array; no names where none was found."""
    return Table(
        _ARRAY,
        [
            (
                each.shape,
                each.dtype,
                each.sharding,
                len(each.device_bytes),
                each.size_bytes,
                each.own_bytes,
                ", ".join(each.names) or None,
            )
            for each in held
        ],
    )


def arrays_since(held: Sequence[HeldArray]) -> Table:
    """The same, and which were made since the code began."""
    found = arrays(held)
    made = [(*row, each.made) for row, each in zip(found.rows, held, strict=True)]
    return Table(found.columns | {"made": "boolean"}, made)


def timeline(sampled: MemoryTimeline | None) -> Table:
    """A row a sample, and for each device that tells a column of what was in use of it; no row if none was taken."""
    columns = {"time_ns": "Int64", "rss_bytes": "Int64", "array_bytes": "Int64"}
    if sampled is None:
        return Table(columns, [])
    columns |= {f"{device}_bytes": "Int64" for device in sampled.device_bytes}
    rows = zip(sampled.times_ns, sampled.rss_bytes, sampled.array_bytes, *sampled.device_bytes.values(), strict=True)
    return Table(columns, list(rows))


def heap(found: HeapDifference | None) -> Table:
    """A row a call stack, kind and device, with the innermost call of the user's; what grew the most comes first.

    Where no call is the user's, it is the innermost one of a library. ``inside`` names the library functions called.
    Of the stack the outermost call is the first.
    """
    if found is None:
        return Table(_HEAP, [])
    nothing = HeapProfile(samples=(), started_at=None)
    rows = []
    for each in beside(found.before or nothing, found.after):
        line = line_in_memory(each.stack)
        place = (None,) * 4 if line is None else (line.function, line.file, line.line, line.cell)
        values = {name: getattr(each, name, None) for name in list(_HEAP)[5:-1]}
        if found.before is None:
            values |= dict.fromkeys(("before_bytes", "change_bytes", "before_count", "change_count"))
        stack = "; ".join(f"{frame.function} ({frame.location})" for frame in each.stack)
        rows.append((*place, ", ".join(each.inside) or None, *values.values(), stack))
    return Table(_HEAP, rows)


TABLES = {
    MemoryProfile: {
        "executables": lambda record: executables(record.executables),
        "buffers": lambda record: buffers(record.executables),
        "arrays": lambda record: arrays_since(record.arrays.arrays),
        "timeline": lambda record: timeline(record.timeline),
        "heap": lambda record: heap(record.heap),
        "compilations": lambda record: compilations([record]),
    },
    Executable: {"buffers": lambda record: buffers([record])},
    LiveArrays: {"arrays": lambda record: arrays(record.arrays)},
    HeapDifference: {"heap": heap},
    HeapProfile: {"heap": lambda record: heap(HeapDifference(before=None, after=record))},
}
