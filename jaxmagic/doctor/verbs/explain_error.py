"""Provides ``explain_error()``, which explains an exception that JAX raised."""

from __future__ import annotations

from ...errors import NotMeasured, briefly
from ...progress.bar import shown_progress
from ...records.note import note
from ...runtime.around import is_a, of_type
from ...runtime.clock import timestamp
from ...runtime.environment import probe
from ...runtime.given import nanoseconds, whole
from ...runtime.jax_version import require_jax
from ...session.shown_errors import last_quoted, last_seen, ran_nothing
from ...session.verbs import keep
from ...tracebacks import of_the_user
from ..analysis.failed_trial import revised
from ..analysis.failures.explanation import explanation
from ..capture.failures.failure import read_failure
from ..capture.failures.jit_calls.mended import compared_with_fallback
from ..capture.failures.memory.out_of_memory import Limits
from ..capture.failures.recognize import is_from_jax
from ..record.diagnosis import Diagnosis

#: The time for trying a remedy, or for compiling variants that need less memory, in seconds.
BUDGET_S = 30.0

#: The kinds of errors whose remedies are tried anyway: variants of the program are compiled.
_TRIED_OTHERWISE = ("memory",)


@of_the_user
def explain_error(
    error: BaseException | None = None,
    *,
    memory_bytes: int | None = None,
    verify: bool = False,
    budget_s: float = BUDGET_S,
) -> Diagnosis:
    """Explain an exception that JAX raised, on the line of your own code.

    The explanation names the traced value, the argument and the function it comes from, and what to write instead.
    What cannot be known from the exception and its traceback is said to be unknown. The record holds no frame and no
    array, and is in ``history()`` as well.

    If memory ran out in a call of a jitted function, the function is compiled again, and variants that may need less
    memory until one fits: with donated arguments, with ``jax.checkpoint()``, with the batch in parts or sharded,
    with bfloat16. None of them runs, but JAX may trace the function again.

    For NaN inside a loop or a branch, the steps that JAX traced are computed again, for up to two seconds besides
    compiling, to name the operation. No code of yours runs for that. It needs the frames that JAX keeps in IPython,
    or with ``jax_traceback_filtering`` set to ``"off"``.

    Args:
        error: the exception; if left out, the last one that Python or IPython has shown.
        memory_bytes: the memory of a device, into which a variant has to fit; the device's own if left out.
        verify: for a traced value where Python needs a number or a truth value, or NumPy an array, for a mask as an
            index, and for static arguments that are not hashable: run the function without jit, and with the remedy
            under jit where that can be applied mechanically, with the arguments of the failing call.
            ``finding.verified`` says whether both compute the same, and how many times as fast the corrected function
            is, or why nothing was tried.
        budget_s: how long that, or compiling variants, may take, in seconds. What has begun ends later.

    Returns:
        The record. It has one finding, or none and a note if the exception was not raised by JAX or is not known.

    Raises:
        TypeError: `error` is not an exception.
        ValueError: `memory_bytes` is not a positive integer, or `budget_s` is not a positive number.
        NotMeasured: no exception has been shown yet, or the last one is about usage, such as an unknown option.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jaxmagic
    >>> @jax.jit
    ... def relu(x):
    ...     if x > 0:
    ...         return x
    ...     return 0.0
    >>> try:
    ...     relu(1.0)
    ... except jax.errors.TracerBoolConversionError as error:
    ...     diagnosis = jaxmagic.explain_error(error)
    >>> print(diagnosis.findings[0].found)
    x > 0 (bool[]) is traced, so it has no value that is true or false yet, but an if statement needs one.
    >>> print(diagnosis.findings[0].evidence[-1])
    To go on now, call relu without jit: relu.__wrapped__(1.0)
    """
    return explained(error, memory_bytes=memory_bytes, verify=verify, budget_s=budget_s)


def explained(
    error: BaseException | None, *, memory_bytes: int | None, verify: bool, budget_s: float, earlier: bool = False
) -> Diagnosis:
    """Do what :func:`explain_error` does.

    Args:
        error: as there, like the arguments after it.
        memory_bytes: see there.
        verify: see there.
        budget_s: see there.
        earlier: whether other cells have run since the error was shown.
    """
    notes = [note("doctor.error_earlier")] if earlier else []
    if error is None:
        error = _last()
        if error is not last_seen():
            notes = [note("doctor.error_before_usage")]
    if not is_a(error, BaseException):
        raise TypeError(
            f"explain_error(): expected an exception, got {of_type('__name__', type(error))}. Write explain_error() "
            "for the last error that was shown, or explain_error(error) behind except Exception as error:"
        )
    budget_ns = nanoseconds(budget_s)
    require_jax()
    given = None if memory_bytes is None else whole("memory_bytes", memory_bytes)
    with shown_progress() as progress:
        limits = Limits(given, budget_ns, stage=lambda text: progress.stage(text, ticking=False))
        failure = read_failure(error, limits)
        finding = None if failure is None else explanation(failure)
        if finding is not None and failure is not None and verify and failure.kind not in _TRIED_OTHERWISE:
            finding = revised(finding, compared_with_fallback(error, failure, finding, budget_ns))
    if failure is None:
        name = of_type("__name__", type(error))
        unknown = note("doctor.error_unknown", error=name)
        notes.append(note("doctor.error_unexplained", error=name) if is_from_jax(error) else unknown)
    return keep(
        Diagnosis(
            code=None if failure is None else failure.source,
            started_at=timestamp(),
            findings=() if finding is None else (finding,),
            looked=("error",),
            error=of_type("__name__", type(error)),
            notes=tuple(notes),
            environment=probe(),
        )
    )


#: The magic that explains errors: a mistake in its use does not change which error is to be explained.
_MAGIC = "jaxdoctor"

_HOW = "Run the cell that fails, then %jaxdoctor; or pass an exception, jaxmagic.explain_error(error)."


def _last() -> BaseException:
    """Return the last exception that was shown, unless it is about usage, which says itself what to write."""
    error = last_seen(_MAGIC)
    if not isinstance(error, BaseException):
        raise NotMeasured(f"There is no error of JAX to explain: none has been shown in this session. {_HOW}")
    if ran_nothing(error):
        last = briefly(last_quoted() or error)
        raise NotMeasured(f"There is no error of JAX to explain: the last one is not of JAX ({last}). {_HOW}")
    return error
