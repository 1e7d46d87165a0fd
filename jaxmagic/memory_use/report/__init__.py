"""The reports of memory."""

from ..record.heap import HeapDifference, HeapProfile
from ..record.live_arrays import LiveArrays
from ..record.memory_profile import Executable, MemoryProfile
from . import heap, live_arrays, memory_profile

REPORTS = {
    MemoryProfile: memory_profile.report,
    Executable: memory_profile.executable,
    LiveArrays: live_arrays.report,
    HeapDifference: heap.difference,
    HeapProfile: heap.profile,
}
