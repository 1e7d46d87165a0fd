"""Words of the rules ``rematerialise`` and ``memory``."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable


def _rematerialise(function: str, length: int, kept_bytes: int, peak_bytes: int) -> str:
    return (
        f"This loop keeps {units.size(kept_bytes)} of its {length} iterations for the backward pass. "
        f"{printable(function)} needs {units.size(peak_bytes)}."
    )


def _kept(arrays: int, kept_bytes: int, carry_bytes: int) -> str:
    return (
        f"Each iteration keeps {units.count(arrays, 'array')}, {units.size(kept_bytes)}. A checkpoint keeps only the "
        f"carry, {units.size(carry_bytes)}, and recomputes the rest."
    )


def _rematerialise_remedy(body: str) -> str:
    what = f"Checkpoint {printable(body)}" if body else "Apply jax.checkpoint to the function that the loop runs"
    return f"{what}: the backward pass then computes each iteration once more, which takes time."


def _memory(function: str, peak_bytes: int, limit_bytes: int) -> str:
    if peak_bytes > limit_bytes:
        return (
            f"{printable(function)} needs {units.size(peak_bytes)}, more than the {units.size(limit_bytes)} of a "
            "device."
        )
    share = units.share(peak_bytes, limit_bytes)
    return (
        f"{printable(function)} needs {units.size(peak_bytes)}, {share} of the {units.size(limit_bytes)} of a device."
    )


def _parts(argument_bytes: int, output_bytes: int, temporary_bytes: int) -> str:
    return (
        f"Arguments {units.size(argument_bytes)}, results {units.size(output_bytes)}, temporaries "
        f"{units.size(temporary_bytes)}. Other arrays need memory as well."
    )


NOTES: dict[str, Callable[..., str]] = {
    "rematerialise": _rematerialise,
    "rematerialise_kept": _kept,
    "rematerialise_remedy": _rematerialise_remedy,
    "memory": _memory,
    "memory_parts": _parts,
    "memory_remedy": lambda function: (
        f"%jaxmem on a call of {printable(function)} shows which lines hold the memory at the peak."
    ),
}
