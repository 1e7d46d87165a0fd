"""Functions and their arguments as candidates that can be measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ...benchmarking.capture.runner import runner_of
from ...runtime.functions import is_folded, name_of
from .contestants import Call, Entry
from .derivatives import Moded, derivative


def entries_of(
    functions: Mapping[str, Callable[..., Any]],
    moded: Sequence[Moded],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    setup: Callable[[], Iterable[Any]] | None = None,
) -> dict[str, Entry]:
    """The candidates by their labels.

    Args:
        functions: by the labels that they were given.
        moded: which of them, and which of their derivatives.
        args: positional arguments of all.
        kwargs: keyword arguments of all.
        setup: makes the positional arguments before every sample, in place of `args`.
    """
    found = {}
    for each in moded:
        given = functions[each.of]
        fn = derivative(given, each.mode)
        name = name_of(given)
        found[each.label] = Entry(
            runner=runner_of(fn, args, kwargs, setup),
            code=name if each.mode == "forward" else f"{each.mode} of {name}",
            folded=setup is None and is_folded(fn, args, kwargs),
            like=each.like,
            call=partial(_call, fn, args, kwargs, setup),
        )
    return found


def _call(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], setup: Callable[[], Iterable[Any]] | None) -> Call:
    return fn, args if setup is None else tuple(setup()), kwargs
