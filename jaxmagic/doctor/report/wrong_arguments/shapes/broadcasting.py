"""Words shapes of operands that do not fit, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ..... import units
from .....terminal import printable
from ...quoted import quoted


def _product(operands: str, first: str, other: str) -> str:
    who = printable(operands) or "The two operands"
    return f"{who} cannot be multiplied: the axes that are summed over have sizes {first} and {other}."


def _product_axes(
    operands: str, first: str, first_axis: int, first_size: int, other: str, other_axis: int, other_size: int
) -> str:
    left, right = quoted(first) or "the first operand", quoted(other) or "the second operand"
    return (
        f"{printable(operands)} cannot be multiplied: axis {first_axis} of {left} has size {first_size}, axis "
        f"{other_axis} of {right} has size {other_size}, and they must be equal."
    )


def _batch(operands: str, axes: str) -> str:
    who = f"{printable(operands)} cannot be multiplied" if operands else "Batches of matrices cannot be multiplied"
    return f"{who}: their batch axes, {axes}, do not fit."


def _no_axis(operand: str, number: int) -> str:
    which = printable(operand) or f"The {('first', 'second')[number]} operand"
    return f"{which} is a scalar, which has no axis that a matrix product could sum over."


def _einsum(label: str, places: str) -> str:
    where = f": {printable(places)}" if places else ""
    if label == "...":
        return f"The axes that an ellipsis (...) of einsum stands for have different sizes{where}."
    which = f"The label {quoted(label)}" if label else "A label"
    return f"{which} of einsum stands for axes of different sizes{where}."


def _einsum_axes(subscript: str, labels: int, operand: str, axes: int) -> str:
    got = f"{printable(operand)} has {axes} {_axes(axes)}" if operand else "its operand has another number of axes"
    which = f"The subscript {quoted(subscript)}" if subscript else "A subscript of einsum"
    return f"{which} has {labels} {'label' if labels == 1 else 'labels'}, but {got}."


def _axes(count: int) -> str:
    return "axis" if count == 1 else "axes"


def _broadcast(operands: str, operation: str, axis: int, sizes: str) -> str:
    where = f" in JAX's {quoted(operation)}" if operation else ""
    differ = f": axis {axis} has sizes {sizes}" if sizes else ""
    return f"{printable(operands)} do not broadcast{where}{differ}."


def _broadcast_to(value: str, shape: str, requested: str, target: str) -> str:
    what = f"{quoted(target)}, which has shape {requested}" if target else f"shape {requested}"
    return f"{_value(value, shape)} does not broadcast to {what}."


def _value(text: str, shape: str) -> str:
    return f"{printable(text)} {shape}" if text else f"An array of shape {shape}"


def _reshaped(array: str, shape: str, size: int, requested: str, needed: int, free: bool) -> str:
    needs = f"shape {requested} needs {'a multiple of ' if free else ''}{needed}"
    return f"{_value(array, shape)} has {size} {'element' if size == 1 else 'elements'}, but {needs}."


def _size(sizes: str) -> str:
    return f"A shape has to consist of integers, got {quoted(sizes)}."


def _write_fitting(code: str, several: bool, whole: bool) -> str:
    which = "which of them you mean, if any" if several else "that it is what you mean"
    rest = "" if whole else ", and that the rest of the statement takes its shape"
    return f"Fits in shape: {printable(code)}. Check {which}{rest}."


def _write_reshaped(size: int, fits: str) -> str:
    computed = f" {fits} fits in shape: JAX computes the size for -1." if fits else ""
    return f"The sizes have to multiply to {size}.{computed}"


def _write_square(jnp: str, instead: str = "", factor: str = "", rows: int = 0) -> str:
    """Word what to do about a matrix that is not square.

    Args:
        jnp: the user's name of ``jax.numpy``.
        instead: functions that take any matrix.
        factor: the square matrix whose factor may be meant.
        rows: how many rows that matrix needs to be regular, if it has fewer.
    """
    takes = f" {instead} {'take' if ' and ' in instead else 'takes'} any matrix." if instead else ""
    decomposed = f" For the factor of a covariance matrix, decompose {factor}." if factor else ""
    if rows:
        decomposed = (
            f" For the factor of a covariance matrix, x needs at least {rows} rows: with fewer, {factor} is "
            f"singular, and its factor is NaN. Then decompose {factor} plus a small multiple of {jnp}.eye({rows})."
        )
    return f"Correct the line that makes the array.{decomposed}{takes}"


SHAPE_NOTES: dict[str, Callable[..., str]] = {
    "error_product": _product,
    "error_product_axes": _product_axes,
    "error_batch": _batch,
    "error_no_axis": _no_axis,
    "error_einsum": _einsum,
    "error_einsum_labels": lambda label, subscripts, operands: (
        f"The result of einsum has the label {quoted(label)}, which no operand has."
        if label
        else f"einsum gets {units.count(subscripts, 'subscript')} for {units.count(operands, 'operand')}."
    ),
    "write_einsum_labels": lambda label: (
        "The labels after -> choose among those before it. For a new axis, index the result with None."
        if label
        else "Write one subscript per operand, with commas in between."
    ),
    "error_einsum_axes": _einsum_axes,
    "error_conv_rank": lambda operands: (
        "The input and the kernel of a convolution need the same number of axes"
        f"{f', but they are {quoted(operands)}' if operands else ''}."
    ),
    "write_conv_rank": lambda missing: {
        "batch": "The input needs one more axis: for the batch, x[None], and [0] of the result; or for the channels, "
        "x[:, None] in NCHW and x[..., None] in NHWC.",
        "channels": "The kernel needs axes for its output and its input channels besides those of the window.",
    }.get(missing, "The input has axes for the batch and the channels, the kernel for both kinds of channels."),
    "error_conv_padding": lambda padding: (
        f"The padding {quoted(padding)} has one number per axis, but a convolution needs a pair, before and after."
    ),
    "write_conv_padding": lambda pairs: f'Write {quoted(pairs)} to pad both sides alike, or "SAME" or "VALID".',
    "error_square": lambda function, shape: (
        f"{quoted(function)} needs square matrices, but gets an array of shape {shape}."
    ),
    "write_square": _write_square,
    "error_core_sizes": lambda operands, letter, sizes, signature: (
        f"{f'{printable(operands)} do not fit' if operands else 'The arguments do not fit'}: {quoted(letter)} in the "
        f"signature {quoted(signature)} is {sizes}."
    ),
    "write_core_sizes": lambda: (
        "Axes with the same letter must have the same size; those before them are for a batch, and broadcast."
    ),
    "error_ragged": lambda: "A list holds lists of different lengths or depths, which form no array.",
    "write_ragged": lambda jnp: (
        f"Pad them to one length, such as {jnp}.array([row + [0] * (n - len(row)) for row in rows]), and keep the "
        "lengths or a mask with it. Under jit, a list or a dictionary of arrays works as it is: it is a pytree."
    ),
    "error_broadcast": _broadcast,
    "write_integer_labels": lambda jax: (
        "optax.softmax_cross_entropy takes a probability for each class. For integer labels, use "
        "optax.softmax_cross_entropy_with_integer_labels(logits, labels), or pass "
        f"{jax}.nn.one_hot(labels, logits.shape[-1])."
    ),
    "error_broadcast_to": _broadcast_to,
    "error_reshaped": _reshaped,
    "error_size": _size,
    "error_vmapped_shapes": lambda: (
        "The line runs inside jax.vmap: these are shapes of one element, without the mapped axis."
    ),
    "write_fitting": _write_fitting,
    "write_product": lambda: (
        "Transpose, reshape or slice one of them, so that the two axes have the same size; or correct the line that "
        "made the wrong one. Shapes do not say which one is wrong."
    ),
    "write_batch": lambda: (
        "Batch axes are all but the last two. They must be equal or 1 in matmul, and equal in dot_general; jax.vmap "
        "maps a product over one of them."
    ),
    "write_times": lambda: "Use * to multiply by a scalar.",
    "write_einsum": lambda: (
        "Axes with the same label must have the same size, or 1: use another label, or swap the labels of an operand "
        "whose axes are in another order."
    ),
    "write_einsum_axes": lambda: (
        "Write one label per axis of the operand; an ellipsis (...) stands for leading axes."
    ),
    "write_broadcast": lambda inside=False: (
        "Shapes are compared from the last axis on: sizes must be equal or 1, and missing axes count as 1. "
        + (
            "The arrays meet inside the library: look for the one that it was given with another size, on this line "
            "or before."
            if inside
            else "x[:, None] adds an axis: each element of x then meets all of the other array."
        )
    ),
    "write_broadcast_to": lambda: (
        "Sizes are compared from the last axis on, and must be equal, or 1 in the value, which has no more axes than "
        "the target."
    ),
    "write_reshaped": _write_reshaped,
    "write_sizes": lambda nested: (
        "A star unpacks a shape in a shape, as in (*x.shape, 4)."
        if nested
        else "Pass an integer, or a tuple of integers, such as x.shape."
    ),
    "error_float": lambda function, text, parameter: (
        f"{quoted(function) or 'A function of JAX'} gets the float {quoted(text)} for {quoted(parameter)}, "
        "which has to be an integer."
    ),
    "error_select": lambda which, cases: (
        f"select does not broadcast, but the condition has shape {which} and the values have shape {cases}."
        if which
        else f"select does not broadcast, but the values have the shapes {cases}."
    ),
    "write_select": lambda jnp: f"{jnp}.where(condition, a, b) broadcasts, or make the shapes equal.",
    "error_float_bound": lambda: "A bound of the slice is a float, but Python slices between integers.",
    "write_integer": lambda divides: (
        "Divide with //, which makes an integer of two, or convert the number with int()."
        if divides
        else "Pass an integer, or convert the number with int()."
    ),
    "write_size": lambda divides: (
        "Divide with // in place of /, or convert the size with int()." if divides else "Convert the size with int()."
    ),
}
