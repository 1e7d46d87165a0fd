"""Tells what copies in calls cost: on the CPU, which they slow down, only a lower bound is known, or nothing."""

from __future__ import annotations

from typing import NamedTuple

from .....records.note import Note, note
from ....record.evidence import Evidence
from ....record.finding import Basis
from ..host_time import best_run, matters

#: On the CPU, copies are reported from this share of the recorded run on, even if the device is busy meanwhile.
MUCH = 0.25


class CopyCost(NamedTuple):
    """The cost of copies, as a finding reports it.

    Attributes:
        cost_ns: the cost; ``None`` if it is unknown.
        basis: how it is known.
        evidence: what else is known of it.
    """

    cost_ns: float | None
    basis: Basis | None
    evidence: tuple[Note, ...] = ()


def cost_of_copies(idle_ns: float, copied_ns: float, evidence: Evidence) -> CopyCost | None:
    """Return what copies of whole arrays cost; ``None`` if they are no finding.

    The device's idle time is what they cost, unless it shares cores and memory with the host that copies: then its
    work takes longer as well, and the runs do not show by how much.

    Args:
        idle_ns: the time in which the device was idle because of them, without the profiler.
        copied_ns: the time that they took in a recorded run.
        evidence: the observations of the runs.
    """
    if best_run(evidence).environment.backend != "cpu":
        return CopyCost(idle_ns, "estimated") if matters(idle_ns, evidence) else None
    profile = evidence.profile
    recorded_ns = 0.0 if profile is None else (profile.recorded_ns or 0) / max(profile.runs or 1, 1)
    beside = note("doctor.copies_beside", copied_ns=round(copied_ns), recorded_ns=round(recorded_ns))
    if matters(idle_ns, evidence):
        return CopyCost(idle_ns, "at least", (beside,) if copied_ns else ())
    most = copied_ns >= MUCH * recorded_ns and matters(copied_ns, evidence)
    return CopyCost(None, None, (beside,)) if most else None
