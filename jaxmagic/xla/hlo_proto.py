"""Declares the protocol buffer messages of XLA that are read here: the scheduled module and the buffer assignment.

Protocol buffers identify fields by number, and a reader skips those that it does not know. A table of the few fields
needed is therefore enough to read messages of any XLA version, without ``protoc`` and without XLA's own definitions.
The numbers are those of ``xla/service/hlo.proto`` and ``xla/xla_data.proto`` in https://github.com/openxla/xla.

Strings are declared as bytes, so that a name with invalid UTF-8 does not make the whole message unreadable. The
values of constants are declared as bytes too: a packed field is either their memory or a sequence of varints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from .hlo import ShapeIndex, Subshape

#: Message: fields, each with name, number and type; ``*`` marks a repeated field.
_XLA = """
HloProto: hlo_module 1 HloModule
HloModule: name 1 bytes, entry_computation_id 6 int64, computations 3 *HloComputation, schedule 7 HloSchedule,
    id 5 int64, input_output_alias 8 HloInputOutputAlias, spmd_output_sharding 12 OpSharding,
    spmd_parameters_shardings 14 *OpSharding, stack_frame_index 17 StackFrameIndex
HloInputOutputAlias: entries 1 *AliasEntry
AliasEntry: output_shape_index 1 *int64, parameter_number 2 int64
OpSharding: type 1 int32, tile_assignment_dimensions 3 *int64, tuple_shardings 5 *OpSharding,
    replicate_on_last_tile_dim 6 bool, last_tile_dims 8 *int32, named_sharding 14 NamedSharding
NamedSharding: mesh 2 Mesh, dim_shardings 3 *DimensionSharding
Mesh: axes 1 *MeshAxis
MeshAxis: name 1 bytes, size 2 int64
DimensionSharding: axes 1 *AxisRef
AxisRef: mesh_axis_index 1 int64, sub_axis_info 2 bytes
HloComputation: name 1 bytes, instructions 2 *HloInstruction, id 5 int64, root_id 6 int64
HloInstruction: name 1 bytes, opcode 2 bytes, shape 3 Shape, metadata 7 OpMetadata, literal 8 Literal,
    parameter_number 9 int64, tuple_index 13 int64, dimensions 14 *int64, window 15 Window,
    convolution_dimension_numbers 16 ConvolutionDimensionNumbers, custom_call_target 28 bytes,
    dot_dimension_numbers 30 DotDimensionNumbers, fft_type 31 int32, fft_length 32 *int64, id 35 int64,
    operand_ids 36 *int64, called_computation_ids 38 *int64, backend_config 43 bytes, replica_groups 49 *bytes,
    frontend_attributes 68 FrontendAttributes, collective_device_list 87 CollectiveDeviceList,
    iota_collective_device_list 92 IotaReplicaGroupList, mesh_axes_replica_group_list 93 MeshAxesReplicaGroupList
FrontendAttributes: map 1 *FrontendAttribute
FrontendAttribute: key 1 bytes, value 2 bytes
CollectiveDeviceList: replica_groups 1 *bytes, iota_replica_group_list 2 IotaReplicaGroupList
IotaReplicaGroupList: num_replica_groups 1 int64
MeshAxesReplicaGroupList: mesh 1 Mesh, axes 2 *AxisRef
DotDimensionNumbers: lhs_contracting_dimensions 1 *int64
ConvolutionDimensionNumbers: kernel_input_feature_dimension 3 int64, kernel_output_feature_dimension 4 int64,
    output_batch_dimension 9 int64, output_feature_dimension 10 int64, input_spatial_dimensions 11 *int64,
    output_spatial_dimensions 12 *int64
Window: dimensions 1 *WindowDimension
WindowDimension: size 1 int64, stride 2 int64, padding_low 3 int64, window_dilation 5 int64, base_dilation 6 int64
Shape: element_type 2 int32, dimensions 3 *int64, tuple_shapes 4 *Shape, layout 5 Layout
Layout: minor_to_major 1 *int64
Literal: shape 1 Shape, preds 2 bytes, u8s 3 bytes, s32s 4 bytes, s64s 5 bytes, u32s 6 bytes, u64s 7 bytes,
    f32s 8 bytes, f64s 9 bytes, f16s 11 bytes, c64s 12 bytes, bf16s 13 bytes, s8s 15 bytes, u16s 16 bytes,
    s16s 17 bytes, c128s 18 bytes
OpMetadata: op_name 2 bytes, source_file 3 bytes, source_line 4 int32, stack_frame_id 15 int32
HloSchedule: sequences 1 *SequenceEntry
SequenceEntry: key 1 int64, value 2 InstructionSequence
InstructionSequence: instruction_ids 1 *int64
StackFrameIndex: file_names 1 *bytes, function_names 2 *bytes, file_locations 3 *FileLocation,
    stack_frames 4 *StackFrame
