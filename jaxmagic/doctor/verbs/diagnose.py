"""Diagnoses a call: what costs time or memory, and what to do about it."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...progress.bar import shown_progress
from ...records.names import type_in_words
from ...runtime.functions import name_of
from ...runtime.given import nanoseconds, whole
from ...runtime.given_arguments import measured_by
from ...session.verbs import history
from ...timing.capture.recorded_calls import record_calls
from ...tracebacks import of_the_user
from ..capture.remedies.tried_code import TriedCode
from ..capture.runs.examination import Examination
from ..record.diagnosis import Diagnosis
from ..record.evidence import Evidence
from ..rules.all import RULES
from ..rules.examine import Examined, examine

#: The time for trying remedies, in seconds.
BUDGET_S = 30.0


@of_the_user
def diagnose(
    fn: Callable[..., Any],
    *args: Any,
    only: str | Sequence[str] = (),
    repeat: bool = False,
    memory_bytes: int | None = None,
    verify: bool = False,
    budget_s: float = BUDGET_S,
    **kwargs: Any,
) -> Diagnosis:
    """Call a function a few times, and find what costs time or memory.

    The function is called once, once more with its waits and lines recorded, then twice without anything else
    (once where that takes long, or compiles), and once under the JAX profiler. If the first call donates or changes
    its arguments, or anything else that can be seen from the function, writes files or starts programs, it stays the
    only one.

    Args:
        fn: the function, jitted or not. Its results are discarded.
        args: positional arguments of `fn`.
        only: the name of a rule to apply, or several; all of them if left out.
        repeat: call the function again even if it changes what it reads.
        memory_bytes: the memory of a device to try against; the device's own if left out.
        verify: try the remedies on a copy, where they can be applied mechanically: ``finding.verified`` says what
            each gained. The function is called again for that, as often as the notes in there say. An interrupt ends
            it, and what was tried is kept.
        budget_s: how long that may take, in seconds. A call that has begun ends later.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record, which ``history()`` keeps as well. ``findings`` has the most costly finding first; compiling
        that only a cache spares comes last.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: there is no rule of a name in `only`, `memory_bytes` is not a positive integer, or `budget_s` is
            not a positive number.
        NotMeasured: the JAX profiler is running already.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> def step(x):
    ...     return jax.jit(lambda x: jnp.sin(x) @ x)(x)
    >>> diagnosis = jaxmagic.diagnose(step, jnp.ones((100, 100)))
    >>> diagnosis.findings[0].rule, diagnosis.findings[0].per
    ('recompile', 'run')
    """
    if not callable(fn):
        raise TypeError(
            f"diagnose(): expected a function and its arguments, got {type_in_words(fn)}, which cannot be called. "
            "Write diagnose(f, x), not diagnose(f(x))."
        )
    watch = examination(only=only, repeat=repeat, memory_bytes=memory_bytes, verify=verify, budget_s=budget_s)
    watch.see(None, {name_of(fn): fn, **_named(fn, args, kwargs)}, TriedCode.of_call(fn, args, kwargs))

    def call_of_the_user() -> Any:
        return fn(*args, **kwargs)

    def record() -> Diagnosis:
        record_calls(watch, call_of_the_user, name_of(fn))
        return watch.record

    return measured_by(diagnose, record, fn, args, kwargs)


def require_rules(name: str, given: Sequence[str]) -> None:
    """Check that there is a rule of each name that an argument was given.

    Raises:
        TypeError: it was given something else.
        ValueError: there is none; the message proposes a similar name.
    """
    names = [each.name for each in RULES]
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{name}: expected names of rules, got {type_in_words(given)}. Write for example {name}=['recompile']"
        )
    for unknown in (each for each in given if each not in names):
        close = difflib.get_close_matches(str(unknown), names, 1)
        if close:
            raise ValueError(f"{name}: expected names of rules, got {unknown!r}. Write {close[0]}")
        raise ValueError(f"{name}: expected names of rules ({', '.join(names)}), got {unknown!r}")


def examination(
    *,
    only: str | Sequence[str] = (),
    repeat: bool = False,
    memory_bytes: int | None = None,
    verify: bool = False,
    budget_s: float = BUDGET_S,
) -> Examination:
    """Make the recorder of ``%jaxdoctor``, which adds its record to the session's history.

    Raises:
        ValueError: there is no rule of a name in `only`, `memory_bytes` is not a positive integer, or `budget_s` is
            not a positive number.
    """
    budget_ns = nanoseconds(budget_s)
    only = (only,) if isinstance(only, str) else only
    require_rules("only", only)
    return Examination(
        partial(_examined, only=tuple(only)),
        repeat=repeat,
        limit_bytes=None if memory_bytes is None else whole("memory_bytes", memory_bytes),
        verify_ns=budget_ns if verify else None,
        record=history().append,
        progress=shown_progress(),
    )


def _examined(evidence: Evidence, only: Sequence[str]) -> Examined:
    """Apply the rules to the evidence, and to what the session has measured before."""
    kinds = "shape", "static value"
    earlier = (each for record in history() for each in record.compilations if each.cause.kind in kinds)
    return examine(replace(evidence, earlier=tuple(earlier)), only)


def _named(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by the names of the function's parameters."""
    try:
        return dict(inspect.signature(fn).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return {**{f"args[{number}]": each for number, each in enumerate(args)}, **kwargs}
