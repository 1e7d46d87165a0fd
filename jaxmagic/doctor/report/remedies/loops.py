"""Words how a loop of JAX makes the calls of a loop in Python, also with modules, and how calls need not wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....terminal import printable
from ..how_to_jit import SAME_TYPES, about_caveats, loops_beside
from .jitted_parts import method_once


def _scan(
    function: str, library: str = "", modules: str = "", jit: str = "jax.jit", items: str = "", **known: Any
) -> str:
    """Word the advice to loop over a function with scan."""
    jitted = _jitted(library, jit)
    scan = f"{printable(loops_beside(jit))}.scan"
    first = f"Do more in one call: loop over {printable(function)} with {scan} inside one {jitted}."
    return " ".join([first, *_carried(library, modules, jit, scans=True, items=items), *about_caveats(**known)])


def _until(
    function: str, end: str, written: int = 0, library: str = "", modules: str = "", jit: str = "jax.jit"
) -> str:
    loops, jitted = printable(loops_beside(jit)), _jitted(library, jit)
    if written:
        return (
            "Computed values decide when this loop ends, and jax.lax.scan cannot stop early: loop over "
            f"{printable(function)} with jax.lax.while_loop inside one jitted function. {SAME_TYPES}"
        )
    steps = (
        f"call a {jitted} that takes a fixed number of steps of {printable(function)} with {loops}.scan, and "
        "check after each call. That may take some steps more than now."
    )
    if end == "host":
        first = (
            "The condition that ends this loop depends on more than arrays, such as a clock or a Python object, so "
            f"the loop cannot be compiled as a whole: {steps}"
        )
    else:
        first = (
            f"Computed values decide when this loop ends, and {loops}.scan cannot stop early. Use "
            f"{loops}.while_loop inside one {jitted}, if JAX can compute the condition; or {steps}"
        )
    return " ".join([first, *_carried(library, modules, jit, scans=False)])


def _jitted(library: str, jit: str) -> str:
    return f"function under {printable(jit)}" if library else "jitted function"


def _carried(library: str, modules: str, jit: str, *, scans: bool, items: str = "") -> Iterator[str]:
    """Yield how a loop of JAX carries modules."""
    module = printable(jit.rpartition(".")[0])
    carry = printable(f"({modules})" if ", " in modules else modules)
    if library == "equinox":
        yield (
            f"A loop of JAX carries arrays only: split modules with params, static = {module}.partition("
            f"modules, {module}.is_array), carry params, and put them together in each step with "
            f"{module}.combine(params, static)."
        )
    if library == "nnx" and scans and items:
        batch = printable(f"({items})" if ", " in items else items)
        yield (
            f"Let body(carry, batch), in which carry is {carry} and batch is {batch}, return the carry and the "
            f"result of a step, and call {module}.scan(body, in_axes=({module}.Carry, 0), "
            f"out_axes=({module}.Carry, 0))({carry}, batches), with the batches of all steps stacked along axis 0."
        )
    elif library == "nnx" and scans:
        yield (
            f"Let body(carry) return the carry, such as {carry}, and the result of a step, and call {module}.scan("
            f"body, in_axes={module}.Carry, out_axes=({module}.Carry, 0), length=n)({carry}) for n steps."
        )
    if library == "nnx":
        yield "The loops of jax.lax lose what is changed in modules, or fail."


def _converted_items(function: str, line: str, joined: str, array: str) -> str:
    """Word how to prepare items with NumPy, where each of them becomes an array of JAX before a batch is made."""
    return (
        f"{printable(function)} turns one item at a time into arrays of JAX, from {printable(line)} on, and "
        f"{printable(joined)} joins them. Prepare the items with NumPy, join them with np.stack, and call "
        "jnp.asarray once for each batch. Faster still, index a whole batch at once, as "
        f"{printable(array)}[indices], and prepare that. NumPy divides integers in float64: begin with "
        ".astype(np.float32) to compute in float32."
    )


LOOP_REMEDIES: dict[str, Callable[..., str]] = {
    "converted_items": _converted_items,
    "not_jitted_method": method_once,
    "dispatch_bound_scan": _scan,
    "dispatch_bound_until": _until,
    "host_wait_filter_jit": lambda: (
        "Each call of what equinox.filter_jit made waits for its result; a call under jax.jit does not. jax.jit "
        "takes and returns arrays only: split the modules once, before the loop, with params, static = "
        "equinox.partition(modules, equinox.is_array), pass params, put them together inside with equinox.combine("
        "params, static), and return equinox.filter(result, equinox.is_array). The function made by filter_jit can "
        "be called there as it is: it waits for nothing while jax.jit traces."
    ),
}
