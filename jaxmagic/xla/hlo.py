"""The model of a compiled module: what XLA wrote down about its instructions, computations, schedule and shardings.

Fields that hold what a field of ``xla/service/hlo.proto`` holds have its name. What follows from them, such as how
long a value lives, what an operation costs or which line it was made for, is worked out elsewhere in
:mod:`jaxmagic.xla`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ..records.call_stack import Stack

#: A place in a nested tuple: ``()`` for the whole, ``(1, 0)`` for the first part of the second part.
ShapeIndex = tuple[int, ...]


class Subshape(NamedTuple):
    """A part of a shape that takes memory of its own: an array, or the table of pointers that a tuple is.

    Attributes:
        shape_index: where it is.
        shape: in words, such as ``"f32[256,512]"``, or ``"(f32[2], s32[])"``.
        elements: of an array; 0 for a tuple.
        size_bytes: of the array, or of the table.
    """

    shape_index: ShapeIndex
    shape: str
    elements: int
    size_bytes: int


class HloInstruction(NamedTuple):
    """One instruction of a module.

    Attributes:
        name: as in the text of the module, without ``%``.
        opcode: in XLA's words, such as ``"dot"`` or ``"fusion"``.
        shape: of its result, such as ``"f32[256,512]"``, without the workspace of a library.
        elements: of its result, altogether.
        size_bytes: of its result, altogether; tables of pointers do not count.
        operand_ids: the instructions whose results it takes.
        called_computation_ids: the computations that it runs, or that say how it combines two numbers.
        custom_call_target: what a ``custom-call`` calls; empty for others.
        flops: of a product, a convolution, a transform or a decomposition, also as a call of a library, how many
            floating-point operations it takes; ``None`` for others, and where its dimension numbers do not tell.
        num_replica_groups: of a collective operation, among how many groups of devices it exchanges; 0 if that is
            not known.
        op_name: the path of JAX's operation, such as ``"jit(f)/layer/dot_general"``.
        stack: the calls of Python that wrote it; older compilers tell the innermost alone. Empty if not known.
        parameter_number: of a ``parameter``, the operand of its computation that it stands for.
        tuple_index: of a ``get-tuple-element``, the part that it takes.
        traced_for: the function that JAX traced it for, an earlier caller, where the calls of the one that ran are
            not known; ``stack`` then begins behind both.
        one_kernel: of a ``call``, whether all that it runs is compiled as one, and recorded as one event.
        changes_layout: of a ``copy``, whether it arranges the same numbers in another order.
        known_trip_count: of a ``while``, how often its body runs; 0 if that is not known before.
        subshapes: all parts of its result, with the workspace; the whole comes first.
    """

    name: str
    opcode: str
    shape: str
    elements: int
    size_bytes: int
    operand_ids: tuple[int, ...]
    called_computation_ids: tuple[int, ...]
    custom_call_target: str
    flops: int | None
    num_replica_groups: int
    op_name: str
    stack: Stack
    parameter_number: int = 0
    tuple_index: int = 0
    traced_for: str = ""
    one_kernel: bool = False
    changes_layout: bool = False
    known_trip_count: int = 0
    subshapes: tuple[Subshape, ...] = ()


class Literal(NamedTuple):
    """The numbers of a constant.

    Attributes:
        dimensions: its sizes.
        minor_to_major: its axes, from the one whose numbers lie side by side to the one whose lie furthest apart.
        data: its bytes, as they lie in memory.
    """

    dimensions: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    data: bytes


class HloModule(NamedTuple):
    """A compiled module.

    Attributes:
        name: such as ``"jit_f"``.
        instructions: of all its computations, by id.
        computations: the ids of the instructions of each, operands before their users, by its own id.
        instruction_ids: by the instruction's name.
        inputs: what it takes, in order.
        outputs: what it gives, in order.
        entry_computation_id: of the computation in which it begins.
        root_ids: of the instruction whose result is the computation's, by the id of the computation.
        schedule: the ids of the instructions in the order in which they run, by the id of the computation; what is
            inside of a fusion has none.
        input_output_alias: by part of the result, the number of the donated argument in whose memory it is returned.
        literals: of constants that are not small, by id; empty unless they were asked for.
    """

    name: str
    instructions: Mapping[int, HloInstruction]
    computations: Mapping[int, tuple[int, ...]]
    instruction_ids: Mapping[str, int]
    inputs: tuple[Sharded, ...] = ()
    outputs: tuple[Sharded, ...] = ()
    entry_computation_id: int = 0
    root_ids: Mapping[int, int] = MappingProxyType({})
    schedule: Mapping[int, tuple[int, ...]] = MappingProxyType({})
    input_output_alias: Mapping[ShapeIndex, int] = MappingProxyType({})
    literals: Mapping[int, Literal] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharded:
    """An array that a program takes or gives.

    Attributes:
        name: of the argument, as JAX names it, such as ``"params['w']"``; empty for what is given.
        shape: type and sizes of what one device has of it, such as ``"f32[256,512]"``.
        pieces: into how many pieces each of its axes is divided; all 1 where each device has all of it. ``None`` if
            that is not known.
    """

    name: str
    shape: str
    pieces: tuple[int, ...] | None
