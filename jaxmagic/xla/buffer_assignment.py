"""The model of a buffer assignment: which allocations a compiled module has, and where in them its values lie.

The names are those of ``xla/service/hlo.proto``, where it has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from .hlo import ShapeIndex


class Location(NamedTuple):
    """Where a value can be found: a part of the result of an instruction."""

    instruction_id: int
    shape_index: ShapeIndex


class LogicalBuffer(NamedTuple):
    """A value: something that is computed once and has to be kept for a while.

    Attributes:
        size_bytes: of it.
        defined_at: the instruction that makes it.
    """

    size_bytes: int
    defined_at: Location


#: What an allocation is for.
Kind = Literal["argument", "output", "temporary", "constant", "thread-local"]


class AssignedBuffer(NamedTuple):
    """A value and where it lies in an allocation."""

    logical_buffer_id: int
    offset_bytes: int
    size_bytes: int


class BufferAllocation(NamedTuple):
    """An allocation, as the compiler planned it.

    Attributes:
        size_bytes: of the whole.
        kind: what it is for.
        aliased: whether an argument's memory becomes an output's.
        parameter_number: of the argument that it holds; ``None`` where it holds none.
        color: the memory space it lies in; 0 for the device's own.
        assigned: what lies in it.
    """

    size_bytes: int
    kind: Kind
    aliased: bool
    parameter_number: int | None
    color: int
    assigned: tuple[AssignedBuffer, ...]


class BufferAssignment(NamedTuple):
    """All allocations of a module, and the values in them by their ids."""

    logical_buffers: Mapping[int, LogicalBuffer]
    buffer_allocations: tuple[BufferAllocation, ...]
