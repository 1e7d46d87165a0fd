"""Words how often the code of a diagnosis ran, what its first run compiled, and lower bounds of what was counted."""

from __future__ import annotations

from collections.abc import Sequence

from ... import units
from ...compilation.record.compilation import Compilation
from ...records.names import listed
from ...terminal import printable
from ..record.diagnosis import Diagnosis
from ..rules.all import RULES
from ..rules.host.loading import LEAST_LOADING_NS
from ..rules.rule import LEAST_IDLE, LEAST_SHARE

#: The kinds of causes that name what differs from an earlier call, and at most so many of the functions are named.
_DIFFERS = frozenset(
    {"shape", "dtype", "weak type", "static value", "pytree", "placement", "context", "new function"}
)
_MOST_NAMES = 3


def is_incomplete(diagnosis: Diagnosis) -> bool:
    """Return whether an exception ended the first run."""
    ended = [each for each in diagnosis.notes if each.kind in ("doctor.ended_early", "doctor.interrupted")]
    return any(not each.facts.get("complete") for each in ended)


def not_applied(diagnosis: Diagnosis) -> list[str]:
    """Return the names of the rules that could not look, those with the same reason in one text."""
    return [str(each.facts["rules"]) for each in diagnosis.notes if each.kind == "doctor.not_looked"]


def found_nothing(diagnosis: Diagnosis, once: bool) -> str:
    """Word how many rules found no problem, where some could not look because the code ran only once."""
    missing = not_applied(diagnosis)
    if not once or not missing:
        return "No rule found a problem"
    looked, others = len(diagnosis.looked), sum(len(each.split(", ")) for each in missing)
    return f"{looked} of {looked + others} rules found no problem, and the others need further runs"


def about_runs(diagnosis: Diagnosis) -> list[str]:
    """Word how often the code ran, and how many rules looked at it."""
    runs = len(diagnosis.runs)
    if not runs:
        return []
    profiled = " and once under the profiler" if diagnosis.profile is not None and diagnosis.warm else ""
    verb = "was" if len(diagnosis.looked) == 1 else "were"
    rules = f"; {units.count(len(diagnosis.looked), 'rule')} {verb} applied" if diagnosis.looked else ""
    times = "once" if runs == 1 else "twice" if runs == 2 else f"{runs} times"
    return [f"The code ran {times}{profiled}{rules}.{_unreported(diagnosis)}"]


def _unreported(diagnosis: Diagnosis) -> str:
    """Word what remains possible where all rules have found nothing; no rule counts less time per run than this."""
    if diagnosis.findings or is_incomplete(diagnosis) or {*diagnosis.looked} != {each.name for each in RULES}:
        return ""
    return (
        f" No rule reports lost time below {units.percent(LEAST_SHARE)} of a run, or {units.percent(LEAST_IDLE)} "
        f"of its time without compiling where the host keeps the device idle.{_too_short(diagnosis)}"
    )


def _too_short(diagnosis: Diagnosis) -> str:
    """Word from when on loading of data is found, where a run has too few samples of the host for less."""
    if not diagnosis.wall_ns or LEAST_IDLE * diagnosis.wall_ns >= LEAST_LOADING_NS:
        return ""
    return (
        f" Loading of data is found if it takes at least about {units.time(LEAST_LOADING_NS)} per run, because the "
        "host is sampled every millisecond: for less, diagnose more iterations at once."
    )


def about_compiling(diagnosis: Diagnosis, digits: int) -> list[str]:
    """Word how long the first run compiled, unless it did not compile or complete."""
    first, later = diagnosis.first, diagnosis.runs[1:]
    compiled = [] if first is None else [each for each in first.compilations if each.compiled and each.thread is None]
    if first is None or not compiled or is_incomplete(diagnosis):
        return []
    time = units.time(sum(each.total_ns for each in compiled), digits)
    which = "first run" if later else "run"
    sentence = f"The {which} took {units.time(first.wall_ns, digits)}, {time} of it to compile "
    sentence += f"{units.count(len(compiled), 'program')}."
    again = sum(each.compiled for run in later for each in run.compilations)
    others = f" Later runs compiled {units.count(again, 'program') if again else 'nothing'}." if later else ""
    return [f"{sentence}{others}{_compiled_again(compiled)}"]


def _compiled_again(compiled: Sequence[Compilation]) -> str:
    """Say where the causes are of functions that were compiled again, which no finding names."""
    names = [each.function for each in compiled if not each.eager and each.cause.kind in _DIFFERS]
    if not names:
        return ""
    again = printable(listed(list(dict.fromkeys(names)), _MOST_NAMES))
    return f" {again} compiled again: print(jaxmagic.last().runs[0]) says why."


def at_least(quantity: object, least: int) -> str:
    """Word a quantity, which is a lower bound if the recording lacks events."""
    return f"at least {quantity}" if least else str(quantity)
