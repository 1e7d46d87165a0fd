"""Programs that run on devices of several JAX processes: each process has to call them equally often."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

from ..errors import NotMeasured
from . import private_api
from .executed_programs import ObservedPrograms, watch

#: How many devices a program runs on, in the first line of its text; a number that is missing is one.
_COUNTS = re.compile(r"\b(?:num_partitions|replica_count)=(\d+)")


def are_several() -> bool:
    """Tell whether this is one of several JAX processes; no backend is started to find out."""
    if not private_api.backends_started():
        return False
    import jax

    return bool(jax.process_count() > 1)


@contextmanager
def noticing() -> Iterator[Callable[[], bool]]:
    """Give a function that says, behind the block, whether a program in it ran on devices of other processes."""
    if not are_several():
        yield lambda: False
        return
    with watch() as watched:
        yield lambda: spans(watched)


def spans(watched: ObservedPrograms) -> bool:
    """Tell whether one of these programs ran on devices of other processes, or may have, where JAX does not tell."""
    return are_several() and (watched.ran is None or any(map(_spans, watched.ran)))


def _spans(program: Any) -> bool:
    head = program.hlo_modules()[0].to_string().partition("\n")[0]
    return prod(map(int, _COUNTS.findall(head))) > len(program.local_devices())


def refuse_to_count(elsewhere: bool, *, counted: bool = False) -> None:
    """Refuse to choose how often code is called that runs on devices of several processes.

    Args:
        elsewhere: whether it does.
        counted: whether the user has said how often.

    Raises:
        NotMeasured: each process would choose by its own clock.
    """
    if elsewhere and not counted:
        raise NotMeasured(
            "This runs on devices of several JAX processes. Each of them would choose by its own clock how often to "
            "call it, and those that go on would wait for the others for ever. Say how often, the same in each of "
            "them: %jaxtimeit -n 1 -r 20, or time one call with %jaxtime or jaxmagic.stopwatch()."
        )
