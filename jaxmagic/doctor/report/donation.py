"""Words of the rule ``donation``."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable


def _donation(function: str, arguments: str, alias_bytes: int, peak_bytes: int) -> str:
    return (
        f"{printable(function)} does not donate {printable(arguments)}: {units.size(alias_bytes)} of its results "
        f"could reuse that memory. The program needs {units.size(peak_bytes)}."
    )


def _in_vain(function: str, argument: str, arguments: int, size_bytes: int) -> str:
    others = f" and {units.count(arguments - 1, 'other argument')}" if arguments > 1 else ""
    return (
        f"{printable(function)} donates {printable(argument)}{others} ({units.size(size_bytes)}), but no result can "
        "reuse that memory."
    )


def _no_result(shape: str, reason: str, result: str) -> str:
    if reason == "taken":
        return f"All results of type {printable(shape)} reuse the memory of other arguments."
    if reason == "sharding":
        return f"The results of type {printable(shape)} on each device are sharded differently from the argument."
    if reason == "dtype":
        return f"The argument is {printable(shape)}, the result with these dimensions is {printable(result)}."
    return f"No result has the type {printable(shape)}."


NOTES: dict[str, Callable[..., str]] = {
    "donation": _donation,
    "donation_replaced": lambda statement: f"Replaced by the result: {printable(statement)}",
    "donation_shared": lambda alias_bytes, shared_bytes: (
        f"{units.size(shared_bytes)} of temporaries use the memory of these results until then. They may need memory "
        f"of their own, and XLA may copy arrays: donating saves about {units.size(alias_bytes - shared_bytes)}. "
        "--verify compiles both programs, which gives the exact bytes."
    ),
    "donation_remedy": lambda arguments: (
        f"Donate {printable(arguments)}, if nothing else holds the same arrays: they cannot be read afterwards."
    ),
    "donation_in_vain": _in_vain,
    "donation_no_result": _no_result,
    "donation_in_vain_remedy": lambda: "Do not donate it: donating it gains nothing.",
}
