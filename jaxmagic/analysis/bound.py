"""Is it the host or the device that a run waits for? A verdict only where the profiler cannot have made it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..model.profile import DeviceUse, Profile

#: The share of a run from which on the device is what it waits for, and up to which the host is.
_DEVICE_BOUND = 0.9
_HOST_BOUND = 0.5

#: From how many times as long a run takes under the profiler on, its recording says little of how busy a device is.
_DISTORTED = 1.5

#: ``"host"`` and ``"device"`` are verdicts. ``"neither"``: the device is busy for a part of the run.
#: ``"distorted"``: the profiler made the run much longer. ``"not timed"``: no run is known without it.
Limit = Literal["host", "device", "neither", "distorted", "not timed"]


class Bound(NamedTuple):
    """What a run waits for.

    Attributes:
        limit: the verdict, or why there is none.
        use: the device that is busy for the longest.
        busy_ns: how long it was, in a run of the recording.
        run_ns: how long a run takes: the longer one of those with and without the profiler, and the one without it
            where the profiler made it much longer.
        slower: how many times as long a run took under the profiler; ``None`` if that is not known.
    """

    limit: Limit
    use: DeviceUse
    busy_ns: float
    run_ns: float
    slower: float | None


def bound_of(profile: Profile) -> Bound | None:
    """What a run waits for; ``None`` where no device worked or there are no runs.

    The profiler makes the host slower, and on the CPU short operations look longer than they are. So the time of a
    device without it is taken to lie between the recorded one and that without all that a run takes longer.
    """
    if not profile.device_uses or not profile.runs or not profile.recorded_ns:
        return None
    use = max(profile.device_uses, key=lambda each: each.busy_ns)
    recorded_ns, busy_ns = profile.recorded_ns / profile.runs, use.busy_ns / profile.runs
    wall_ns, slower = profile.wall_ns, slowed_down(profile)
    if not wall_ns or slower is None:
        return Bound("not timed", use, busy_ns, recorded_ns, None)
    least_ns = busy_ns - max(recorded_ns - wall_ns, 0)
    longer_ns = max(recorded_ns, wall_ns)
    if busy_ns <= _HOST_BOUND * wall_ns:
        return Bound("host", use, busy_ns, wall_ns if slower > _DISTORTED else longer_ns, slower)
    if slower > _DISTORTED:
        return Bound("distorted", use, busy_ns, recorded_ns, slower)
    if least_ns >= _DEVICE_BOUND * wall_ns:
        return Bound("device", use, busy_ns, longer_ns, slower)
    return Bound("neither", use, busy_ns, longer_ns, slower)


def slowed_down(profile: Profile) -> float | None:
    """How many times as long a run takes under the profiler; ``None`` if that was not measured."""
    if not profile.wall_ns or not profile.runs or not profile.recorded_ns:
        return None
    return profile.recorded_ns / profile.runs / profile.wall_ns
