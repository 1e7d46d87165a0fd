"""A compiled program as XLA describes it: instructions in the order in which they run, and its buffers.

What is said here is what the compiler wrote down; where a buffer begins and ends to be needed is worked out in
:mod:`jaxmagic.xla.live_ranges`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal as OneOf
from typing import NamedTuple

#: Which part of an instruction's result: ``()`` for the whole, ``(1, 0)`` for the first part of the second part.
Index = tuple[int, ...]


class Part(NamedTuple):
    """Something in the result of an instruction that takes memory of its own."""

    path: Index
    shape: str
    size_bytes: int


class Instruction(NamedTuple):
    """One instruction.

    Attributes:
        name: as in the text of the module, without ``%``.
        opcode: what it does, in XLA's words: ``"dot"``, ``"fusion"``, ``"get-tuple-element"``.
        shape: type and sizes of its result, such as ``"f32[256,512]"``.
        parts: the place, the shape and the bytes of everything in its result: of a tuple its own table of pointers,
            and then of what is in it.
        operands: numbers of the instructions whose results it takes.
        called: numbers of the computations that it runs.
        tuple_index: which part ``get-tuple-element`` takes.
        parameter: which one a ``parameter`` is.
        op_name: the path of JAX's operation, such as ``"jit(f)/dot_general"``.
        source: file and line of the user's, such as ``"train.py:3"`` or ``"cell 12:3"``; ``None`` if it is not known.
        inside: the function of a library that this line called, such as ``"flax.linen.BatchNorm"``; ``None`` if
            there is none, or it is not known.
    """

    name: str
    opcode: str
    shape: str
    parts: tuple[Part, ...]
    operands: tuple[int, ...]
    called: tuple[int, ...]
    tuple_index: int
    parameter: int
    op_name: str
    source: str | None
    inside: str | None = None


class Literal(NamedTuple):
    """The numbers of a constant.

    Attributes:
        sizes: of its dimensions.
        order: its dimensions, from the one whose numbers lie side by side to the one whose lie furthest apart.
        data: its bytes, as they lie in memory.
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    data: bytes


class Computation(NamedTuple):
    """Instructions that run one after the other.

    Attributes:
        order: their numbers, as scheduled; empty where they are not scheduled, as inside a fusion.
        root: the number of the one whose result is the computation's.
    """

    order: tuple[int, ...]
    root: int


class Program(NamedTuple):
    """A scheduled module.

    Attributes:
        name: of the module, such as ``"jit_f"``.
        entry: the number of the computation in which it begins.
        computations: by their numbers.
        instructions: by their numbers, those of all computations.
        literals: of constants that are not small, by the numbers of their instructions; empty unless asked for.
        donated: by part of the result, the argument in whose memory it is returned.
    """

    name: str
    entry: int
    computations: dict[int, Computation]
    instructions: dict[int, Instruction]
    literals: Mapping[int, Literal] = MappingProxyType({})
    donated: Mapping[Index, int] = MappingProxyType({})


class Place(NamedTuple):
    """Where a value can be found: a part of the result of an instruction."""

    instruction: int
    part: Index


class Value(NamedTuple):
    """Something that is computed once and has to be kept for a while.

    Attributes:
        size_bytes: of it.
        made_at: where.
    """

    size_bytes: int
    made_at: Place


#: What an allocation is for.
Kind = OneOf["argument", "output", "temporary", "constant", "thread-local"]


class AssignedBuffer(NamedTuple):
    """A value and where it lies in an allocation."""

    value: int
    offset_bytes: int
    size_bytes: int


class BufferAllocation(NamedTuple):
    """An allocation, as the compiler planned it.

    Attributes:
        size_bytes: of the whole.
        kind: what it is for.
        aliased: whether an argument's memory becomes an output's.
        parameter: which argument it holds; ``None`` where it holds none.
        space: the memory it lies in; 0 for the device's own.
        assigned: what lies in it.
    """

    size_bytes: int
    kind: Kind
    aliased: bool
    parameter: int | None
    space: int
    assigned: tuple[AssignedBuffer, ...]


class Assignment(NamedTuple):
    """All allocations of a program, and the values in them by their numbers."""

    values: dict[int, Value]
    regions: tuple[BufferAllocation, ...]
