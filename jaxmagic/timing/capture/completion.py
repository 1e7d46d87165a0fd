"""Finds when the work of a block was done: first its result, then what it dropped, then everything else."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...interrupts import interruptible
from ...records.note import Note, note
from ...runtime import private_api
from ...runtime.clock import Clock, CpuTime, cpu_time
from ...runtime.functions import dropping
from .failed_work import Newest
from .fence import Fence, unready, wait_for_arrays
from .fence_queues import Waited
from .result_arrays import Search, host_copy, is_array
from .wait import wait_for_all

#: Longer than our own few lines between two clock readings can take: this thread was descheduled.
_SET_ASIDE_NS = 100_000

#: Objects of a result that are searched as soon as the code has returned, which takes 10 to 70 µs.
_FIRST_LOOK = 8

#: Work that the fence finds within this time of dropped work is taken to be part of that work.
_NEAR_NS = 1_000_000

#: Work that may be missing is noted from this share of the wall time on.
_WORTH_A_NOTE = 0.01


class End(NamedTuple):
    """When the work of a block ended, and what was measured at that moment.

    Attributes:
        done_ns: when all of it was done.
        held_ns: when the last work was done that the result or a live array depends on; ``None`` if unknown.
        cpu: processor time.
        fetch_ns: how long the copy of the result to the host took, if one was requested.
        fetch_bytes: how many bytes were copied.
    """

    done_ns: int
    held_ns: int | None
    cpu: CpuTime
    fetch_ns: int | None = None
    fetch_bytes: int | None = None


class _FirstLook(NamedTuple):
    """The first look at a result.

    Attributes:
        search: the search for its arrays, which may be unfinished.
        arrays: the arrays found so far.
        ready: whether all of them were ready.
        looked_ns: when that was checked.
        ready_ns: when all of them were ready.
    """

    search: Search
    arrays: list[Any]
    ready: bool
    looked_ns: int
    ready_ns: int


class Completion:
    """Waits for the work of one block.

    Attributes:
        dropped: a value that the block throws away, to be waited for after the result.
        notes: what qualifies the times.
    """

    def __init__(self, fence: Fence, clock: Clock) -> None:
        self.dropped: Any = None
        self.notes: list[Note] = []
        self._fence = fence
        self._clock = clock
        self._fenced = False
        self._failure: str | None = None
        self._first: _FirstLook | None = None
        self._before: Newest = ()

    @interruptible
    def prepare(self) -> Waited | None:
        """Compile the fence for the devices in use; a failure becomes a note."""
        try:
            return self._fence.prepare()
        except Exception as error:  # jax.no_tracing(), a device that is out of memory
            self.notes.append(note("timing.no_fence", error=type(error).__name__))
            return None

    @interruptible
    def drain(self) -> None:
        """Wait for work that was in flight before the block."""
        self._fence.wait()
        self._fenced, self._failure = self._fence.ready, self._fence.failure
        self._before = self._fence.newest

    @interruptible
    def wait_at_once(self, value: Any) -> None:
        """Wait for `value`, or for the first arrays in it, as soon as the code has returned."""
        __tracebackhide__ = True
        self._first = self._look(value)

    def forget(self) -> None:
        """Release the values of the block."""
        with dropping(self._first and self._first.search.result):
            self.dropped = self._first = None

    @interruptible
    def wait(self, result: Any, started_ns: int, returned_ns: int, *, fetch: bool) -> End:
        """Wait for the result, then for everything else, and choose the clock reading that counts.

        Args:
            result: the value of the block.
            started_ns: when the code started.
            returned_ns: when it returned.
            fetch: whether to time a copy of the result to the host.

        Raises:
            Exception: the computation itself failed.
        """
        __tracebackhide__ = True
        search, arrays, ready, looked_ns, ready_ns = self._first_look(result) or self._look(result)
        # If nothing had to be waited for, the few microseconds since the return are ours. Many microseconds are not:
        # the thread was descheduled, work may have ended unseen, and leaving them out could be wrong.
        at_once = ready and (looked_ns - returned_ns <= _SET_ASIDE_NS or not self._fenced)
        asked_ns = looked_ns if ready else ready_ns
        held_ns = done_ns = returned_ns if at_once else asked_ns
        dropped_ns = self._wait_for_dropped()
        if dropped_ns is not None:
            asked_ns = done_ns = dropped_ns
            held_ns = held_ns if arrays else returned_ns
        now_ns = self._clock()
        if now_ns - asked_ns <= _SET_ASIDE_NS:
            asked_ns = now_ns
        if self._fenced:
            cpu = cpu_time()  # without the fence's own, unless user work is found behind it
            waited = self._fence.wait_for_programs(asked_ns)
            self._note_failure()
            later = cpu_time()
            waited = self._settle(waited, started_ns)
            cpu = later if waited.found_work else cpu
            waited = self._fence.wait_for_others(waited, since=self._before)
            known = self._fence.failure is None
            if self._fence.failed is not None:
                self.notes.append(note("timing.work_failed", error=self._fence.failed))
        else:
            waited, known = self._wait_without_fence(done_ns if dropped_ns else ready_ns)
            cpu = cpu_time()
        if waited.found_work or (waited.found_work is None and not arrays):
            if waited.found_work is None and waited.until_ns - done_ns > _SET_ASIDE_NS:
                self.notes.append(note("timing.descheduled", aside_ns=waited.until_ns - done_ns))
            if dropped_ns is None or waited.until_ns - dropped_ns > _NEAR_NS:
                held_ns = waited.held_until_ns or held_ns
            done_ns = max(waited.until_ns, done_ns)
        if (rest_ns := self._wait_for_rest(search)) is not None:
            held_ns = done_ns = max(rest_ns, done_ns)
        if ready and not at_once and done_ns == looked_ns:
            self.notes.append(note("timing.looked_late", late_ns=done_ns - returned_ns))
        self.notes += search.notes
        fetched = self._time_fetch(search.arrays) if fetch else (None, None)
        return End(done_ns, held_ns if known else None, cpu, *fetched)

    def _look(self, value: Any) -> _FirstLook:
        __tracebackhide__ = True
        if is_array(value) and not value.is_deleted():  # JAX crashes when a deleted one is asked for more
            ready, looked_ns = _is_ready(value), self._clock()
            value.block_until_ready()
            ready_ns = self._clock()
            search = Search(value)
            return _FirstLook(search, search.look(), ready, looked_ns, ready_ns)
        # Searching a large result may take longer than the work, so the fence is queried before the search goes on.
        search = Search(value)
        arrays = search.look(_FIRST_LOOK) if self._fenced else search.look()
        ready, looked_ns = all(map(_is_ready, arrays)), self._clock()
        for array in arrays:  # also if they are ready: failures are raised here
            array.block_until_ready()
        return _FirstLook(search, arrays, ready, looked_ns, self._clock())

    def _first_look(self, value: Any) -> _FirstLook | None:
        """Return the first look at `value`, if the code has returned and there was one."""
        return self._first if self._first is not None and self._first.search.result is value else None

    def _wait_for_dropped(self) -> int | None:
        """Find when the work for the dropped value was done; ``None`` if nothing had to be waited for.

        Its arrays show that to the microsecond; the fence shows it only above its own noise. A failure is ignored, as
        it would be if the arrays had been deleted already.
        """
        dropped, self.dropped = self.dropped, None
        if dropped is None:
            return None
        if (first := self._first_look(dropped)) is not None:
            return None if first.ready else first.ready_ns
        return self._clock() if wait_for_arrays(unready(Search(dropped).look(_FIRST_LOOK))) else None

    def _wait_for_rest(self, search: Search) -> int | None:
        """Find when arrays that the first look missed were ready; ``None`` if they were ready when found."""
        __tracebackhide__ = True
        if search.over:
            return None
        arrays = search.look()
        late = unready(arrays)
        wait_for_all(arrays)  # also if they are ready: failures are raised here
        return self._clock() if late else None

    def _settle(self, waited: Waited, started_ns: int) -> Waited:
        """Measure again if in doubt; time left out then may have been work, and a note says so."""
        settled = self._fence.settle(waited)
        left_out_ns = waited.until_ns - settled.until_ns
        if left_out_ns > _WORTH_A_NOTE * (waited.until_ns - started_ns):
            self.notes.append(note("timing.undetectable", left_out_ns=left_out_ns))
        return settled

    def _wait_without_fence(self, ready_ns: int) -> tuple[Waited, bool]:
        """Wait for live arrays and only then compile a fence, because the measured code has started JAX itself.

        Returns:
            What was found, and whether that is complete: work that nothing holds may end while the fence compiles.
        """
        if private_api.backends_started() is False:
            return Waited(False, ready_ns), True  # JAX has not been started even now: there is no work
        waited = self._fence.wait_for_others(Waited(False, ready_ns))
        behind = self.prepare()
        if behind is not None and behind.found_work:
            waited = behind
        return waited, False

    def _note_failure(self) -> None:
        failure = self._fence.failure or self._failure
        if failure is not None:
            self.notes.append(note("timing.fence_failed", error=failure))

    def _time_fetch(self, arrays: list[Any]) -> tuple[int, int]:
        started_ns = self._clock()
        copied_bytes = host_copy(arrays)
        return self._clock() - started_ns, copied_bytes


def _is_ready(array: Any) -> bool:
    """Return whether an array is ready; typed keys do not say."""
    return hasattr(array, "is_ready") and array.is_ready()
