"""Reads compiled modules and buffer assignments that XLA has serialized."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..records.call_stack import Stack
from .buffer_assignment import AssignedBuffer, BufferAllocation, BufferAssignment, Kind, Location, LogicalBuffer
from .costs.flops import flops_of, shape_without_workspace
from .hlo import HloInstruction, HloModule, Subshape
from .hlo_proto import read, subshapes, text
from .lines.lost_products import may_be_lost
from .lines.stacks import Stacks
from .literals import read_literal
from .shardings import num_replica_groups, sharded


def read_hlo_proto(data: bytes) -> HloModule:
    """Read the module in a serialized ``HloProto``, as the profiler writes it.

    Raises:
        google.protobuf.message.DecodeError: `data` is not an ``HloProto``.
    """
    return _module(read("HloProto", data).hlo_module, literals=False)


def read_module(data: bytes, *, literals: bool = False) -> HloModule:
    """Read a serialized ``HloModuleProto``, as a JAX executable provides it.

    Args:
        data: the serialized message.
        literals: whether to read the values of constants as well.

    Raises:
        google.protobuf.message.DecodeError: `data` is not an ``HloModuleProto``.
    """
    return _module(read("HloModule", data), literals=literals)


def _module(module: Any, *, literals: bool) -> HloModule:
    messages = {each.id: each for computation in module.computations for each in computation.instructions}
    reader = _Reader(module.stack_frame_index, messages)
    inputs, outputs = sharded(module)
    instructions = {number: reader.instruction(each) for number, each in messages.items()}
    return HloModule(
        name=text(module.name),
        instructions=instructions,
        computations={each.id: tuple(one.id for one in each.instructions) for each in module.computations},
        instruction_ids={text(each.name): number for number, each in messages.items()},
        inputs=inputs,
        outputs=outputs,
        entry_computation_id=module.entry_computation_id,
        root_ids={each.id: each.root_id for each in module.computations},
        schedule={each.key: tuple(each.value.instruction_ids) for each in module.schedule.sequences},
        input_output_alias={
            tuple(each.output_shape_index): each.parameter_number for each in module.input_output_alias.entries
        },
        literals={
            number: literal
            for number, each in messages.items()
            if literals and (literal := read_literal(each.literal)) is not None
        },
        lost_stacks=reader.unused_stacks() if any(map(may_be_lost, instructions.values())) else (),
    )


#: The trip count of a loop in its backend config, where XLA knows it.
_TRIP_COUNT = re.compile(rb'"known_trip_count":\s*\{"n":\s*"(\d{1,18})"')


def _known_trip_count(message: Any) -> int:
    found = _TRIP_COUNT.search(message.backend_config)
    return int(found[1]) if found else 0


#: The name of the emitter or library of a fusion in its backend config.
_FUSION_KIND = re.compile(rb'"fusion_config":\s*\{[^{}]*"kind":\s*"(__\w+)"')


def _fusion_kind(message: Any) -> str:
    found = _FUSION_KIND.search(message.backend_config)
    return text(found[1]) if found else ""


def _is_one_kernel(message: Any) -> bool:
    """Return whether XLA for the CPU compiles a call into one kernel."""
    attributes = message.frontend_attributes.map
    return any(each.key == b"xla_cpu_small_call" and each.value == b"true" for each in attributes)


class _Result(NamedTuple):
    """A shape, with the total elements and bytes of its arrays, and the order of its axes in memory."""

    shape: str
    elements: int
    size_bytes: int
    subshapes: tuple[Subshape, ...]
    minor_to_major: tuple[int, ...]


class _Reader:
    """Reads instructions. Shapes and stacks that many of them share are read once."""

    def __init__(self, frames: Any, messages: Mapping[int, Any]) -> None:
        self._messages = messages
        self._stacks = Stacks(frames)
        self._results: dict[bytes, _Result] = {}

    def instruction(self, message: Any) -> HloInstruction:
        opcode = text(message.opcode)
        whole = self._result(message.shape)
        is_library = opcode == "custom-call"
        result = self._result(shape_without_workspace(message)) if is_library else whole
        return HloInstruction(
            name=text(message.name),
            opcode=opcode,
            shape=result.shape,
            elements=result.elements,
            size_bytes=result.size_bytes,
            operand_ids=tuple(message.operand_ids),
            called_computation_ids=tuple(message.called_computation_ids),
            custom_call_target=text(message.custom_call_target) if is_library else "",
            flops=flops_of(message, self._operand_shapes(message)),
            num_replica_groups=num_replica_groups(message),
            op_name=text(message.metadata.op_name),
            stack=self._stacks.of(message.metadata),
            parameter_number=message.parameter_number,
            tuple_index=message.tuple_index,
            one_kernel=opcode == "call" and _is_one_kernel(message),
            changes_layout=opcode == "copy" and self._changes_layout(message),
            dimensions=tuple(message.dimensions) if opcode == "transpose" else (),
            minor_to_major=result.minor_to_major,
            known_trip_count=_known_trip_count(message) if opcode == "while" else 0,
            fusion_kind=_fusion_kind(message) if opcode == "fusion" else "",
            subshapes=whole.subshapes,
        )

    def unused_stacks(self) -> tuple[Stack, ...]:
        """Return the stacks that no instruction has."""
        return self._stacks.unused()

    def _changes_layout(self, message: Any) -> bool:
        operand = next(self._operand_shapes(message), message.shape)
        return list(operand.layout.minor_to_major) != list(message.shape.layout.minor_to_major)

    def _operand_shapes(self, message: Any) -> Iterator[Any]:
        """Yield the shapes of an instruction's operands; operands missing from the module are skipped."""
        for number in message.operand_ids:
            if (operand := self._messages.get(number)) is not None:
                yield operand.shape

    def _result(self, shape: Any) -> _Result:
        key = shape.SerializeToString()
        if key not in self._results:
            parts = subshapes(shape)
            arrays = [each for each in parts if each.elements]
            totals = sum(each.elements for each in arrays), sum(each.size_bytes for each in arrays)
            self._results[key] = _Result(parts[0].shape, *totals, parts, tuple(shape.layout.minor_to_major))
        return self._results[key]


