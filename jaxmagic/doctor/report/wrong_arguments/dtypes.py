"""Words dtypes that JAX does not convert or take, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ..quoted import quoted


def _dtypes(operands: str, dtypes: str, function: str, strict: bool) -> str:
    what = quoted(operands) or f"The operands have the dtypes {quoted(dtypes)}"
    if function:
        return f"{what}, but lax.{quoted(function)} needs one dtype for all of them."
    if strict:
        return f"{what}, and with jax_numpy_dtype_promotion='strict' JAX converts Python numbers alone."
    return f"{what}, and JAX does not convert between these by itself."


def _write_dtypes(converted: str, converting: str, strict: bool) -> str:
    how = f": {quoted(converted)}" if converted else ", with .astype()"
    more = f" Or use {converting}(…), which converts them." if converting else ""
    off = ' Under jax.numpy_dtype_promotion("standard"), JAX converts them.' if strict else ""
    return f"Convert one of them{how}.{more}{off}"


def _bitwise(operator: str, compared: bool) -> str:
    if compared:
        return (
            f"{operator} binds more tightly than comparisons: put each of these into parentheses, as in "
            f"(a > 0) {operator} (b > 0)."
        )
    example = "~(x > 0)" if operator == "~" else f"(a > 0) {operator} (b > 0)"
    return f"{operator} combines bools and bits of integers. Compare first, as in {example}."


DTYPE_NOTES: dict[str, Callable[..., str]] = {
    "error_dtypes": _dtypes,
    "write_dtypes": _write_dtypes,
    "error_refused_dtype": lambda operation, dtype, operand="": (
        f"{quoted(operand) or 'An operand'} has dtype {quoted(dtype)}, which {quoted(operation)} does not take."
    ),
    "write_bitwise": _bitwise,
    "write_mask_operation": lambda operation: (
        "To invert a mask, write ~mask. For numbers, convert it with .astype(int)."
        if operation == "neg"
        else "a & ~b is true where a is and b is not, a ^ b where they differ. For numbers, convert them with "
        ".astype(int)."
    ),
    "write_shifted": lambda operator, jnp: (
        f"{operator} takes integers, and a float does not keep all bits of a large one. Compute with integers from "
        f"the beginning, such as {jnp}.uint32, of which products and sums are those modulo 2**32."
    ),
    "write_accepted_dtype": lambda floats: (
        "Convert it with .astype(float). The functions of jax.numpy do so by themselves, those of jax.lax do not."
        if floats
        else "Convert it with .astype()."
    ),
}
