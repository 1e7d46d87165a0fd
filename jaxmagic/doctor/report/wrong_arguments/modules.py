"""Words modules of libraries that JAX's functions do not take, and inputs that layers do not take."""

from __future__ import annotations

from collections.abc import Callable

from .... import units
from ....terminal import printable
from ..quoted import quoted

#: How each library is called.
_LIBRARIES = {"equinox": "Equinox", "nnx": "flax.nnx"}


def _module(argument: str, library: str, type: str, dtype: str, transform: str, leaves: bool = False) -> str:
    what = f"{quoted(argument)} is" if argument else "An argument has"
    function = quoted(transform) or "the function of JAX"
    if dtype:
        return (
            f"{what} a module of {_LIBRARIES[library]} with a leaf of dtype {quoted(dtype)}, but {function} "
            "differentiates with respect to floats."
        )
    return (
        f"{what} a module of {_LIBRARIES[library]} with a value of type {quoted(type)}, but {function} takes "
        f"{'arrays and numbers' if leaves else 'arrays, numbers and pytrees of them'}."
    )


def _module_leaves(called: str, location: str, module: str, leaf: str, type: str) -> str:
    at = f" at {printable(location)}" if location else ""
    leaf = quoted(leaf)
    problem = f"{leaf} is of type {quoted(type)}" if type else f"the other pytree has None in the place of {leaf}"
    return f"{quoted(called)}{at} computes with each leaf of {quoted(module)}, but {problem}."


def _write_module_leaves(mended: str, arrays: str, combined: str) -> str:
    if not arrays:
        return f"Use {quoted(mended)}: it adds the updates to the arrays of a module, and keeps all else."
    return f"Pass its arrays alone, {quoted(arrays)}, and take all else from the module: {quoted(combined)}."


def _write_features(jax: str, axes: str) -> str:
    if not axes:
        return (
            f"By default, axis 1 of the input and of the kernel holds the channels in {jax}.lax.conv and "
            'conv_general_dilated. dimension_numbers says otherwise, such as ("NHWC", "HWIO", "NHWC") for channels '
            "on the last axis."
        )
    given, _, kernel = axes.partition(",")
    where = f"axis {given} of the input and axis {kernel} of the kernel hold" if kernel else "which axes hold"
    return (
        f"dimension_numbers says {'that ' if kernel else ''}{where} the channels. Pass arrays whose channels are "
        "there, or change it."
    )


def _write_filtered(library: str, name: str, transform: str, filtered: str, differentiates: bool) -> str:
    name, filtered = quoted(name), quoted(filtered).replace(", ", " of ")
    if library == "nnx":
        use = filtered or f"{name}.grad"
        return f"Use {use}: it differentiates with respect to the {name}.Param variables of a module, and no others."
    kept = "is_inexact_array" if differentiates else "is_array"
    split = (
        f"arrays, rest = {name}.partition(model, {name}.{kept}), pass the arrays alone, and call "
        f"{name}.combine(arrays, rest) in the function"
    )
    if filtered and differentiates:
        return (
            f"Use {filtered}: it differentiates with respect to the arrays of floats in the first argument, and "
            f"keeps the rest of the argument as it is. For another argument, split the module: {split}."
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
        f"{quoted(transform)} needs to hash the function that it gets."
    )


def _write_module_function(module: str, transform: str, filtered: str) -> str:
    if filtered:
        return f"Use {quoted(filtered)}, which takes a module as the function, and traces its arrays."
    called = quoted(module) or "model"
    return f"Pass a function that calls it to {quoted(transform)}: lambda *args: {called}(*args)."


def _batch_given(layer: str, takes: int, given: str, module: str) -> str:
    called = f" in {quoted(module)}" if module else ""
    return f"{quoted(layer)}{called} takes one example, of shape ({takes},), but gets an array of shape {given}."


def _write_mapped_layer(
    module: str, axes: int, jax: str, owner: str = "", whole: str = "", location: str = ""
) -> str:
    """Word how to map a layer over a batch, or the whole module that it is a part of."""
    module, axis = quoted(module), "axis" if axes == 1 else "axes"
    if owner:
        where = f", at {printable(location)}" if location else ""
        call = f": {quoted(whole)}" if whole else f", with {jax}.vmap"
        return (
            f"It is a part of {printable(owner)}, whose other layers take one example as well. Map the whole module "
            f"over the leading {axis} where it is called{where}{call}. Mapped alone, this layer would pass a batch "
            "on to the next one, which can fail or return another shape."
        )
    mapped = f"{jax}.vmap(" * axes + module + ")" * axes
    return (
        f"Map it over the leading {axis}, {mapped}(…), or map the whole model where it is "
        "called. in_axes= says which arguments have a batch; arguments with keywords are always mapped."
    )


