"""Makes candidates that can be measured from functions and their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ...benchmarking.capture.runner import runner_of
from ...runtime.functions import is_folded, is_jitted, name_of
from .contestants import Call, Entry
from .derivatives import Moded, derivative


def entries_of(
    functions: Mapping[str, Callable[..., Any]],
    moded: Sequence[Moded],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    setup: Callable[[], Iterable[Any]] | None = None,
) -> dict[str, Entry]:
    """Make the candidates, by their labels.

    Args:
        functions: the functions, by their own labels.
        moded: which functions and derivatives to measure.
        args: positional arguments of all candidates.
        kwargs: keyword arguments of all candidates.
        setup: makes the positional arguments before every sample, in place of `args`.
    """
    entries = {}
    for candidate in moded:
        function = functions[candidate.of]
        fn = derivative(function, candidate.mode)
        name = name_of(function)
        entries[candidate.label] = Entry(
            runner=runner_of(fn, args, kwargs, setup),
            code=name if candidate.mode == "forward" else f"{candidate.mode} of {name}",
            folded=setup is None and is_folded(fn, args, kwargs),
            like=candidate.like,
            call=partial(_call, fn, args, kwargs, setup) if is_jitted(fn) else None,
        )
    return entries


def _call(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], setup: Callable[[], Iterable[Any]] | None) -> Call:
    return fn, args if setup is None else tuple(setup()), kwargs
