"""Checks the candidates that are passed to a verb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from ...terminal import printable
from ..record.candidate import CheckKind


def labels_of(candidates: Mapping[str, Any], check: str) -> list[str]:
    """Return the labels of the candidates, after checking them and `check`."""
    if check not in get_args(CheckKind):
        raise ValueError(f"check: expected one of {', '.join(get_args(CheckKind))}, got {check!r}")
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
