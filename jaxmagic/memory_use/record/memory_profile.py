"""Where memory goes: what programs need as the compiler planned it, and what a run of some code made of it."""

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
from .live_arrays import LiveArrays
from .usage import MemoryTimeline

#: Arrays that an old record of a session keeps.
_FEW_ARRAYS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Bytes that one value takes, and for how long.

    Attributes:
        offset_bytes: where they begin in their allocation.
        size_bytes: how many they are.
        first: the step of the schedule that makes them.
        last: the last step at which they hold it; the step before, where another value is written over them.
        instruction: the name of the instruction that makes them, as in the compiled module's text.
        shape: type and sizes, such as ``"f32[256,512]"``.
        op_name: the path of JAX's operation, such as ``"jit(f)/dot_general"``; of an argument, its name.
        source: file and line that it comes from, such as ``"train.py:3"``, of a notebook's ``"cell 12:3"``; ``None``
            if it is not known.
        inside: the function of a library that this line called, such as ``"flax.linen.BatchNorm"``; ``None`` if
            there is none, or it is not known.
        captured: of a constant, or of an argument that JAX has made of one: by which name the function got it from
            around it, such as ``"params['w']"``. Several where these arrays are equal; empty where none is known.
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
    """A stretch of memory that the program gets as a whole.

    Attributes:
        kind: what it is for: ``"argument"``, ``"output"``, ``"temporary"``, ``"constant"``; ``"thread-local"`` ones
            are a few bytes on the stack of a thread, and counted nowhere.
        size_bytes: how large it is.
        aliased: whether an argument's memory becomes an output's: it was donated.
        space: XLA's number of the memory that it lies in; 0 is the device's own.
        buffers: what lies in it, by when it is made; no byte belongs to two of them at one step.
    """

    kind: Kind
    size_bytes: int
    aliased: bool
    space: int
    buffers: tuple[Buffer, ...]


