"""Sentences about a profile as a whole."""

from __future__ import annotations

import shlex
from pathlib import PurePath

from ... import units
from ...records.other_load import loaded
from ...timing.report import about_fetch
from ..analysis.devices.bound import Bound, bound_of, runs_differ, slowed_down
from ..record.profile import Profile
from .legend import SPLIT
from .notes import ABOUT_THE_ROOF

#: For learners, with ``--explain``: five lines.
EXPLANATION = (
    "Device time: how long a device was busy. Overlapping operations count once.",
    "Wall time: of a run without the profiler, which itself takes time.",
    "Line: your innermost line of an operation; in: the function that it called.",
    "With calls: includes the functions that the line calls.",
    SPLIT,
)

#: The remedy if only the first run was recorded.
_WITHOUT_COLD = "%jaxprof without --cold, and jaxmagic.profile(), time one."

#: Verdicts that are told with the idle time of the device.
_WITH_IDLE_TIME = {"host": "Host-bound", "neither": "Neither host-bound nor device-bound"}

#: Notes that are the headline of a profile without device time.
WHY_NOTHING = frozenset({"profiling.not_called", "profiling.no_program"})


def headline(profile: Profile) -> str:
    """Summarize device time and wall time."""
    wall = "" if profile.wall_ns is None else f"wall time {units.time(profile.wall_ns)} without the profiler"
    if not profile.device_uses:
        why = {each.kind: str(each) for each in profile.notes if each.kind in WHY_NOTHING}
        if "profiling.not_called" in why:
            return why["profiling.not_called"]
        nothing = why.get("profiling.no_program", "No device time was recorded").removesuffix(".")
        return f"{nothing}{'; ' * bool(wall)}{wall}."
    each = profile.device_ns / len(profile.device_uses) / (profile.runs or 1)
    of = profile.recorded_ns / (profile.runs or 1)
    run = "" if profile.runs is None else " per run"
    devices = len(profile.device_uses)
    several = "" if devices == 1 else f" (mean of {devices} devices; counts are of all)"
    share = units.share(each, max(of, 1))
    device = f"Device time: {units.time(each)}{run}{several}, {share} of the {units.time(of)} under the profiler"
    if profile.whole_ns is not None:  # most of the recording may have no device activity at all
        between = f"the {units.time(of)} from the first operation to the end of the last"
        recording = units.time(profile.whole_ns)
        device = f"Device time: {units.time(each)}{several}, {share} of {between} (recording: {recording})"
    return f"{device}; {wall}" if wall else device


def about_bound(profile: Profile, wall_ns: int | None = None) -> list[str]:
    """Report whether a run is host-bound or device-bound, or why that is not known.

    Args:
        profile: the profile.
        wall_ns: the time per run that the report gives; the time in the profile if left out.
    """
    bound = bound_of(profile)
    if bound is None:
        return []
    device = "the device" if len(profile.device_uses) == 1 else bound.use.device
    share = units.share(bound.busy_ns, bound.run_ns)
    callbacks = units.share(bound.callback_ns, bound.run_ns) if bound.callback_ns else ""
    beside = f" and waiting for host callbacks for {callbacks}" if callbacks else ""
    if bound.limit == "device":
        return [f"Device-bound: {device} is busy for {share} of the run{beside}."]
    if bound.limit not in _WITH_IDLE_TIME:
        return [_unknown(bound, profile, device)]
    part = min(
        (wall_ns or profile.wall_ns or bound.run_ns) / max(bound.run_ns, 1), 1.0
    )  # all times are of the same run
    idle = f"{units.time(bound.idle_ns * part)}{_idle_causes(bound, profile.runs or 1, part)}"
    sentence = f"{device} is busy for {share} of the run and idle for {idle}."
    if callbacks:
        sentence = (
            f"host callbacks take {callbacks} of the run; other operations of {device} take {share}, and it is idle "
            f"for {idle}.{_callbacks_recorded(bound, profile)}"
        )
    return [f"{_WITH_IDLE_TIME[bound.limit]}: {sentence}{_runs_that_differ(bound, profile)}"]


