"""Compares the function of a failing call, with its remedy applied, with the same call without jit."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from .....records.call_stack import is_users
from .....records.note import note
from .....runtime.around import is_exactly
from .....runtime.clock import Clock, now_ns
from ....analysis.failures.origin import FIRST_TRIES, fallback
from ....record.failure import Failure
from ....record.finding import RuleFinding, Verified
from ...changes import Snapshot
from ...remedies.effects import Effects
from ...remedies.measured_remedy import Run, measured, silenced
from ...remedies.remedy import NotTried
from ...remedies.user_functions import seen_by
from ...side_effects.copied_values import copied, is_copyable
from ...side_effects.foreseen import foreseen
from ...side_effects.random_generators import RandomGenerators
from ...side_effects.written_files import WrittenFiles
from ..calls import value_of, wrapped_function
from ..entries import entries_of
from ..recognize import recognize
from .arguments import Arguments, arguments_of
from .call_values import CallValues
from .double_precision import compared_in_64_bits
from .jit_call import jit_call
from .mended_function import FailingCall, made_static, mend

#: Longer than this, nothing is measured: the effect shows sooner.
_LONGEST_NS = 2 * 10**9

#: The kinds of errors whose remedies are tried: without jit, a function of NumPy and a mask work as well.
_TRIED = *FIRST_TRIES, "numpy", "mask"


def compared_with_fallback(
    error: BaseException, failure: Failure, finding: RuleFinding, budget_ns: int, clock: Clock = now_ns
) -> Verified:
    """Run the call without jit and the mended function in turns, with the arguments of the failing call.

    Never raises. A remedy that cannot be applied mechanically is marked by a note, and so is an interrupt: the
    explanation is kept.
    """
    try:
        return _compared(error, failure, finding, budget_ns, clock)
    except NotTried as problem:
        return Verified(notes=problem.notes)
    except KeyboardInterrupt:
        return Verified(notes=(note("doctor.not_tried_interrupt"),))
    except Exception as problem:
        return Verified(notes=(note("doctor.not_mended_failed", error=type(problem).__name__),))


def _compared(error: BaseException, failure: Failure, finding: RuleFinding, budget_ns: int, clock: Clock) -> Verified:
    site = _site(error, failure)
    if failure.kind not in _TRIED:
        raise NotTried(note("doctor.not_mended_kind"))
    unjitted = fallback(failure, _TRIED)
    if site is None or unjitted is None:
        raise NotTried(note("doctor.no_fallback"))
    function = wrapped_function(site.jitted)
    assert function is not None
    offered = ast.parse(unjitted, mode="eval").body
    assert isinstance(offered, ast.Call)
    originals = arguments_of(offered, site.values)
    plain = _with_copies(originals)
    variables = {function.__name__: function, **seen_by(function), **_by_name(function, plain)}
    _refuse_foreseen(function)
    effects = Effects(variables, Snapshot(variables))
    mended, given = mend(failure, finding, site, function, originals)
    with RandomGenerators(variables).kept():
        _ran_once(lambda: function(*plain[0], **plain[1]), effects)
        expected = _with_arrays(function, plain, made_static(finding))
        deadline_ns = clock() + budget_ns
        ran = measured(
            Run(lambda: function(*plain[0], **plain[1])),
            Run(lambda: mended(*given[0], **given[1])),
            budget_ns=min(budget_ns // 3, _LONGEST_NS),  # outputs may be compared once more afterwards
            deadline_ns=deadline_ns,
            clock=clock,
            expected=expected,
            dtypes=True,
        )
        compared = compared_in_64_bits(
            ran.verified, (function, plain), (mended, given), deadline_ns, clock, ran.outputs
        )
        found = compared.verified
    about = [note("doctor.mended", function=site.call.function, code=unjitted)]
    about += [] if expected is None else [note("doctor.mended_arrays")]
    notes = tuple(each for each in found.notes if each.kind != "doctor.tried_runs")
    runs = [each.facts for each in found.notes if each.kind == "doctor.tried_runs"]
    counted = [
        note(
            "doctor.mended_runs",
            without=int(each["before_runs"]) + (1 if expected is None else 2) + compared.plain_runs,
            mended=int(each["after_runs"]) + compared.mended_runs,
        )
        for each in runs
    ]
    return Verified(
        before_ns=found.before_ns,
        after_ns=found.after_ns,
        speedup=found.speedup,
        low=found.low,
        high=found.high,
        outputs_agree=found.outputs_agree,
        notes=(*about, *notes, *counted),
    )


def _refuse_foreseen(function: FunctionType) -> None:
    """Refuse a function that writes files, or changes what no variable shows, as its source says."""
    found = foreseen(None, {function.__name__: function})
    if names := [*found.written, *found.called]:
        raise NotTried(note("doctor.fallback_foreseen", name=names[0]))


def _ran_once(call: Callable[[], Any], effects: Effects) -> None:
    """Run the call without jit, which must leave everything that it can see as it is, and write no files."""
    files = WrittenFiles()
    try:
        with silenced(), files.observed():
            call()
    except KeyboardInterrupt:
        raise NotTried(note("doctor.not_tried_interrupt"), note("doctor.mended_runs", without=1, mended=0)) from None
    except Exception as error:
        raise NotTried(note("doctor.fallback_failed", error=type(error).__name__)) from None
    changed = [*(each.path for each in effects.changed()), *files.paths, *files.started]
    if changed:
        raise NotTried(note("doctor.fallback_changes", name=changed[0]))
    if files.traced:
        raise NotTried(note("doctor.fallback_changes", name="a trace of JAX's profiler"))


def _with_arrays(function: FunctionType, plain: Arguments, static: Sequence[str]) -> Any:
    """Return what the function returns without jit for arrays in place of Python's floats; ``None`` without any.

    Python computes with 64 bits, and JAX under jit with the bits of its arrays. It is ``None`` as well if that fails.
    """
    import jax

    def traced(name: str, value: Any) -> Any:
        kinds = () if name in static else (float, complex)
        return jax.tree.map(lambda each: jax.numpy.asarray(each) if is_exactly(each, *kinds) else each, value)

    names = [*function.__code__.co_varnames[: function.__code__.co_argcount], *[""] * len(plain[0])]
    args = [traced(*each) for each in zip(names, plain[0], strict=False)]
    kwargs = {name: traced(name, each) for name, each in plain[1].items()}
    if all(map(operator.is_, jax.tree.leaves((args, kwargs)), jax.tree.leaves(plain))):
        return None
    try:
        with silenced():
            return function(*args, **kwargs)
    except Exception:
        return None


def _site(error: BaseException, failure: Failure) -> FailingCall | None:
    """Return the call that the failure names; what it passed is in the frames of the traceback."""
    recognized = recognize(error)
    entries = [] if recognized is None else entries_of(recognized)
    users = [each for each in entries if is_users(each.where)]
    if failure.call is None:
        return None
    for each in reversed(users):
        place, innermost = each.place, entries[-1].frame
        if each.where == failure.call.frame and isinstance(place.node, ast.Call):
            call = jit_call(each, innermost)
            if call is not None and call.function == failure.call.function:
                jitted, values = value_of(place.node.func, each.frame), CallValues(place, each.frame, innermost)
                return FailingCall(values, place.node, jitted, call, users[-1].place)
    return None


def _with_copies(arguments: Arguments) -> Arguments:
    """Return arguments with copies of the containers, which the function may change; arrays of JAX stay the same."""
    import jax

    def copy(value: Any) -> Any:
        if not is_copyable(value):
            return value
        return jax.tree.map(lambda each: each if isinstance(each, jax.Array) else copied(each), value)

    return [copy(each) for each in arguments[0]], {name: copy(each) for name, each in arguments[1].items()}


def _by_name(function: FunctionType, arguments: Arguments) -> dict[str, Any]:
    """Return arguments by their parameters, which are told from variables of that name."""
    code = function.__code__
    names = [*code.co_varnames[: code.co_argcount], *(f"argument {number}" for number in range(len(arguments[0])))]
    named = dict(zip(names, arguments[0], strict=False))
    return {f"the argument {name}": each for name, each in {**named, **arguments[1]}.items()}
