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
    "stopwatch": "api.timing",
    "fence": "capture.fence",
    "history": "api.session",
    "last": "api.session",
    "benchmark": "api.timing",
    "compare": "api.comparison",
    "sweep": "api.comparison",
    "memory": "api.memory_verbs",
    "live": "api.memory_verbs",
    "memory_requirement": "api.memory_verbs",
    "profile": "api.profile_verbs",
    "profiler": "api.profile_verbs",
    "read_profile": "api.profile_verbs",
    "peaks": "api.profile_verbs",
    "explore": "api.views",
    "save": "storage",
    "load": "storage",
    "Stopwatch": "capture.stopwatch",
    "Timing": "model.timing",
    "Benchmark": "model.benchmark",
    "Trial": "model.benchmark",
    "Conditions": "model.benchmark",
    "Launch": "model.benchmark",
    "Basis": "model.process_noise",
    "ProcessNoise": "model.process_noise",
    "ProgramNoise": "model.process_noise",
    "Comparison": "model.comparison",
    "Candidate": "model.comparison",
    "Versus": "model.comparison",
    "Check": "model.comparison",
    "Work": "model.comparison",
    "Sweep": "model.sweep",
    "Variable": "model.sweep",
    "Point": "model.sweep",
    "Failure": "model.sweep",
    "Curve": "model.sweep",
    "Growth": "model.sweep",
    "Crossing": "model.sweep",
    "DeviceTime": "model.device_time",
    "MemoryProfile": "model.memory",
    "Executable": "model.memory",
    "Allocation": "model.memory",
    "Buffer": "model.memory",
    "Suspect": "model.memory",
    "MemoryTimeline": "model.timeline",
    "Peak": "model.timeline",
    "HeapDifference": "model.heap",
    "HeapProfile": "model.heap",
    "HeapSample": "model.heap",
    "Frame": "model.frame",
    "Profile": "model.profile",
    "OperationTime": "model.profile",
    "PlaceTime": "model.profile",
    "DeviceUse": "model.profile",
    "KernelTime": "model.kernels",
    "AllocatorUse": "model.allocators",
    "Code": "model.profile",
    "CollectiveTime": "model.exchange",
    "TransferTime": "model.exchange",
    "ProgramTime": "model.exchange",
    "Sharded": "model.exchange",
    "StepTimes": "model.steps",
    "ProfileTimeline": "model.profile_timeline",
    "EventTrack": "model.profile_timeline",
    "EventLabel": "model.profile_timeline",
    "LiveArrays": "model.arrays",
    "HeldArray": "model.arrays",
    "Estimate": "model.estimate",
    "Finding": "model.finding",
    "Compilation": "model.compilation",
    "Cause": "model.compilation",
    "Environment": "model.environment",
    "History": "model.history",
    "JaxMagicError": "errors",
    "JaxNotAvailable": "errors",
    "RecordError": "errors",
    "NotMeasured": "errors",
    "DonatedTwice": "errors",
    "OutputsDiffer": "errors",
    "NotComparable": "errors",
    "LaunchError": "errors",
    "load_ipython_extension": "magics.extension",
    "unload_ipython_extension": "magics.extension",
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
    from .api.comparison import compare
    from .api.memory_verbs import live, memory, memory_requirement
    from .api.profile_verbs import peaks, profile, profiler, read_profile
    from .api.session import history, last
    from .api.timing import benchmark, stopwatch
    from .api.views import explore
    from .capture.fence import fence
    from .capture.stopwatch import Stopwatch
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
    from .magics.extension import load_ipython_extension, unload_ipython_extension
    from .model.allocators import AllocatorUse
    from .model.arrays import HeldArray, LiveArrays
    from .model.benchmark import Benchmark, Conditions, Launch, Trial
    from .model.comparison import Candidate, Check, Comparison, Versus
    from .model.compilation import Cause, Compilation
    from .model.device_time import DeviceTime
    from .model.environment import Environment
    from .model.estimate import Estimate
    from .model.exchange import CollectiveTime, ProgramTime, Sharded, TransferTime
    from .model.finding import Finding
    from .model.frame import Frame
    from .model.heap import HeapDifference, HeapProfile, HeapSample
    from .model.history import History
    from .model.kernels import KernelTime
    from .model.memory import Allocation, Buffer, Executable, MemoryProfile, Suspect
    from .model.process_noise import Basis, ProcessNoise, ProgramNoise
    from .model.profile import Code, DeviceUse, OperationTime, PlaceTime, Profile
    from .model.profile_timeline import EventLabel, EventTrack, ProfileTimeline
    from .model.steps import StepTimes
    from .model.timeline import MemoryTimeline, Peak
    from .model.timing import Timing
    from .storage import load, save


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
