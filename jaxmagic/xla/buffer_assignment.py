"""The model of a buffer assignment: the allocations of a compiled module, and the offsets of its values in them.

Fields are named as in ``xla/service/hlo.proto`` where it has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from .hlo import ShapeIndex


class Location(NamedTuple):
    """A part of an instruction's result (``HloPosition``)."""

    instruction_id: int
    shape_index: ShapeIndex


class LogicalBuffer(NamedTuple):
    """A value (``HloValue``): it is defined once, and keeps its memory while it is live.

    Attributes:
        size_bytes: its size.
        defined_at: the instruction, and the part of its result, that defines it.
    """

    size_bytes: int
    defined_at: Location


#: The purpose of an allocation.
Kind = Literal["argument", "output", "temporary", "constant", "thread-local"]


class AssignedBuffer(NamedTuple):
    """A logical buffer and its offset in an allocation."""

    logical_buffer_id: int
    offset_bytes: int
    size_bytes: int


class BufferAllocation(NamedTuple):
    """An allocation, as the compiler planned it.

    Attributes:
        size_bytes: its size.
        kind: its purpose.
        aliased: whether it holds an argument at first and an output in the end.
        parameter_number: the number of the argument that it holds; ``None`` if it holds none.
        color: its memory space; 0 for the device's default memory.
        assigned: the buffers in it.
    """

    size_bytes: int
    kind: Kind
    aliased: bool
    parameter_number: int | None
    color: int
    assigned: tuple[AssignedBuffer, ...]


class BufferAssignment(NamedTuple):
    """All allocations of a module, and its logical buffers by id."""

    logical_buffers: Mapping[int, LogicalBuffer]
    buffer_allocations: tuple[BufferAllocation, ...]
