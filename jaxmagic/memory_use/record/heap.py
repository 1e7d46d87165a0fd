"""What lies in the devices' memory at one moment, and which lines of Python put it there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from ...records.call_stack import Frame, Stack
from ...records.note import Note
from ...report.displayable import Displayable

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapSample:
    """Allocations of one size that were made by the same calls, on the same device.

    Attributes:
        size_bytes: all of them together.
        count: how many they are.
        kind: what they are: ``"buffer"`` for the memory of arrays, ``"executable"`` for a program; ``"unknown"`` if
            the profile does not say.
        device: where they lie, as JAX names the device; ``None`` for what lies on none, as programs do.
        stack: the calls that made them, the outermost first; empty where JAX had kept none.
        inside: the function of a library that the user's line called, such as ``"flax.linen.Dense"``, or the
            outermost one where no call is the user's; ``None`` if there is none, or if that is not known.
    """

    size_bytes: int
    count: int
    kind: str
    device: str | None
    stack: Stack
    inside: str | None = None

    def __post_init__(self) -> None:
        for name, value in (("size_bytes", self.size_bytes), ("count", self.count)):
            if value < 0:
                raise ValueError(f"{name}: expected 0 or more, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapProfile(Displayable):
    """All that one backend holds for arrays and programs, at one moment.

    Temporaries of programs that run are not in it, and two arrays that share their memory count once. An earlier one
    can be subtracted: the :class:`HeapDifference` tells what came and went.

    Attributes:
        samples: what is held, in the order of the profile, which means nothing.
        started_at: when it was taken, in ISO 8601 with the time zone; ``None`` for bytes that do not say.
        notes: what a reader must know to understand the numbers.
    """

    _derived: ClassVar[tuple[str, ...]] = ("total_bytes", "count", "by_device", "by_kind")

    samples: tuple[HeapSample, ...]
    started_at: str | None
    notes: tuple[Note, ...] = ()

    @property
    def total_bytes(self) -> int:
        """Everything together, on all devices."""
        return sum(each.size_bytes for each in self.samples)

    @property
    def count(self) -> int:
        """Number of allocations."""
        return sum(each.count for each in self.samples)

    def __sub__(self, earlier: HeapProfile) -> HeapDifference:
        return HeapDifference(before=earlier, after=self)

    @property
    def by_device(self) -> dict[str | None, int]:
        """Bytes on each device, the fullest first; under ``None`` what lies on no device."""
        return self._bytes_by(lambda each: each.device)

    @property
    def by_kind(self) -> dict[str, int]:
        """Bytes of each kind, the most first."""
        return self._bytes_by(lambda each: each.kind)

    def _bytes_by(self, key: Callable[[HeapSample], _Key]) -> dict[_Key, int]:
        found: dict[_Key, int] = {}
        for each in self.samples:
            found[key(each)] = found.get(key(each), 0) + each.size_bytes
        return dict(sorted(found.items(), key=lambda item: (-item[1], str(item[0]))))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapDifference(Displayable):
    """Memory by call stack, beside that of an earlier look.

    Attributes:
        before: the earlier profile; ``None`` if none was taken.
        after: the later one.
    """

    _derived: ClassVar[tuple[str, ...]] = ("change_bytes",)

    before: HeapProfile | None
    after: HeapProfile

    @property
    def change_bytes(self) -> int | None:
        """By how much it grew, negative where it shrank; ``None`` if that is not known."""
        return None if self.before is None else self.after.total_bytes - self.before.total_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTotal:
    """What the same calls have put into memory, whatever it is and wherever it lies.

    Attributes:
        stack: the calls, the outermost first.
        size_bytes: how much.
        count: in how many allocations.
        change_bytes: by how much that is more, or less, than before; ``None`` if that is not known.
        inside: bytes by the library function that was called for them, the most first; of what is gone, the bytes
            that it was. What was put there without a library is not in it.
    """

    stack: Stack
    size_bytes: int
    count: int
    change_bytes: int | None = None
    inside: dict[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapChange:
    """What the same calls hold more or less of, on one device, than they did before.

    Attributes:
        stack: the calls, the outermost first.
        kind: what it is, as in :class:`HeapSample`.
        device: where it lies, as in :class:`HeapSample`.
        before_bytes: how much it was.
        after_bytes: how much it is now.
        before_count: in how many allocations it was.
        after_count: in how many it is now.
        inside: the library functions that were called for it, those of the most bytes first.
    """

    stack: Stack
    kind: str
    device: str | None
    before_bytes: int
    after_bytes: int
    before_count: int
    after_count: int
    inside: tuple[str, ...] = ()

    @property
    def change_bytes(self) -> int:
        """By how much it grew; negative where it shrank."""
        return self.after_bytes - self.before_bytes

    @property
    def change_count(self) -> int:
        """Number of allocations that were added; negative where some went."""
        return self.after_count - self.before_count


@dataclass(frozen=True, slots=True, kw_only=True)
class FlameNode:
    """One call in the tree of all stacks.

    Attributes:
        frame: the call; ``None`` for the root, from which all stacks begin.
        self_bytes: what it allocated itself.
        total_bytes: with all that was allocated in the calls that it made.
        children: these calls, the largest first.
    """

    frame: Frame | None
    self_bytes: int
    total_bytes: int
    children: tuple[FlameNode, ...]

    @property
    def name(self) -> str:
        """The function's name; ``"all"`` for the root."""
        return "all" if self.frame is None else self.frame.function
