"""Words of the rules ``rematerialise``, ``donation`` and ``memory``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import units
from ...terminal import printable
from .compiling.recompile import recompiles
from .runs import at_least


def _rematerialise(function: str, length: int, kept_bytes: int, peak_bytes: int) -> str:
    return (
        f"This loop keeps {units.size(kept_bytes)} from its {length} iterations for the backward pass. "
        f"{printable(function)} needs {units.size(peak_bytes)}."
    )


def _kept(arrays: int, kept_bytes: int, carry_bytes: int) -> str:
    return (
        f"Each iteration keeps {units.count(arrays, 'array')}, {units.size(kept_bytes)}. A checkpoint keeps only the "
        f"carry, {units.size(carry_bytes)}, and recomputes the rest."
    )


def _layers_remedy(layer: str) -> str:
    return (
        f"Checkpoint {printable(layer)}: the backward pass then computes each call once more, which takes time, and "
        "the forward pass keeps only its arguments. How much memory that saves depends on XLA's scheduler: --verify "
        "compiles it."
    )


def _rematerialise_remedy(body: str) -> str:
    what = f"Checkpoint {printable(body)}" if body else "Apply jax.checkpoint to the function that the loop runs"
    return f"{what}: the backward pass then computes each iteration once more, which takes time."


def _memory(function: str, peak_bytes: int, limit_bytes: int, others_bytes: int = 0) -> str:
    beside = f", and other arrays hold at least {units.size(others_bytes)}" if others_bytes else ""
    both_bytes = peak_bytes + others_bytes
    share = "more than the" if both_bytes > limit_bytes else f"{units.share(both_bytes, limit_bytes)} of the"
    together = f"{beside}: together " if beside else ", "
    needs = f"{printable(function)} needs {units.size(peak_bytes)}"
    return f"{needs}{together}{share} {units.size(limit_bytes)} of a device."


def _kept_arrays(name: str, arrays: int, size_bytes: int, runs: int) -> str:
    return (
        f"{printable(name)} grew by {units.count(arrays, 'array')} ({units.size(size_bytes)}) per run, in the {runs} "
        "runs after the first one."
    )


def _parts(argument_bytes: int, output_bytes: int, temporary_bytes: int) -> str:
    return (
        f"Arguments {units.size(argument_bytes)}, results {units.size(output_bytes)}, temporaries "
        f"{units.size(temporary_bytes)}. Arrays that live only during the run are not counted."
    )


def _large_batch(function: str, batch: str, examples: int, peak_bytes: int, limit_bytes: int) -> str:
    return (
        f"{printable(function)} takes {printable(batch)} as one batch of {examples} examples, and needs "
        f"{units.size(peak_bytes)} of the {units.size(limit_bytes)} of a device."
    )


def _large_batch_temporaries(scaled_bytes: int, parts: int, after_bytes: int, summed_bytes: int) -> str:
    return (
        f"{units.size(scaled_bytes)} of temporaries grow with the batch. In {parts} parts, and with "
        f"{units.size(summed_bytes)} for the sum of the gradients, it would need about {units.size(after_bytes)}."
    )


def _large_batch_of_mean(loss: str, parts: int) -> str:
    return in_parts(parts, f"{printable(loss)} returns a mean, so the result is the same up to rounding")


def _large_batch_remedy(loss: str, parts: int) -> str:
    return in_parts(
        parts, f"If {printable(loss)} returns a mean over the batch, the result is the same up to rounding"
    )


def in_parts(parts: int, condition: str) -> str:
    """Advise to split the batch into parts.

    Args:
        parts: their number.
        condition: when the result is the same, without the full stop.
    """
    return (
        f"Split the batch into {parts} parts with jax.lax.scan, and average their gradients. {condition}, as long as "
        "no example depends on others, as in batch normalization, or on a random key. The parts run one after the "
        "other, which may take longer."
    )


def _programs(**facts: Any) -> str:
    several = facts.get("operations", 1) > 1
    return f"{recompiles(**facts)} {'Their' if several else 'Its'} programs are not freed."


def _donation(
    function: str,
    arguments: str,
    alias_bytes: int,
    peak_bytes: int,
    copied_bytes: int = 0,
    copies_ns: int = 0,
    least: int = 0,
) -> str:
    takes = f" These copies take {at_least(units.time(copies_ns), least)} per run." if copies_ns else ""
    copies = f" Each call copies {units.size(copied_bytes)}, and changes the copy.{takes}" if copied_bytes else ""
    return (
        f"{printable(function)} does not donate {printable(arguments)}: {units.size(alias_bytes)} of its results "
        f"could reuse that memory. The program needs {units.size(peak_bytes)}.{copies}"
    )


def _donation_remedy(arguments: str, deleted: str = "", copying: str = "", before: str = "", caller: str = "") -> str:
    if before:
        return (
            f"Donate {printable(arguments)}, and write {printable(before)} before the loop in {printable(caller)}: "
            "one copy replaces those of all iterations, and other code keeps the arrays that it holds."
        )
    what = f"Donate {printable(arguments)}, if nothing else holds the same arrays: they cannot be read afterwards."
    if not deleted:
        return what
    return f"{what} Another call would delete {printable(deleted)}: write {printable(copying)} there."


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


def _eager_updates(array: str, count: int, size_bytes: int, moved_bytes: int, least: int = 0) -> str:
    return (
        f"{at_least(format(count, ','), least)} updates per run, such as that of {printable(array)}, are outside of "
        f"jit: each copies the whole array, up to {units.size(size_bytes)}, to change a part of it. Together they "
        f"copy {at_least(units.size(moved_bytes), least)} per run."
    )


def _eager_updates_remedy(array: str, function: str) -> str:
    jitted = f"jax.jit({printable(function)}, donate_argnums=0)"
    if "." not in function and not function.startswith("dynamic_update"):
        jitted = f"jax.jit(lambda array, i, value: array.at[i].{printable(function)}(value), donate_argnums=0)"
    return (
        f"Update {printable(array)} in a jitted function that donates it, made once, such as {jitted}: XLA then "
        "changes the array in place. Donating deletes the array that is passed, so nothing else may use it as it was "
        "before. Or keep it as a NumPy array, which is changed in place, and copy to the device only what "
        "computations need."
    )


NOTES: dict[str, Callable[..., str]] = {
    "rematerialise": _rematerialise,
    "rematerialise_kept": _kept,
    "rematerialise_layers": lambda layer, function, kept_bytes, peak_bytes: (
        f"At the peak of {printable(function)}, {units.size(kept_bytes)} of its {units.size(peak_bytes)} are values "
        f"that {printable(layer)} computed in the forward pass, kept until the backward pass."
    ),
    "rematerialise_layers_kept": lambda arrays, calls: (
        f"{units.count(arrays, 'array')} from at least {units.count(calls, 'call')}."
    ),
    "rematerialise_layers_remedy": _layers_remedy,
    "rematerialise_remedy": _rematerialise_remedy,
    "large_batch": _large_batch,
    "large_batch_temporaries": _large_batch_temporaries,
    "large_batch_of_mean": _large_batch_of_mean,
    "large_batch_remedy": _large_batch_remedy,
    "taken_in_parts": lambda name: f"Tried with {printable(name)} taking the batch in parts.",
    "memory": _memory,
    "memory_parts": _parts,
    "memory_uncounted": lambda function, peak_bytes: (
        f"{printable(function)} needs at least {units.size(peak_bytes)}: library calls may allocate more while they "
        "run, which XLA does not plan. The peak of the process in %jaxmem --all contains it."
    ),
    "memory_kept": _kept_arrays,
    "memory_kept_remedy": lambda name: (
        f"If {printable(name)} is not meant to grow, drop what you no longer need. Move what only the host needs, "
        "such as metrics, off the device with jax.device_get(x)."
    ),
    "memory_programs": _programs,
    "memory_remedy": lambda function: (
        f"%jaxmem on a call of {printable(function)} shows which lines hold the memory at the peak."
    ),
    "donation": _donation,
    "donation_replaced": lambda statement: f"Replaced by the result: {printable(statement)}",
    "donation_shared": lambda alias_bytes, shared_bytes: (
        f"{units.size(shared_bytes)} of temporaries use the memory of these results until then. They may need memory "
        f"of their own, and XLA may copy arrays: donating saves about {units.size(alias_bytes - shared_bytes)}. "
        "--verify compiles both programs, which gives the exact bytes."
    ),
    "donation_remedy": _donation_remedy,
    "eager_updates": _eager_updates,
    "eager_updates_also": lambda line, source: f"The same at {printable(line)}: {printable(source)}",
    "eager_updates_remedy": _eager_updates_remedy,
    "donation_in_vain": _in_vain,
    "donation_no_result": _no_result,
    "donation_in_vain_remedy": lambda: "Do not donate it: donating it gains nothing.",
}
