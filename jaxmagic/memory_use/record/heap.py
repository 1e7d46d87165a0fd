"""Declares heap profiles: what is in device memory at one moment, and which calls allocated it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from ...records.call_stack import Frame, Stack
from ...records.note import Note
from ...report.displayable import Displayable

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapSample:
    """Allocations of one kind that the same calls made on the same device.

    Attributes:
        size_bytes: total size of these allocations.
        count: number of allocations.
        kind: ``"buffer"`` for the memory of arrays, ``"executable"`` for a program; ``"unknown"`` if the profile does
            not say.
        device: JAX's name of the device; ``None`` for allocations on no device, such as programs.
        stack: the calls that made the allocations, outermost first; empty if JAX kept none.
        inside: the library function that the user's line called, such as ``"flax.linen.Dense"``, or the outermost
            library function if no call is the user's; ``None`` if there is none, or if it is unknown.
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
    """The memory that one backend holds for arrays and programs at one moment.

    Temporaries of running programs are not included, and two arrays that share their memory count once. Subtract an
    earlier profile to get a ``HeapDifference``, which shows what was allocated and freed in between.

    Attributes:
        samples: the allocations, in the order of the profile, which has no meaning.
        started_at: when the profile was taken, in ISO 8601 with the time zone; ``None`` if the file does not say.
        notes: what a reader must know to understand the numbers.
    """

    _derived: ClassVar[tuple[str, ...]] = ("total_bytes", "count", "by_device", "by_kind")

    samples: tuple[HeapSample, ...]
    started_at: str | None
    notes: tuple[Note, ...] = ()

    @property
    def total_bytes(self) -> int:
        """Total size of all allocations on all devices."""
        return sum(each.size_bytes for each in self.samples)

    @property
    def count(self) -> int:
        """Number of allocations."""
        return sum(each.count for each in self.samples)

    def __sub__(self, earlier: HeapProfile) -> HeapDifference:
        return HeapDifference(before=earlier, after=self)

    @property
    def by_device(self) -> dict[str | None, int]:
        """Bytes on each device, largest first; ``None`` is the key of allocations on no device."""
        return self._bytes_by(lambda each: each.device)

    @property
    def by_kind(self) -> dict[str, int]:
        """Bytes of each kind, largest first."""
        return self._bytes_by(lambda each: each.kind)

    def _bytes_by(self, key: Callable[[HeapSample], _Key]) -> dict[_Key, int]:
        totals: Counter[_Key] = Counter()
        for each in self.samples:
            totals[key(each)] += each.size_bytes
        return dict(sorted(totals.items(), key=lambda item: (-item[1], str(item[0]))))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapDifference(Displayable):
    """Two heap profiles, to show which calls allocated memory in between.

    Attributes:
        before: the earlier profile; ``None`` if none was taken.
        after: the later profile.
    """

    _derived: ClassVar[tuple[str, ...]] = ("change_bytes",)

    before: HeapProfile | None
    after: HeapProfile

    @property
    def change_bytes(self) -> int | None:
        """Growth in bytes, negative if memory was freed; ``None`` without an earlier profile."""
        return None if self.before is None else self.after.total_bytes - self.before.total_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTotal:
    """Memory that one call stack has allocated, of all kinds and on all devices.

    Attributes:
        stack: the calls, outermost first.
        size_bytes: bytes held.
        count: number of allocations.
        change_bytes: growth since the earlier profile, negative if memory was freed; ``None`` if unknown.
        inside: bytes by the library function that allocated them, largest first; if all were freed, the bytes held
            before. Bytes allocated outside of libraries are not included.
    """

    stack: Stack
    size_bytes: int
    count: int
    change_bytes: int | None = None
    inside: dict[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapChange:
    """Change of the memory that one call stack holds, of one kind on one device.

    Attributes:
        stack: the calls, outermost first.
        kind: see :class:`HeapSample`.
        device: see :class:`HeapSample`.
        before_bytes: bytes held in the earlier profile.
        after_bytes: bytes held in the later profile.
        before_count: number of allocations in the earlier profile.
        after_count: number of allocations in the later profile.
        inside: the library functions that allocated the memory, most bytes first.
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
        """Growth in bytes; negative if memory was freed."""
        return self.after_bytes - self.before_bytes

    @property
    def change_count(self) -> int:
        """Number of added allocations; negative if some were freed."""
        return self.after_count - self.before_count


@dataclass(frozen=True, slots=True, kw_only=True)
class FlameNode:
    """One call in the tree of all stacks.

    Attributes:
        frame: the call; ``None`` for the root of all stacks.
        self_bytes: bytes that the call allocated itself.
        total_bytes: the same with the bytes allocated in the calls that it made.
        children: the calls that it made, largest first.
    """

    frame: Frame | None
    self_bytes: int
    total_bytes: int
    children: tuple[FlameNode, ...]

    @property
    def name(self) -> str:
        """The function's name; ``"all"`` for the root."""
        return "all" if self.frame is None else self.frame.function
