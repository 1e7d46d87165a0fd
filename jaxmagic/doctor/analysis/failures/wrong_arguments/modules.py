"""Explains modules of libraries that JAX's functions do not take, and inputs that layers do not take."""

from __future__ import annotations

import ast
import re

from .....records.note import Note, note
from ....record.failing_code import Operand
from ....record.failure import Failure
from ....record.library_use import BatchUse, ModuleUse
from ..expression import expression_of, spelled
from .explained import SHAPE, Explained, Rule
from .operands import fact, shapes_in, shortened, written

#: Transformations that differentiate.
_DERIVATIVES = "grad", "value_and_grad", "hessian", "jacrev", "jacfwd", "vjp", "jvp", "linearize"

#: A file of Equinox.
_EQUINOX = re.compile(r"[/\\]equinox[/\\]")


def explain_module(failure: Failure) -> Explained | None:
    """Explain a failure by the module of a library that the call gets; ``None`` if there is none."""
    use = failure.module
    if isinstance(use, BatchUse):
        return _batch(failure, use)
    if use is None:
        return None
    return _function(failure, use) if use.as_function else _module(failure, use)


def _module(failure: Failure, use: ModuleUse) -> Explained:
    kind = fact(failure, "type").rpartition(".")[2]
    found = note(
        "doctor.error_module",
        argument=shortened(use.text),
        library=use.library,
        type=kind,
        dtype=fact(failure, "dtype"),
        transform=fact(failure, "function") if use.as_arrays else use.transform,
        leaves=use.as_arrays,
    )
    if use.as_arrays:
        remedy = note("doctor.write_module_arrays", name=use.name, module=shortened(use.text))
        return Explained(found, remedy, _replaced(failure, use.call))
    remedy = note(
        "doctor.write_filtered",
        library=use.library,
        name=use.name,
        transform=use.transform,
        filtered=", ".join(use.filtered),
        differentiates=use.transform in _DERIVATIVES,
    )
    return Explained(found, remedy, _replaced(failure, use.call))


def _function(failure: Failure, use: ModuleUse) -> Explained:
    text = shortened(use.text)
    found = note("doctor.error_module_function", module=text, transform=use.transform)
    filtered = ", ".join(use.filtered)
    remedy = note("doctor.write_module_function", module=text, transform=use.transform, filtered=filtered)
    return Explained(found, remedy, _replaced(failure, use.call))


def _batch(failure: Failure, use: BatchUse) -> Explained:
    found = note(
        "doctor.error_batch_given",
        layer=use.layer,
        takes=use.takes,
        given=written(use.given),
        module=shortened(use.module),
    )
    remedy = note(
        "doctor.write_mapped_layer",
        module=shortened(use.module),
        axes=len(use.given) - 1,
        jax=spelled(failure, "jax"),
        owner=use.owner,
        whole=use.whole,
        location=use.location,
    )
    return Explained(found, remedy, _replaced(failure, use.mapped))


def explain_layer_input(failure: Failure) -> Explained:
    """Explain a layer of flax whose parameters were made for another input."""
    layer, parameter = fact(failure, "layer"), fact(failure, "parameter")
    (made,), (needed,) = shapes_in(fact(failure, "made")), shapes_in(fact(failure, "needed"))
    alike = len(made) == len(needed) >= 2 and made[:-2] == needed[:-2] and made[-1] == needed[-1]
    if parameter != "kernel" or not alike:
        found = note(
            "doctor.error_layer_options",
            layer=layer,
            parameter=parameter,
            made=written(made),
            needed=written(needed),
        )
        return Explained(found, note("doctor.write_layer_options"))
    found = note("doctor.error_layer_input", layer=layer, made=made[-2], needed=needed[-2])
    return Explained(found, _channels(failure, spatial=len(made) - 2, channels=made[-2]))


def explain_groups(failure: Failure) -> Explained:
    """Explain groups that do not divide the channels."""
    groups, channels = int(fact(failure, "groups")), int(fact(failure, "channels"))
    declared = failure.library is not None and failure.library.function == "__init__"
    found = note("doctor.error_groups", groups=groups, channels=channels, declared=declared)
    fitting = [each for each in range(2, min(groups, channels) + 1) if channels % each == 0]
    return Explained(found, note("doctor.write_groups", fitting=fitting[-1] if fitting else 1, declared=declared))


