"""IPython magics that tell the truth about JAX: how long it really took, what compiled and why.

In a notebook::

    %load_ext jaxmagic
    %jaxtime jnp.dot(x, x)

In a script::

    import jaxmagic
    with jaxmagic.stopwatch() as t:
        y = jnp.dot(x, x)
    print(t.timing)

Everything public is in the table below and is imported on first use, so ``import jaxmagic`` imports neither JAX nor
anything else that takes time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

#: Public names and their modules. The reference in the docs is generated from this table.
_PUBLIC = {
    "stopwatch": "timing.verbs",
    "fence": "timing.capture.fence",
    "history": "session.verbs",
    "last": "session.verbs",
    "environment": "session.verbs",
    "benchmark": "benchmarking.verbs.benchmark",
    "compare": "comparison.verbs.compare",
    "sweep": "comparison.verbs.sweep",
    "memory": "memory_use.verbs",
    "live": "memory_use.verbs",
    "memory_requirement": "memory_use.verbs",
    "profile": "profiling.verbs",
    "profiler": "profiling.verbs",
    "read_profile": "profiling.verbs",
    "peaks": "profiling.verbs",
    "diagnose": "doctor.verbs.diagnose",
    "explain_error": "doctor.verbs.explain_error",
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
    "Diagnosis": "doctor.record.diagnosis",
    "RuleFinding": "doctor.record.finding",
    "Verified": "doctor.record.finding",
    "Estimate": "statistics.estimate",
    "Finding": "records.finding",
    "Note": "records.note",
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

__all__ = list(_PUBLIC)

if TYPE_CHECKING:  # the same for tools that do not run this
    from types import FrameType

    from .benchmarking.record.benchmark import Benchmark as Benchmark
    from .benchmarking.record.device_time import DeviceTime as DeviceTime
    from .benchmarking.record.process_noise import (
        Basis as Basis,
        ProcessNoise as ProcessNoise,
        ProgramNoise as ProgramNoise,
    )
    from .benchmarking.record.samples import Conditions as Conditions, Launch as Launch, Trial as Trial
    from .benchmarking.record.versus import Versus as Versus
    from .benchmarking.verbs.benchmark import benchmark as benchmark
    from .comparison.record.candidate import Candidate as Candidate, Check as Check, Work as Work
    from .comparison.record.comparison import Comparison as Comparison
    from .comparison.record.curve import Crossing as Crossing, Curve as Curve, Growth as Growth, Variable as Variable
    from .comparison.record.sweep import Failure as Failure, Point as Point, Sweep as Sweep
    from .comparison.verbs.compare import compare as compare
    from .comparison.verbs.sweep import sweep as sweep
    from .compilation.record.compilation import Cause as Cause, Compilation as Compilation
    from .doctor.record.diagnosis import Diagnosis as Diagnosis
    from .doctor.record.finding import RuleFinding as RuleFinding, Verified as Verified
    from .doctor.verbs.diagnose import diagnose as diagnose
    from .doctor.verbs.explain_error import explain_error as explain_error
    from .errors import (
        DonatedTwice as DonatedTwice,
        JaxMagicError as JaxMagicError,
        JaxNotAvailable as JaxNotAvailable,
        LaunchError as LaunchError,
        NotComparable as NotComparable,
        NotMeasured as NotMeasured,
        OutputsDiffer as OutputsDiffer,
        RecordError as RecordError,
    )
    from .extension import (
        load_ipython_extension as load_ipython_extension,
        unload_ipython_extension as unload_ipython_extension,
    )
    from .memory_use.record.heap import (
        HeapDifference as HeapDifference,
        HeapProfile as HeapProfile,
        HeapSample as HeapSample,
    )
    from .memory_use.record.live_arrays import HeldArray as HeldArray, LiveArrays as LiveArrays
    from .memory_use.record.memory_profile import (
        Allocation as Allocation,
        Buffer as Buffer,
        Executable as Executable,
        MemoryProfile as MemoryProfile,
        Suspect as Suspect,
    )
    from .memory_use.record.usage import MemoryTimeline as MemoryTimeline, Peak as Peak
    from .memory_use.verbs import live as live, memory as memory, memory_requirement as memory_requirement
    from .overview.verbs import explore as explore
    from .profiling.record.allocators import AllocatorUse as AllocatorUse
    from .profiling.record.communication import (
        CollectiveTime as CollectiveTime,
        ProgramTime as ProgramTime,
        TransferTime as TransferTime,
    )
    from .profiling.record.kernels import KernelTime as KernelTime
    from .profiling.record.profile import (
        Code as Code,
        DeviceUse as DeviceUse,
        OperationTime as OperationTime,
        PlaceTime as PlaceTime,
        Profile as Profile,
    )
    from .profiling.record.steps import StepTimes as StepTimes, StepTotals as StepTotals
    from .profiling.record.timeline import (
        EventLabel as EventLabel,
        EventTrack as EventTrack,
        ProfileTimeline as ProfileTimeline,
    )
    from .profiling.verbs import (
        peaks as peaks,
        profile as profile,
        profiler as profiler,
        read_profile as read_profile,
    )
    from .records.call_stack import Frame as Frame
    from .records.environment import Environment as Environment
    from .records.finding import Finding as Finding
    from .records.note import Note as Note
    from .records.storage import load as load, save as save
    from .session.history import History as History
    from .session.verbs import environment as environment, history as history, last as last
    from .statistics.estimate import Estimate as Estimate
    from .timing.capture.fence import fence as fence
    from .timing.capture.stopwatch import Stopwatch as Stopwatch
    from .timing.record import Timing as Timing
    from .timing.verbs import stopwatch as stopwatch
    from .xla.hlo import Sharded as Sharded


#: The functions for scripts that do what magics of other names do.
_VERBS = {"time": "stopwatch", "timeit": "benchmark", "mem": "memory", "prof": "profile", "doctor": "diagnose"}


def __getattr__(name: str) -> Any:
    if name == "testing":
        return import_module(".testing", __name__)
    try:
        if name not in _PUBLIC:
            raise _no_attribute(name, sys._getframe(1))
    except (AttributeError, ImportError) as error:
        error.__traceback__ = None  # this line is no news to the user
        raise
    module = _PUBLIC[name]
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def _no_attribute(name: str, frame: FrameType) -> Exception:
    """Return the error for a name that is not public, which suggests one."""
    if name.startswith("_"):
        return AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    given = import_module(".runtime.given_arguments", __name__)
    error: Exception = given.no_attribute(__name__, name, _meant(name), frame)
    return error


def _meant(name: str) -> str | None:
    """Return the public name that was probably meant by another one."""
    short = name.removeprefix("jax")
    if (verb := _VERBS.get(short, short)) in _PUBLIC:
        return verb
    names = {each: each for each in _PUBLIC if each[0].isupper() == name[0].isupper()}
    if name.startswith("assert_"):
        names = {each: f"testing.{each}" for each in dir(import_module(".testing", __name__))}
    return names.get(import_module(".records.names", __name__).nearest_name(name, names))


def __dir__() -> list[str]:
    """List the public names and Python's own, and nothing that is only imported here."""
    return sorted({*_PUBLIC, "testing", *(name for name in globals() if name.startswith("__"))})
