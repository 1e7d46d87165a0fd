"""Words what to write in place of functions of NumPy, and of arrays that are lost."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted


def _write_functions(
    functions: str, replacements: str, left: str = "", other: str = "", then: str = "", random: str = ""
) -> str:
    """Word which functions of JAX to use in place of which of NumPy, and what to do with a condition made of them."""
    pairs = zip(functions.split(", "), replacements.split(", "), strict=True)
    *first, last = (f"{quoted(new)} in place of {quoted(old)}" for old, new in pairs)
    uses = f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}" if first else last
    need = "need" if ", " in left else "needs"
    rest = (
        f" {quoted(left)} {need} a NumPy array as well: use a function of JAX in its place, or call it outside of "
        "the traced function."
    )
    arguments = f" Check the arguments of {quoted(other)}: not all have the names that they have in NumPy."
    condition = f" The condition is traced then as well, and this line fails again. {then}"
    draws = (
        f" {quoted(random)} would draw only once, while JAX traces: use a function of jax.random, with a key that is "
        "passed in."
    )
    more = (arguments, other), (rest, left), (draws, random), (condition, then)
    return f"Use {uses}.{''.join(sentence for sentence, needed in more if needed)}"


def listed_rows(arrays: str) -> str:
    """Word that arrays become lists, if any do."""
    becomes, its = ("become lists", "their") if ", " in arrays else ("becomes a list", "its")
    return f" {printable(arrays)} {becomes} of {its} rows." if arrays else ""


def _without(cache: str) -> str:
    """Word what to write in place of a decorator that keeps what a function returned."""
    return f"Write @property in place of {quoted(cache)}" if "property" in cache else f"Leave out {quoted(cache)}"


def _filled_before(cache: str, function: str) -> str:
    """Word what to do about a cache that gets its values when they are first needed."""
    it, verb, keeps = ("them", "are", "keep") if ", " in cache else ("it", "is", "keeps")
    traced = f"JAX traced {quoted(function)}" if function else "JAX traced the function"
    return (
        f"{quoted(cache)} {verb} filled on first use, here while {traced}, and {keeps} what was traced. Empty {it}, "
        "and compute the value in each call without storing it. Store only a value that is the same in every call: "
        "make it with NumPy if it depends on no traced value, or store it before, by a call outside of all traced "
        "functions."
    )


def _passed_on(read: str, loop: str = "") -> str:
    """Word what to write where a variable is read before a traced value is assigned to it."""
    it, verb = ("them", "are") if ", " in read else ("it", "is")
    begin = f"{quoted(read)} {verb} read there before a new value is assigned, so each "
    if not loop:
        return (
            f"{begin}call needs what the call before computed: pass {it} as an argument, and return the new value in "
            "place of storing it."
        )
    output = " As another output of scan, each step would compute it from that first value." if loop == "scan" else ""
    return (
        f"{begin}step needs what the step before computed: put {it} into the carry. Begin the carry with the value "
        f"that {quoted(read)} has before the loop, compute with the one in the carry, and return the new one in "
        f"it.{output}"
    )


ARRAY_REMEDIES: dict[str, Callable[..., str]] = {
    "write_function": lambda function, replacement: f"Use {replacement} in place of {quoted(function)}.",
    "write_functions": _write_functions,
    "write_library": lambda function: (
        f"{quoted(function)} needs numbers, not traced values. Call it outside of the traced "
        "function, or use a function "
        "of JAX in its place. jax.pure_callback() calls it on the host from within the traced function, but jax.grad "
        "does not work through it."
    ),
    "write_stored_outside": lambda function: (
        f"Return the value, and call {quoted(function)} with it outside of the traced function, where it has numbers."
    ),
    "write_scipy": lambda function, twin="": (
        f"Use {twin} in place of {quoted(function)}, after import {twin.rpartition('.')[0]}."
        if twin
        else f"Use jax.scipy, which has many functions under SciPy's names, in place of {quoted(function)}; or call "
        "it outside of the traced function."
    ),
    "write_indexed_array": lambda array, jnp: (
        f"{quoted(array)} is a NumPy array. Make it a JAX array, {jnp}.asarray({quoted(array)}), "
        "before it is indexed."
    ),
    "write_stored": lambda array, jnp, view=False: (
        f"{quoted(array)} is a NumPy array, which holds numbers. Make it a JAX array, {jnp}.zeros() or "
        f"{jnp}.asarray({quoted(array)}), and write {quoted(array)} = {quoted(array)}.at[index].set(value) here."
        + (" If it is a part of another array, make that one a JAX array, and set the part there." if view else "")
    ),
    "write_random": lambda function, jax: (
        f"Use a function of {jax}.random with a key, such as {jax}.random.normal(key, shape), in place of "
        f"{quoted(function)}."
    ),
    "write_no_numpy": lambda jnp: (
        f"Use {jnp} in place of NumPy on traced values, or call the function outside of the traced function. "
        "jax.pure_callback() calls it on the host from within, but jax.grad does not work through it."
    ),
    "write_returned": lambda function, debug: (
        f"Return the value from {quoted(function) or 'the function'} in place of storing it. To look at it, use "
        f'{debug}("{{}}", value).'
    ),
    "write_linen_before": lambda function: (
        f"Call {quoted(function) or 'the function'} once before JAX traces it, where the model is initialized: `if "
        "self.is_initializing():`. flax.linen.scan and flax.linen.RNN do that themselves."
    ),
    "write_passed_on": _passed_on,
    "write_filled_before": _filled_before,
    "write_uncached": lambda cache: (
        f"{_without(cache)}, which keeps the array that its function computed while another function was "
        "traced. To compute a table once, make it with NumPy."
    ),
    "write_reassigned": lambda name, called="", copied="", unknown=False: (
        f"If a call donated {quoted(name) or 'it'}, use what that call returned in its place, or pass a copy"
        f"{copied and f', {quoted(copied)}'}, to that call, or do not donate this argument. If .delete() was called, "
        "call it after the last use."
        if unknown
        else f"Use what {quoted(called) or 'the donating call'} returned in place of {quoted(name) or 'the array'}, "
        f"or pass a copy{copied and f', {quoted(copied)}'}, to this call, or do not donate this argument."
    ),
    "write_kept_copy": lambda location, name, copied: (
        f"Keep a copy at {location}: {printable(copied)} in place of {quoted(name)}. Or do not donate this argument."
    ),
    "write_later_deleted": lambda name, copied="": (
        f"Delete {quoted(name) or 'the array'} after its last use, or keep a copy{copied and f', {quoted(copied)}'}."
    ),
}
