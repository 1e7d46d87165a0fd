"""What is said about a profile, in every medium."""

from __future__ import annotations

import shlex
from pathlib import PurePath

from ... import units
from ...records.other_load import loaded
from ...timing.report import about_fetch
from ..analysis.devices.bound import Bound, bound_of, slowed_down
from ..analysis.stale_callers import compiled_earlier
from ..record.profile import Profile

#: For learners, with ``--explain``: five lines.
EXPLANATION = (
    "Device time: how long a device was busy. What overlaps counts once.",
    "Wall time: of a run without the profiler, which takes time of its own.",
    "Line: your innermost line of an operation; in: the function that it called.",
    "With calls: includes the functions that the line calls.",
    "≈: partly the line's share of a fusion of several lines, by their work.",
)

#: What to do where only the first run was recorded.
_WITHOUT_COLD = " Record without --cold (cold=False) to time one."

#: Names that are told of a list.
_MOST_NAMES = 4


def headline(profile: Profile) -> str:
    """Tell how long devices were busy, of how much, and what a run takes without the profiler."""
    wall = "" if profile.wall_ns is None else f"wall time {units.time(profile.wall_ns)} without the profiler"
    if not profile.device_uses:
        return f"No device time was recorded{'; ' * bool(wall)}{wall}."
    each = profile.device_ns / len(profile.device_uses) / (profile.runs or 1)
    of = profile.recorded_ns / (profile.runs or 1)
    run = "" if profile.runs is None else " per run"
    several = "" if len(profile.device_uses) == 1 else f" in the mean of {len(profile.device_uses)} devices"
    share = units.share(each, max(of, 1))
    told = f"Device time: {units.time(each)}{run}{several}, {share} of what was recorded"
    if profile.whole_ns is not None:  # with a host that may have done other things for most of it
        between = f"the {units.time(of)} from the first operation to the end of the last"
        recording = units.time(profile.whole_ns)
        told = f"Device time: {units.time(each)}{several}, {share} of {between} (recording: {recording})"
    return f"{told}; {wall}" if wall else told


def about_bound(profile: Profile) -> list[str]:
    """Tell whether the host or the device limits a run, where that is known."""
    found = bound_of(profile)
    if found is None:
        return []
    device = "the device" if len(profile.device_uses) == 1 else found.use.device
    share = units.share(found.busy_ns, found.run_ns)
    if found.limit == "not timed":
        return [
            "Whether the host or the device limits a run is not known: no run was timed without the profiler, which "
            "can be most of the load where operations are short."
            + (_WITHOUT_COLD if profile.warm_up is None and profile.error is None else "")
        ]
    if found.limit == "distorted":
        assert found.slower is not None
        return [
            f"A run took {units.number(found.slower, 2)} times as long under the profiler, so short operations look "
            "longer than they are. Whether the host or the device limits a run is not known."
        ]
    callbacks = units.share(found.callback_ns, found.run_ns) if found.callback_ns else ""
    beside = f" and waiting for host callbacks for {callbacks}" if callbacks else ""
    if found.limit == "unsteady":
        wall, recorded = units.time(profile.wall_ns or 0), units.time(found.run_ns)
        return [
            f"A run took {wall} without the profiler, and {recorded} when it was recorded, with {device} busy for "
            f"{share} of that{beside}. Something slowed the first one down, so whether the host or the device limits "
            "a run is not known. Profile it again."
        ]
    if found.limit == "device":
        return [f"Device-bound: {device} is busy for {share} of the run{beside}."]
    idle = f"{units.time(found.idle_ns)}{_idle_causes(found, profile.runs or 1)}"
    told = f"{device} is busy for {share} of the run and idle for {idle}."
    if callbacks:
        told = (
            f"host callbacks take {callbacks} of the run; other operations of {device} take {share}, and it is idle "
            f"for {idle}."
        )
    return [f"Host-bound: {told}" if found.limit == "host" else _capital(told)]


def _idle_causes(found: Bound, runs: int) -> str:
    """Return what the host did while the device was idle."""
    parts = (("compiles", found.use.compile_idle_ns), ("moves data", found.use.transfer_idle_ns))
    causes = [f"{units.time(time_ns / runs)} while the host {what}" for what, time_ns in parts if time_ns]
    return f" ({', '.join(causes)})" if causes else ""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def about_profiler(profile: Profile) -> list[str]:
    """Return what the profiler itself cost."""
    more = slowed_down(profile)
    if more is None or not profile.runs:
        return []
    each = "" if profile.runs == 1 else " each"
    change = f"{units.percent(more - 1)} more than without" if more > 1 else "no more than without"
    timed = "" if profile.timed_runs <= 1 else f", the median of {profile.timed_runs}"
    return [
        f"{units.count(profile.runs, 'run')} recorded, {units.time(profile.recorded_ns / profile.runs)}{each} under "
        f"the profiler ({change}{timed})."
    ]


def about_error(profile: Profile) -> list[str]:
    """That the code did not end."""
    if profile.error is None:
        return []
    if profile.runs is None:
        return [f"The code ended with {profile.error} before a run was complete; this is how far it came."]
    before = "the run" if profile.runs == 1 else f"the {profile.runs} runs"
    return [f"The code ended with {profile.error}; this is of {before} before."]


def about_warm_up(profile: Profile) -> list[str]:
    """Return what the first run compiled, and what compiled in the recording."""
    told = []
    warm_up = profile.warm_up
    if warm_up is not None and (compiled := [each for each in warm_up.compilations if each.compiled]):
        told.append(
            f"The run before compiled {units.count(len(compiled), 'program')} in {units.time(warm_up.compile_ns)}; "
            "it is not in the recording."
        )
    again = [each for each in profile.compilations if each.compiled]
    if again:
        names = ", ".join(dict.fromkeys(each.function for each in again))
        told.append(f"Compiled while it was recorded: {names}.")
    if again and profile.warm_up is not None:
        cause = again[-1].cause
        remedy = f" {cause.remedy[0].upper()}{cause.remedy[1:]}." if cause.remedy else ""
        told.append(f"It compiles again in each run: {cause.reason}.{remedy}")
    return told


def about_earlier(profile: Profile) -> list[str]:
    """Return what had been compiled before, by a call whose lines are told."""
    names = compiled_earlier(profile)
    if not names:
        return []
    told = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return [f"Compiled by earlier calls: {told}. Source lines outside jitted code refer to those calls."]


def about_load(profile: Profile) -> list[str]:
    """Return what else kept the machine busy."""
    if profile.environment is None:
        return []
    return [f"{each.text} {each.remedy}" for each in loaded(profile.other_load, profile.environment)]


def about_copy(profile: Profile, digits: int) -> list[str]:
    """Tell how long the copy of the result to the host took, where that was asked for."""
    timing = profile.unprofiled
    return [] if timing is None or timing.fetch_ns is None else [about_fetch(timing, digits)]


def about_kept(profile: Profile) -> list[str]:
    """Find where the recording is, and how to open it with others' tools."""
    if profile.kept is None:
        return []
    kept = PurePath(profile.kept)
    folder = shlex.quote(str(kept.parents[2] if len(kept.parents) > 2 else kept))
    return [f"Kept in {kept}. Open it with: xprof --logdir {folder} or: tensorboard --logdir {folder}"]


LINE_HEADS = ("time", "share", "with calls", "count")