#: Far beyond what compilers make: a record from a file must not keep a reader busy for hours.
MOST_STEPS = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class Executable(Displayable):
    """A compiled program and the memory that it needs on each device.

    Attributes:
        name: of its module, such as ``"jit_f"``.
        ran: whether it was run in the window; ``None`` if it is not known, or there was no window.
        compiled: whether it was compiled in the window; ``None`` if there was no window.
        argument_bytes: of its arguments; like the four below ``None`` where the backend does not say.
        output_bytes: of its results, with the pointers of tuples.
        alias_bytes: what of the outputs lies in the memory of donated arguments.
        temporary_bytes: of everything between.
        generated_code_bytes: of its machine code; 0 on the CPU, which does not count it.
        host_argument_bytes: of its arguments in the memory of the host (``pinned_host``), which the sums of the
            device leave out; like the three below ``None`` where this jaxlib does not say.
        host_output_bytes: of its results there.
        host_alias_bytes: what of these lies in the memory of donated arguments there.
        host_temporary_bytes: of everything between, there, such as offloaded activations.
        constant_bytes: of what is built into it; ``None`` where its allocations are not known.
        steps: instructions in its schedule; ``None`` if it is not known.
        allocations: where everything lies, and for how long; ``None`` if that is not known.
        estimated: whether the allocations are not the compiler's, but follow from the schedule alone; what is live at
            a step is a lower bound then.
        limit_bytes: what the device has in all; ``None`` where it does not say.
        notes: what could not be read, and why.
    """

    _derived: ClassVar[tuple[str, ...]] = ("peak_bytes", "host_bytes", "fits")

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
            raise ValueError(f"a buffer is needed from a step to a later one of {self.steps}")

    @property
    def peak_bytes(self) -> int | None:
        """The most that it needs of a device: argument + output + temporary - alias; ``None`` if one is not known.

        Not ``peak_memory_in_bytes`` of JAX's statistics, which leaves the temporaries out on the CPU.
        """
        parts = self.argument_bytes, self.output_bytes, self.temporary_bytes, self.alias_bytes
        if None in parts:
            return None
        argument_bytes, output_bytes, temporary_bytes, alias_bytes = (each or 0 for each in parts)
        return argument_bytes + output_bytes + temporary_bytes - alias_bytes

    @property
    def host_bytes(self) -> int | None:
        """The same sum in the memory of the host; ``None`` if one is not known."""
        parts = self.host_argument_bytes, self.host_output_bytes, self.host_temporary_bytes, self.host_alias_bytes
        if None in parts:
            return None
        argument_bytes, output_bytes, temporary_bytes, alias_bytes = (each or 0 for each in parts)
        return argument_bytes + output_bytes + temporary_bytes - alias_bytes

    @property
    def fits(self) -> bool | None:
        """True if the device has that much in all; ``None`` where it does not say.

        What other arrays and programs take of it is not counted: it may still not fit beside them.
        """
        if self.peak_bytes is None or self.limit_bytes is None:
            return None
        return self.peak_bytes <= self.limit_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """Arrays that became more, look after look, under the same name: perhaps a leak.

    Attributes:
        path: where they are, with ``[*]`` for what differs: ``"losses[*]"``.
        bytes_seen: what they took at each look, the newest last.
        arrays: how many there are now.
    """

    path: str
    bytes_seen: tuple[int, ...]
    arrays: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryProfile(Record):
    """Memory before, while and after some code ran.

    Attributes:
        timing: of the same run. To be watched costs the first call of every function some 0.1 to 0.7 ms of it, and
            1 ms for each thousand equations of its trace.
        before_bytes: what arrays took of each device when the code began.
        arrays: the arrays that were alive when all of its work was done, and who holds them.
        executables: what each program that ran or was compiled needs, the hungriest first.
        timeline: what was really used meanwhile; ``None`` if it was not sampled.
        suspects: what grew in every look of this session.
        heap: what was held by call stack before and after, of your own calls; ``None`` if it was not asked for.
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
        """All compilations meanwhile."""
        return self.timing.compilations

    @property
    def environment(self) -> Environment:
        """Under which this is true."""
        return self.timing.environment

    @property
    def after_bytes(self) -> dict[str, int]:
        """Bytes of arrays on each device when all work was done."""
        return self.arrays.by_device

    @property
    def delta_bytes(self) -> dict[str, int]:
        """Difference to the bytes before, for each device."""
        before = dict(self.before_bytes)
        devices = dict.fromkeys((*self.after_bytes, *before))
        return {each: self.after_bytes.get(each, 0) - before.get(each, 0) for each in devices}

    @property
    def peak_bytes(self) -> int | None:
        """Peak of the hungriest program on each device; ``None`` if no program says."""
        return max((each.peak_bytes for each in self.executables if each.peak_bytes is not None), default=None)

    @property
    def _entries(self) -> int:
        """Number of arrays, samples, buffers and call stacks that it lists."""
        allocations = (each for program in self.executables for each in program.allocations or ())
        samples = 0 if self.timeline is None else len(self.timeline.times_ns)
        heaps = () if self.heap is None else (self.heap.before, self.heap.after)
        stacks = sum(len(each.samples) for each in heaps if each is not None)
        return len(self.arrays.arrays) + samples + sum(len(each.buffers) for each in allocations) + stacks

    def _shortened(self) -> MemoryProfile:
        """Return the same with the largest arrays only; a note names what is gone."""
        if self._entries <= _FEW_ARRAYS:
            return self
        lost = {
            "timeline": self.timeline is not None,
            "memory maps": any(each.allocations for each in self.executables),
            "call stacks": self.heap is not None,
        }
        parts = ", ".join(name for name, was_there in lost.items() if was_there)
        return replace(
            self,
            arrays=self.arrays.with_largest(_FEW_ARRAYS),
            timeline=None,
            heap=None,
            executables=tuple(replace(each, allocations=None, steps=None) for each in self.executables),
            notes=(*self.notes, *([note("memory_use.history_dropped", parts=parts)] if parts else [])),
        )
