"""Tells what rules cannot judge: in a run that took long under the profiler, or on an old Python.

Where the recording has only a part of a run, what was counted and timed in it becomes a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...records.note import Note, note
from ..record.evidence import Evidence, HostUse
from ..record.finding import RuleFinding
from .all import RULES
from .host.host_time import best_run, host_time, matters
from .rule import Rule, lacks_events

#: From this many times as long on, it is unknown how much of the host's time in the recorded run is the profiler's.
_MANY_TIMES = 2.0

#: The first Python in which JAX notices that other code reads the memory of an array.
_SHOWS_READS = (3, 12)

#: The rules whose times per run are from the recording.
_FROM_RECORDING = frozenset({*(each.name for each in RULES if "profile" in each.needs), "sharding"})

#: The notes that tell what was counted, or for how long something took, in the recording.
# fmt: off
_COUNTED = frozenset(f"doctor.{each}" for each in (
    "not_jitted", "eager_on_device", "transformed_calls", "dispatch_bound", "transfer", "converted_again", "in_turn",
    "converted_list", "many_numbers", "host_callback", "host_wait_idle", "same_result", "same_arguments",
    "repeated_sort", "repeated_sort_time", "sort_time", "dominant_time", "double_inputs", "slow_products",
    "moved", "exposed_most", "donation", "eager_updates",
))
# fmt: on


def unjudged(rules: Sequence[Rule], evidence: Evidence) -> Note | None:
    """Return a note on rules that find nothing, but would if the profiler slowed only the device down; or ``None``.

    They take their times from the recorded run, and count less of each the longer it took. Where all is slowed down
    alike, that is right; but the profiler, and other processes, may have slowed down other work than theirs.

    Args:
        rules: the rules about the host that found nothing.
        evidence: the observations of the runs.
    """
    profile, use = evidence.profile, evidence.host_use
    if profile is None or use is None or not evidence.repeated:
        return None
    runs, best_ns = max(profile.runs or 1, 1), best_run(evidence).wall_ns
    times = profile.recorded_ns / runs / max(best_ns, 1)
    if times < _MANY_TIMES:
        return None
    kept = replace(evidence, host_use=_at_own_pace(use, times))
    names = [rule.name for rule in rules if any(each.cost_ns is not None for each in rule.look(kept))]
    return note("doctor.host_unjudged", rules=" and ".join(names), count=len(names), times=times) if names else None


def reads_unseen(evidence: Evidence) -> Note | None:
    """Return a note that waits of NumPy may be what the device idles for, where nothing shows them; or ``None``.

    Before Python 3.12, NumPy reads the memory of the CPU's arrays without any function of JAX.
    """
    environment, time = evidence.first.environment, host_time(evidence)
    version = tuple(int(each) for each in environment.python.split(".")[:2])
    if environment.backend != "cpu" or version >= _SHOWS_READS or time is None or not matters(time.late_ns, evidence):
        return None
    return note("doctor.reads_unseen", python=environment.python)


def _at_own_pace(use: HostUse, times: float) -> HostUse:
    """Return what rules see that shorten all times: the host's are as recorded, and those of the device shorter."""

    def longer(record: Any, *names: str) -> dict[str, Any]:
        return {name: round(getattr(record, name) * times) for name in names}

    calls = tuple(
        replace(
            each,
            busy_ns=round(each.busy_ns / times),
            **longer(each, "host_ns", "exposed_ns", "after_wait_ns", "pending_ns", "put_ns"),
        )
        for each in use.dispatches
    )
    return replace(use, dispatches=calls, **longer(use, "idle_ns", "waited_ns", "put_ns"))


def as_lower_bounds(findings: Iterable[RuleFinding], evidence: Evidence) -> list[RuleFinding]:
    """Return the findings, with lower bounds of what was counted and timed in a recording that lacks events."""
    on_cpu = evidence.first.environment.backend == "cpu"
    return [_as_lower_bound(each, on_cpu=on_cpu) if lacks_events(evidence) else each for each in findings]


def _as_lower_bound(finding: RuleFinding, *, on_cpu: bool) -> RuleFinding:
    is_part = finding.cost_ns is not None and finding.per == "run" and finding.rule in _FROM_RECORDING
    if on_cpu and finding.found.kind == "doctor.host_wait":  # without waits, host and device share the processors
        is_part = False
    return replace(
        finding,
        found=_least(finding.found),
        evidence=tuple(map(_least, finding.evidence)),
        basis="at least" if is_part else finding.basis,
    )


def _least(told: Note) -> Note:
    return replace(told, facts=told.facts | {"least": 1}) if told.kind in _COUNTED else told


def about_part(looked: Iterable[str], evidence: Evidence) -> Note | None:
    """Return a note on a recording that lacks events, if one of the rules that looked judges by it."""
    if not lacks_events(evidence) or evidence.profile is None or not evidence.profile.recorded_ns:
        return None
    if _FROM_RECORDING.isdisjoint(looked):
        return None
    return note("doctor.recorded_part", recorded_ns=evidence.profile.recorded_ns)
