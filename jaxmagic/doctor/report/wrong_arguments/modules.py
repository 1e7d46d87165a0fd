"""Words modules of libraries that JAX's functions do not take, and layers that take no batch."""

from __future__ import annotations

from collections.abc import Callable

from ..quoted import quoted

#: How each library is called.
_LIBRARIES = {"equinox": "Equinox", "nnx": "flax.nnx"}


def _module(argument: str, library: str, type: str, dtype: str, transform: str) -> str:
    what = f"{quoted(argument)} is" if argument else "An argument has"
    function = quoted(transform) or "the function of JAX"
    if dtype:
        return (
            f"{what} a module of {_LIBRARIES[library]} with a leaf of dtype {quoted(dtype)}, but {function} "
            "differentiates by floats."
        )
    return (
        f"{what} a module of {_LIBRARIES[library]} with a value of type {quoted(type)}, but {function} takes arrays, "
        "numbers and pytrees of them."
    )


def _write_filtered(library: str, name: str, transform: str, filtered: str, differentiates: bool) -> str:
    name, filtered = quoted(name), quoted(filtered).replace(", ", " of ")
    if library == "nnx":
        use = filtered or f"{name}.grad"
        return f"Use {use}: it differentiates by the {name}.Param of a module, and by no other variable."
    kept = "is_inexact_array" if differentiates else "is_array"
    split = (
        f"arrays, rest = {name}.partition(model, {name}.{kept}), pass the arrays alone, and call "
        f"{name}.combine(arrays, rest) in the function"
    )
    if filtered and differentiates:
        return (
            f"Use {filtered}: it differentiates by the arrays of floats in the first argument, and keeps the rest of "
            f"it as it is. For another argument, split the module: {split}."
        )
    if filtered:
        return f"Use {filtered}, which traces the arrays of a module and keeps the rest of it as it is."
    return (
        f"Split the module: {split}. If the function returns the module, return {name}.filter(model, {name}.{kept}), "
        "and combine it outside again."
    )


def _module_function(module: str, transform: str) -> str:
    what = quoted(module) if module else "The function"
    return (
        f"{what} is a module of Equinox with arrays inside, or a method of one. It has no hash, but "
        f"{quoted(transform)} needs that of the function that it gets."
    )


def _write_module_function(module: str, transform: str, filtered: str) -> str:
    if filtered:
        return f"Use {quoted(filtered)}, which takes a module as the function, and traces its arrays."
    called = quoted(module) or "model"
    return f"Pass a function that calls it to {quoted(transform)}: lambda *args: {called}(*args)."


def _batch_given(layer: str, takes: int, given: str, module: str) -> str:
    called = f" in {quoted(module)}" if module else ""
    return f"{quoted(layer)}{called} takes one example, of shape ({takes},), but gets an array of shape {given}."


def _write_mapped_layer(module: str, axes: int, jax: str) -> str:
    module = quoted(module)
    mapped = f"{jax}.vmap(" * axes + module + ")" * axes
    return (
        f"Map it over the leading {'axis' if axes == 1 else 'axes'}, {mapped}(…), or map the whole model where it is "
        "called. in_axes= says which arguments have a batch; arguments with keywords are always mapped."
    )


MODULE_NOTES: dict[str, Callable[..., str]] = {
    "error_module": _module,
    "write_filtered": _write_filtered,
    "error_module_function": _module_function,
    "write_module_function": _write_module_function,
    "error_batch_given": _batch_given,
    "write_mapped_layer": _write_mapped_layer,
}
