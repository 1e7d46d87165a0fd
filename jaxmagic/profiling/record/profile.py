"""The record of a profile: device time by source line, operation, scope and device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ...compilation.record.compilation import Compilation
from ...records.call_stack import Stack
from ...records.environment import Environment
from ...records.note import Note
from ...session.record import Record
from ...timing.record import Timing
from .allocators import AllocatorUse
from .communication import CollectiveTime, ProgramTime, TransferTime
from .kernels import KernelTime
from .steps import StepTimes
from .timeline import ProfileTimeline

if TYPE_CHECKING:
    from pandas import DataFrame

#: The kind of the note that names programs whose calling lines are unknown.
COMPILED_EARLIER = "profiling.compiled_earlier"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTime:
    """All executions of one operation of one program on one device.

    Attributes:
        name: the name of the instruction, such as ``"dot.3"``; of the kernel if the program is not known.
        module: the name of the program, such as ``"jit_f"``; empty if not known.
        category: the kind of work, such as ``"matmul"`` or ``"elementwise fusion"``.
        device: the device that it ran on, such as ``"GPU:0"``.
        count: number of executions. One execution may be several kernels of a GPU.
        total_ns: sum of the durations; those of an asynchronous operation last from its start to its end.
        self_ns: the same without the operations inside it on the same thread, such as the body of a loop.
        time_ns: attributed device time: a moment in which several operations ran counts once, and time hidden behind
            computation does not count. The times of all operations add up to the busy time of the device.
        shape: type and dimensions of the result, such as ``"f32[256,512]"``; empty if not known.
        scope: the path of JAX's operation, such as ``"jit(f)/layer/dot_general"``; empty if not known.
        source: the line that most of it comes from, such as ``"cell 12:3"``; ``None`` if not known.
        inside: the library function that this line called, such as ``"flax.linen.BatchNorm"``; for a library's line,
            the function that contains it. ``None`` without one, or if not known.
        flops: FLOPs of one execution; 0 for operations without any, such as sorts; ``None`` if not known.
        multiplied: the element type that most of its products multiply, such as ``"bf16"``; empty without products.
        asynchronous: whether it overlaps other operations: then `time_ns` is the time that no other operation hides.
        accessed_bytes: bytes that one execution reads and writes; ``None`` if not known.
        median_ns: median time of one execution, the shorter one of two; ``None`` if there is one only, or if not
            known.
    """

    name: str
    module: str
    category: str
    device: str
    count: int
    total_ns: int
    self_ns: int
    time_ns: int
    shape: str = ""
    scope: str = ""
    source: str | None = None
    inside: str | None = None
    flops: int | None = None
    multiplied: str = ""
    asynchronous: bool = False
    accessed_bytes: int | None = None
    median_ns: float | None = None

    @property
    def mean_ns(self) -> float:
        """Mean time of one execution."""
        return self.total_ns / self.count

    @property
    def usual_ns(self) -> float:
        """The attributed device time without what single executions took longer than half of them."""
        if self.median_ns is None or not self.total_ns:
            return self.time_ns
        return self.time_ns * min(self.median_ns / self.mean_ns, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceTime:
    """Device time of a place in the source: a call stack with a scope.

    Attributes:
        stack: the call stack, the outermost call first; empty for time without a line.
        scope: the path of JAX's operation; empty if not known.
        time_ns: device time on all devices. The times of a profile add up to the busy time of its devices.
        count: executions of its operation, or of the one with most time; rematerialized operations count once.
        operations: the names of its operations, the one with most time first.
        split: whether some of the time is a share of a fusion that other places share.
        about: why it has no line, or which argument is communicated here because of its sharding; empty for most.
    """

    stack: Stack
    scope: str
    time_ns: int
    count: int
    operations: tuple[str, ...]
    split: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceUse:
    """Activity of one device during the recording. Overlapping activity counts once: times are unions, not sums.

    Attributes:
        device: the name of the device, such as ``"GPU:0"``; after the name of its host if there are several hosts.
        busy_ns: the device did anything.
        compute_ns: the device computed.
        copy_ns: the device copied.
        collective_ns: the device communicated with other devices.
        exposed_copy_ns: the device copied and neither computed nor communicated.
        exposed_collective_ns: the device communicated and did not compute.
        barrier_ns: the device waited at barriers for other devices, as the profiler of a TPU records; 0 elsewhere.
        callback_ns: the device only waited for host callbacks, such as those of ``jax.pure_callback()``.
        idle_ns: the rest of the recording.
        compile_idle_ns: the part of `idle_ns` in which the host compiled.
        transfer_idle_ns: the part of the rest in which the host moved data.
        peak_flops: peak FLOP/s, of ``bfloat16`` products on an accelerator and of ``float32`` on a CPU; ``None`` if
            not known.
        peak_bytes: memory bandwidth in bytes/s; ``None`` if not known.
        peaks_from: the origin of the peak rates: ``"data sheet"``, ``"recording"``, ``"measured"``, or ``"given"`` by
            ``jaxmagic.peaks()``; empty if they are not known.
        peak_flops_from: the origin of `peak_flops` if it differs from that of `peak_bytes`; empty otherwise.
            ``"data sheet, recording"`` if the recording has more than the data sheet for ``bfloat16``.
        model: the device model whose data sheet matches the recording; empty if none does.
        peak_flops_by_type: peak FLOP/s by element type, as far as known.
        recorded_peak_bytes: memory bandwidth in the recording, whichever was chosen; ``None`` if not recorded.
    """

    device: str
    busy_ns: int
    compute_ns: int
    copy_ns: int
    collective_ns: int
    exposed_copy_ns: int
    exposed_collective_ns: int
    idle_ns: int
    barrier_ns: int = 0
    callback_ns: int = 0
    compile_idle_ns: int = 0
    transfer_idle_ns: int = 0
    peak_flops: float | None = None
    peak_bytes: float | None = None
    peaks_from: str = ""
    peak_flops_from: str = ""
    model: str = ""
    peak_flops_by_type: dict[str, float] = field(default_factory=dict)
    recorded_peak_bytes: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The source of a function with device time, as it was when it ran.

    Attributes:
        file: the file name, as Python has it.
        cell: the cell, such as ``"cell 12"``; ``None`` for code of a file.
        first: the number of the first line.
        lines: the text of the lines.
    """

    file: str
    cell: str | None
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Record):
    """Device time by line, operation and scope, as the JAX profiler recorded it.

    Attributes:
        code: the source that was run; ``None`` for a recording that was made elsewhere.
        runs: the number of recorded runs; ``None`` for a recording that was made elsewhere.
        warm_up: the first run without the profiler, with its compilations; ``None`` if there was none.
        unprofiled: the run with the median wall time among those without the profiler; ``None`` if there was none.
            The first run is one of them if it compiled nothing.
        timed_runs: the number of runs without the profiler.
        recorded_ns: duration of all recorded runs; for a recording made elsewhere, from the first operation of a
            device to the end of the last.
        whole_ns: duration of a recording made elsewhere, with the host activity before and after; ``None`` for
            others.
        device_uses: activity of each device that did anything.
        idle_devices: the devices of the recording that did nothing.
        operation_times: the operations of each device, those with most time first.
        kernel_times: the kernels of GPUs, those with most time first; empty elsewhere.
        place_times: the same time by place in the source.
        collectives: the collectives, those with most time first.
        transfers: copies from and to the host and between devices, as far as recorded.
        programs: the programs whose module is known, those with most time first.
        step_times: the steps of each device, if they are marked or a program ran several times in a row.
        allocator_uses: allocated memory over time, as far as recorded, as it is on GPUs.
        timeline: the timeline; ``None`` without events.
        codes: the source of the functions of these places, as far as it was found.
        compilations: the compilations of the recorded runs, as in a ``Timing``.
        kept: the folder in which the recording was kept for TensorBoard and XProf; ``None`` if it was not.
        other_load: processors that other processes kept busy from the first run to the last, on average; ``None`` if
            unknown.
        started_at: the start in ISO 8601 with the time zone; ``None`` if not known.
        error: the type of the exception that ended the code; ``None`` without one.
        notes: what a reader must know to understand the numbers.
        environment: the environment of the recording; ``None`` if it was made elsewhere.
    """

    _derived: ClassVar[tuple[str, ...]] = ("wall_ns", "device_ns")

    code: str | None = None
    runs: int | None = None
    warm_up: Timing | None = None
    unprofiled: Timing | None = None
    timed_runs: int = 0
    recorded_ns: int
    whole_ns: int | None = None
    device_uses: tuple[DeviceUse, ...]
    idle_devices: tuple[str, ...] = ()
    operation_times: tuple[OperationTime, ...]
    place_times: tuple[PlaceTime, ...]
    kernel_times: tuple[KernelTime, ...] = ()
    collectives: tuple[CollectiveTime, ...] = ()
    transfers: tuple[TransferTime, ...] = ()
    programs: tuple[ProgramTime, ...] = ()
    step_times: tuple[StepTimes, ...] = ()
    allocator_uses: tuple[AllocatorUse, ...] = ()
    timeline: ProfileTimeline | None = None
    codes: tuple[Code, ...] = ()
    compilations: tuple[Compilation, ...] = ()
    kept: str | None = None
    other_load: float | None = None
    started_at: str | None = None
    error: str | None = None
    notes: tuple[Note, ...] = ()
    environment: Environment | None = None

    def __post_init__(self) -> None:
        if any(each.busy_ns > self.recorded_ns for each in self.device_uses):
            raise ValueError("no device is busy for longer than the recording")

    @property
    def wall_ns(self) -> int | None:
        """Median wall time of a run without the profiler; ``None`` if not measured."""
        return None if self.unprofiled is None else self.unprofiled.wall_ns

    @property
    def device_ns(self) -> int:
        """Sum of the busy times of all devices."""
        return sum(each.busy_ns for each in self.device_uses)

    def lines(self) -> DataFrame:
        """Return time by line: ``file``, ``line``, ``function``, ``time_ns``, ``share``, ``count`` and more.

        A row is a line of the user's code, or of a library if the call stack has none of the user's. ``inside`` names
        the library functions that the line called, the one with most time first. The last row, without a ``file``, is
        the time without a line. The times add up to ``device_ns``.
        """
        return self.to_frame("lines")

    def scopes(self) -> DataFrame:
        """Return time by scope: the path that ``jax.named_scope()``, functions and transformations make."""
        return self.to_frame("scopes")

    def operations(self) -> DataFrame:
        """Return time by operation and device: ``operation``, ``category``, ``device``, ``total_ns`` and more."""
        return self.to_frame("operations")

    def kernels(self, operation: str | None = None) -> DataFrame:
        """Return GPU kernels with times, launch size and launch latency, of one operation or of all.

        Args:
            operation: the name of the operation, as in ``operations()``.
        """
        frame = self.to_frame("kernels")
        return frame if operation is None else frame[frame["operation"] == operation].reset_index(drop=True)

    def devices(self) -> DataFrame:
        """Return the activity of each device: ``device``, ``busy_ns``, ``compute_ns``, ``copy_ns`` and more.

        Collectives are in ``to_frame("collectives")``, copies from and to the host in ``to_frame("transfers")``, and
        the shardings of programs in ``to_frame("programs")``.
        """
        return self.to_frame("devices")

    def steps(self) -> DataFrame:
        """Return step times with their parts, a row per device and step.

        The parts of a step add up to its time: computation (``compute_ns``), exposed communication and copies
        (``collective_ns``, ``copy_ns``), and waits for input (``input_ns``), for the host (``host_ns``) and for
        unknown causes (``idle_ns``).
        """
        return self.to_frame("steps")
