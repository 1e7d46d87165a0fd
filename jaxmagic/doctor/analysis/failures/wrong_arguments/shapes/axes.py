"""Explains axes of another size or number than a function takes, and arrays that are unpacked."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled
from ..explained import SHAPE, Explained, Rule
from ..names.renamed import INDICES, values_and_indices
from ..operands import arrays_of, fact, shapes_in, shortened, written


def explain_squeeze(failure: Failure) -> Explained:
    """Explain ``x.squeeze(0)`` of an axis with several elements."""
    (shape,), (axes,) = shapes_in(fact(failure, "shape")), shapes_in(fact(failure, "axes"))
    axis = next(each for each in axes if shape[each] != 1)
    array = next(iter(arrays_of(failure)), Operand(text=""))
    found = note(
        "doctor.error_squeeze",
        array=shortened(array.text) if array.shape == shape else "",
        shape=written(shape),
        axis=axis,
        size=shape[axis],
    )
    return Explained(found, note("doctor.write_squeeze"))


def explain_taken_along(failure: Failure) -> Explained:
    """Explain indices of ``jnp.take_along_axis()`` with another number of axes than the array."""
    indices, rank = int(fact(failure, "indices")), int(fact(failure, "rank"))
    library = "" if failure.library is None else failure.library.function
    if library == "softmax_cross_entropy_with_integer_labels":
        return Explained(note("doctor.error_labels", one_hot=indices > rank), note("doctor.write_labels"))
    found = note("doctor.error_taken_along", indices=indices, rank=rank)
    jnp = spelled(failure, "jax.numpy")
    return Explained(found, note("doctor.write_taken_along", jnp=jnp, missing=indices == rank - 1))


def explain_unsized(failure: Failure) -> Explained:
    """Explain ``len(x)`` of a scalar."""
    array = next(iter(arrays_of(failure)), Operand(text=""))
    found = note("doctor.error_unsized", array=shortened(array.text) if array.shape == () else "")
    return Explained(found, note("doctor.write_unsized", jnp=spelled(failure, "jax.numpy")))


def explain_unpacked_array(failure: Failure) -> Explained:
    """Explain ``a, b = x`` of an array with another number of rows, and ``values, indices = x.max(1)``."""
    names, shapes = int(fact(failure, "names")), shapes_in(fact(failure, "type"))
    failing = expression_of(failure)
    statement = None if failing is None else failing.statement
    value = statement.value if isinstance(statement, ast.Assign) else None
    value = statement.iter if isinstance(statement, ast.For) else value
    text = "" if value is None else shortened(ast.unparse(value))
    shape = shapes[0] if shapes else ()
    each = bool(fact(failure, "each"))
    one = shape[1:] if each else shape
    found = note("doctor.error_array_unpacked", array=text, shape=written(one) if one else "", names=names, each=each)
    method = value.func if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else None
    if statement is not None and isinstance(value, ast.Call) and method is not None and method.attr in INDICES:
        indices, code = values_and_indices(Expression(statement, value, statement), value)
        return Explained(found, note("doctor.write_one_of_pair", other=method.attr, indices=indices), code)
    columns = len(shape) == 2 and shape[0 if each else 1] == names
    return Explained(found, note("doctor.write_array_unpacked", array=text, columns=columns))


def explain_weights(failure: Failure) -> Explained:
    """Explain probabilities of ``jax.random.choice()`` for another number of choices."""
    (shape,) = shapes_in(fact(failure, "shape"))
    found = note("doctor.error_weights", shape=written(shape), choices=int(fact(failure, "choices")))
    return Explained(found, note("doctor.write_weights"))


def explain_rows(failure: Failure) -> Explained:
    """Explain more rows than devices in a call of a function that ``jax.pmap`` maps."""
    return Explained(note("doctor.error_pmap_rows"), note("doctor.write_pmap_rows", jax=spelled(failure, "jax")))


#: The messages that are explained here, apart from those that the failing call has to tell apart.
# fmt: off
RULES = (
    Rule("ValueError", "taken along", explain_taken_along,
        r"indices and arr must have the same number of dimensions; (?P<indices>\d+) vs\. (?P<rank>\d+)$"),
    Rule("ValueError", "weights", explain_weights,
        rf"p must be None or a 1D vector with the same size as a\.shape\[axis\]\. p has shape (?P<shape>{SHAPE}) and "
        r"a\.shape\[axis\] is (?P<choices>\d+)"),
    Rule("TypeError", "unsized", explain_unsized,
        r"len\(\) of unsized object$"),
    Rule("ValueError", "pmap rows", explain_rows,
        r"compiling computation that requires \d+ logical devices, but only \d+ XLA devices are available"),
)
# fmt: on
