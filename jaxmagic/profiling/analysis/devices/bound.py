"""Decides whether a run is host-bound or device-bound, unless the profiler itself may have made the difference."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ....records.other_load import largest_slowdown, load_in_words
from ...record.profile import DeviceUse, Profile
from ..cpu_completion import is_cpu

#: A run is device-bound if a device is busy for at least this share of it, and host-bound if for at most this share.
_DEVICE_BOUND = 0.9
_HOST_BOUND = 0.5

#: Runs that take more than this many times as long under the profiler say little about how busy a device is.
_DISTORTED = 1.5

#: A run without the profiler that takes more than this many times as long as the recorded one contradicts it.
_CONTRADICTING = 1.1

#: The median of fewer runs without the profiler may be that of a disturbed one; on a busy machine, of any number.
_STEADY = 3

#: ``"host"``, ``"device"`` and ``"neither"``, a device that is busy for a part of the run, are verdicts.
#: ``"unclear"``: the profiler's slowdown leaves two of them open. ``"distorted"``: the profiler made the run much
#: longer. ``"unsteady"``: the run without it took much longer, which the profiler does not explain. ``"shared"``:
#: other processes had the CPU that is the device, which may be why it was idle. ``"not timed"``: no run is known
#: without the profiler.
Limit = Literal["host", "device", "neither", "unclear", "distorted", "unsteady", "shared", "not timed"]


class Bound(NamedTuple):
    """The verdict on a run, and the times that it follows from.

    Attributes:
        limit: the verdict, or why there is none.
        use: the busiest device.
        busy_ns: the busy time of that device per recorded run, without host callbacks.
        callback_ns: for how long it waited for host callbacks and did nothing else in such a run, if they take the
            same share of it as of a recorded run.
        run_ns: the duration of a run, with or without the profiler, whichever is longer; without it where the
            profiler made the run much longer, of the recorded one where the two contradict each other.
        slower: how many times as long a run took under the profiler; ``None`` if not known.
        least_ns: the least busy time of that device in a run without the profiler, without host callbacks.
    """

    limit: Limit
    use: DeviceUse
    busy_ns: float
    run_ns: float
    slower: float | None
    callback_ns: float = 0.0
    least_ns: float = 0.0

    @property
    def idle_ns(self) -> float:
        """The time per run in which the device did nothing."""
        return max(self.run_ns - self.busy_ns - self.callback_ns, 0.0)

    def part_of_idle_ns(self, recorded_ns: int, runs: int) -> float:
        """Return how much of :attr:`idle_ns` a part of the idle time of all recorded runs is.

        The recorded runs may have been longer than the run that the verdict is about.
        """
        return recorded_ns * min(self.idle_ns / max(self.use.idle_ns, 1), 1 / runs)


def bound_of(profile: Profile) -> Bound | None:
    """Judge the busiest device of a profile; ``None`` where no device worked or there are no runs.

    The profiler slows the host down, and on the CPU short operations look longer than they are. So the busy time
    without the profiler is assumed to lie between the recorded busy time and that time minus the whole slowdown.
    The time of host callbacks is the host's, although the device counts as busy.
    """
    if not profile.device_uses or not profile.runs or not profile.recorded_ns:
        return None
    use = max(profile.device_uses, key=_working_ns)
    recorded_ns, busy_ns = profile.recorded_ns / profile.runs, _working_ns(use) / profile.runs
    wall_ns, slower = profile.wall_ns, slowed_down(profile)
    if not wall_ns or slower is None:
        return Bound("not timed", use, busy_ns, recorded_ns, None, _callbacks_ns(profile, use, recorded_ns))
    least_ns = max(busy_ns - max(recorded_ns - wall_ns, 0), 0.0)
    longer_ns = max(recorded_ns, wall_ns)
    host_ns = wall_ns if slower > _DISTORTED else longer_ns
    callback_ns = _callbacks_ns(profile, use, longer_ns)
    if not _is_steady(profile) and runs_differ(profile, busy_ns):
        return Bound("unsteady", use, busy_ns, recorded_ns, slower, callback_ns)
    if busy_ns <= _HOST_BOUND * wall_ns:
        callback_ns = _callbacks_ns(profile, use, host_ns)
        works_ns = min(callback_ns + (use.compile_idle_ns + use.transfer_idle_ns) / profile.runs, host_ns)
        quiet_ns = works_ns + (host_ns - works_ns) / _slowdown(profile, use)  # in works_ns, the host worked
        limit: Limit = "host" if busy_ns <= _HOST_BOUND * quiet_ns else "shared"
        return Bound(limit, use, busy_ns, host_ns, slower, callback_ns)
    if slower > _DISTORTED:
        return Bound("distorted", use, busy_ns, recorded_ns, slower, callback_ns)
    if least_ns >= _DEVICE_BOUND * wall_ns:
        return Bound("device", use, busy_ns, longer_ns, slower, callback_ns)
    is_between = _HOST_BOUND * wall_ns < least_ns <= busy_ns < _DEVICE_BOUND * wall_ns
    limit = "neither" if is_between else "unclear"
    return Bound(limit, use, busy_ns, longer_ns, slower, callback_ns, least_ns)


def _is_steady(profile: Profile) -> bool:
    """Return whether the median of the runs without the profiler is that of undisturbed ones."""
    environment = profile.environment
    quiet = environment is None or not load_in_words(profile.other_load, environment)
    return quiet and profile.timed_runs >= _STEADY


def _slowdown(profile: Profile, use: DeviceUse) -> float:
    """Return how many times as long a run may have taken since other processes had the CPU that is the device."""
    processors = 0 if profile.environment is None else profile.environment.cpu_count or 0
    return largest_slowdown(profile.other_load, processors) if processors and is_cpu(use.device) else 1.0


def runs_differ(profile: Profile, busy_ns: float) -> bool:
    """Return whether a run took longer without the profiler, so that the same busy time gives another verdict."""
    recorded_ns, wall_ns = (profile.recorded_ns or 0) / (profile.runs or 1), profile.wall_ns or 0
    verdicts = [[busy_ns > limit * each for limit in (_HOST_BOUND, _DEVICE_BOUND)] for each in (recorded_ns, wall_ns)]
    return wall_ns > _CONTRADICTING * recorded_ns and verdicts[0] != verdicts[1]


def _callbacks_ns(profile: Profile, use: DeviceUse, run_ns: float) -> float:
    """Return how long a device waits for callbacks in a run of this duration: a recorded run may have been longer."""
    runs, recorded_ns = profile.runs or 1, profile.recorded_ns or 1
    waited_ns = use.callback_ns / runs * min(run_ns * runs / recorded_ns, 1.0)
    return min(waited_ns, max(run_ns - _working_ns(use) / runs, 0.0))


def _working_ns(use: DeviceUse) -> int:
    return use.busy_ns - use.callback_ns


def slowed_down(profile: Profile) -> float | None:
    """Return how many times as long a run takes under the profiler; ``None`` if that was not measured."""
    if not profile.wall_ns or not profile.runs or not profile.recorded_ns:
        return None
    return profile.recorded_ns / profile.runs / profile.wall_ns
