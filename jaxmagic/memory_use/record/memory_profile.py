"""Declares memory profiles: the memory that the compiler planned for programs, and that a run of code used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ...compilation.record.compilation import Compilation
from ...records.environment import Environment
from ...records.note import Note, note
from ...report.displayable import Displayable
from ...session.record import Record
from ...timing.record import Timing
from ...xla.buffer_assignment import Kind
from .heap import HeapDifference
from .live_arrays import FEW_ARRAYS, LiveArrays
from .usage import MemoryTimeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """The bytes of one value, and its live range (XLA's logical buffer).

    Attributes:
        offset_bytes: where the value begins in its allocation.
        size_bytes: how many bytes it takes.
        first: the step of the schedule that defines the value.
        last: the last step of its live range; the step before another value overwrites it, if one does.
        instruction: the name of the defining instruction, as in the compiled module's text.
        shape: element type and shape, such as ``"f32[256,512]"``.
        op_name: the path of JAX's operation, such as ``"jit(f)/dot_general"``; the argument's name for an argument.
        source: file and line of the operation, such as ``"train.py:3"`` or, in a notebook, ``"cell 12:3"``; ``None``
            if unknown.
        inside: the library function that this line called, such as ``"flax.linen.BatchNorm"``; ``None`` if there is
            none, or if it is unknown.
        captured: for a constant, or an argument that JAX has hoisted from one: the name under which the function
            captured it, such as ``"params['w']"``. Several names if these arrays are equal; empty if none is known.
    """

    offset_bytes: int
    size_bytes: int
    first: int
    last: int
    instruction: str
    shape: str
    op_name: str
    source: str | None
    captured: tuple[str, ...] = ()
    inside: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """A contiguous piece of memory that a program gets as a whole (XLA's buffer allocation).

    Attributes:
        kind: ``"argument"``, ``"output"``, ``"temporary"``, ``"constant"`` or ``"thread-local"``; the latter are a
            few bytes on the stack of a thread, and are in no sum.
        size_bytes: size of the allocation.
        aliased: whether the memory of a donated argument becomes that of an output.
        space: XLA's memory space; 0 is the device's default memory.
        buffers: the values in it, in the order of their definition; no byte belongs to two of them at one step.
    """

    kind: Kind
    size_bytes: int
    aliased: bool
    space: int
    buffers: tuple[Buffer, ...]


#: Far more steps than compilers schedule: a record from a file must not keep a reader busy for hours.
MOST_STEPS = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class Executable(Displayable):
    """A compiled program and the memory that it needs on each device.

    Attributes:
        name: name of the HLO module, such as ``"jit_f"``.
        ran: whether the program ran in the measured window; ``None`` if unknown, or without a window.
        compiled: whether it was compiled in the window; ``None`` without a window.
        argument_bytes: size of the arguments; like the four below ``None`` if the backend does not report it.
        output_bytes: size of the outputs, including the pointers of tuples.
        alias_bytes: how much of the outputs is in the memory of donated arguments.
        temporary_bytes: size of the temporaries.
        generated_code_bytes: size of the machine code; 0 on the CPU, which does not report it.
        host_argument_bytes: size of arguments in host memory (``pinned_host``), which is not in the device's sums;
            like the three below ``None`` if this jaxlib does not report it.
        host_output_bytes: size of outputs in host memory.
        host_alias_bytes: how much of these is in the memory of donated arguments on the host.
        host_temporary_bytes: size of temporaries in host memory, such as offloaded activations.
        constant_bytes: size of the constants; ``None`` if the allocations are unknown.
        steps: number of instructions in the schedule; ``None`` if unknown.
        allocations: the buffer assignment with live ranges; ``None`` if unknown.
        estimated: whether the allocations are estimated from the schedule, not the compiler's. Live bytes at a step
            are a lower bound then.
        limit_bytes: total memory that JAX can use on the device; ``None`` if the device does not report it.
        notes: what could not be read, and why.
    """

    _derived: ClassVar[tuple[str, ...]] = ("peak_bytes", "host_bytes", "fits", "at_least")

    name: str
    ran: bool | None = None
    compiled: bool | None = None
    argument_bytes: int | None
    output_bytes: int | None
    alias_bytes: int | None
    temporary_bytes: int | None
    generated_code_bytes: int | None
    host_argument_bytes: int | None = None
    host_output_bytes: int | None = None
    host_alias_bytes: int | None = None
    host_temporary_bytes: int | None = None
    constant_bytes: int | None = None
    steps: int | None = None
    allocations: tuple[Allocation, ...] | None = None
    estimated: bool = False
    limit_bytes: int | None = None
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        if (self.steps or 0) > MOST_STEPS:
            raise ValueError(f"steps: expected at most {MOST_STEPS}, got {self.steps}")
        lives = ((each.first, each.last) for allocation in self.allocations or () for each in allocation.buffers)
        if self.steps is not None and any(not 0 <= first <= last < (self.steps or 0) for first, last in lives):
            raise ValueError(f"buffers: expected live ranges 0 <= first <= last < {self.steps} steps")

    @property
    def peak_bytes(self) -> int | None:
        """The memory that it needs on a device: argument + output + temporary - alias; ``None`` if one is unknown.

        This is not ``peak_memory_in_bytes`` of JAX's statistics, which excludes temporaries on the CPU.
        """
        return _total(self.argument_bytes, self.output_bytes, self.temporary_bytes, self.alias_bytes)

    @property
    def at_least(self) -> bool:
        """Whether library calls may allocate more than ``peak_bytes``; ``notes`` names them."""
        return any(each.kind == "memory_use.uncounted" for each in self.notes)

    @property
    def host_bytes(self) -> int | None:
        """The same sum in host memory; ``None`` if one is unknown."""
        return _total(
            self.host_argument_bytes, self.host_output_bytes, self.host_temporary_bytes, self.host_alias_bytes
        )

    @property
    def fits(self) -> bool | None:
        """Whether the device has enough memory in total; ``None`` if it does not report its memory.

        Memory of other arrays and programs is not considered, so the program may still run out of memory.
        """
        if self.peak_bytes is None or self.limit_bytes is None:
            return None
        return self.peak_bytes <= self.limit_bytes


def _total(argument: int | None, output: int | None, temporary: int | None, alias: int | None) -> int | None:
    if argument is None or output is None or temporary is None or alias is None:
        return None
    return argument + output + temporary - alias


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """Arrays under one name whose bytes grew from record to record: perhaps a leak.

    Attributes:
        path: where the arrays are, with ``[*]`` in place of keys and indices: ``"losses[*]"``.
        bytes_seen: their bytes in each record, newest last.
        arrays: their number now.
    """

    path: str
    bytes_seen: tuple[int, ...]
    arrays: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryProfile(Record):
    """Memory before, during and after a run of some code.

    Attributes:
        timing: the timing of the same run. Watching adds 0.1 to 0.7 ms to the first call of every function, and 1 ms
            for each thousand equations of its jaxpr.
        before_bytes: bytes of arrays on each device when the code began.
        arrays: the arrays that were alive when all work was done, and the names that hold them.
        executables: the programs that ran or were compiled, in the order of the memory that they need, largest first.
        timeline: memory use during the run; ``None`` if it was not sampled.
        suspects: arrays that kept growing over the last three records of this session.
        heap: memory by call stack before and after, of the user's own calls; ``None`` without ``--pprof``.
        notes: what could not be measured, and why.
    """

    _derived: ClassVar[tuple[str, ...]] = ("peak_bytes", "after_bytes", "delta_bytes")

    timing: Timing
    before_bytes: tuple[tuple[str, int], ...]
    arrays: LiveArrays
    executables: tuple[Executable, ...]
    timeline: MemoryTimeline | None = None
    suspects: tuple[Suspect, ...] = ()
    heap: HeapDifference | None = None
    notes: tuple[Note, ...] = ()

    @property
    def code(self) -> str | None:
        """The source that was run."""
        return self.timing.code

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """All compilations during the run."""
        return self.timing.compilations

    @property
    def environment(self) -> Environment:
        """The hardware and software of this session."""
        return self.timing.environment

    @property
    def after_bytes(self) -> dict[str, int]:
        """Bytes of arrays on each device when all work was done."""
        return self.arrays.by_device

    @property
    def delta_bytes(self) -> dict[str, int]:
        """Growth of the bytes of arrays on each device."""
        before = dict(self.before_bytes)
        devices = dict.fromkeys((*self.after_bytes, *before))
        return {each: self.after_bytes.get(each, 0) - before.get(each, 0) for each in devices}

    @property
    def peak_bytes(self) -> int | None:
        """The most memory that a program needs on a device; ``None`` if that is unknown for all programs."""
        return max((each.peak_bytes for each in self.executables if each.peak_bytes is not None), default=None)

    @property
    def _entries(self) -> int:
        """Number of arrays, samples, buffers and call stacks in this record."""
        allocations = (each for program in self.executables for each in program.allocations or ())
        samples = 0 if self.timeline is None else len(self.timeline.times_ns)
        heaps = () if self.heap is None else (self.heap.before, self.heap.after)
        stacks = sum(len(each.samples) for each in heaps if each is not None)
        return len(self.arrays.arrays) + samples + sum(len(each.buffers) for each in allocations) + stacks

    def _shortened(self) -> MemoryProfile:
        """Drop all but the largest arrays; a note names what was dropped."""
        if self._entries <= FEW_ARRAYS:
            return self
        dropped = {
            "timeline": self.timeline is not None,
            "memory maps": any(each.allocations for each in self.executables),
            "call stacks": self.heap is not None,
        }
        parts = ", ".join(name for name, was_there in dropped.items() if was_there)
        return replace(
            self,
            arrays=self.arrays.with_largest(FEW_ARRAYS),
            timeline=None,
            heap=None,
            executables=tuple(replace(each, allocations=None, steps=None) for each in self.executables),
            notes=(*self.notes, *([note("memory_use.history_dropped", parts=parts)] if parts else [])),
        )
