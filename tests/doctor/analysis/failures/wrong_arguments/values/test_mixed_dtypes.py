"""Operands of different dtypes, and dtypes that an operation does not take: which operand, and what to write."""

from __future__ import annotations

import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("code", "operands", "written"),
    [
        ("lax.add(x, i)", "x is float32 and i is int32", "jnp.asarray(i, x.dtype). Or use jnp.add(…)"),
        ("lax.mul(i, x)", "i is int32 and x is float32", "jnp.asarray(i, x.dtype). Or use jnp.multiply(…)"),
        ("lax.max(x, 0)", "x is float32 and 0 is int32", "with .astype(). Or use jnp.maximum(…)"),
        ("lax.concatenate([h, x], 0)", "h is bfloat16 and x is float32", "jnp.asarray(h, x.dtype)."),
        ("lax.dynamic_update_slice(h, x, (0,))", "h is bfloat16 and x is float32", "jnp.asarray(x, h.dtype)."),
        ("lax.pad(x, 0, [(1, 1, 0)])", "x is float32 and 0 is int32", "with .astype()."),
    ],
)
def test_functions_of_lax_need_one_dtype(code: str, operands: str, written: str) -> None:
    cell = Cell(f"""
        x, i, h = jnp.ones(3), jnp.arange(3), jnp.ones(3, jnp.bfloat16)
        {code}  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{operands}, but {code.partition('(')[0]} needs one dtype for all of them.")
    assert f"Convert one of them{':' if 'asarray' in written else ','} {written}" in cell.said


def test_the_function_of_jax_numpy_that_converts_replaces_that_of_lax() -> None:
    cell = Cell("""
        @jax.jit
        def f(x, i):
            return lax.max(x, i)  # here
        f(1.0, 1)
    """)
    assert cell.finding.code == "return jnp.maximum(x, i)"
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize("code", ["x + i", "jnp.concatenate([i, x])", "f(i)"])
def test_strict_promotion(code: str) -> None:
    cell = Cell(f"""
        x, i = jnp.ones(3), jnp.arange(3)
        f = lambda i: jax.jit(jnp.add)(i, x)
        with jax.numpy_dtype_promotion("strict"):
            {code}  # here
    """)
    assert "jax_numpy_dtype_promotion='strict' JAX converts Python numbers alone" in cell.said
    if not code.startswith("f"):
        assert cell.finding.line == cell.here
        assert "Convert one of them: jnp.asarray(i, x.dtype)." in cell.said


def test_eight_bit_floats_are_never_converted_by_themselves() -> None:
    cell = Cell("a, b = jnp.ones(3, jnp.float8_e4m3fn), jnp.ones(3)\na + b  # here")
    assert cell.said.startswith("a is float8_e4m3fn and b is float32, and JAX does not convert between these")
    assert "strict" not in cell.said


def test_comparisons_bind_less_than_the_operators_on_bits() -> None:
    cell = Cell("x, y = jnp.ones(3), jnp.ones(3)\nm = x > y & y  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("An operand has dtype float32, which & does not take.")
    assert "& binds more tightly than comparisons" in cell.said
    assert "binds more tightly" not in Cell("jnp.ones(3) | jnp.ones(3)").said


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("~x", "Compare first, as in ~(x > 0)."),
        ("-m", "write ~mask"),
        ("m - m", "a & ~b is true where a is and b is not"),
        ("lax.sqrt(i)", ".astype(float). The functions of jax.numpy do so by themselves"),
    ],
)
def test_dtypes_that_an_operation_does_not_take(code: str, written: str) -> None:
    cell = Cell(f"x, i = jnp.ones(3), jnp.arange(3)\nm = x > 0\n{code}  # here")
    assert cell.finding.line == cell.here
    assert written in cell.said


@pytest.mark.parametrize(
    ("code", "operand"),
    [
        ("-mask * jnp.ones(3)", "mask"),
        ("-masks['a']", "masks['a']"),
        ("jax.jit(lambda m: -m)(mask)", "m"),
        ("-(mask & mask)", "mask & mask"),
    ],
)
def test_the_operand_of_a_sign_is_named(code: str, operand: str) -> None:
    cell = Cell(f"mask = jnp.ones(3) > 0\nmasks = {{'a': mask}}\n{code}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{operand} has dtype bool, which - does not take.")