def read_buffer_assignment(data: bytes) -> BufferAssignment:
    """Read a serialized ``BufferAssignmentProto``.

    Raises:
        google.protobuf.message.DecodeError: `data` is not a ``BufferAssignmentProto``.
        ValueError: an allocation refers to an unknown logical buffer, or an offset or size is negative.
    """
    message = read("BufferAssignment", data)
    buffers = {each.id: LogicalBuffer(each.size, _location(each.defined_at)) for each in message.logical_buffers}
    allocations = tuple(map(_allocation, message.buffer_allocations))
    for allocation in allocations:
        for buffer in allocation.assigned:
            sizes = buffer.offset_bytes, buffer.size_bytes, allocation.size_bytes
            if buffer.logical_buffer_id not in buffers or min(sizes) < 0:
                raise ValueError("an allocation refers to an unknown buffer, or an offset or size is negative")
    return BufferAssignment(buffers, allocations)


def _location(message: Any) -> Location:
    return Location(message.instruction_id, tuple(message.shape_index))


def _allocation(message: Any) -> BufferAllocation:
    holds_argument = message.is_entry_computation_parameter
    return BufferAllocation(
        size_bytes=message.size,
        kind=_kind(message),
        aliased=holds_argument and message.maybe_live_out,
        parameter_number=message.parameter_number if holds_argument else None,
        color=message.color,
        assigned=tuple(AssignedBuffer(each.logical_buffer_id, each.offset, each.size) for each in message.assigned),
    )


def _kind(message: Any) -> Kind:
    if message.is_entry_computation_parameter:
        return "argument"
    if message.is_constant:
        return "constant"
    if message.is_thread_local:
        return "thread-local"
    return "output" if message.maybe_live_out else "temporary"
