"""Declares the memory that was used while a block ran, as sampled."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from ...records.note import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """Bounds of the peak memory. Samples can miss it, and a high-water mark can be older than the window.

    Attributes:
        at_least_bytes: the largest sample, or the exact peak.
        at_most_bytes: an upper bound; ``None`` if there is none.
    """

    at_least_bytes: int
    at_most_bytes: int | None

    @property
    def exact(self) -> bool:
        """Whether the peak is known to the byte; otherwise ``at_least_bytes`` is a lower bound."""
        return self.at_least_bytes == self.at_most_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimeline:
    """Memory of the process, of its arrays and of its devices, sampled from the start of a window to its end.

    The first sample was taken at the start and the last one at the end. A column has one entry for each time, or
    ``None`` if the value was not sampled then: arrays and devices are more expensive to sample than the process, and
    are sampled less often.

    Attributes:
        interval_ns: the requested sampling interval. Samples are further apart if sampling is too expensive for it.
        times_ns: times of the samples since the start of the window.
        rss_bytes: resident set size of the process.
        array_bytes: bytes of the live JAX arrays on the local devices. Shards of arrays on several devices that
            JAX made arrays of, to print one or for ``addressable_shards``, count again.
        device_bytes: memory in use, for each device that reports it.
        device_peak_bytes: for each device, the peak in the life of the process, as reported before and after the
            window. It is never reset. 0 for a device that was started in the window, ``None`` if not reported.
        device_limit_bytes: for each device, how much of its memory JAX can use.
        rss_high_water_bytes: the peak resident set size in the life of the process, before and after the window, as
            Linux reports it (VmHWM); ``None`` elsewhere.
        clock_ns: when the clock of the timing started, since the start of the window: in between, work in flight is
            waited for.
        samples_missed: intervals without a sample because Python or the machine was busy.
        samples_spared: intervals without a sample because sampling would have taken too much time.
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
            raise ValueError("times_ns: expected at least the sample at the start, got none")
        if self.times_ns[0] < 0 or any(later < earlier for earlier, later in pairwise(self.times_ns)):
            raise ValueError("times_ns: expected times since the start of the window in ascending order")
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
        """The peak resident set size, exact if it was the highest in the life of the process."""
        return _peak(self.rss_bytes, self.rss_high_water_bytes or (None, None))

    @property
    def rss_peak_bytes(self) -> int | None:
        """The peak resident set size: a lower bound, unless ``rss_peak`` is exact."""
        return None if (peak := self.rss_peak) is None else peak.at_least_bytes

    @property
    def array_peak_bytes(self) -> int | None:
        """The largest sample of the bytes of live arrays: a lower bound of the peak."""
        return max((each for each in self.array_bytes if each is not None), default=None)

    def window_peak(self, device: str) -> Peak | None:
        """Return the peak memory of a device within the window; ``None`` if the device does not report it.

        A device reports its peak in the life of the process. If that grew in the window, it is the peak of the
        window; if not, it is an upper bound, and the largest sample is a lower bound.

        >>> gpu = {"gpu:0": (5, 5)}
        >>> timeline = MemoryTimeline(
        ...     interval_ns=1, times_ns=(0, 1), rss_bytes=(1, 1), array_bytes=(1, 1),
        ...     device_bytes={"gpu:0": (2, 3)}, device_peak_bytes=gpu,
        ... )
        >>> timeline.window_peak("gpu:0")
        Peak(at_least_bytes=3, at_most_bytes=5)
        """
        return _peak(self.device_bytes.get(device, ()), self.device_peak_bytes.get(device, (None, None)))


def _peak(sampled: tuple[int | None, ...], high_water: tuple[int | None, int | None]) -> Peak | None:
    """Bound the peak by samples and by high-water marks before and after the window."""
    before, after = high_water
    seen = max((each for each in sampled if each is not None), default=None)
    if before is not None and after is not None and after > before:
        highest = after if seen is None else max(after, seen)
        return Peak(at_least_bytes=highest, at_most_bytes=highest)
    if seen is None:
        return None
    return Peak(at_least_bytes=seen, at_most_bytes=None if after is None else max(after, seen))
