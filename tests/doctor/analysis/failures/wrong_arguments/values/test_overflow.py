"""Integers that do not fit into their dtype."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("jnp.array(2**40)", "The integer 1099511627776 does not fit into int32.\nIntegers have 64 bits after"),
        ("jnp.array([2**40])", "The integer 1099511627776 does not fit into int32."),
        ("jnp.arange(3) + 2**40", "does not fit into the dtype that JAX gives it, int32 by default."),
        ("jnp.uint8(300)", "The integer 300 does not fit into uint8.\nConvert the array to a dtype that holds it"),
    ],
)
def test_an_integer_that_is_too_large(call: str, said: str) -> None:
    cell = Cell(f"y = {call}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said


def test_the_advice_on_large_integers_works() -> None:
    assert Cell("jnp.arange(3) + float(2**40)").error is None
    assert Cell("jnp.uint8(0).astype(jnp.int32) + 300").error is None


HASH = """
    @jax.jit
    def lattice(i, seed):
        h = i * {0} + seed * {1}  # here
        return (h ^ (h >> 13)) & 0xFFFF  # shifted
    numbers = lattice(jnp.arange(4), 3)
"""


def test_a_number_of_a_hash_keeps_its_last_bits() -> None:
    cell = Cell(HASH.format(374761393, 0x9E3779B97F4A7C15))
    assert cell.finding.line == cell.here
    assert "The integer 11400714819323198485 does not fit into int32, nor into int64." in cell.said
    assert "write jnp.uint32(2135587861), and convert the other operands with .astype(jnp.uint32)" in cell.said
    assert "jnp.uint64(11400714819323198485) holds it" in cell.said
    advised = HASH.format("jnp.uint32(374761393)", "jnp.uint32(2135587861)").replace("i *", "i.astype(jnp.uint32) *")
    mended = Cell(advised.replace("seed *", "jnp.asarray(seed, jnp.uint32) *"))
    assert mended.error is None
    hashed = [(i * 374761393 + 3 * 0x9E3779B97F4A7C15) % 2**32 for i in range(4)]
    assert mended.names["numbers"].tolist() == [(h ^ (h >> 13)) & 0xFFFF for h in hashed]


def test_a_number_of_32_bits_without_a_sign_is_unsigned() -> None:
    said = Cell("y = jnp.arange(3) * 3000000000").said
    assert "Without a sign, 32 bits are enough: jnp.uint32(3000000000), if the other operands" in said
    assert Cell("y = jnp.arange(3).astype(jnp.uint32) * jnp.uint32(3000000000)").error is None
    assert "Without a sign" not in Cell("y = jnp.arange(3) * 2**40").said


def test_no_dtype_holds_a_still_larger_one() -> None:
    said = Cell("y = jnp.asarray(-2**70)").said
    assert "No signed integer of JAX is that large." in said
    assert "uint64" not in said


def test_a_float_has_no_bits_to_shift() -> None:
    cell = Cell(HASH.format("374761393", "0.5").replace("  # here", "").replace("# shifted", "# here"))
    assert cell.finding.line == cell.here
    assert cell.said.startswith(
        "h has dtype float32, which >> does not take.\n>> takes integers, and a float does not"
    )


def test_numpy_has_the_same_words() -> None:
    error = Cell("np.uint8(300)").error
    assert error is None or recognize(error) is None  # NumPy 1 wraps around
