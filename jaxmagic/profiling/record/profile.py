"""Where devices spent their time: by line, by operation, by scope and by device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ...compilation.record.compilation import Compilation
from ...records.call_stack import Stack
from ...records.environment import Environment
from ...session.record import Record
from ...timing.record import Timing
from .allocators import AllocatorUse
from .communication import CollectiveTime, ProgramTime, TransferTime
from .kernels import KernelTime
from .steps import StepTimes
from .timeline import ProfileTimeline

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTime:
    """All runs of one operation of one program on one device.

    Attributes:
        name: of the instruction in the compiled module, such as ``"dot.3"``; of the kernel where no program is known.
        module: of the program, such as ``"jit_f"``; empty if that is not known.
        category: what kind of work it is, such as ``"matmul"`` or ``"elementwise fusion"``.
        device: where it ran, such as ``"GPU:0"``.
        count: how often it ran. One run may have been several kernels of a GPU.
        total_ns: how long all runs took, one added to the other; of what is asynchronous from start to end.
        self_ns: the same without what ran inside of it on the same thread, such as the body of a loop.
        time_ns: what of the time of the device is its own: a moment in which several ran counts once, and what was
            hidden behind computation does not count. All of a device's add up to the time in which it was busy.
        shape: type and sizes of the result, such as ``"f32[256,512]"``; empty if not known.
        scope: the path of JAX's operation, such as ``"jit(f)/layer/dot_general"``; empty if not known.
        source: the line that it comes from, or most of it, such as ``"cell 12:3"``; ``None`` if not known.
        inside: the function of a library that this line called for it, such as ``"flax.linen.BatchNorm"``; of a line
            of a library's, the function that it is in. ``None`` if there is none, or it is not known.
        flops: floating-point operations of one run; 0 for what has none, such as a sort; ``None`` where that cannot
            be said.
        multiplied: the type of the numbers that most of its products multiply, such as ``"bf16"``; empty without any.
        asynchronous: whether it goes on beside other operations: then `time_ns` is what nothing else hides.
        accessed_bytes: what one run reads and writes; ``None`` where that cannot be said.
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

    @property
    def mean_ns(self) -> float:
        """Mean time of one execution."""
        return self.total_ns / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceTime:
    """A place in the program, and the time that devices spent on it.

    Attributes:
        stack: the calls that wrote it, the outermost first; empty for time that reaches no line.
        scope: the path of JAX's operation; empty if not known.
        time_ns: of all devices. Those of a profile add up to the time in which devices were busy.
        count: how often its operation ran, of several the one that took most; what is computed again counts once.
        operations: the names of the operations, the one that took longest first.
        split: whether some of this is the share of a fusion that belongs to other places as well.
        about: why it has no line, or which argument is exchanged here because of its sharding; empty for most.
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
    """Activity of one device in the time of the recording. Times of what overlaps are unions, not sums.

    Attributes:
        device: its name, such as ``"GPU:0"``; behind the name of its host where there are several.
        busy_ns: how long it did anything.
        compute_ns: how long it computed.
        copy_ns: how long it copied.
        collective_ns: how long it exchanged data with others.
        exposed_copy_ns: how long it copied and neither computed nor exchanged data.
        exposed_collective_ns: how long it exchanged data and did not compute.
        barrier_ns: how long it waited at barriers for other devices, as the profiler of a TPU tells; 0 elsewhere.
        callback_ns: how long it did nothing but wait for host callbacks, such as those of :func:`jax.pure_callback`.
        idle_ns: the rest of the recording.
        compile_idle_ns: for how much of that the host compiled.
        transfer_idle_ns: for how much of the rest the host moved data.
        peak_flops: floating-point operations that it can do in a second; ``None`` if that is not known. Of an
            accelerator with products of ``bfloat16``, of a CPU with ``float32``.
        peak_bytes: bytes that its memory can move in a second; ``None`` if that is not known.
        peaks_from: where these are from: ``"data sheet"``, ``"recording"``, ``"measured"``, ``"given"`` by
            :func:`jaxmagic.peaks`; empty if they are not known.
        model: what the device is taken for, by what the recording says of it; empty if no data sheet fits.
        peak_flops_by_type: the same as `peak_flops` for each type of numbers, as far as it is known.
        recorded_peak_bytes: what the recording says of the memory, whatever was taken; ``None`` if nothing.
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
    model: str = ""
    peak_flops_by_type: dict[str, float] = field(default_factory=dict)
    recorded_peak_bytes: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The source of a function that devices spent time on, as it was when it ran.

    Attributes:
        file: its name, as Python has it.
        cell: whose code it is, such as ``"cell 12"``; ``None`` if it is no cell's.
        first: the number of its first line.
        lines: the text.
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
        runs: how often it ran in the recording; ``None`` for one that was made elsewhere.
        warm_up: the first run, with what it compiled, without the profiler; ``None`` if there was none.
        unprofiled: of the runs without the profiler, the one that took the median of their times; ``None`` if there
            was none. The first run is one of them if it compiled nothing.
        timed_runs: how many these were.
        recorded_ns: how long the recording is: all runs, under the profiler; of one that was made elsewhere from the
            first operation of a device to the end of the last.
        whole_ns: of a recording that was made elsewhere, how long all of it is, with what the host did before and
            after; ``None`` for others.
        device_uses: what each device did that did anything.
        idle_devices: the devices of the recording that did nothing.
        operation_times: what ran, on each device, what took most of its time first.
        kernel_times: the kernels of GPUs, what took most time first; empty elsewhere.
        place_times: the same time by place in the program.
        collectives: how devices exchanged data, what took longest first.
        transfers: what was copied from and to the host, and between devices, as far as the recording tells.
        programs: the programs whose module is known, what took longest first.
        step_times: the steps of each device, where there are marks of them or one program ran several times in a row.
        allocator_uses: what allocators had given away over time, as far as the recording tells; of GPUs it does.
        timeline: what ran when; ``None`` where nothing did.
        codes: the source of the functions of these places, as far as it was found.
        compilations: what compiled meanwhile, as in a :class:`Timing`.
        kept: the folder in which the recording was kept, for TensorBoard and XProf; ``None`` if it was not.
        other_load: processors that other processes kept busy from the first run to the last, on average; ``None`` if
            unknown.
        started_at: when, in ISO 8601 with the time zone; ``None`` if not known.
        error: the type of the exception that ended the code, ``None`` if none did.
        notes: what a reader must know to understand the numbers, a sentence each.
        environment: under which this was recorded; ``None`` for a recording that was made elsewhere.
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
    notes: tuple[str, ...] = ()
    environment: Environment | None = None

    def __post_init__(self) -> None:
        if any(each.busy_ns > self.recorded_ns for each in self.device_uses):
            raise ValueError("no device works longer than the recording is")

    @property
    def wall_ns(self) -> int | None:
        """Time per run without the profiler, a median; ``None`` if that was not measured."""
        return None if self.unprofiled is None else self.unprofiled.wall_ns

    @property
    def device_ns(self) -> int:
        """Busy time of all devices added up, each at most as long as the recording."""
        return sum(each.busy_ns for each in self.device_uses)

    def lines(self) -> DataFrame:
        """Time by line: ``file``, ``line``, ``function``, ``time_ns``, ``share``, ``count`` and more.

        A row is a line of the user's code, or of a library's where none of the user's had called. ``inside`` names
        the library functions that the line called, the one that took most first. The last row, whose ``file`` is
        missing, is the time that reaches no line: together they are :attr:`device_ns`.
        """
        return self.to_frame("lines")

    def scopes(self) -> DataFrame:
        """Time by scope: the path that :func:`jax.named_scope`, functions and transformations have made."""
        return self.to_frame("scopes")

    def operations(self) -> DataFrame:
        """Time by operation and device: ``operation``, ``category``, ``device``, ``count``, ``total_ns`` and more."""
        return self.to_frame("operations")

    def kernels(self, operation: str | None = None) -> DataFrame:
        """Return GPU kernels with times, launch size and launch latency, of one operation or of all.

        Args:
            operation: its name, as in :meth:`operations`.
        """
        found = self.to_frame("kernels")
        return found if operation is None else found[found["operation"] == operation].reset_index(drop=True)

    def devices(self) -> DataFrame:
        """Return what each device did: ``device``, ``busy_ns``, ``compute_ns``, ``copy_ns`` and more.

        How devices exchanged data is in ``to_frame("collectives")``, what was copied from and to the host in
        ``to_frame("transfers")``, and how the arrays of programs are divided among devices in
        ``to_frame("programs")``.
        """
        return self.to_frame("devices")

    def steps(self) -> DataFrame:
        """Return step times with their parts, a row per device and step.

        The parts of a step add up to its time: computing (``compute_ns``), exchange and copies that nothing else hid
        (``collective_ns``, ``copy_ns``), waiting for input (``input_ns``), for the host (``host_ns``), and for what
        is not known (``idle_ns``).
        """
        return self.to_frame("steps")