def about_host(profile: Profile) -> list[str]:
    """Say what looks for the cause if the host limits code that can be run again."""
    bound = bound_of(profile)
    if bound is None or bound.limit != "host" or profile.code is None or profile.error is not None:
        return []
    return ["%jaxdoctor with the same code looks for the cause, and for a remedy."]


def _callbacks_recorded(bound: Bound, profile: Profile) -> str:
    """Say where the share of callbacks is from, if the run without the profiler was much shorter."""
    recorded_ns = (profile.recorded_ns or 0) / (profile.runs or 1)
    if recorded_ns <= bound.run_ns:
        return ""
    return (
        f" Callbacks take that share of the recorded run, which took {units.time(recorded_ns)}; without the "
        f"profiler, it took {units.time(bound.run_ns)}."
    )


def _runs_that_differ(bound: Bound, profile: Profile) -> str:
    """Say that the recorded run was shorter, if its device was then busy for another part of it."""
    if not runs_differ(profile, bound.busy_ns):
        return ""
    recorded_ns = (profile.recorded_ns or 0) / (profile.runs or 1)
    return (
        f" That is of the {units.time(profile.wall_ns or 0)} without the profiler; the recorded run took "
        f"{units.time(recorded_ns)}, with the device busy for {units.share(bound.busy_ns, recorded_ns)}."
    )


def _unknown(bound: Bound, profile: Profile, device: str) -> str:
    """Say that the verdict is not known, and why."""
    wall_ns = profile.wall_ns or 1
    if bound.limit == "not timed":
        why = "none was timed without the profiler"
    elif bound.limit == "distorted":
        why = f"it takes {units.number(bound.slower or 1.0, 2)} times as long under the profiler"
    elif bound.limit == "shared":
        busy = units.share(bound.busy_ns, bound.run_ns)
        why = f"{device} is busy for {busy} of it, and other processes had the CPU"
    elif bound.limit == "unsteady":
        timed, recorded = units.time(wall_ns), units.time(bound.run_ns)
        several = profile.timed_runs > 1
        took = f"the timed runs took {timed} in the median" if several else f"the timed run took {timed}"
        why = f"{took} and the recorded one {recorded}, so one of them was disturbed"
    else:
        least, most = (units.share(each, wall_ns) for each in (bound.least_ns, min(bound.busy_ns, wall_ns)))
        why = f"{device} is busy for {least} to {most} of it"
    return f"It is unknown whether {device} or the host limits a run: {why}."


def about_unknown(profile: Profile) -> list[str]:
    """Explain why it is unknown what bounds a run, and say what to do; nothing if it is known."""
    bound = bound_of(profile)
    if bound is None or bound.limit == "device" or bound.limit in _WITH_IDLE_TIME:
        return []
    if bound.limit == "not timed":
        why = "The profiler's overhead can exceed the work itself."
        return [f"{why} {_WITHOUT_COLD}" if profile.warm_up is None and profile.error is None else why]
    if bound.limit == "shared":
        return []  # a warning says what to do
    if bound.limit == "distorted":
        return ["Under the profiler, short operations look longer than they are."]
    if bound.limit == "unsteady":
        device, busy = bound.use.device, units.share(bound.busy_ns, bound.run_ns)
        others = "" if about_load(profile) else "other processes, or "  # which a warning names already
        return [
            f"When it was recorded, {device} was busy for {busy} of the run. The run without the profiler may have "
            f"been slowed by {others}coming first. Profile it again."
        ]
    wall, recorded = units.time(profile.wall_ns or 1), units.time(bound.run_ns)
    return [f"The device's share is of the {wall} without the profiler; under it, a run took {recorded}."]


