"""Handle programs that run on devices of several JAX processes, which all have to call them equally often."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

from ..errors import NotMeasured
from . import private_api
from .executed_programs import ObservedPrograms, watch

#: The factors of a program's device count, in the first line of its text; a missing factor is 1.
_COUNTS = re.compile(r"\b(?:num_partitions|replica_count)=(\d+)")


def are_several() -> bool:
    """Return whether this is one of several JAX processes, without starting a backend."""
    if not private_api.backends_started():
        return False
    import jax

    return bool(jax.process_count() > 1)


@contextmanager
def noticing() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns, after the block, whether a program in it ran on devices of other processes."""
    if not are_several():
        yield lambda: False
        return
    with watch() as observed:
        yield lambda: spans(observed)


def spans(observed: ObservedPrograms) -> bool:
    """Return whether a program ran on devices of other processes, or may have, if this JAX cannot be observed."""
    return are_several() and (observed.ran is None or any(map(_spans, observed.ran)))


def _spans(program: Any) -> bool:
    head = program.hlo_modules()[0].to_string().partition("\n")[0]
    return prod(map(int, _COUNTS.findall(head))) > len(program.local_devices())


def refuse_to_count(elsewhere: bool, *, counted: bool = False) -> None:
    """Refuse to choose the number of calls of code that runs on devices of several processes.

    Args:
        elsewhere: whether the code runs on devices of several processes.
        counted: whether the user has given the number of calls.

    Raises:
        NotMeasured: each process would choose by its own clock.
    """
    if elsewhere and not counted:
        raise NotMeasured(
            "This runs on devices of several JAX processes. Each process would choose the number of calls by its own "
            "clock, and one with more calls would wait for the others forever. Give the same number in each process, "
            "as in %jaxtimeit -n 1 -r 20, or time one call with %jaxtime or jaxmagic.stopwatch()."
        )
