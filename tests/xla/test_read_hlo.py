"""What is read of a compiled module for a profile: what instructions do, how much, and where they were written."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from recordings import all_of, module_of, wrapped

from jaxmagic.xla.read_hlo import read_module


def inner(x: Any) -> Any:
    return jax.lax.sort(x)


def outer(x: Any) -> Any:
    return inner(x * 2)


def test_an_instruction_has_the_calls_that_wrote_it_the_outermost_first() -> None:
    (sort,) = all_of(module_of(outer, jnp.ones(300)), "sort")
    names = [frame.function for frame in sort.stack]
    assert sort.stack[-1].file == __file__
    assert sort.stack[-1].line == inner.__code__.co_firstlineno + 1
    if jax.__version_info__ >= (0, 10):  # before, the innermost line alone is told, without the function's name
        assert names[-2:] == ["outer", "inner"]


def test_sizes_are_those_of_the_shape() -> None:
    module = module_of(lambda x: (jnp.sort(x), x[0]), jnp.ones((3, 300), jnp.int16))
    (sort,) = all_of(module, "sort")
    assert (sort.shape, sort.elements, sort.size_bytes) == ("s16[3,300]", 900, 1800)


def test_an_instruction_is_found_by_its_name_and_computations_have_theirs() -> None:
    module = module_of(outer, jnp.ones(300))
    for name, number in module.named.items():
        assert module.instructions[number].name == name
    assert sorted(each for one in module.computations.values() for each in one) == sorted(module.instructions)


MODULE = wrapped(
    jax.jit(outer)
    .lower(jnp.ones(300))
    .compile()
    .runtime_executable()
    .hlo_modules()[0]
    .as_serialized_hlo_module_proto()
)


@given(st.data())
def test_whatever_is_in_it_is_read_or_refused(data: st.DataObject) -> None:
    broken = bytearray(MODULE[: data.draw(st.integers(0, len(MODULE)))])
    for _ in range(data.draw(st.integers(0, 5))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    with suppress(DecodeError):
        read_module(bytes(broken))
