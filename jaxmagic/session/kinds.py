"""The kinds of records that a session keeps."""

from __future__ import annotations

from ..benchmarking.record.benchmark import Benchmark
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep
from ..memory_use.record.memory_profile import MemoryProfile
from ..profiling.record.profile import Profile
from ..timing.record import Timing

#: What a measurement leaves behind.
Record = Timing | Benchmark | Comparison | Sweep | MemoryProfile | Profile
