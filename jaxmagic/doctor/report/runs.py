"""Words how often the code of a diagnosis ran, what its first run compiled, and lower bounds of what was counted."""

from __future__ import annotations

from collections.abc import Sequence

from ... import units
from ...compilation.record.compilation import Compilation
from ...records.names import listed
from ...records.note import Note
from ...terminal import printable
from ..record.diagnosis import Diagnosis
from ..rules.all import RULES
from ..rules.host.loading import LEAST_LOADING_NS
from ..rules.rule import LEAST_IDLE, LEAST_SHARE

#: The kinds of notes that follow on how long the device is idle.
ABOUT_HOST = ("doctor.host_lines",)

#: The kinds of causes that name what differs from an earlier call, and at most so many of the functions are named.
_DIFFERS = frozenset(
    {"shape", "dtype", "weak type", "static value", "pytree", "placement", "context", "new function"}
)
_MOST_NAMES = 3


def is_incomplete(diagnosis: Diagnosis) -> bool:
    """Return whether an exception ended the first run."""
    ended = [each for each in diagnosis.notes if each.kind in ("doctor.ended_early", "doctor.interrupted")]
    return any(not each.facts.get("complete") for each in ended)


def found_nothing(diagnosis: Diagnosis) -> str:
    """Word that rules found no problem, how many of them, and what they could not see."""
    missing = [str(each.facts["rules"]) for each in diagnosis.notes if each.kind == "doctor.not_looked"]
    once = any(each.kind.startswith("doctor.once_") for each in diagnosis.notes)
    failed = sum(each.kind == "doctor.rule_failed" for each in diagnosis.notes)
    stopped = any(each.kind == "doctor.interrupted" for each in diagnosis.notes)
    but = [
        *([f"{units.count(failed, 'rule')} failed"] if failed else []),
        *(["jit was disabled"] if any(each.kind == "doctor.jit_disabled" for each in diagnosis.notes) else []),
        *(["the code ran only once"] if once and not missing else []),
        *(["the last run was interrupted"] if stopped else []),
        *(["the host keeps the device idle"] if any(each.kind in ABOUT_HOST for each in diagnosis.notes) else []),
        *(map(_made, (each for each in diagnosis.notes if each.kind == "doctor.made_by_the_code"))),
        *(map(_unjudged, (each for each in diagnosis.notes if each.kind == "doctor.host_unjudged"))),
        *(map(_unsampled, (each for each in diagnosis.notes if each.kind == "doctor.input_unjudged"))),
    ]
    incomplete = f", but {' and '.join(but)}" if but else ""
    if not once or not missing:
        return f"No rule found a problem{incomplete}"
    looked, others = len(diagnosis.looked), sum(len(each.split(", ")) for each in missing)
    return f"{looked} of {looked + others} rules found no problem, and the others need further runs{incomplete}"


def _made(found: Note) -> str:
    """Word that the code compiles functions in each run that it makes itself."""
    return f"each run compiles what the code makes, for {units.time(float(found.facts['compile_ns']))}"


def _unjudged(found: Note) -> str:
    """Word that rules could not judge, and why."""
    times = units.number(float(found.facts["times"]), 2)
    return f"{found.facts['rules']} could not judge: under the profiler, a run took {times} times as long"


def _unsampled(found: Note) -> str:
    """Word that loading of data could not be judged, and why."""
    slower = "the run with samples of the host was slower" if found.facts["slower_ns"] else "its samples are too few"
    return f"input-bound could not judge: {slower}"


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