def explain_image_axes(failure: Failure) -> Explained:
    """Explain an input of a convolution of flax that has too few axes."""
    spatial, x = int(fact(failure, "kernel")), _only_array(failure)
    found = note(
        "doctor.error_image_axes",
        argument="" if x is None else shortened(x.text),
        spatial=spatial,
        shape="" if x is None or x.shape is None else written(x.shape),
    )
    return Explained(found, note("doctor.write_channels", spatial=spatial))


def explain_features(failure: Failure) -> Explained:
    """Explain a convolution whose input has other channels than its kernel takes."""
    given, groups, takes = (int(fact(failure, each)) for each in ("given", "groups", "takes"))
    found = note("doctor.error_features", given=given, takes=takes * groups)
    if failure.library is None:
        axes = _axes_of_channels(failure)
        return Explained(found, note("doctor.write_features", jax=spelled(failure, "jax"), axes=axes))
    if _EQUINOX.search(failure.library.file):
        channels, jnp = takes * groups, spelled(failure, "jax.numpy")
        return Explained(found, note("doctor.write_channels_first", channels=channels, jnp=jnp))
    kernels = [each.shape for each in failure.operands if each.shape is not None and not each.text]
    spatial = len(kernels[-1]) - 2 if kernels else 2
    return Explained(found, _channels(failure, spatial=spatial, channels=takes * groups))


def _axes_of_channels(failure: Failure) -> str:
    """Return the axes on which the call has the channels of input and kernel, ``"3,2"`` for ``("NHWC", "HWIO", …)``.

    It is empty if the call leaves them where they are by default, and ``"?"`` if it does not show where they are.
    """
    failing = expression_of(failure)
    calls = [] if failing is None else [each for each in ast.walk(failing.node) if isinstance(each, ast.Call)]
    for call in calls:
        for keyword in call.keywords:
            if keyword.arg == "dimension_numbers":
                match keyword.value:
                    case ast.Tuple(elts=[ast.Constant(value=str(given)), ast.Constant(value=str(kernel)), *_]):
                        return f"{given.find('C')},{kernel.find('I')}"
                    case ast.Constant(value=None):
                        return ""
                return "?"
    return ""


def _channels(failure: Failure, *, spatial: int, channels: int) -> Note:
    """Advise on an input whose last axis is not that of the channels."""
    x = _only_array(failure)
    shape = None if x is None else x.shape
    new = ""
    if x is not None and shape is not None and spatial:
        if channels == 1 and len(shape) in (spatial, spatial + 1):
            new = f"{x.text}[..., None]"
        elif len(shape) > spatial and shape[-spatial - 1] == channels:
            new = f"{spelled(failure, 'jax.numpy')}.moveaxis({x.text}, {-spatial - 1}, -1)"
    return note("doctor.write_channels", spatial=spatial, channels=channels, new=new, axes=len(shape or ()))


def _only_array(failure: Failure) -> Operand | None:
    """Return the array that is written on the failing line, if it is the only one."""
    arrays = [each for each in failure.operands if each.shape and each.text]
    return arrays[0] if len(arrays) == 1 else None


def _replaced(failure: Failure, call: str | None) -> str | None:
    """Return the failing statement with another call."""
    failing = expression_of(failure)
    if call is None or failing is None:
        return None
    return failing.with_node(ast.parse(call, mode="eval").body)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ScopeParamShapeError", "layer input", explain_layer_input,
        r'For parameter "(?P<parameter>\w+)" in "/?(?P<layer>[^"]*)", the given initializer is expected to generate '
        rf"shape (?P<needed>{SHAPE}), but the existing parameter it received has shape (?P<made>{SHAPE})"),
    Rule("ValueError", "groups", explain_groups,
        r"Number of groups \((?P<groups>\d+)\) does not divide the number of channels \((?P<channels>\d+)\)"),
    Rule("ValueError", "image axes", explain_image_axes,
        r"operands could not be broadcast together with shapes \((?P<given>\d+),\) \((?P<kernel>\d+),\)"),
    Rule("ValueError", "features", explain_features,
        r"conv_general_dilated lhs feature dimension size divided by feature_group_count must equal the rhs input "
        r"feature dimension size, but (?P<given>\d+) // (?P<groups>\d+) != (?P<takes>\d+)"),
)
# fmt: on
