"""Reading serialized modules and buffer assignments, both real and corrupt."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from recordings import all_of, module_of, serialized

from jaxmagic.memory_use.analysis.buffer_map import live_bytes, memory_map
from jaxmagic.xla.hlo import Sharded
from jaxmagic.xla.hlo_proto import read
from jaxmagic.xla.read_hlo import read_buffer_assignment, read_hlo_proto, read_module
from jaxmagic.xla.schedule import flattened_schedule

#: The exceptions that reading may raise; any other would crash the report.
REFUSED = (DecodeError, ValueError)


def inner(x: Any) -> Any:
    return jax.lax.sort(x)


def outer(x: Any) -> Any:
    return inner(x * 2)


def test_an_instruction_has_the_calls_that_wrote_it_the_outermost_first() -> None:
    (sort,) = all_of(module_of(outer, jnp.ones(300)), "sort")
    names = [frame.function for frame in sort.stack]
    assert sort.stack[-1].file == __file__
    assert sort.stack[-1].line == inner.__code__.co_firstlineno + 1
    if jax.__version_info__ >= (0, 10):  # older versions record only the innermost line, without the function
        assert names[-2:] == ["outer", "inner"]


def test_sizes_are_those_of_the_shape() -> None:
    module = module_of(lambda x: (jnp.sort(x), x[0]), jnp.ones((3, 300), jnp.int16))
    (sort,) = all_of(module, "sort")
    assert (sort.shape, sort.elements, sort.size_bytes) == ("s16[3,300]", 900, 1800)


def test_an_instruction_is_found_by_its_name_and_computations_have_theirs() -> None:
    module = module_of(outer, jnp.ones(300))
    for name, number in module.instruction_ids.items():
        assert module.instructions[number].name == name
    assert sorted(each for one in module.computations.values() for each in one) == sorted(module.instructions)


def test_the_module_is_what_its_text_says() -> None:
    def f(x: Any) -> Any:
        return jnp.sort(x), x[0]

    made = jax.jit(f).lower(jnp.ones((3, 5), jnp.int8)).compile()
    module, text = read_module(serialized(made)), made.runtime_executable().hlo_modules()[0].to_string()
    assert module.name == "jit_f"
    assert module.inputs == (Sharded(name="x", shape="s8[3,5]", pieces=None),)
    order = module.schedule[module.entry_computation_id]
    for instruction in map(module.instructions.__getitem__, order):
        assert f"%{instruction.name} = {instruction.shape}".replace("(", "").split(",")[0] in text.replace("(", "")
        assert f" {instruction.opcode}(" in text
    parameter = module.instructions[order[0]]
    assert (parameter.shape, parameter.subshapes[0].size_bytes, parameter.op_name) == ("s8[3,5]", 15, "x")
    root = module.instructions[module.root_ids[module.entry_computation_id]]
    assert [(each.shape_index, each.shape, each.size_bytes) for each in root.subshapes] == [
        ((), "(s8[3,5], s8[5])", 16),  # two pointers
        ((0,), "s8[3,5]", 15),
        ((1,), "s8[5]", 5),
    ]
    assert (root.elements, root.size_bytes) == (20, 20)


@pytest.mark.parametrize(
    ("dtype", "text", "size_bytes"),
    [
        ("bool", "pred[3]", 3),
        ("bfloat16", "bf16[3]", 6),
        ("complex64", "c64[3]", 24),
        ("uint16", "u16[3]", 6),
        ("float8_e4m3fn", "f8e4m3fn[3]", 3),
        ("int4", "s4[3]", 2),
    ],
)
def test_every_type_has_its_name_and_its_size(dtype: str, text: str, size_bytes: int) -> None:
    made = jax.jit(lambda x: x).lower(jax.ShapeDtypeStruct((3,), dtype)).compile()
    (parameter,) = all_of(read_module(serialized(made)), "parameter")
    assert (parameter.shape, parameter.size_bytes) == (text, size_bytes)


def test_the_order_of_exchanges_is_read_however_xla_writes_it() -> None:
    """Replica groups as lists of devices, as an iota, alone or within a list, and by axes of a mesh."""
    mesh = {"axes": [{"name": b"x", "size": 4}, {"name": b"y", "size": 2}]}
    ways: list[dict[str, Any]] = [
        {"replica_groups": [b"", b""]},
        {"collective_device_list": {"replica_groups": [b"", b""]}},
        {"collective_device_list": {"iota_replica_group_list": {"num_replica_groups": 2}}},
        {"iota_collective_device_list": {"num_replica_groups": 2}},
        {"mesh_axes_replica_group_list": {"mesh": mesh, "axes": [{"mesh_axis_index": 0}]}},
    ]
    message = read("HloModule", b"")
    computation = message.computations.add(id=1)
    for number, way in enumerate(ways):
        computation.instructions.add(id=number, opcode=b"all-reduce", **way)
    module = read_module(message.SerializeToString())
    assert [each.num_replica_groups for each in module.instructions.values()] == [2] * len(ways)


def messages() -> tuple[bytes, bytes]:
    def f(x: Any, w: Any) -> Any:
        def step(carry: Any, _: None) -> tuple[Any, Any]:
            carry = jnp.tanh(carry @ w)
            return carry, carry.sum()

        return jax.lax.scan(step, x, None, length=3)

    made = jax.jit(f).lower(jnp.ones((4, 4)), jnp.ones((4, 4), jnp.bfloat16)).compile()
    return serialized(made), made.memory_analysis().serialized_buffer_assignment_proto


MODULE, ASSIGNMENT = messages()


def test_the_module_of_a_recording_is_the_same() -> None:
    recorded = read("HloProto", b"")
    recorded.hlo_module.CopyFrom(read("HloModule", MODULE))
    assert read_hlo_proto(recorded.SerializeToString()) == read_module(MODULE)


def test_an_empty_message_has_no_schedule() -> None:
    with pytest.raises(ValueError, match="no schedule"):
        flattened_schedule(read_module(b""))
    assert read_buffer_assignment(b"").buffer_allocations == ()


@given(st.binary(max_size=300))
def test_anything_at_all_is_read_or_refused(data: bytes) -> None:
    read_whole(data, ASSIGNMENT)
    read_whole(MODULE, data)


@given(st.data())
def test_what_was_damaged_is_read_or_refused(data: st.DataObject) -> None:
    read_whole(damaged(data, MODULE), ASSIGNMENT)
    read_whole(MODULE, damaged(data, ASSIGNMENT))


def damaged(data: st.DataObject, message: bytes) -> bytes:
    """Change some bytes, and perhaps cut off the end."""
    changed = bytearray(message)
    for place in data.draw(st.lists(st.integers(0, len(message) - 1), max_size=6)):
        changed[place] = data.draw(st.integers(0, 255))
    return bytes(changed[: data.draw(st.integers(len(message) // 2, len(message)))])


def read_whole(module: bytes, assignment: bytes) -> None:
    try:
        program = read_module(module)
        table = flattened_schedule(program)
        found = memory_map(program, read_buffer_assignment(assignment), table)
    except REFUSED:
        return
    assert len(live_bytes(found, len(table.order))) == len(table.order)