FileLocation: file_name_id 1 int32, function_name_id 2 int32, line 3 int32
StackFrame: file_location_id 1 int32, parent_frame_id 2 int32
BufferAssignment: logical_buffers 1 *LogicalBuffer, buffer_allocations 3 *BufferAllocation
LogicalBuffer: id 1 int64, size 2 int64, defined_at 3 Location, color 4 int64
Location: instruction_id 4 int64, shape_index 3 *int64
BufferAllocation: index 1 int64, size 2 int64, is_thread_local 3 bool, is_tuple 11 bool,
    is_entry_computation_parameter 5 bool, is_constant 12 bool, parameter_number 6 int64,
    parameter_shape_index 10 *int64, maybe_live_out 7 bool, color 8 int64, assigned 9 *Assigned
Assigned: logical_buffer_id 1 int64, offset 2 int64, size 3 int64
"""

#: Names and bits of element types by XLA's ``PrimitiveType``.
#: https://github.com/openxla/xla/blob/main/xla/xla_data.proto
_ELEMENTS: Mapping[int, tuple[str, int]] = {
    1: ("pred", 8), 2: ("s8", 8), 3: ("s16", 16), 4: ("s32", 32), 5: ("s64", 64), 6: ("u8", 8), 7: ("u16", 16),
    8: ("u32", 32), 9: ("u64", 64), 10: ("f16", 16), 11: ("f32", 32), 12: ("f64", 64), 15: ("c64", 64),
    16: ("bf16", 16), 17: ("token", 0), 18: ("c128", 128), 19: ("f8e5m2", 8), 20: ("f8e4m3fn", 8), 21: ("s4", 4),
    22: ("u4", 4), 23: ("f8e4m3b11fnuz", 8), 24: ("f8e5m2fnuz", 8), 25: ("f8e4m3fnuz", 8), 26: ("s2", 2),
    27: ("u2", 2), 28: ("f8e4m3", 8), 29: ("f8e3m4", 8), 30: ("s1", 1), 31: ("u1", 1), 32: ("f4e2m1fn", 4),
    33: ("f8e8m0fnu", 8),
}  # fmt: skip

#: XLA's ``PrimitiveType`` of a tuple.
TUPLE = 13

#: The size of an entry in a tuple's table of pointers.
_POINTER_BYTES = 8

_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bytes": _FIELD.TYPE_BYTES,
    "int64": _FIELD.TYPE_INT64,
    "int32": _FIELD.TYPE_INT32,
    "bool": _FIELD.TYPE_BOOL,
    "fixed64": _FIELD.TYPE_FIXED64,
}


def read(name: str, data: bytes) -> Any:
    """Parse `data` as the message called `name`.

    Raises:
        google.protobuf.message.DecodeError: `data` is not such a message.
    """
    message = _messages()[name]()
    message.ParseFromString(data)
    return message


def element_of(number: int) -> tuple[str, int]:
    """Return the name of an element type and its bits; 0 bits if it takes no memory or is unknown.

    >>> element_of(11)
    ('f32', 32)
    """
    return _ELEMENTS.get(number, ("?", 0))


def subshapes(message: Any, index: ShapeIndex = ()) -> tuple[Subshape, ...]:
    """Return the parts of a ``Shape``: the whole, followed by the parts of a tuple's elements."""
    if message.element_type == TUPLE:
        inner = [subshapes(each, (*index, number)) for number, each in enumerate(message.tuple_shapes)]
        shape = f"({', '.join(parts[0].shape for parts in inner)})"
        table = Subshape(index, shape, 0, _POINTER_BYTES * len(inner))
        return (table, *(part for parts in inner for part in parts))
    name, bits = element_of(message.element_type)
    elements = prod(message.dimensions) if bits else 0
    shape = f"{name}[{','.join(map(str, message.dimensions))}]"
    return (Subshape(index, shape, elements, -(-elements * bits // 8)),)


def entry(table: Sequence[Any], position: int) -> Any:
    """Look up a 1-based position in a table; ``None`` for 0 and beyond the end.

    >>> entry(["a.py", "b.py"], 2)
    'b.py'
    """
    return table[position - 1] if 0 < position <= len(table) else None


def text(data: bytes) -> str:
    """Decode a name; invalid UTF-8 is replaced."""
    return data.decode(errors="replace")


@cache
def _messages() -> dict[str, Any]:
    """Return the message classes by name."""
    return classes_of("jaxmagic.xla", _XLA)


def classes_of(package: str, table: str) -> dict[str, Any]:
    """Create the message classes of a table such as `_XLA`, in a descriptor pool of their own."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for entry in table.replace(",\n", ",").strip().splitlines():
        name, fields = entry.split(":")
        message = file.message_type.add(name=name)
        for field in fields.split(","):
            label, number, kind = field.split()
            added = message.field.add(name=label, number=int(number), label=_FIELD.LABEL_OPTIONAL)
            if kind.startswith("*"):
                added.label = _FIELD.LABEL_REPEATED
            kind = kind.removeprefix("*")
            if kind in _SCALARS:
                added.type = _SCALARS[kind]
            else:
                added.type, added.type_name = _FIELD.TYPE_MESSAGE, f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        each.name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{each.name}"))
        for each in file.message_type
    }
