"""Checks whether two candidates compute the same, leaf by leaf of their outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...runtime.around import is_exactly
from ...runtime.copies import unguarded
from ..record.candidate import Check, CheckRule, ComparedBy

#: The tolerance for types without rounding: integers, booleans.
_EXACT = 0.0

#: The mean of fewer errors says little.
_LEAST_ERRORS = 16


def check_output(value: Any, reference: Any, check: CheckRule, *, coarsest_eps: float = 0.0) -> Check:
    """Compare two pytrees of arrays and numbers.

    With ``allclose`` a leaf passes if no error exceeds the tolerance: the square root of the coarser type's machine
    epsilon, times the largest magnitude in that leaf of the reference. (About this precision remains if an algorithm
    sums in a different order.) A float of Python has JAX's default precision, since it may come from ``float(x)``.
    With a share, that takes the place of the square root; types without rounding have to be equal with both.
    With ``equal``, the structure, the types and every bit have to be the same. With given tolerances, an element may
    differ by ``atol + rtol * |reference|``.

    The result is of the worst leaf. Magnitudes of leaves can be orders apart, and each has its own tolerance, so with
    ``allclose`` or a share, errors of different leaves are compared as shares of the largest value in the leaf.

    Args:
        value: the candidate's output.
        reference: the baseline's output.
        check: how to compare: a kind, a share, or ``rtol`` and ``atol``.
        coarsest_eps: for ``allclose``, the machine epsilon of a type in which something was computed on the way, if
            it is coarser than the types of the outputs.
    """
    import jax

    kind = _kind(check)
    try:
        ours, our_tree = jax.tree_util.tree_flatten_with_path(value)
        theirs, their_tree = jax.tree_util.tree_flatten_with_path(reference)
    except Exception as error:
        return Check(kind=kind, passed=False, problem=f"cannot be compared ({type(error).__name__})")
    if our_tree != their_tree:
        return Check(kind=kind, passed=False, problem=f"different structure: {our_tree}, not {their_tree}"[:300])
    worst = Check(kind=kind, passed=True)
    shares: list[float | None] = [0.0]
    for (path, one), (_, other) in zip(ours, theirs, strict=True):
        leaf = _check_leaf(one, other, jax.tree_util.keystr(path) or "the output", check, coarsest_eps)
        # Among leaves that are equal, one of another type is told.
        if (*leaf.severity, leaf.dtype != leaf.like_dtype) >= (*worst.severity, worst.dtype != worst.like_dtype):
            worst = leaf
        if leaf.problem is not None:
            return leaf
        shares.append(leaf.share if leaf.largest_error else 0.0)
    known = [each for each in shares if each is not None]
    return replace(worst, largest_share=max(known) if len(known) == len(shares) else None)


def _kind(check: CheckRule) -> ComparedBy:
    return check if isinstance(check, str) else "share" if isinstance(check, float) else "allclose"


def _check_leaf(value: Any, reference: Any, path: str, check: CheckRule, coarsest_eps: float) -> Check:
    import jax
    import numpy as np

    kind = _kind(check)
    given = check if isinstance(check, tuple) else None
    if isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value, reference = jax.random.key_data(value), jax.random.key_data(reference)
    try:
        one, other = (unguarded(np.asarray, each) for each in (value, reference))
    except Exception as error:
        return Check(kind=kind, passed=False, leaf=path, problem=f"cannot be read ({type(error).__name__})")
    if one.shape != other.shape:
        return Check(kind=kind, passed=False, leaf=path, problem=f"different shape: {one.shape}, not {other.shape}")
    if kind == "equal" and one.dtype != other.dtype:
        return Check(kind=kind, passed=False, leaf=path, problem=f"different dtype: {one.dtype}, not {other.dtype}")
    if one.dtype.kind in "USO" or other.dtype.kind in "USO":
        same = bool(np.all(one == other))
        return Check(kind=kind, passed=same, leaf=path, problem=None if same else "different value")
    # Widened, because subtracting booleans, bfloat16 and integers in their own types can fail or overflow.
    wide = np.complex128 if "c" in (one.dtype.kind, other.dtype.kind) else np.float64
    one_wide, other_wide = one.astype(wide), other.astype(wide)
    both_nan = np.isnan(one_wide) & np.isnan(other_wide)
    with np.errstate(invalid="ignore", over="ignore"):
        signed = np.where(both_nan | (one_wide == other_wide), 0.0, one_wide - other_wide)
    error_at = np.abs(signed)
    largest = float(np.max(error_at)) if error_at.size else 0.0
    dtypes = _dtype(value, one), _dtype(reference, other)
    magnitude = np.where(np.isfinite(other_wide), np.abs(other_wide), 0.0)
    if given is None:
        rtol = _EXACT if check == "equal" else max(_tolerance(each, check, coarsest_eps) for each in dtypes)
        atol = rtol * float(np.max(magnitude, initial=0.0))
        allowed = np.full_like(magnitude, atol)
    else:
        rtol, atol = given
        allowed = atol + rtol * magnitude
    beyond = error_at > allowed
    varied = signed.size >= _LEAST_ERRORS and np.ptp(magnitude) > 0  # equal numbers are rounded in the same direction
    if not np.isfinite(largest):
        return Check(kind=kind, passed=False, leaf=path, problem="NaN or infinite where the other is not")
    if kind == "equal" and largest == 0 and one.tobytes() != other.tobytes():
        return Check(kind=kind, passed=False, leaf=path, problem="equal values, different bits, such as 0.0 and -0.0")
    return Check(
        kind=kind,
        passed=not beyond.any(),
        leaf=path,
        largest_error=float(np.max(error_at[beyond])) if beyond.any() else largest,
        mean_error=float(np.mean(signed)) if varied and wide is np.float64 else None,
        rtol=rtol,
        atol=atol,
        dtype=dtypes[0].name,
        like_dtype=dtypes[1].name,
        given=given is not None,
    )


def _dtype(value: Any, array: Any) -> Any:
    """Return the dtype that tells the precision of a leaf."""
    import jax.numpy as jnp

    return jnp.result_type(type(value)) if is_exactly(value, float, complex) else array.dtype


def _tolerance(dtype: Any, check: CheckRule, coarsest_eps: float) -> float:
    import jax.numpy as jnp

    if not jnp.issubdtype(dtype, jnp.inexact):
        return _EXACT
    if isinstance(check, float):
        return check
    return max(float(jnp.finfo(dtype).eps), coarsest_eps) ** 0.5
