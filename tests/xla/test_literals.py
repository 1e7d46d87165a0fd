"""Constants are read correctly, whatever their type and layout."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import serialized

from jaxmagic.xla.hlo import Literal
from jaxmagic.xla.hlo_proto import read
from jaxmagic.xla.literals import _integers, is_copy, read_literal
from jaxmagic.xla.read_hlo import read_module

KINDS = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "bfloat16", "float32", "complex64"]


def built_in(constant: Any) -> list[Literal]:
    """Return the constants of an optimized program, without small ones."""
    lowered = jax.jit(lambda x: (x + 1, constant)).lower(jnp.ones(2))
    return list(read_module(serialized(lowered.compile()), literals=True).literals.values())


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_of_every_type_are_read(kind: str) -> None:
    numbers = np.random.default_rng(0).integers(-2000, 2000, 3000).reshape(50, 60)
    constant = numbers.astype(jnp.dtype(kind))
    (literal,) = built_in(constant)
    assert literal.dimensions == (50, 60)
    assert is_copy(literal, constant)
    constant[49, 59] = not constant[49, 59]
    assert not is_copy(literal, constant)


def test_numbers_of_64_bits_are_read_with_their_sign() -> None:
    numbers = np.array([-(2**63), -1, 0, 1, 2**63 - 1] * 30, np.int64)
    message = read("Literal", b"")
    message.shape.dimensions.append(150)
    message.s64s = b"".join(varint(int(each) % 2**64) for each in numbers)
    literal = read_literal(message)
    assert literal is not None
    assert is_copy(literal, numbers)
    assert not is_copy(literal, -numbers)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=30))
def test_varints_are_read(numbers: list[int]) -> None:
    assert _integers(b"".join(map(varint, numbers))).tolist() == numbers


def varint(number: int) -> bytes:
    parts = [number >> place & 127 for place in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(part | 128 for part in parts[:-1]), parts[-1]])


def test_small_constants_are_not_read() -> None:
    numbers = np.arange(256, dtype=np.float32) ** 2
    assert built_in(numbers[1:]) == []
    assert len(built_in(numbers)) == 1


def test_literals_are_read_where_they_are_asked_for_only() -> None:
    lowered = jax.jit(lambda x: x + np.arange(2000.0, dtype=np.float32) ** 2).lower(jnp.ones(2000))
    assert read_module(serialized(lowered.compile())).literals == {}


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (Literal((2, 3), (1, 0), bytes([0, 1, 2, 3, 4, 5])), True),
        (Literal((2, 3), (), bytes([0, 1, 2, 3, 4, 5])), True),
        (Literal((6,), (0,), bytes([0, 1, 2, 3, 4, 5])), True),
        (Literal((2, 3), (0, 1), bytes([0, 3, 1, 4, 2, 5])), True),
        (Literal((2, 3), (0, 1), bytes([0, 1, 2, 3, 4, 5])), False),
        (Literal((2, 3), (1, 0), bytes([0, 1, 2, 3, 4, 6])), False),
        (Literal((2, 3), (1, 0), bytes([0, 1, 2, 3, 4])), False),
        (Literal((3,), (0,), bytes([0, 1, 2, 3, 4, 5])), False),  # of two bytes each
    ],
)
def test_a_copy_has_the_same_numbers_in_the_same_places(literal: Literal, expected: bool) -> None:
    assert is_copy(literal, np.arange(6, dtype=np.int8).reshape(2, 3)) is expected


def test_a_view_that_is_not_in_one_piece_is_compared() -> None:
    view = np.arange(12, dtype=np.int8).reshape(2, 6)[:, ::2]
    assert is_copy(Literal((2, 3), (1, 0), bytes([0, 2, 4, 6, 8, 10])), view)


def test_objects_are_no_numbers() -> None:
    objects = np.array([object()])
    assert not is_copy(Literal((1,), (0,), bytes(objects.nbytes)), objects)
