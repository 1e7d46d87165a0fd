"""Checks the candidates that are passed to a verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from numbers import Real
from typing import Any, cast, get_args

from ...records.names import offered, type_in_words
from ...runtime.given import percentage_in
from ...runtime.given_arguments import near_option
from ...terminal import printable
from ..record.candidate import CheckBy, CheckKind, CheckRule


def check_of(check: CheckBy) -> CheckRule:
    """Return how to compare outputs: the kind, a share, or ``rtol`` and ``atol``, which is 0 if it is not given."""
    if isinstance(check, str) and check in get_args(CheckKind):
        return cast(CheckKind, check)
    if isinstance(check, str) and (share := percentage_in(check)) is not None:
        return share
    numbers: tuple[object, ...] = check if isinstance(check, tuple) else (check, 0.0)
    match [float(each) for each in numbers if isinstance(each, Real) and 0 <= float(each) < inf]:
        case [rtol, atol] if len(numbers) == 2:
            return rtol, atol
    raise ValueError(
        f"check: expected one of {', '.join(get_args(CheckKind))}, or a tolerance such as '1%', 1e-3 or "
        f"(rtol, atol) = (1e-3, 1e-6), got {check!r}"
    )


def labels_of(candidates: Mapping[str, Any]) -> list[str]:
    """Return the labels of the candidates, after checking them."""
    for label, fn in candidates.items():
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"labels: expected text, got {label!r}. Write for example {{'f': f}}")
        if not callable(fn):
            raise TypeError(f"{label}: expected a function, got {type_in_words(fn)}. Write f, not f(x)")
    return list(candidates)


def values_of(name: str, values: Any, options: Sequence[str] = ()) -> tuple[Any, ...]:
    """Return the values of a variable of a sweep as a tuple; one value may be meant for one of the options."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        meant = near_option(name, values, options)
        write = f"{meant} instead" if meant else f"for example {name}=[{values!r}]"
        raise TypeError(f"{name}: expected several values, got {values!r}. Write {write}")
    return tuple(values)


def known_baseline(labels: Sequence[str], baseline: str | None) -> str:
    """Return the candidate to compare with; the first one if none was chosen."""
    if not labels:
        raise ValueError(
            'expected a function, or functions by their labels, got none. Write for example {"f": f, "g": g}'
        )
    if baseline is not None and baseline not in labels:
        raise ValueError(f"baseline: expected one of the labels {printable(offered(labels))}, got {baseline!r}")
    return labels[0] if baseline is None else baseline
