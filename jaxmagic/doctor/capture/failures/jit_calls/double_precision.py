"""Tells whether outputs differ by rounding alone: the function with its remedy is run with 64-bit types as well."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .....comparison.capture.check_outputs import check_output
from .....records.note import Note, note
from .....runtime.around import is_a
from .....runtime.clock import Clock
from .....runtime.tracing import is_array
from ....record.finding import Verified
from ...remedies.measured_remedy import about_dtypes, comparable, silenced
from ...remedies.precision import with_64_bits
from .arguments import Arguments
from .rounding_noise import Outputs, largest_value, rounding_alone, small_leaves, without

#: Outputs that differ by more times what counts as rounding are not compared in 64 bits: integers that overflow in 32
#: bits would agree there as well. Leaves that are small enough to be rounding beside others do not count.
_MOST_TIMES = 30.0


class Compared(NamedTuple):
    """The result of a comparison with 64-bit types.

    Attributes:
        verified: the record.
        plain_runs: how many runs without jit it took.
        mended_runs: how many runs with the remedy.
    """

    verified: Verified
    plain_runs: int = 0
    mended_runs: int = 0


def compared_in_64_bits(
    verified: Verified,
    plain: tuple[Callable[..., Any], Arguments],
    mended: tuple[Callable[..., Any], Arguments],
    deadline_ns: int,
    clock: Clock,
    outputs: tuple[Any, Any] | None = None,
) -> Compared:
    """Compare outputs that differ by little more than rounding once more, with 64-bit types and such arguments.

    If they agree there to the rounding of float64, the remedy computes the same, and the outputs of the session
    differ by its rounding. Otherwise it stays unknown why they differ. A leaf that is small beside others, and so
    much smaller in 64 bits that it was rounding alone, agrees: it is zero but for rounding. Types with 64 bits are
    enabled for these runs alone.

    Args:
        verified: the comparison in the session.
        plain: the function without jit, and its arguments.
        mended: the function with its remedy under jit, and its arguments.
        deadline_ns: when no other run begins.
        clock: the clock of the deadline.
        outputs: what both returned in the session, if that is known.
    """
    import jax

    told = next((each for each in verified.notes if each.kind == "doctor.outputs_error"), None)
    if verified.outputs_agree is not False or told is None or jax.config.jax_enable_x64:
        return Compared(verified)
    error, allowed = float(told.facts["error"]), float(told.facts["allowed"])
    small = {} if outputs is None else small_leaves(Outputs(*outputs))
    if not (0 < error <= _MOST_TIMES * allowed or (outputs is not None and _near(Outputs(*outputs), small))):
        return Compared(verified)
    if clock() > deadline_ns:
        return Compared(_with(verified, told, note("doctor.outputs_may_differ", tried="no")))
    counted = [0, 0]

    def run(place: int, function: Callable[..., Any], given: Arguments) -> Any:
        counted[place] += 1
        return function(*given[0], **given[1])

    try:
        with silenced(), with_64_bits(True):
            expected = run(0, plain[0], _widened(plain[1]))
            result = run(1, mended[0], _widened(mended[1]))
            rounding = float(np.finfo(np.float64).eps) ** 0.5
            wide = Outputs(comparable(expected), comparable(result))
            noise = rounding_alone(small, wide)
            others = without(wide, noise)
            check = check_output(others.after, others.before, rounding)
            same = check.passed and about_dtypes(expected, result) is None
    except (Exception, KeyboardInterrupt):
        return Compared(_with(verified, told, note("doctor.outputs_may_differ", tried="failed")), *counted)
    if not same:
        return Compared(_with(verified, told, note("doctor.outputs_may_differ", tried="differ")), *counted)
    leaf = str(told.facts["leaf"])
    agree = (
        note(
            "doctor.outputs_noise",
            leaf=leaf,
            largest=small[leaf],
            beside=largest_value(Outputs(*outputs)),
            wide=noise[leaf],
            dtype=told.facts["dtype"],
            others=len(noise) - 1,
        )
        if outputs is not None and leaf in noise
        else note(
            "doctor.outputs_precision",
            error=error,
            allowed=allowed,
            dtype=told.facts["dtype"],
            leaf=told.facts["leaf"],
            rtol=told.facts["rtol"],
        )
    )
    found = _with(verified, told, agree)
    return Compared(replace(found, outputs_agree=True), *counted)


def _near(outputs: Outputs, small: Collection[str]) -> bool:
    """Return whether there are small leaves, and the others differ by little more than rounding."""
    others = without(outputs, small)
    check = check_output(others.after, others.before, "allclose")
    return bool(small) and check.problem is None and (check.largest_error or 0.0) <= _MOST_TIMES * check.atol


def _with(verified: Verified, told: Note, new: Note) -> Verified:
    """Return the record with a note behind another one; in its place if that says the same."""
    kept = [told, new] if new.kind == "doctor.outputs_may_differ" else [new]
    return replace(
        verified, notes=tuple(one for each in verified.notes for one in (kept if each is told else [each]))
    )


def _widened(arguments: Arguments) -> Arguments:
    """Return arguments with arrays of 64-bit floats in place of narrower ones."""
    import jax

    def wide(each: Any) -> Any:
        if not is_array(each) and not is_a(each, (np.ndarray, np.floating, np.complexfloating)):
            return each
        kinds = ((np.complexfloating, np.complex128), (np.floating, np.float64))
        dtype = next((new for kind, new in kinds if jax.dtypes.issubdtype(each.dtype, kind)), None)
        return each if dtype is None else each.astype(dtype)

    args, kwargs = jax.tree.map(wide, arguments)
    return args, kwargs
