"""Words of the rules about copies to the device."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable
from .remedies.arrays import listed_rows
from .runs import at_least


def _same_arrays(count: int) -> str:
    return "the same array" if count == 1 else f"the same {count} arrays"


COPY_NOTES: dict[str, Callable[..., str]] = {
    "transfer": lambda names, function, count, size_bytes, converted="", least=0: (
        f"Each of {at_least(count, least)} calls of {printable(function)} copies {printable(names)} to the "
        f"device: {at_least(units.size(size_bytes), least)} per run"
        f"{f', converted from {converted} in each call' if converted else ''}."
    ),
    "converted_again": lambda name, count, size_bytes, least=0: (
        f"{printable(name)} is converted to a JAX array {at_least(count, least)} times per run, though the loop "
        f"does not change it: {at_least(units.size(size_bytes), least)} per run."
    ),
    "converted_unchanged": lambda function, arrays, count, size_bytes: (
        f"{printable(function) or 'This line'} converts {_same_arrays(arrays)} of NumPy in each of {count} calls, "
        f"though their values do not change: {units.size(size_bytes)} per run."
    ),
    "passed_unchanged": lambda function, names, arrays, count, size_bytes: (
        f"{printable(function)} gets {printable(names) or _same_arrays(arrays)} of NumPy in {count} calls"
        f"{' each' if arrays > 1 else ''}, and copies {'it' if arrays == 1 else 'them'} to the device each time, "
        f"though {'its' if arrays == 1 else 'their'} values do not change: {units.size(size_bytes)} per run."
    ),
    "passed_once": lambda names, arrays: (
        f"Copy {printable(names) or ('the array' if arrays == 1 else 'the arrays')} with jax.device_put once, before "
        "these calls, and pass what it returns."
    ),
    "converted_at": lambda lines: f"They are converted at {printable(lines)}.",
    "converted_before": lambda function, whole: (
        f"Call {printable(function)} once, before the loop, and again only where the arrays change."
        if whole
        else "Convert the arrays once, before the loop, and again only where they change."
    ),
    "in_turn": lambda names, count, size_bytes, least=0: (
        f"The loop copies {printable(names)} to the device one by one: "
        f"{at_least(units.size(size_bytes), least)} per run, in {at_least(count, least)} copies."
    ),
    "transfer_before": lambda names, size_bytes, arrays="": (
        f"Copy the items of {printable(names)} once, before this code, if {units.size(size_bytes)} fit on the "
        f"device: when it runs again, it copies nothing.{listed_rows(arrays)}"
    ),
    "transfer_once": lambda names: f"Copy {printable(names)} once, before the loop.",
    "transfer_beside": lambda names: (
        f"Copy {printable(names)} with jax.device_put once, before the loop, to another variable, and pass that. The "
        "loop also uses the array of NumPy for something else: on an array of JAX, these would be operations outside "
        "jit."
    ),
    "transfer_all": lambda names, size_bytes, arrays="": (
        f"Copy {printable(names)} once, before the loops, if {units.size(size_bytes)} fit on the device."
        f"{listed_rows(arrays)}"
    ),
    "transfer_parts": lambda names, size_bytes: (
        f"Copy {printable(names)} with jax.device_put once, before the loops, if {units.size(size_bytes)} fit on the "
        "device, pass all of it in each call, and take the part inside the jitted function, with "
        "jax.lax.dynamic_slice_in_dim(x, start, size) or x[rows]. If the loop itself takes the part, that is an "
        "operation outside jit for each part, which may take longer than the copy does now."
    ),
    "converted_once": lambda names: (
        f"Convert {printable(names)} once, before the loop, and use the converted array there: jnp.array copies an "
        "array of JAX as well."
    ),
    "copies_beside": lambda copied_ns, recorded_ns: (
        f"JAX copies for {units.time(copied_ns)} of the recorded run of {units.time(recorded_ns)}. On the CPU, this "
        "also slows down the work of the device, on the same cores and memory, by a time that is not known."
    ),
}
