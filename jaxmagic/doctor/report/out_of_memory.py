"""Words about memory that ran out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import units
from ...records.names import one_or_tuple
from ...terminal import printable
from ..record.out_of_memory import ANY_CALL
from .memory import in_parts
from .quoted import quoted

#: Why the failed program is unknown.
_UNKNOWN = {
    "call": "the line calls no jitted function whose arguments are known without running code",
    "outside": "the error was raised outside of your code, as where a function displays a result",
    "waited": "the line waits for a result, and none of the calls found that lead to it needs that much "
    "with the arguments that their names hold now",
    "unexamined": "the line waits for a result, and the arguments of a call that may compute it are not known "
    "without running code",
    "compile": "it could not be compiled again",
    "sizes": "this backend does not report what a program needs",
}

#: Why not every variant was compiled.
_INCOMPLETE = {
    "budget": "--budget was used up",
    "interrupted": "of an interrupt",
    "differs": "the function without its own jit is another program",
    "library": "the function is not in your code",
    "converted": "the library that jits the function passes other arguments to it",
}


def _memory(
    asked_bytes: int, space: str, used_bytes: int, capacity_bytes: int, function: str = "", need_bytes: int = 0
) -> str:
    needs = f" {quoted(function)} needs {units.size(need_bytes)}." if function else ""
    return f"{_shortage(asked_bytes, space, used_bytes, capacity_bytes)}{needs}"


def _unknown_program(reason: str, call: str = "", argument: str = "") -> str:
    """Word why the failed program is unknown, and how it becomes known if one argument prevents that."""
    if not argument:
        return f"What the program needs is unknown: {_UNKNOWN[reason]}."
    waits = "The line waits for a result that may be the one of this call. " if reason == "unexamined" else ""
    return (
        f"What {quoted(call)} needs is unknown. {waits}%jaxdoctor compiles the call again and runs no code for that, "
        f"but {quoted(argument)} in it would have to be computed once more. Assign it to a variable in a line above, "
        "and pass the variable: then %jaxdoctor says what the program needs, and tries what needs less."
    )


def _smaller(
    jax: str, asks: str = "", vain: str = "", block: str = "", block_line: str = "", result_bytes: int = 0
) -> str:
    """Word what makes programs smaller, and before how to learn what this one needs if it is unknown.

    Args:
        jax: the name of ``jax``.
        asks: a call whose program is unknown, as the arguments of ``jaxmagic.memory_requirement``.
        vain: what does not help this program, joined with ``+``.
        block: the shape of what needs at least half of its memory; empty if there is no such array.
        block_line: the line that computes it.
        result_bytes: what the results take if that is at least half of it.
    """
    ask = ""
    if asks:
        program = "a jitted function f needs" if asks == ANY_CALL else "this call needs"
        ask = f"jaxmagic.memory_requirement({printable(asks)}) says what {program}, without running it. "
    parts = {
        "delete": "delete what is not needed",
        "donate": f"donate inputs that are replaced ({jax}.jit(f, donate_argnums=0))",
        "checkpoint": f"recompute intermediate values in the gradient ({jax}.checkpoint)",
        "microbatch": "split the batch and accumulate",
        "bfloat16": "compute in bfloat16",
        "shard": "shard arrays over devices",
    }
    *first, last = [each for by, each in parts.items() if by not in vain.split("+")] or [""]
    listed = f"{', '.join(first)}, or {last}" if first else last
    advice = f"{listed[:1].upper()}{listed[1:]}." if listed else ""
    if block:
        gradient = "" if "checkpoint" in vain.split("+") else f" Under a gradient, map {jax}.checkpoint(f)."
        in_blocks = (
            f"Compute {quoted(block)} ({printable(block_line)}) in blocks, so that it is never in memory as a whole, "
            f"for example with {jax}.lax.map(f, xs, batch_size=n).{gradient}"
        )
        advice = f"{in_blocks} Otherwise {listed}." if listed else in_blocks
    if result_bytes:
        less = f"The results alone take {units.size(result_bytes)}: return only what is needed of them."
        advice = f"{less} {advice}" if advice else less
    if vain and not advice:
        advice = "Compute with less at a time: nothing that was compiled helps."
    return f"{ask}{advice}"


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


def _by(by: str, donated: str, checkpointed: str, batch: str, parts: int, **_: Any) -> str:
    words = {
        "donate": f"{quoted(donated)} donated",
        "checkpoint": f"jax.checkpoint around {quoted(checkpointed)}",
        "microbatch": f"{quoted(batch)} in {parts} parts, one after the other",
        "shard": f"{quoted(batch)} sharded over {parts} devices",
        "bfloat16": "float32 arguments as bfloat16, which changes the results",
    }
    return " and ".join(words[each] for each in by.split("+"))


def _variant(need_bytes: int, fits: str, **facts: Any) -> str:
    fit = {"yes": ", which fits", "no": ", which does not fit", "unknown": ""}[fits]
    each = " on each" if "shard" in facts["by"] else ""
    return f"Compiled with {_by(**facts)}: {units.size(need_bytes)}{each}{fit}."


def _write(
    by: str,
    donated: str,
    checkpointed: str,
    function: str,
    before_bytes: int,
    need_bytes: int,
    fits: str,
    jax: str,
    batch: str = "",
    parts: int = 1,
    mean: str = "",
) -> str:
    named = one_or_tuple(donated.split(", "))
    words = {
        "donate": (
            f"Donate {quoted(donated)} of {quoted(function)} with {jax}.jit(…, donate_argnames={named}), if nothing "
            "else reads the old value."
        ),
        "checkpoint": (
            f"Decorate {quoted(checkpointed)} with @{jax}.checkpoint: the backward pass computes it once more."
        ),
        "microbatch": in_parts(
            parts,
            f"If {quoted(mean)} returns a mean over the batch, the result is the same up to rounding"
            if mean
            else "The result is the same up to rounding",
        ),
        "shard": (
            f"Pass {quoted(batch)} with {jax}.device_put, sharded along axis 0 over a mesh of {parts} devices, and "
            "the other arguments replicated on it; keep no other copy of them."
        ),
        "bfloat16": "Pass bfloat16 in place of float32 arguments, if the results may be less exact.",
    }
    fit = {"yes": ", which fits", "no": ", which does not fit yet", "unknown": ""}[fits]
    each = " on each device" if "shard" in by else ""
    after = f"This takes {quoted(function)} from {units.size(before_bytes)} to {units.size(need_bytes)}{each}{fit}."
    return " ".join(words[name] for name in by.split("+")) + f" {after}"


#: Why the batch was not split.
_UNSPLIT = {
    "unknown": "Smaller batches and sharding were not tried: which arguments are a batch is evident only in a "
    "function that computes jax.grad or jax.value_and_grad of its own arguments in one statement, along an axis "
    "whose size no other argument has.",
    "one device": "Sharding the batch needs a second device.",
}


MEMORY_NOTES: dict[str, Callable[..., str]] = {
    "error_memory": _memory,
    "error_alive": lambda array, size_bytes: (
        f"Alive when this was explained: {quoted(array)}, {units.size(size_bytes)}."
    ),
    "error_little_alive": lambda size_bytes: (
        f"Arrays that were alive when this was explained hardly matter: the largest takes {units.size(size_bytes)}."
    ),
    "memory_unknown_program": _unknown_program,
    "memory_need": _need,
    "memory_held": _held,
    "memory_limit": _limit,
    "memory_variant": _variant,
    "memory_no_variant": lambda variants: (
        f"{units.count(variants, 'variant')} compiled, with donated arguments, jax.checkpoint or a split batch. None "
        "needs less."
    ),
    "memory_incomplete": lambda reason: f"Not every variant was compiled, because {_INCOMPLETE[reason]}.",
    "memory_uncheckpointed": lambda function: (
        f"jax.checkpoint was not tried: it is tried around functions of yours that {quoted(function)} reads from "
        "outside, and it reads none. Functions defined in it, lambdas and methods are left as they are."
    ),
    "memory_unsplit": lambda reason: _UNSPLIT[reason],
    "write_variant": _write,
    "write_smaller": _smaller,
}
