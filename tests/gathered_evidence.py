"""Gathers the evidence about a call as `jaxmagic.diagnose` does, for tests that change a number in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from jaxmagic.doctor.capture.runs.examination import Examination
from jaxmagic.doctor.record.evidence import Evidence


def evidence_of(function: Callable[..., Any], *args: Any, names: Mapping[str, Any] | None = None) -> Evidence:
    """Call a function a few times, and return what a rule would see.

    Args:
        function: the function.
        args: its arguments.
        names: the variables that lead to arrays; without them, no array has a name.
    """
    gathered: list[Evidence] = []

    def keep(evidence: Evidence) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[Any, ...]]:
        gathered.append(evidence)
        return (), (), ()

    watch = Examination(keep)
    if names is not None:
        watch.see(None, names)
    watch.start()
    try:
        for _ in watch.runs():
            watch.result = function(*args)
            watch.returned(watch.result)
        watch.stop()
    finally:
        watch.cancel()
    return gathered[0]


def with_memory(evidence: Evidence, **sizes: int) -> Evidence:
    """Change the sizes of the only program."""
    assert evidence.programs is not None
    (program,) = evidence.programs
    return replace(evidence, programs=(replace(program, executable=replace(program.executable, **sizes)),))
