"""Declares rules, and the thresholds and the source lines that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from ...profiling.record.profile import OperationTime, Profile
from ...records.call_stack import Frame
from ...records.cell_names import text_of
from ..record.evidence import Evidence
from ..record.finding import RuleFinding

#: Evidence that a rule cannot do without.
Need = Literal["programs", "profile", "repeated", "waits", "lines"]

#: A finding costs at least this share of a run, or of the memory of a program.
LEAST_SHARE = 0.02

#: Notes of a profile that lacks events: the recording ended before the run, or the file is damaged.
_LACKS_EVENTS = "profiling.cut", "profiling.damaged_times"

#: Idle time of the device is a finding from this share of a run on. A smaller share varies with the profiler and with
#: the load of the machine.
LEAST_IDLE = 0.05


class Rule(NamedTuple):
    """A rule.

    Attributes:
        name: its name, for ``--only``.
        looks_for: what it looks for, a sentence.
        decides: how it decides, with its thresholds; sentences.
        source: where the rule is from.
        look: yields what it finds in the evidence.
        needs: the evidence that it cannot do without.
    """

    name: str
    looks_for: str
    decides: str
    source: str
    look: Callable[[Evidence], Iterable[RuleFinding]]
    needs: tuple[Need, ...] = ()


def available(evidence: Evidence) -> set[Need]:
    """Return which evidence there is.

    A profile counts only if it has device time.
    """
    there: dict[Need, bool] = {
        "programs": evidence.programs is not None,
        "profile": evidence.profile is not None and bool(evidence.profile.device_uses),
        "repeated": evidence.repeated,
        "waits": evidence.waits is not None,
        "lines": evidence.host is not None,
    }
    return {need for need, is_there in there.items() if is_there}


def lacks_events(evidence: Evidence) -> bool:
    """Return whether the recording has only a part of a run: its counts and times are lower bounds."""
    return evidence.profile is not None and any(each.kind in _LACKS_EVENTS for each in evidence.profile.notes)


def source_at(line: Frame | None) -> str | None:
    """Return the text of a line, without its indentation; ``None`` if it cannot be read."""
    if line is None:
        return None
    lines = text_of(line.file)
    return lines[line.line - 1].strip() or None if 0 < line.line <= len(lines) else None


def is_worth_it(cost_ns: float, evidence: Evidence) -> bool:
    """Return whether a cost in every run is large enough to be a finding."""
    return cost_ns >= LEAST_SHARE * evidence.run_ns


def device_time(operations: Iterable[OperationTime], evidence: Evidence) -> float:
    """Return the device time of operations in one undisturbed run, on one device.

    Runs under the profiler take longer, the operations as well as what is between them. An operation that was
    executed several times counts with its median time: a busy machine makes single executions longer.
    """
    profile = evidence.profile
    assert profile is not None
    slowdown = max(_recorded_ns(profile) / max(evidence.run_ns, 1), 1.0)
    return _per_run(operations, profile) / slowdown


def least_device_time(operations: Sequence[OperationTime], evidence: Evidence) -> float:
    """Return how much of :func:`device_time` is certain.

    One execution does not show whether it was disturbed. All that the recorded run took longer than an undisturbed
    one may have been in the operations that were executed once.
    """
    profile = evidence.profile
    assert profile is not None
    longer_ns = max(_recorded_ns(profile) - undisturbed_ns(evidence), 0)
    single = _per_run((each for each in operations if each.median_ns is None), profile)
    repeated = device_time((each for each in operations if each.median_ns is not None), evidence)
    return repeated + max(single - longer_ns, 0)


def undisturbed_ns(evidence: Evidence) -> int:
    """Return how long a run takes at most if nothing disturbs it.

    That is as long as the shortest run, and on the CPU no longer than any run kept a processor busy: where other
    processes have taken the processors, all runs take longer.
    """
    runs = [each for each in (*evidence.timed, evidence.observed) if not each.compilations] or [evidence.typical]
    times = [each.wall_ns for each in runs]
    if evidence.first.environment.backend == "cpu":
        times += [each.cpu_user_ns + each.cpu_system_ns for each in runs]
    return min(times)


def _per_run(operations: Iterable[OperationTime], profile: Profile) -> float:
    return sum(each.usual_ns for each in operations) / (profile.runs or 1) / max(len(profile.device_uses), 1)


def _recorded_ns(profile: Profile) -> float:
    """Return how long one of the recorded runs took."""
    return profile.recorded_ns / (profile.runs or 1)
