"""Samples memory while a block runs, in a thread that wakes every millisecond at most, to limit overhead.

A sample takes the time that Python and the operating system need to wake a thread, 10 to 100 µs of processor time,
and more if there are many arrays. So each kind of reading has a budget, a share of the elapsed time. The thread
measures its own processor time, and samples less often if a reading is expensive.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from ...interrupts import begins, ends
from ...records.note import Note, note
from ...runtime.clock import Clock, now_ns, thread_cpu_ns
from ..record.usage import MemoryTimeline
from .sampling_budget import Reading, Samples
from .usage_readings import DeviceMemory, Devices, ProcessSize, array_bytes, high_water_bytes, started_devices

#: Largest share of the time that the thread may take, in processor time, to wake and to read the process's size.
_SHARE = 0.003

#: Processor time that it may take in addition to that share, so that a short block is sampled densely.
_ALLOWANCE_NS = 300_000

#: From this ratio of actual to requested sampling interval on, a note reports it.
_WORTH_A_NOTE = 1.2

#: A thread that has not ended after this time hangs in a driver, and is abandoned.
_JOIN_S = 10.0


class MemorySampler:
    """Samples the memory of this process from :meth:`start` to :meth:`stop`.

    >>> sampler = MemorySampler()
    >>> sampler.start()
    >>> try:
    ...     ones = bytes(10**8)
    ... finally:
    ...     timeline = sampler.stop()
    >>> timeline.rss_peak_bytes > 0
    True

    Args:
        interval_ns: the sampling interval.
        most_samples: number of samples from which on every second one is dropped, though never an extreme.
        clock: the clock of the samples.
        cpu_clock: processor time of the calling thread.
        devices: returns the devices that have been started, or ``None`` if unknown. It must not start any.
        read_rss: resident set size in bytes; :class:`ProcessSize` by default.
        read_high_water: the peak resident set size in the life of the process, in bytes.
        wait: waits for a number of seconds, and returns ``True`` as soon as sampling has to end.
    """

    def __init__(
        self,
        *,
        interval_ns: int = 1_000_000,
        most_samples: int = 10_000,
        clock: Clock = now_ns,
        cpu_clock: Clock = thread_cpu_ns,
        devices: Callable[[], Sequence[Any] | None] | None = None,
        read_rss: Callable[[], int | None] | None = None,
        read_high_water: Callable[[], int | None] | None = None,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        if interval_ns < 1 or most_samples < 4:
            raise ValueError(
                f"expected at least 1 for interval_ns and 4 for most_samples, got {interval_ns} and {most_samples}"
            )
        self._interval_ns = interval_ns
        self._read_high_water = read_high_water or high_water_bytes
        self._sampling = _Sampling(
            interval_ns, most_samples, clock, cpu_clock, devices or started_devices, read_rss or ProcessSize(), wait
        )
        self._thread: threading.Thread | None = None
        self._timeline: MemoryTimeline | None = None
        self._abandon = weakref.finalize(self, self._sampling.abandon)  # stop() may never be called

    @property
    def started_ns(self) -> int:
        """The clock reading at which the window starts."""
        return self._sampling.start_ns

    def start(self) -> None:
        """Take the first sample and start the thread.

        Raises:
            RuntimeError: the sampler was started before. Each window needs its own sampler.
        """
        if self._thread is not None:
            raise RuntimeError("This sampler was started before: make one for each block.")
        self._begin()

    @begins("cancel")
    def _begin(self) -> None:
        self._high_water_before = self._read_high_water()
        self._thread = threading.Thread(target=self._sampling.run, name="jaxmagic memory", daemon=True)
        self._sampling.begin()
        self._thread.start()

    @ends
    def stop(self) -> MemoryTimeline:
        """End the thread, take the last sample, and make the record; a second call returns the same record.

        Raises:
            RuntimeError: the sampler was never started.
        """
        if self._thread is None or not self._sampling.samples.taken:
            raise RuntimeError("This sampler is not running: call start() first.")
        if self._timeline is None:
            self._end()
            try:
                self._timeline = self._make_record()
            finally:
                self._sampling.close()
        return self._timeline

    @ends
    def cancel(self) -> None:
        """End the thread without a record; do nothing if it was never started."""
        self._end()
        self._sampling.close()

    def _end(self) -> None:
        """End the thread, and wait for it."""
        self._sampling.end()
        if self._thread is not None and self._thread.ident is not None:
            self._thread.join(_JOIN_S)
            self._abandon.detach()  # Python swallows interrupts in finalizers
            if self._thread.is_alive():
                self._sampling.abandon()
                self._sampling.notes.append(note("memory_use.sampling_hung"))

    def _make_record(self) -> MemoryTimeline:
        sampling = self._sampling
        sampling.finish()
        samples, devices = sampling.samples, sampling.devices
        before, after = self._high_water_before, self._read_high_water()
        return MemoryTimeline(
            interval_ns=self._interval_ns,
            times_ns=tuple(samples.times),
            rss_bytes=tuple(samples.rss),
            array_bytes=tuple(samples.arrays),
            device_bytes={name: tuple(column) for name, column in samples.devices.items()},
            device_peak_bytes={name: (devices.before[name], peak) for name, peak in devices.after.items()},
            device_limit_bytes=devices.limits,
            rss_high_water_bytes=None if before is None or after is None else (before, after),
            samples_missed=sampling.missed,
            samples_spared=sampling.spared,
            notes=sampling.all_notes(),
        )


class _Sampling:
    """The work of the thread. It has no reference to the sampler, so that deleting the sampler ends it."""

    def __init__(
        self,
        interval_ns: int,
        most_samples: int,
        clock: Clock,
        cpu_clock: Clock,
        devices: Callable[[], Sequence[Any] | None],
        read_rss: Callable[[], int | None],
        wait: Callable[[float], bool] | None,
    ) -> None:
        known = Devices(devices)
        self.samples, self.devices = Samples(most_samples), DeviceMemory(known)
        self.missed = self.spared = 0
        self._over = False
        self.notes: list[Note] = []
        self._wanted_ns = self._interval_ns = interval_ns
        self._clock, self._cpu_clock = clock, cpu_clock
        self.start_ns = self._due_ns = self._began_cpu_ns = self._used_ns = 0
        self._read_rss = read_rss
        self._process = Reading("the process", read_rss, cpu_clock)
        self._arrays = Reading("live arrays", lambda: array_bytes(known()), cpu_clock)
        self._in_use = Reading("devices", self.devices.read, cpu_clock)
        self._gate = threading.Lock()  # faster than a threading.Event, which is built on locks in Python
        self._gate.acquire()
        self._wait = wait or partial(self._gate.acquire, True)

    def begin(self) -> None:
        """Take the first sample, which also shows the cost of readings. The window starts after it."""
        for reading in (self._arrays, self._in_use):
            reading.take()  # the first one is cold
        self._sample_all(0)
        self._arrays.begin()
        self._in_use.begin()
        self.start_ns = self._due_ns = self._clock()

    def run(self) -> None:
        """Sample until the end. No exception escapes, because Python would print it."""
        try:
            self._began_cpu_ns = self._cpu_clock()
            self._advance()
            while not self._wait(max(self._due_ns - self._clock(), 0) / 1e9) and not self._over:
                self._sample()
        except BaseException as error:
            after_ns = self.samples.times[-1]
            self.notes.append(note("memory_use.sampling_failed", after_ns=after_ns, error=type(error).__name__))
        finally:
            if self._over:
                self.close()

    def end(self) -> None:
        """Signal the thread to end; do nothing if it has ended."""
        with suppress(RuntimeError):  # the gate is open already
            self._gate.release()

    def abandon(self) -> None:
        """Signal the thread to end and to clean up itself."""
        self._over = True
        self.end()

    def close(self) -> None:
        """Close the file from which the process's size is read."""
        close = getattr(self._read_rss, "close", None)
        if close is not None:
            close()

    def finish(self) -> None:
        """Take the last sample, after the thread has ended."""
        end_ns = self._clock()
        self.missed += max(end_ns - self._due_ns, 0) // self._interval_ns
        self._sample_all(end_ns - self.start_ns)

    def all_notes(self) -> tuple[Note, ...]:
        """Return notes on what could not be measured, or was sampled less often than requested."""
        failed = [each.problem for each in (self._process, self._arrays, self._in_use) if each.problem]
        taken = self.samples.taken
        apart_ns = round(self.samples.times[-1] / taken)
        if self.spared > taken and apart_ns > _WORTH_A_NOTE * self._wanted_ns:
            self.notes.append(note("memory_use.sampled_less_often", interval_ns=apart_ns, wanted_ns=self._wanted_ns))
        if self._interval_ns > self._wanted_ns:
            self.notes.append(note("memory_use.samples_thinned", taken=taken, kept=len(self.samples.times)))
        return (*self.notes, *failed, *self.devices.notes())

    def _sample(self) -> None:
        now_ns = self._clock()
        self.missed += (late := max(now_ns - self._due_ns, 0) // self._interval_ns)
        self._due_ns += late * self._interval_ns
        since_ns = now_ns - self.start_ns
        rss = self._process.read()
        arrays = self._arrays.take() if self._arrays.due_ns <= since_ns else None
        in_use = self._in_use.take() if self._in_use.due_ns <= since_ns and not self.devices.mute else None
        if self._over:  # the reading hung, and the record has been made without it
            return
        self.samples.add(since_ns, rss, arrays, in_use)
        if self.samples.full:
            self.samples.thin()
            self._interval_ns *= 2
        self._advance()

    def _sample_all(self, since_ns: int) -> None:
        self.samples.add(since_ns, self._process.read(), self._arrays.take(), self._in_use.take())

    def _advance(self) -> None:
        """Schedule the next sample an interval later, or as many intervals later as the budget requires."""
        self._used_ns = self._cpu_clock() - self._began_cpu_ns
        used_ns = self._used_ns - self._arrays.spent_ns - self._in_use.spent_ns
        next_ns = used_ns + used_ns // self.samples.taken  # including the next sample
        within_ns = self.start_ns + round((next_ns - _ALLOWANCE_NS) / _SHARE)
        self._due_ns += self._interval_ns
        self.spared += (spare := max(-((self._due_ns - within_ns) // self._interval_ns), 0))
        self._due_ns += spare * self._interval_ns
