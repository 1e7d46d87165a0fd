"""What was really used of the memory while a block ran, as far as samples can tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from ...records.note import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The most that was used at once, enclosed: a sample can miss it, and a mark for life can be an older one.

    Attributes:
        at_least_bytes: was seen.
        at_most_bytes: cannot have been passed; ``None`` where nothing tells.
    """

    at_least_bytes: int
    at_most_bytes: int | None

    @property
    def exact(self) -> bool:
        """True if it is known to the byte; otherwise what was seen is a lower bound."""
        return self.at_least_bytes == self.at_most_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimeline:
    """Memory of the process, of its arrays and of its devices, sampled from the start of a window to its end.

    The first sample was taken at the start and the last one at the end. A column has one entry for each time, and
    ``None`` where nobody looked then: looking at arrays and devices costs more than the process, and is done less
    often.

    Attributes:
        interval_ns: the distance of samples that was asked for. It is larger where a sample costs too much for it.
        times_ns: when, since the start of the window.
        rss_bytes: resident set size of the process: its pages that are in memory.
        array_bytes: what the living JAX arrays take on the local devices. Pieces of a sharded array that somebody
            looked at count again, and before JAX 0.10 all arrays that share memory do.
        device_bytes: the same column for each device that tells how much of its memory is in use.
        device_peak_bytes: for each device, the most that was ever in use, as it said before the window and after it.
            Nothing resets that. 0 for a device that was started in the window, ``None`` where it did not say.
        device_limit_bytes: for each device, what JAX may take of its memory.
        rss_high_water_bytes: the same two for the resident set size, as Linux keeps it (VmHWM); ``None`` elsewhere.
        clock_ns: when the clock of the timing started, since the start of the window: work in flight is waited for
            in between.
        samples_missed: intervals that went by without a sample because Python or the machine was busy.
        samples_spared: intervals without a sample because sampling would have taken too much of the time.
        notes: what could not be measured, and why.
    """

    interval_ns: int
    times_ns: tuple[int, ...]
    rss_bytes: tuple[int | None, ...]
    array_bytes: tuple[int | None, ...]
    device_bytes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    device_peak_bytes: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    device_limit_bytes: dict[str, int] = field(default_factory=dict)
    rss_high_water_bytes: tuple[int, int] | None = None
    clock_ns: int = 0
    samples_missed: int = 0
    samples_spared: int = 0
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        if not self.times_ns:
            raise ValueError("times_ns is empty: a timeline has a sample at its start at least")
        if self.times_ns[0] < 0 or any(later < earlier for earlier, later in pairwise(self.times_ns)):
            raise ValueError("times_ns counts from the start of the window and cannot go back")
        columns = {"rss_bytes": self.rss_bytes, "array_bytes": self.array_bytes, **self.device_bytes}
        for name, column in columns.items():
            if len(column) != len(self.times_ns):
                raise ValueError(
                    f"{name}: expected an entry for each of {len(self.times_ns)} times, got {len(column)}"
                )

    @property
    def rss_start_bytes(self) -> int | None:
        """Resident set size when the window began."""
        return self.rss_bytes[0]

    @property
    def rss_end_bytes(self) -> int | None:
        """Resident set size when the window ended."""
        return self.rss_bytes[-1]

    @property
    def rss_peak(self) -> Peak | None:
        """The largest resident set size, exact where it passed all there had been in the life of the process."""
        return _peak(self.rss_bytes, self.rss_high_water_bytes or (None, None))

    @property
    def rss_peak_bytes(self) -> int | None:
        """The largest resident set size that is known: a lower bound, unless :attr:`rss_peak` is exact."""
        return None if (peak := self.rss_peak) is None else peak.at_least_bytes

    @property
    def array_peak_bytes(self) -> int | None:
        """The most that living arrays were seen to take: a lower bound."""
        return max((each for each in self.array_bytes if each is not None), default=None)

    def window_peak(self, device: str) -> Peak | None:
        """The most that was in use on a device within the window; ``None`` if it does not say.

        A device keeps its peak for the life of the process. Where that grew in the window, it was reached there;
        where it did not, the samples are a lower bound and it is an upper one.

        >>> gpu = {"gpu:0": (5, 5)}
        >>> timeline = MemoryTimeline(
        ...     interval_ns=1, times_ns=(0, 1), rss_bytes=(1, 1), array_bytes=(1, 1),
        ...     device_bytes={"gpu:0": (2, 3)}, device_peak_bytes=gpu,
        ... )
        >>> timeline.window_peak("gpu:0")
        Peak(at_least_bytes=3, at_most_bytes=5)
        """
        return _peak(self.device_bytes.get(device, ()), self.device_peak_bytes.get(device, (None, None)))


def _peak(sampled: tuple[int | None, ...], marks: tuple[int | None, int | None]) -> Peak | None:
    """The peak by samples and by a mark for life, before and after."""
    before, after = marks
    seen = max((each for each in sampled if each is not None), default=None)
    if before is not None and after is not None and after > before:
        highest = after if seen is None else max(after, seen)
        return Peak(at_least_bytes=highest, at_most_bytes=highest)
    if seen is None:
        return None
    return Peak(at_least_bytes=seen, at_most_bytes=None if after is None else max(after, seen))
