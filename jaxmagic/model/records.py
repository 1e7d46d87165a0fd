"""The kinds of records that a session keeps."""

from __future__ import annotations

from .benchmark import Benchmark
from .comparison import Comparison
from .memory import MemoryProfile
from .profile import Profile
from .sweep import Sweep
from .timing import Timing

#: What a measurement leaves behind.
Record = Timing | Benchmark | Comparison | Sweep | MemoryProfile | Profile
