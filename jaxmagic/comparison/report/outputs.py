"""Words the check of outputs: which agree, by how much they differ, and what allows a difference of rounding."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log10

from ... import units
from ..record.candidate import Candidate, Check
from ..record.comparison import Comparison

#: Errors of less than this many machine epsilons of the largest value may all be those of one rounding.
_ROUNDINGS = 4

#: A larger error, as a part of the largest value, is not one of rounding.
_PLAUSIBLE = 0.1

#: A tolerance is larger by this factor than the error that it allows, which is not known to the last bit.
_ABOVE = 1 + 1e-6

#: An error that changes the second digit.
_VISIBLE = 0.01


def about_outputs(comparison: Comparison) -> list[str]:
    """Say which outputs differ from the baseline's, or that all agree."""
    checks = [(each.label, each.check) for each in comparison.candidates if each.check is not None]
    failed = [(label, check) for label, check in checks if not check.passed]
    if failed:
        allows = to_allow(comparison.candidates)
        return [mismatch(label, check.like or comparison.baseline, check, allows) for label, check in failed]
    if not checks:
        return []
    label, worst = max(checks, key=lambda each: each[1].severity)
    others = [
        f"{each} returns {check.dtype} where {check.like or comparison.baseline} returns {check.like_dtype}."
        for each, check in checks
        if check.dtype != check.like_dtype
    ]
    if not worst.largest_error:
        return ["All outputs are equal except for their types:" if others else "All outputs are equal.", *others]
    error, most = units.number_short(worst.largest_error), f"({label}, at {worst.leaf})"
    if worst.share is not None:  # which holds for all leaves; the absolute error only for this one
        most = f"of the largest value ({label}, by {error} at {worst.leaf})"
        error = units.percent(worst.share)
    return [
        f"All outputs agree: they differ by at most {error} {most}, with {_allowed(worst)}.",
        *_stricter(worst),
        *_bias(label, worst),
        *others,
    ]


def _size(check: Check) -> str:
    """Return the largest error, also as a part of the largest value if the tolerance is one."""
    error = units.number_short(check.largest_error or 0.0)
    return error if check.share is None else f"{error} ({units.percent(check.share)} of the largest value)"


def _stricter(check: Check) -> list[str]:
    """Name an option where the types allow an error that anybody would see."""
    if check.kind == "share" or check.share is None or check.share <= _VISIBLE:
        return []
    return [f"To allow no more than {units.percent(_VISIBLE)}, write {_option(_VISIBLE)}."]


def _option(share: float) -> str:
    """Return how to allow an error of this share of the largest value in each leaf, whatever its scale."""
    typed = units.percent(share).replace(" ", "")
    return f'--check {typed} (check="{typed}")'


def _bias(label: str, check: Check) -> list[str]:
    """Say that errors of more than single roundings have mostly one sign."""
    mean, largest = check.mean_error or 0.0, check.largest_error or 0.0
    if (
        check.given
        or check.kind == "share"
        or abs(mean) < largest / 2
        or largest <= _ROUNDINGS * check.rtol * check.atol
    ):
        return []
    size = units.number_short(abs(mean))
    return [
        f"On average {label} is {size} {'larger' if mean > 0 else 'smaller'}. Rounding errors rarely have "
        "all the same sign."
    ]


def mismatch(label: str, like: str, check: Check, allows: str) -> str:
    """Say how the output of a candidate differs.

    Args:
        label: the candidate.
        like: the candidate with whose output it was compared.
        check: the comparison of the outputs.
        allows: the option that allows errors of rounding; empty if there are none.
    """
    if check.varies:
        return f"Whether {label} computes what {like} does is unknown: the output of {like} varies from call to call."
    where = f" at {check.leaf}" if check.leaf else ""
    if check.problem is not None and check.problem.startswith("cannot be "):
        return f"Whether {label} computes what {like} does is unknown{where}: the outputs {check.problem}."
    if check.problem is not None:
        return f"{label} does not compute what {like} does{where}: {check.problem}."
    off = f"off by up to {_size(check)}, with {_allowed(check)}."
    if check.kind == "allclose" and check.given and check.largest_error and not check.atol:
        off += " Values near 0 need atol as well: --check RTOL,ATOL (check=(rtol, atol))."
    elif _may_be_rounding(check):
        off += f" If this is rounding, {allows} allows it."
    return f"{label} does not compute what {like} does{where}: {off}"


def _may_be_rounding(check: Check) -> bool:
    """Return whether no error in any leaf is too large for one of rounding."""
    return check.kind == "allclose" and check.problem is None and 0 < (check.largest_share or 0.0) <= _PLAUSIBLE


def to_allow(candidates: Iterable[Candidate]) -> str:
    """Return the one option that allows every error that may be one of rounding, at all scales; empty if none is."""
    checks = [each.check for each in candidates if each.check is not None]
    shares = [each.largest_share or 0.0 for each in checks if _may_be_rounding(each)]
    if not shares:
        return ""
    least = max(shares) * _ABOVE
    step = 10.0 ** floor(log10(least))
    return _option(ceil(least / step) * step)


def _allowed(check: Check) -> str:
    """Return the tolerance: as it was given, or with the types of the outputs on which it depends."""
    if check.given:
        return f"rtol={check.rtol:g} and atol={check.atol:g} allowed"
    if check.kind == "share":
        return f"{units.percent(check.rtol)} allowed"
    against = f" against {check.like_dtype}" if check.like_dtype != check.dtype else ""
    types = "" if check.dtype is None else f" in {check.dtype}{against}"
    if check.share is not None:
        return f"{units.percent(check.rtol)} allowed{types}"
    return f"{units.number_short(check.atol)} allowed{types}"
