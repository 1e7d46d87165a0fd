"""Makes tables of memory records: columns with the names of their pandas types, and rows."""

from __future__ import annotations

from collections.abc import Sequence

from ..compilation.tables import compilations
from ..records.inside import line_in_memory
from ..report.table import Table
from .analysis.heap import changes
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
    """Make a row per program, with bytes on each of its devices."""
    return Table(_EXECUTABLE, [tuple(getattr(each, column) for column in _EXECUTABLE) for each in programs])


def buffers(programs: Sequence[Executable]) -> Table:
    """Make a row per buffer, with the index of its program; programs without a memory map have no rows.

    ``first`` and ``last`` are steps of the program's schedule.
    """
    rows = [
        (
            *(number, program.name, index, allocation.kind, allocation.aliased, allocation.space),
            *(getattr(buffer, column) for column in _BUFFER if column != "captured"),
            " or ".join(buffer.captured) or None,
        )
        for number, program in enumerate(programs)
        for index, allocation in enumerate(program.allocations or ())
        for buffer in allocation.buffers
    ]
    return Table(_ALLOCATION | _BUFFER, rows)


def arrays(held: Sequence[HeldArray]) -> Table:
    """Make a row per array; its names are missing if none was found."""
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
    """Make a row per array, with a column that says whether it was made since the code began."""
    table = arrays(held)
    rows = [(*row, each.made) for row, each in zip(table.rows, held, strict=True)]
    return Table(table.columns | {"made": "boolean"}, rows)


def timeline(sampled: MemoryTimeline | None) -> Table:
    """Make a row per sample, with a column for each device that reports its memory in use."""
    columns = {"time_ns": "Int64", "rss_bytes": "Int64", "array_bytes": "Int64"}
    if sampled is None:
        return Table(columns, [])
    columns |= {f"{device}_bytes": "Int64" for device in sampled.device_bytes}
    rows = zip(sampled.times_ns, sampled.rss_bytes, sampled.array_bytes, *sampled.device_bytes.values(), strict=True)
    return Table(columns, list(rows))


def heap(difference: HeapDifference | None) -> Table:
    """Make a row per call stack, kind and device, largest growth first.

    Function, file and line are those of the user's innermost call, or of a library's if no call is the user's.
    ``inside`` names the library functions that were called. The stack begins with the outermost call.
    """
    if difference is None:
        return Table(_HEAP, [])
    nothing = HeapProfile(samples=(), started_at=None)
    rows = []
    for each in changes(difference.before or nothing, difference.after):
        line = line_in_memory(each.stack)
        place = (None,) * 4 if line is None else (line.function, line.file, line.line, line.cell)
        values = {name: getattr(each, name, None) for name in list(_HEAP)[5:-1]}
        if difference.before is None:
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
