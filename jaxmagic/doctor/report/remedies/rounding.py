"""Words by how much outputs differ with a remedy, and whether that is rounding."""

from __future__ import annotations

from .... import units
from ....terminal import printable


def outputs_error(error: float, allowed: float, dtype: str, leaf: str = "", rtol: float = 0.0) -> str:
    """Word the largest difference of outputs, and which one counts as rounding."""
    size, most = f"{error:.2g}", f"{allowed:.2g}"
    if rtol and allowed:  # arrays of different sizes have only the shares of their largest values in common
        size, most = f"{units.percent(error * rtol / allowed)} of the largest value", units.percent(rtol)
    if error <= allowed:
        return (
            f"The outputs agree: they differ by up to {size}{at_leaf(leaf)}, and up to {most} counts as rounding of "
            f"{printable(dtype)}."
        )
    return (
        f"The outputs differ by up to {size}{at_leaf(leaf)}, more than the {most} that counts as rounding of "
        f"{printable(dtype)}."
    )


def of_precision(error: float, allowed: float, dtype: str, leaf: str = "", rtol: float = 0.0) -> str:
    """Word that outputs differ by the rounding of the session alone."""
    size = f"{units.percent(error * rtol / allowed)} of the largest value" if rtol and allowed else f"{error:.2g}"
    return (
        f"The outputs agree to the precision of {printable(dtype)}: they differ by up to {size}{at_leaf(leaf)}, and "
        "with 64-bit types (jax_enable_x64) and float64 arguments, they agree to the rounding of float64."
    )


def noise(leaf: str, largest: float, beside: float, wide: float, dtype: str, others: int = 0) -> str:
    """Word that a leaf is zero but for rounding."""
    more = f" (and {others} more)" if others > 0 else ""
    return (
        f"The outputs agree to the precision of {printable(dtype)}. The values at {printable(leaf)}{more} are "
        f"rounding alone: up to {largest:.2g}, beside {beside:.2g} elsewhere, but with 64-bit types (jax_enable_x64) "
        f"and float64 arguments up to {wide:.2g}. There, the other outputs agree to the rounding of float64."
    )


_WHY_UNKNOWN = {
    "no": "no time was left to compare with 64-bit types",
    "failed": "with 64-bit types (jax_enable_x64), which would show that, the code fails or was interrupted",
    "differ": "with 64-bit types (jax_enable_x64) and float64 arguments, they do not agree either",
}


def may_differ(tried: str) -> str:
    """Word why it is unknown whether outputs differ by rounding alone."""
    rest = _WHY_UNKNOWN[tried]
    return f"Whether that is rounding which the code magnifies is unknown: {rest}."


def at_leaf(leaf: str) -> str:
    """Word which leaf differs; empty for the only one."""
    return f" at {printable(leaf)}" if leaf else ""
