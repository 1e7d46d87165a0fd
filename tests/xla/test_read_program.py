"""Reading XLA's messages: the real ones, and whatever else may come."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.memory_use.analysis.buffer_map import live_bytes, memory_map
from jaxmagic.xla.live_ranges import flattened_schedule
from jaxmagic.xla.read_program import read_assignment, read_program

#: What reading may raise: anything else would be a crash of the report.
REFUSED = (DecodeError, ValueError)


def messages() -> tuple[bytes, bytes]:
    def f(x: Any, w: Any) -> Any:
        def step(carry: Any, _: None) -> tuple[Any, Any]:
            carry = jnp.tanh(carry @ w)
            return carry, carry.sum()

        return jax.lax.scan(step, x, None, length=3)

    made = jax.jit(f).lower(jnp.ones((4, 4)), jnp.ones((4, 4), jnp.bfloat16)).compile()
    module = made.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    return module, made.memory_analysis().serialized_buffer_assignment_proto


MODULE, ASSIGNMENT = messages()


def test_the_module_is_what_its_text_says() -> None:
    def f(x: Any) -> Any:
        return jnp.sort(x), x[0]

    made = jax.jit(f).lower(jnp.ones((3, 5), jnp.int8)).compile()
    module = made.runtime_executable().hlo_modules()[0]
    program, text = read_program(module.as_serialized_hlo_module_proto()), module.to_string()
    assert program.name == "jit_f"
    for number in program.computations[program.entry].order:
        instruction = program.instructions[number]
        assert f"%{instruction.name} = {instruction.shape}".replace("(", "").split(",")[0] in text.replace("(", "")
        assert f" {instruction.opcode}(" in text
    parameter = program.instructions[program.computations[program.entry].order[0]]
    assert (parameter.shape, parameter.parts[0].size_bytes, parameter.op_name) == ("s8[3,5]", 15, "x")


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
    program = read_program(made.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto())
    parts = [each.parts[0] for each in program.instructions.values() if each.opcode == "parameter"]
    assert parts[0].shape == text
    assert parts[0].size_bytes == size_bytes


def test_an_empty_message_is_refused() -> None:
    with pytest.raises(ValueError, match="no schedule"):
        read_program(b"")
    assert read_assignment(b"").regions == ()


@given(st.binary(max_size=300))
def test_anything_at_all_is_read_or_refused(data: bytes) -> None:
    read_whole(data, ASSIGNMENT)
    read_whole(MODULE, data)


@given(st.data())
def test_what_was_damaged_is_read_or_refused(data: st.DataObject) -> None:
    read_whole(damaged(data, MODULE), ASSIGNMENT)
    read_whole(MODULE, damaged(data, ASSIGNMENT))


def damaged(data: st.DataObject, message: bytes) -> bytes:
    """With some bytes changed, and perhaps without its end."""
    changed = bytearray(message)
    for place in data.draw(st.lists(st.integers(0, len(message) - 1), max_size=6)):
        changed[place] = data.draw(st.integers(0, 255))
    return bytes(changed[: data.draw(st.integers(len(message) // 2, len(message)))])


def read_whole(module: bytes, assignment: bytes) -> None:
    try:
        program = read_program(module)
        table = flattened_schedule(program)
        found = memory_map(program, read_assignment(assignment), table)
    except REFUSED:
        return
    assert len(live_bytes(found, len(table.order))) == len(table.order)