def _idle_causes(bound: Bound, runs: int, part: float) -> str:
    """Format how long the host compiled or moved data while the device was idle.

    Args:
        bound: the verdict.
        runs: how many runs were recorded.
        part: the time of a run without the profiler, as a part of that of the verdict.
    """
    parts = (("compiles", bound.use.compile_idle_ns), ("moves data", bound.use.transfer_idle_ns))
    causes = [
        f"{units.time(bound.part_of_idle_ns(time_ns, runs) * part)} while the host {verb}"
        for verb, time_ns in parts
        if time_ns
    ]
    return f" ({', '.join(causes)})" if causes else ""


def about_profiler(profile: Profile) -> list[str]:
    """Report the overhead of the profiler."""
    slower = slowed_down(profile)
    if slower is None or not profile.runs:
        return []
    each = "" if profile.runs == 1 else " each"
    change = f"{units.percent(slower - 1)} more than without" if slower > 1 else "no more than without"
    timed = "" if profile.timed_runs <= 1 else f", the median of {profile.timed_runs}"
    return [
        f"{units.count(profile.runs, 'run')} recorded, {units.time(profile.recorded_ns / profile.runs)}{each} under "
        f"the profiler ({change}{timed})."
    ]


def about_error(profile: Profile) -> list[str]:
    """Report the exception that ended the code."""
    if profile.error is None:
        return []
    if profile.runs is None:
        return [f"The code ended with {profile.error} before a run was complete; this is the recorded part."]
    before = "the run" if profile.runs == 1 else f"the {profile.runs} runs"
    return [f"The code ended with {profile.error}; this report covers {before} before."]


def about_warm_up(profile: Profile) -> list[str]:
    """Report the compilations of the first run and of the recorded runs."""
    sentences = []
    warm_up = profile.warm_up
    if warm_up is not None and (compiled := [each for each in warm_up.compilations if each.compiled]):
        sentences.append(
            f"The first run compiled {units.count(len(compiled), 'program')} in {units.time(warm_up.compile_ns)}; "
            "it is not in the recording."
        )
    again = [each for each in profile.compilations if each.compiled]
    if again:
        names = ", ".join(dict.fromkeys(each.function for each in again))
        sentences.append(f"Compiled during the recording: {names}.")
    if again and profile.warm_up is not None:
        cause = again[-1].cause
        remedy = f" {cause.remedy[0].upper()}{cause.remedy[1:]}." if cause.remedy else ""
        sentences.append(f"The code compiles again in each run: {cause.reason}.{remedy}")
    return sentences


def about_load(profile: Profile) -> list[str]:
    """Report the load of other processes, in one sentence with what it did to the peak rates."""
    if profile.environment is None:
        return []
    roof = ", also while peak rates were measured, so '% of roof' may be too high" if _of_the_roof(profile) else ""
    found = loaded(profile.other_load, profile.environment)
    return [f"{each.text.removesuffix('.')}{roof}. {each.remedy}" for each in found]


def about_measured_roof(profile: Profile) -> list[str]:
    """Say that the peak rates were measured on a busy machine, unless the report already says that it was busy."""
    return [] if about_load(profile) else _of_the_roof(profile)


def _of_the_roof(profile: Profile) -> list[str]:
    return [str(each) for each in profile.notes if each.kind == ABOUT_THE_ROOF]


def about_copy(profile: Profile, digits: int) -> list[str]:
    """Report how long the copy of the result to the host took, if it was requested."""
    timing = profile.unprofiled
    return [] if timing is None or timing.fetch_ns is None else [about_fetch(timing, digits)]


def about_kept(profile: Profile) -> list[str]:
    """Report where the recording is, and how to open it in XProf and TensorBoard."""
    if profile.kept is None:
        return []
    kept = PurePath(profile.kept)
    folder = shlex.quote(str(kept.parents[2] if len(kept.parents) > 2 else kept))
    return [f"Kept in {kept}. Open it with: xprof --logdir {folder} or: tensorboard --logdir {folder}"]


LINE_HEADS = ("time", "share", "with calls", "count")
