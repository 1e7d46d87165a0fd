"""Divides the time in which the device was idle among what the host did, so that no two rules claim the same time."""

from __future__ import annotations

from typing import NamedTuple

from ...record.evidence import Dispatch, Evidence, HostUse, HostWait

#: A cost that the host causes is a finding from this share of a run on, and from this time on: less than that depends
#: on the profiler and on what else the machine does.
LEAST_SHARE = 0.05
LEAST_NS = 100_000

#: From how many waits at one line on they recur.
SEVERAL = 3


class HostTime(NamedTuple):
    """What the host cost.

    Attributes:
        use: the recorded times.
        scale: how much of a recorded time is left without the profiler, which slows the host down; at most 1.
        waits: the waits that recur, longest first.
        wait_cost_ns: how much shorter a run would be without them: the device is idle after a wait until it has work
            again, and at most as long as the code waits.
        spare_ns: the other time in which the device was idle.
    """

    use: HostUse
    scale: float
    waits: tuple[HostWait, ...]
    wait_cost_ns: float
    spare_ns: float


def host_time(evidence: Evidence) -> HostTime | None:
    """Divide the idle time of the device; ``None`` if it is unknown."""
    use, profile = evidence.host_use, evidence.profile
    if use is None or profile is None or not profile.recorded_ns:
        return None
    recorded_ns = profile.recorded_ns / max(profile.runs or 1, 1)
    scale = min(1.0, evidence.run_ns / recorded_ns) if evidence.repeated else 1.0
    waits = recurring(evidence)
    cost_ns = min(float(sum(each.wait_ns for each in waits)), use.waited_ns * scale)
    return HostTime(use, scale, waits, cost_ns, max(use.idle_ns * scale - cost_ns, 0.0))


def recurring(evidence: Evidence) -> tuple[HostWait, ...]:
    """Return the waits of the user's code that recur within a run."""
    return tuple(
        each
        for each in evidence.waits or ()
        if each.line is not None
        and each.count >= SEVERAL
        and each.wait_ns > 0
        and not (each.library or "").startswith("jaxmagic.")
    )


def matters(cost_ns: float, evidence: Evidence) -> bool:
    """Return whether a cost that the host causes is worth a finding."""
    return cost_ns >= max(LEAST_SHARE * evidence.run_ns, LEAST_NS)


def names_of(evidence: Evidence, *, eager: bool) -> set[str]:
    """Return the names of the programs that are eager operations, or of those that are not."""
    found: set[str] = set()
    for each in evidence.programs or ():
        if each.eager == eager:
            found |= {each.executable.name.removeprefix("jit_"), *([each.function] if each.function else [])}
    return found


def eager_calls(evidence: Evidence, use: HostUse) -> list[Dispatch]:
    """Return the calls of eager operations."""
    eager, jitted = names_of(evidence, eager=True), names_of(evidence, eager=False)
    return [each for each in use.dispatches if each.name in eager and each.name not in jitted]


def jitted_calls(evidence: Evidence, use: HostUse) -> list[Dispatch]:
    """Return the calls of jitted functions of the user or of a library other than JAX."""
    eager, jitted = names_of(evidence, eager=True), names_of(evidence, eager=False)
    return [each for each in use.dispatches if each.name in jitted and each.name not in eager]
