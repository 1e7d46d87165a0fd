"""Runs inside a fresh process: reads a job from standard input, and writes its result to standard output.

The parent writes four pickles: ``sys.path``, JAX's settings, a job and its argument. ``sys.path`` has already been
read when this module is imported. Standard output is reserved for the result, so whatever the code prints goes to
standard error.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...errors import message_of
from ...runtime.copies import unguarded
from ...tracebacks import without_ours

#: The program of a fresh process. It sets the parent's path first, because this module is imported from there.
PROGRAM = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); import {module}; {module}.main()"


class Failure(NamedTuple):
    """An exception in a fresh process.

    Attributes:
        kind: the name of its class.
        message: its text.
        lines: its traceback as text.
    """

    kind: str
    message: str
    lines: str


def main() -> None:
    """Run the job that the parent sends, and write its pickled result or failure."""
    result = os.dup(1)
    os.dup2(2, 1)  # what the user's code prints must not mix with the result
    outcome: object
    try:
        apply_settings(pickle.load(sys.stdin.buffer))
        job: Callable[[Any], object] = pickle.load(sys.stdin.buffer)
        outcome = job(unguarded(pickle.load, sys.stdin.buffer))  # it may put arrays on devices
    except Exception as error:
        lines = traceback.format_exception(error.with_traceback(without_ours(error)))
        outcome = Failure(type(error).__name__, message_of(error), "".join(lines))
    with os.fdopen(result, "wb") as file:
        pickle.dump(outcome, file)


def settings() -> dict[str, Any]:
    """Return the JAX settings that are plain values, as they are now in this thread.

    A default device is no plain value and is sent separately.
    """
    import jax

    values = {name: getattr(jax.config, name, value) for name, value in jax.config.values.items()}
    return {name: value for name, value in values.items() if isinstance(value, bool | int | float | str | None)}


def apply_settings(wanted: Mapping[str, Any]) -> None:
    """Set the JAX settings that differ from the parent's, before a backend starts."""
    import jax

    here = settings()
    for name, value in wanted.items():
        if name in here and here[name] != value:
            jax.config.update(name, value)
