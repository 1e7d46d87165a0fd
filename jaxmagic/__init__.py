"""IPython magics that tell the truth about JAX: how long it really took, what compiled and why.

In a notebook::

    %load_ext jaxmagic
    %jaxtime jnp.dot(x, x)

In a script::

    import jaxmagic
    with jaxmagic.stopwatch() as t:
        y = jnp.dot(x, x)
    print(t.timing)

Everything public is in the table below and is imported when it is first used: ``import jaxmagic`` imports
neither JAX nor anything else that takes time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

#: Public names and the modules they live in. The reference in the docs is generated from this table.
_PUBLIC = {
    "stopwatch": "timing.verbs",
    "fence": "timing.capture.fence",
    "history": "session.verbs",
    "last": "session.verbs",
    "benchmark": "benchmarking.verbs.benchmark",
    "compare": "comparison.verbs.compare",
    "sweep": "comparison.verbs.compare",
    "memory": "memory_use.verbs",
    "live": "memory_use.verbs",
    "memory_requirement": "memory_use.verbs",
    "profile": "profiling.verbs",
    "profiler": "profiling.verbs",
    "read_profile": "profiling.verbs",
    "peaks": "profiling.verbs",
    "explore": "overview.verbs",
    "save": "records.storage",
    "load": "records.storage",
    "Stopwatch": "timing.capture.stopwatch",
    "Timing": "timing.record",
    "Benchmark": "benchmarking.record.benchmark",
    "Trial": "benchmarking.record.samples",
    "Conditions": "benchmarking.record.samples",
    "Launch": "benchmarking.record.samples",
    "Basis": "benchmarking.record.process_noise",
    "ProcessNoise": "benchmarking.record.process_noise",
    "ProgramNoise": "benchmarking.record.process_noise",
    "Comparison": "comparison.record.comparison",
    "Candidate": "comparison.record.candidate",
    "Versus": "benchmarking.record.versus",
    "Check": "comparison.record.candidate",
    "Work": "comparison.record.candidate",
    "Sweep": "comparison.record.sweep",
    "Variable": "comparison.record.curve",
    "Point": "comparison.record.sweep",
    "Failure": "comparison.record.sweep",
    "Curve": "comparison.record.curve",
    "Growth": "comparison.record.curve",
    "Crossing": "comparison.record.curve",
    "DeviceTime": "benchmarking.record.device_time",
    "MemoryProfile": "memory_use.record.memory_profile",
    "Executable": "memory_use.record.memory_profile",
    "Allocation": "memory_use.record.memory_profile",
    "Buffer": "memory_use.record.memory_profile",
    "Suspect": "memory_use.record.memory_profile",
    "MemoryTimeline": "memory_use.record.usage",
    "Peak": "memory_use.record.usage",
    "HeapDifference": "memory_use.record.heap",
    "HeapProfile": "memory_use.record.heap",
    "HeapSample": "memory_use.record.heap",
    "Frame": "records.call_stack",
    "Profile": "profiling.record.profile",
    "OperationTime": "profiling.record.profile",
    "PlaceTime": "profiling.record.profile",
    "DeviceUse": "profiling.record.profile",
    "KernelTime": "profiling.record.kernels",
    "AllocatorUse": "profiling.record.allocators",
    "Code": "profiling.record.profile",
    "CollectiveTime": "profiling.record.communication",
    "TransferTime": "profiling.record.communication",
    "ProgramTime": "profiling.record.communication",
    "Sharded": "xla.hlo",
    "StepTimes": "profiling.record.steps",
    "StepTotals": "profiling.record.steps",
    "ProfileTimeline": "profiling.record.timeline",
    "EventTrack": "profiling.record.timeline",
    "EventLabel": "profiling.record.timeline",
    "LiveArrays": "memory_use.record.live_arrays",
    "HeldArray": "memory_use.record.live_arrays",
    "Estimate": "statistics.estimate",
    "Finding": "records.finding",
    "Compilation": "compilation.record.compilation",
    "Cause": "compilation.record.compilation",
    "Environment": "records.environment",
    "History": "session.history",
    "JaxMagicError": "errors",
    "JaxNotAvailable": "errors",
    "RecordError": "errors",
    "NotMeasured": "errors",
    "DonatedTwice": "errors",
    "OutputsDiffer": "errors",
    "NotComparable": "errors",
    "LaunchError": "errors",
    "load_ipython_extension": "extension",
    "unload_ipython_extension": "extension",
}

__all__ = [  # noqa: RUF022 - in the order of the table
    "stopwatch",
    "fence",
    "history",
    "last",
    "benchmark",
    "compare",
    "sweep",
    "memory",
    "live",
    "memory_requirement",
    "profile",
    "profiler",
    "read_profile",
    "peaks",
    "explore",
    "save",
    "load",
    "Stopwatch",
    "Timing",
    "Benchmark",
    "Trial",
    "Conditions",
    "Launch",
    "Basis",
    "ProcessNoise",
    "ProgramNoise",
    "Comparison",
    "Candidate",
    "Versus",
    "Check",
    "Work",
    "Sweep",
    "Variable",
    "Point",
    "Failure",
    "Curve",
    "Growth",
    "Crossing",
    "DeviceTime",
    "MemoryProfile",
    "Executable",
    "Allocation",
    "Buffer",
    "Suspect",
    "MemoryTimeline",
    "Peak",
    "HeapDifference",
    "HeapProfile",
    "HeapSample",
    "Frame",
    "Profile",
    "OperationTime",
    "PlaceTime",
    "DeviceUse",
    "KernelTime",
    "AllocatorUse",
    "Code",
    "CollectiveTime",
    "TransferTime",
    "ProgramTime",
    "Sharded",
    "StepTimes",
    "StepTotals",
    "ProfileTimeline",
    "EventTrack",
    "EventLabel",
    "LiveArrays",
    "HeldArray",
    "Estimate",
    "Finding",
    "Compilation",
    "Cause",
    "Environment",
    "History",
    "JaxMagicError",
    "JaxNotAvailable",
    "RecordError",
    "NotMeasured",
    "DonatedTwice",
    "OutputsDiffer",
    "NotComparable",
    "LaunchError",
    "load_ipython_extension",
    "unload_ipython_extension",
]

if TYPE_CHECKING:
    from .benchmarking.record.benchmark import Benchmark
    from .benchmarking.record.device_time import DeviceTime
    from .benchmarking.record.process_noise import Basis, ProcessNoise, ProgramNoise
    from .benchmarking.record.samples import Conditions, Launch, Trial
    from .benchmarking.record.versus import Versus
    from .benchmarking.verbs.benchmark import benchmark
    from .comparison.record.candidate import Candidate, Check
    from .comparison.record.comparison import Comparison
    from .comparison.verbs.compare import compare
    from .compilation.record.compilation import Cause, Compilation
    from .errors import (
        DonatedTwice,
        JaxMagicError,
        JaxNotAvailable,
        LaunchError,
        NotComparable,
        NotMeasured,
        OutputsDiffer,
        RecordError,
    )
    from .extension import load_ipython_extension, unload_ipython_extension
    from .memory_use.record.heap import HeapDifference, HeapProfile, HeapSample
    from .memory_use.record.live_arrays import HeldArray, LiveArrays
    from .memory_use.record.memory_profile import Allocation, Buffer, Executable, MemoryProfile, Suspect
    from .memory_use.record.usage import MemoryTimeline, Peak
    from .memory_use.verbs import live, memory, memory_requirement
    from .overview.verbs import explore
    from .profiling.record.allocators import AllocatorUse
    from .profiling.record.communication import CollectiveTime, ProgramTime, TransferTime
    from .profiling.record.kernels import KernelTime
    from .profiling.record.profile import Code, DeviceUse, OperationTime, PlaceTime, Profile
    from .profiling.record.steps import StepTimes, StepTotals
    from .profiling.record.timeline import EventLabel, EventTrack, ProfileTimeline
    from .profiling.verbs import peaks, profile, profiler, read_profile
    from .records.call_stack import Frame
    from .records.environment import Environment
    from .records.finding import Finding
    from .records.storage import load, save
    from .session.history import History
    from .session.verbs import history, last
    from .statistics.estimate import Estimate
    from .timing.capture.fence import fence
    from .timing.capture.stopwatch import Stopwatch
    from .timing.record import Timing
    from .timing.verbs import stopwatch
    from .xla.hlo import Sharded


def __getattr__(name: str) -> Any:
    if name == "testing":
        return import_module(".testing", __name__)
    try:
        module = _PUBLIC[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
