"""The model of a compiled module: its instructions, computations, schedule and shardings, as XLA serialized them.

Fields are named as in ``xla/service/hlo.proto`` where it has them. Live ranges, costs and source lines are derived
elsewhere in :mod:`jaxmagic.xla`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ..records.call_stack import Stack

#: An index into a nested tuple: ``()`` for the whole, ``(1, 0)`` for the first element of the second element.
ShapeIndex = tuple[int, ...]


class Subshape(NamedTuple):
    """A part of a shape that has memory of its own: an array, or a tuple's table of pointers.

    Attributes:
        shape_index: its index in the whole shape.
        shape: its text, such as ``"f32[256,512]"`` or ``"(f32[2], s32[])"``.
        elements: the number of elements of an array; 0 for a tuple.
        size_bytes: the size of the array, or of the table.
    """

    shape_index: ShapeIndex
    shape: str
    elements: int
    size_bytes: int


class HloInstruction(NamedTuple):
    """One instruction of a module.

    Attributes:
        name: its name in the module's text, without ``%``.
        opcode: its HLO opcode, such as ``"dot"`` or ``"fusion"``.
        shape: the shape of its result, such as ``"f32[256,512]"``, without the workspace of a library call.
        elements: the number of elements of its result, summed over a tuple.
        size_bytes: the size of its result, summed over a tuple; tables of pointers do not count.
        operand_ids: the ids of its operands.
        called_computation_ids: the computations that it runs or combines elements with.
        custom_call_target: the target of a ``custom-call``; empty for other opcodes.
        flops: the floating-point operations of a dot, convolution, FFT or decomposition, including library calls.
            ``None`` for other instructions, and where the dimension numbers do not determine them.
        num_replica_groups: the number of replica groups of a collective; 0 if unknown.
        op_name: the path of the JAX operation, such as ``"jit(f)/layer/dot_general"``.
        stack: the Python call stack that created it; older compilers record only the innermost frame. Empty if
            unknown.
        parameter_number: for a ``parameter``, the number of the operand that it stands for.
        tuple_index: for a ``get-tuple-element``, the index of the element.
        traced_for: the earlier caller for which JAX traced it, where the calls of the current caller are unknown;
            ``stack`` then begins below both.
        one_kernel: for a ``call``, whether everything it runs is compiled into one kernel and traced as one event.
        changes_layout: for a ``copy``, whether the layout of its result differs from its operand's.
        dimensions: for a ``transpose``, the axis of its operand that each axis of its result is.
        minor_to_major: the axes of its result, from the fastest varying to the slowest varying one in memory; empty
            for a tuple.
        known_trip_count: for a ``while``, how often its body runs; 0 if unknown at compile time.
        fusion_kind: for a ``fusion`` with an emitter or a library of its own, their name, such as ``"__ynn_fusion"``.
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
    dimensions: tuple[int, ...] = ()
    minor_to_major: tuple[int, ...] = ()
    known_trip_count: int = 0
    fusion_kind: str = ""
    subshapes: tuple[Subshape, ...] = ()


class Literal(NamedTuple):
    """The values of a constant.

    Attributes:
        dimensions: its sizes.
        minor_to_major: its axes, from the fastest varying to the slowest varying one in memory.
        data: its bytes, in memory order.
    """

    dimensions: tuple[int, ...]
    minor_to_major: tuple[int, ...]
    data: bytes


class HloModule(NamedTuple):
    """A compiled module.

    Attributes:
        name: its name, such as ``"jit_f"``.
        instructions: the instructions of all computations, by id.
        computations: the ids of the instructions of each computation, operands before users, by computation id.
        instruction_ids: the ids of the instructions, by name.
        inputs: the arguments, in order.
        outputs: the results, in order.
        entry_computation_id: the id of the entry computation.
        root_ids: the id of each computation's root instruction, by computation id.
        schedule: the ids of the instructions in execution order, by computation id; computations of fusions have no
            schedule.
        input_output_alias: the number of the donated argument whose memory holds a result, by the result's index.
        literals: the values of constants that are not small, by id; empty unless they were requested.
        lost_stacks: the stacks of operations that no instruction has; empty unless an instruction may have lost its
            own, see ``lines/lost_products.py``.
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
    lost_stacks: tuple[Stack, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharded:
    """An argument or a result of a program, with its sharding.

    Attributes:
        name: JAX's name of an argument, such as ``"params['w']"``; empty for a result.
        shape: type and sizes of one device's shard, such as ``"f32[256,512]"``.
        pieces: the number of shards along each axis; all 1 where the array is replicated. ``None`` if unknown.
    """

    name: str
    shape: str
    pieces: tuple[int, ...] | None
