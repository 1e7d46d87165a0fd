"""The inside of a fresh process: reads a job from standard input, and writes its result to standard output.

The parent writes three pickles: ``sys.path``, JAX's settings, and after these a job with its argument. ``sys.path``
has been read when this module is imported. What the code prints goes to standard error, because standard output
belongs to the result.
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
from ...runtime.tracebacks import without_ours

#: What the interpreter of a fresh process is given: only with the parent's path can this module be imported.
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
    """Do what the parent asks for, and write a pickle of the result, or of the failure."""
    result = os.dup(1)
    os.dup2(2, 1)  # what the user's code prints must not mix with the result
    found: object
    try:
        apply_settings(pickle.load(sys.stdin.buffer))
        job: Callable[[Any], object] = pickle.load(sys.stdin.buffer)
        found = job(unguarded(pickle.load, sys.stdin.buffer))  # what the parent had on its devices
    except Exception as error:
        lines = traceback.format_exception(error.with_traceback(without_ours(error)))
        found = Failure(type(error).__name__, message_of(error), "".join(lines))
    with os.fdopen(result, "wb") as file:
        pickle.dump(found, file)


def settings() -> dict[str, Any]:
    """The settings of JAX that are plain values, as they are now in this thread.

    The default device is a device, and is sent apart.
    """
    import jax

    found = {name: getattr(jax.config, name, value) for name, value in jax.config.values.items()}
    return {name: value for name, value in found.items() if isinstance(value, bool | int | float | str | None)}


def apply_settings(wanted: Mapping[str, Any]) -> None:
    """Set the settings of JAX that differ from the parent's, before a backend starts."""
    import jax

    here = settings()
    for name, value in wanted.items():
        if name in here and here[name] != value:
            jax.config.update(name, value)
