"""Words about memory that ran out."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable
from .quoted import quoted

#: Why the failed program is unknown.
_UNKNOWN = {
    "call": "the line calls no jitted function whose arguments are known without running code",
    "outside": "the error was raised outside of your code, as when IPython displays a result",
    "waited": "the line waits for a result, and none of the calls found that lead to it needs that much "
    "with the arguments that their names hold now",
    "compile": "it could not be compiled again",
    "sizes": "this backend does not report what a program needs",
}

#: Why not every variant was compiled.
_INCOMPLETE = {
    "budget": "--budget was used up",
    "interrupted": "of an interrupt",
    "differs": "the function without its own jit is another program",
    "library": "the function is not in your code",
}


def _memory(
    asked_bytes: int, space: str, used_bytes: int, capacity_bytes: int, function: str = "", need_bytes: int = 0
) -> str:
    needs = f" {quoted(function)} needs {units.size(need_bytes)}." if function else ""
    return f"{_shortage(asked_bytes, space, used_bytes, capacity_bytes)}{needs}"


def _shortage(asked_bytes: int, space: str, used_bytes: int, capacity_bytes: int) -> str:
    if space:
        kernel = " This is on-chip memory, which single kernels use." if space in ("vmem", "smem") else ""
        return (
            f"The program needs {units.size(used_bytes)} of {quoted(space)}, which has {units.size(capacity_bytes)} "
            f"for it.{kernel}"
        )
    if asked_bytes:
        return f"A device or the host ran out of memory while allocating {units.size(asked_bytes)}."
    return "A device or the host ran out of memory."


def _need(
    function: str, need_bytes: int, argument_bytes: int, output_bytes: int, temporary_bytes: int, current: bool
) -> str:
    now = ", for the arguments that these names hold now" if current else ""
    return (
        f"{quoted(function)} needs {units.size(need_bytes)}{now}: arguments {units.size(argument_bytes)}, results "
        f"{units.size(output_bytes)}, temporaries {units.size(temporary_bytes)}. It was compiled again, and did not "
        "run."
    )


def _held(line: str, name: str, size_bytes: int) -> str:
    what = f"at {printable(line)} ({quoted(name)})" if line else f"in {quoted(name)}"
    return f"At its peak: {units.size(size_bytes)} {what}."


def _limit(limit_bytes: int, given: bool, others_bytes: int, counted: bool, fits: str) -> str:
    others = f"Other live arrays, and constants, hold {units.size(others_bytes)} now. " if counted else ""
    if not limit_bytes:
        return (
            f"{others}The device does not report how much memory it has, so what fits is unknown. "
            "%jaxdoctor --memory 16GiB assumes a limit."
        )
    limit = f"{others}The limit is {units.size(limit_bytes)}{', as given' if given else ''}"
    if fits == "yes":
        return f"{limit}: the program fits as it is. What other processes and fragmentation take is not counted."
    return f"{limit}." if counted else f"{limit}. What other arrays hold is unknown."


def _by(by: str, donated: str, checkpointed: str) -> str:
    parts = {
        "donate": f"{quoted(donated)} donated",
        "checkpoint": f"jax.checkpoint around {quoted(checkpointed)}",
        "bfloat16": "float32 arguments as bfloat16, which changes the results",
    }
    return " and ".join(parts[each] for each in by.split("+"))


def _variant(by: str, donated: str, checkpointed: str, need_bytes: int, fits: str) -> str:
    fit = {"yes": ", which fits", "no": ", which does not fit", "unknown": ""}[fits]
    return f"Compiled with {_by(by, donated, checkpointed)}: {units.size(need_bytes)}{fit}."


def _write(
    by: str,
    donated: str,
    checkpointed: str,
    function: str,
    before_bytes: int,
    after_bytes: int,
    fits: str,
    jax: str,
) -> str:
    names = ", ".join(f'"{each}"' for each in donated.split(", "))
    named = f"({names})" if "," in names else names
    parts = {
        "donate": (
            f"Donate {quoted(donated)} of {quoted(function)} with {jax}.jit(…, donate_argnames={named}), if nothing "
            "else reads the old value."
        ),
        "checkpoint": (
            f"Decorate {quoted(checkpointed)} with @{jax}.checkpoint: the backward pass computes it once more."
        ),
        "bfloat16": "Pass bfloat16 in place of float32 arguments, if the results may be less exact.",
    }
    fit = {"yes": ", which fits", "no": ", which does not fit yet", "unknown": ""}[fits]
    after = f"This takes {quoted(function)} from {units.size(before_bytes)} to {units.size(after_bytes)}{fit}."
    more = "" if fits == "yes" else f" {_OTHERS}"
    return " ".join(parts[each] for each in by.split("+")) + f" {after}{more}"


#: What helps, and was not compiled.
_OTHERS = "Not tried: smaller batches with accumulated gradients, and arrays sharded over devices."


MEMORY_NOTES: dict[str, Callable[..., str]] = {
    "error_memory": _memory,
    "error_alive": lambda array, size_bytes: (
        f"Alive when this was explained: {quoted(array)}, {units.size(size_bytes)}."
    ),
    "error_little_alive": lambda size_bytes: (
        f"Arrays that were alive when this was explained hardly matter: the largest takes {units.size(size_bytes)}."
    ),
    "memory_unknown_program": lambda reason: f"What the program needs is unknown: {_UNKNOWN[reason]}.",
    "memory_need": _need,
    "memory_held": _held,
    "memory_limit": _limit,
    "memory_variant": _variant,
    "memory_no_variant": lambda variants: (
        f"{units.count(variants, 'variant')} compiled, with donated arguments or jax.checkpoint. None needs less."
    ),
    "memory_incomplete": lambda reason: f"Not every variant was compiled, because {_INCOMPLETE[reason]}.",
    "write_variant": _write,
    "write_smaller": lambda jax: (
        f"Delete what is not needed, donate inputs that are replaced ({jax}.jit(f, donate_argnums=0)), recompute "
        f"intermediate values in the gradient ({jax}.checkpoint), split the batch and accumulate, "
        "compute in bfloat16, or "
        "shard arrays over devices."
    ),
}