def _layer_input(layer: str, made: int, needed: int) -> str:
    return (
        f"The last axis of the input, for features or channels, has size {needed}, but the parameters of "
        f"{quoted(layer) or 'this layer'} were made for size {made}."
    )


def _groups(groups: int, channels: int, declared: bool) -> str:
    what = "" if declared else ", the size of the last axis of the input,"
    return (
        f"{units.count(channels, 'channel')}{what} cannot be divided into {units.count(groups, 'group')} of one size."
    )


def _write_groups(fitting: int, declared: bool) -> str:
    fit = f"Choose a num_groups that divides the channels, such as {fitting}"
    if declared:
        return f"{fit}; or other num_features."
    return f"{fit}. If the last axis does not hold the channels: {_axes(0)}"


def _axes(spatial: int) -> str:
    """Word how axes are added and moved."""
    image = "(length, channels)" if spatial == 1 else "(height, width, channels)"
    batch = image.replace("(", "(batch, ", 1)
    shape = f" One example has shape {image}, and several {batch}." if spatial in (0, 1, 2) else ""
    return f"x[..., None] adds an axis for one channel, and x[None] one for a batch.{shape}"


def _channels(spatial: int, channels: int = 0, new: str = "", axes: int = 0) -> str:
    if not spatial:
        return "Pass an array whose last axis has the size that the layer was made for, or make its parameters anew."
    if new.endswith("[..., None]"):
        return f"The axis for the channels is missing: pass {quoted(new)}."
    if new:
        return f"If the axis of size {channels} holds the channels, pass {quoted(new)}: flax takes the last axis."
    example = f"An input with {axes} axes counts as one example, without a batch. " if axes == spatial + 1 else ""
    return f"flax takes the last axis as channels. {example}{_axes(spatial)}"


def _channels_first(channels: int, jnp: str) -> str:
    """Word where Equinox takes the channels."""
    return (
        "Equinox takes one example without a batch, with the channels first: (channels, height, width) for an image. "
        f"If the last axis holds the channels, of size {channels}, move it to the front of each example: "
        f"{jnp}.moveaxis(example, -1, 0). vmap maps the layer over a batch."
    )


def _image_axes(argument: str, spatial: int, shape: str) -> str:
    gets = f"{quoted(argument) or 'the input'} has shape {shape}" if shape else "the input has fewer"
    axes = f"{spatial + 1} axes or more, the last of them for the channels"
    return f"This convolution goes over {spatial} axes, so its input needs {axes}, but {gets}."


MODULE_NOTES: dict[str, Callable[..., str]] = {
    "error_layer_input": _layer_input,
    "error_layer_options": lambda layer, parameter, made, needed: (
        f"The parameter {quoted(parameter)} of {quoted(layer) or 'this layer'} was made with shape {made}, but the "
        f"layer needs {needed} for this input."
    ),
    "write_layer_options": lambda: (
        "Make the parameters with the same module and an input of the same kind: params = model.init(key, x)."
    ),
    "error_groups": _groups,
    "write_groups": _write_groups,
    "error_image_axes": _image_axes,
    "write_channels": _channels,
    "write_channels_first": _channels_first,
    "error_features": lambda given, takes: (
        f"The input of the convolution has {units.count(given, 'channel')}, but its kernel takes {takes}."
    ),
    "write_features": _write_features,
    "error_module": _module,
    "error_module_leaves": _module_leaves,
    "write_module_leaves": _write_module_leaves,
    "write_filtered": _write_filtered,
    "write_module_arrays": lambda name, module: (
        f"Pass its arrays alone, {quoted(name)}.filter({quoted(module) or 'model'}, {quoted(name)}.is_array), which "
        "leaves out activation functions and other values."
    ),
    "error_module_function": _module_function,
    "write_module_function": _write_module_function,
    "error_batch_given": _batch_given,
    "write_mapped_layer": _write_mapped_layer,
    "error_example_rank": lambda layer, takes, rank, given: (
        f"{quoted(layer)} of Equinox takes one example {f'of shape {takes}' if takes else f'with {rank} axes'}, but "
        f"gets an array of shape {given}."
    ),
    "write_one_example": lambda batch, jax: (
        f"Map the whole model over the batch where it is called: {jax}.vmap(model)(batch)."
        if batch
        else "Pass one example with these axes, or make the layer for another shape."
    ),
}
