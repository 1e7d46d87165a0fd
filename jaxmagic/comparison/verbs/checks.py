"""Checks the candidates that are passed to a verb."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from numbers import Real
from typing import Any, TypeVar, get_args

from ...errors import message_of
from ...terminal import printable
from ..record.candidate import CheckBy, CheckKind

_Record = TypeVar("_Record")


def check_of(check: CheckBy) -> CheckKind | tuple[float, float]:
    """Return how to compare outputs: the kind, or ``rtol`` and ``atol``, which is 0 if it is not given."""
    if isinstance(check, str) and check in get_args(CheckKind):
        return check
    numbers: tuple[object, ...] = check if isinstance(check, tuple) else (check, 0.0)
    match [float(each) for each in numbers if isinstance(each, Real) and 0 <= float(each) < inf]:
        case [rtol, atol] if len(numbers) == 2:
            return rtol, atol
    raise ValueError(
        f"check: expected one of {', '.join(get_args(CheckKind))}, or a tolerance such as 1e-3 or "
        f"(rtol, atol) = (1e-3, 1e-6), got {check!r}"
    )


def labels_of(candidates: Mapping[str, Any]) -> list[str]:
    """Return the labels of the candidates, after checking them."""
    for label, fn in candidates.items():
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"labels: expected text, got {label!r}. Write for example {{'f': f}}")
        if not callable(fn):
            raise TypeError(f"{label}: expected a function, got {type(fn).__name__}. Write f, not f(x)")
    return list(candidates)


def values_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return the values of a variable of a sweep as a tuple."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected several values, got {values!r}. Write for example {name}=[{values!r}]")
    return tuple(values)


def known_baseline(labels: Sequence[str], baseline: str | None) -> str:
    """Return the candidate to compare with; the first one if none was chosen."""
    if not labels:
        raise ValueError("expected a function, or several functions by their labels, got none")
    if baseline is not None and baseline not in labels:
        raise ValueError(f"baseline: there is no candidate {baseline!r}, only {printable(', '.join(labels))}")
    return labels[0] if baseline is None else baseline


def explaining_keywords(
    measure: Callable[[], _Record],
    functions: Mapping[str, Callable[..., Any]],
    keywords: Iterable[str],
    words: Callable[[str], str],
) -> _Record:
    """Measure functions, and say what to write if one does not take a keyword that it was called with.

    Args:
        measure: calls the functions.
        functions: the functions by their labels.
        keywords: the keywords that they were called with.
        words: says what to write, given the keyword.

    Raises:
        TypeError: the function's error, in other words.
    """
    __tracebackhide__ = True
    try:
        return measure()
    except TypeError as error:
        refused = re.search(r"got an unexpected keyword argument '(\w+)'", message_of(error))
        if refused is None or refused[1] not in keywords:
            raise
        label = next((label for label, each in functions.items() if not _may_take(each, refused[1])), None)
        if label is None:  # it comes from a call inside the function
            raise
        raise TypeError(printable(f"{label} takes no keyword {refused[1]}. {words(refused[1])}")) from None


def _may_take(function: Callable[..., Any], keyword: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return keyword in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


#: Other names for a tolerance of outputs; ``rtol`` is an option that says when to stop.
_TOLERANCES = ("atol", "tol", "tolerance")


def meant_option(keyword: str, options: Sequence[str]) -> str:
    """Say which option of a verb a keyword may have been meant for, and where the others go."""
    if keyword in _TOLERANCES:
        return "The tolerance of outputs is check=1e-3, or check=(rtol, atol)."
    close = difflib.get_close_matches(keyword, options, 1)
    meant = f"Did you mean {close[0]}? " if close else ""
    return f"{meant}Keywords that are not options are passed to the functions."
