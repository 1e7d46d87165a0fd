"""Explains matrices that are not square, sizes that a vectorized function does not take, and ragged lists."""

from __future__ import annotations

from ......records.note import note
from .....record.failure import Failure
from ...expression import expression_of, spelled
from ..explained import SHAPE, Explained, Rule
from ..operands import Shape, arrays_of, fact, listed, shapes_in, written

#: What takes matrices that are not square, for functions that do not.
_INSTEAD = {
    **dict.fromkeys(("inv", "solve"), ("pinv", "lstsq")),
    **dict.fromkeys(("eig", "eigh", "eigvals", "eigvalsh"), ("svd",)),
    "cholesky": ("qr",),
}


def explain_square(failure: Failure) -> Explained:
    """Explain a matrix that is not square."""
    (shape,) = shapes_in(fact(failure, "shape"))
    failing = expression_of(failure)
    direct = None if failing is None or failure.library is not None else failing.called
    return square(failure, direct or fact(failure, "function").strip("_()"), shape)


def square(failure: Failure, function: str, shape: Shape) -> Explained:
    """Explain a function that needs square matrices and gets an array of another shape."""
    name, jnp = function.rpartition(".")[2], spelled(failure, "jax.numpy")
    instead = " and ".join(f"{jnp}.linalg.{each}" for each in _INSTEAD.get(name, ()))
    factor, missing = "", 0
    if name == "cholesky" and len(shape) > 1:
        factor = "x.T @ x" if len(shape) == 2 else "x.mT @ x"
        missing = shape[-1] if shape[-2] < shape[-1] else 0
    return Explained(
        note("doctor.error_square", function=function, shape=written(shape)),
        note("doctor.write_square", jnp=jnp, instead=instead, factor=factor, rows=missing),
    )


def explain_core_sizes(failure: Failure) -> Explained:
    """Explain axes that have to have one size in the signature of ``jnp.vectorize``, as in ``jnp.linalg.solve``."""
    arrays = [each for each in arrays_of(failure) if each.shape and each.text]
    sizes = int(fact(failure, "first")), int(fact(failure, "other"))
    oblong = [each.shape for each in arrays if each.shape is not None and {*each.shape[-2:]} == {*sizes}]
    failing, letter = expression_of(failure), fact(failure, "letter")
    called = None if failing is None or failure.library is not None else failing.called
    if len(oblong) == 1 and called and f"({letter},{letter})" in fact(failure, "signature"):
        return square(failure, called, oblong[0])
    if len(arrays) < fact(failure, "signature").partition("->")[0].count("("):  # it is unknown which do not fit
        arrays = []
    return Explained(
        note(
            "doctor.error_core_sizes",
            operands=listed([each.text for each in arrays], [each.shape or () for each in arrays]),
            letter=fact(failure, "letter"),
            sizes=f"{fact(failure, 'first')} and {fact(failure, 'other')}",
            signature=fact(failure, "signature"),
        ),
        note("doctor.write_core_sizes"),
    )


def explain_ragged(failure: Failure) -> Explained:
    """Explain a list of lists of different lengths."""
    return Explained(note("doctor.error_ragged"), note("doctor.write_ragged", jnp=spelled(failure, "jax.numpy")))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "square", explain_square,
        r"Argument to (?P<function>[\w.()]+) must have shape \[\.\.\., n, n\], got (?:shape )?"
        rf"(?P<shape>{SHAPE})"),
    Rule("ValueError", "core sizes", explain_core_sizes,
        r"inconsistent size for core dimension '(?P<letter>\w+)': (?P<first>\d+) vs (?P<other>\d+) on vectorized "
        r"function with excluded=.*? and signature='(?P<signature>[^']*)'"),
    Rule("ValueError", "ragged", explain_ragged,
        r"setting an array element with a sequence\. The requested array has an inhomogeneous shape"),
)
# fmt: on
