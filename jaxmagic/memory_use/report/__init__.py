"""The reports of memory records."""

from __future__ import annotations

from ... import units
from ...report.compose import Brief
from ..record.heap import HeapDifference, HeapProfile
from ..record.live_arrays import LiveArrays
from ..record.memory_profile import Executable, MemoryProfile
from . import heap, live_arrays, memory_profile
from .notes import NOTES as NOTES


def brief(profile: MemoryProfile) -> Brief:
    """Return the time of the run and the growth of arrays."""
    return Brief(profile.code, profile.timing.wall_ns, units.size_change(sum(profile.delta_bytes.values())))


def brief_of_live(live: LiveArrays) -> Brief:
    """Name the memory of the arrays that were alive."""
    return Brief("live arrays", remark=units.size(live.total_bytes))


BRIEFS = {MemoryProfile: brief, LiveArrays: brief_of_live}


REPORTS = {
    MemoryProfile: memory_profile.report,
    Executable: memory_profile.executable,
    LiveArrays: live_arrays.report,
    HeapDifference: heap.difference,
    HeapProfile: heap.profile,
}
