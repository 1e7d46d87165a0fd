"""The stopwatch: one measurement, from draining to the finished record.

The order of things is the measurement. Everything that costs time and is not the user's comes before the first
clock reading or after the last one that counts::

    start     prepare the fence, listen, drain what is in flight │ clock
    returned  clock │ wait for the value, if it is one array, clock
    stop      wait for the result, clock │ fence, clock if it found work │ stop listening, make sense of it
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

from ...compilation.capture.compile_log import CompileLog
from ...errors import NotMeasured
from ...interrupts import begins, ends, forget, interruptible
from ...progress.record import CompileProgress
from ...records.note import Note, note
from ...runtime import private_api
from ...runtime.clock import Clock, CpuTime, cpu_time, kept_waiting_ns, now_ns, thread_cpu_ns, timestamp
from ...runtime.environment import probe
from ...runtime.jax_version import require_jax
from ..record import Timing
from .fence import Fence, shared, unready, wait_for_arrays
from .fence_queues import Waited
from .result_arrays import Search, host_copy, is_array
from .wait import wait_for_all
from .waits import WaitLog

#: Beyond this, the moment between two clock readings is not the cost of our own few lines.
_SET_ASIDE_NS = 100_000

#: Objects of a result that are looked at as soon as the code has returned, which takes 10 to 70 µs.
_FIRST_LOOK = 8

#: What the fence finds so soon behind work that was thrown away does not make that work somebody's.
_NEAR_NS = 1_000_000

#: From here on, and from this part of the dispatch on, it is said that a thread did not run.
_STANDSTILL_NS, _STANDSTILL = 1_000_000, 0.2

#: What may be missing from the wall time is said where it is more than this part of it.
_WORTH_A_NOTE = 0.01

_OF_ANOTHER_THREAD = "This stopwatch was started by another thread: JAX's explanations are switched on for that one."


class _End(NamedTuple):
    """When the work of a block had ended, and what was read then.

    Attributes:
        done_ns: when all of it was done.
        held_ns: when the last of it that the result or an array alive reaches was done; ``None`` if unknown.
        cpu: processor time.
        fetch_ns: how long the copy of the result to the host took, if it was asked for.
        fetch_bytes: and how much that was.
    """

    done_ns: int
    held_ns: int | None
    cpu: CpuTime
    fetch_ns: int | None = None
    fetch_bytes: int | None = None


class _Waited(NamedTuple):
    """What the result had to be waited for.

    Attributes:
        search: that for its arrays, which may go on.
        arrays: those that were found at the first look.
        ready: whether they were ready then.
        looked_ns: when that was.
        ready_ns: when all of them were.
    """

    search: Search
    arrays: list[Any]
    ready: bool
    looked_ns: int
    ready_ns: int


class Stopwatch:
    """Times a block of code and all the JAX work that it starts. See :func:`jaxmagic.stopwatch`.

    Attributes:
        result: set it inside the block to the value of interest, and waiting for that value is told apart from
            waiting for other work. It is forgotten when the block ends.
        dropped: a value that the block throws away, kept until it ends: waited for behind the result.
        started_ns: the clock reading that the times count from.
    """

    _returned_ns: int | None
    _first: _Waited | None
    _interrupt: BaseException | None

    def __init__(
        self,
        *,
        fetch: bool = False,
        record: Callable[[Timing], None] | None = None,
        clock: Clock = now_ns,
        fence: Fence = shared,
        compiling: CompileProgress | None = None,
    ) -> None:
        self.result: Any = None
        self.dropped: Any = None
        self.started_ns = 0
        self._fetch = fetch
        self._record = record
        self._clock = clock
        self._fence = fence
        self._compiling = compiling
        self._log = CompileLog(compiling)
        self._waits = WaitLog(clock)
        self._notes: list[Note] = []
        self._timing: Timing | None = None
        self._running = False
        self._forget()

    @property
    def running(self) -> bool:
        """Whether it was started and has not been stopped."""
        return self._running

    @property
    def done(self) -> bool:
        """Whether there is a record."""
        return self._timing is not None

    @property
    def has_compiled(self) -> bool:
        """Whether JAX has compiled something since the code began."""
        return any(each.stage == "compilation" for each in self._log.spans)

    @property
    def timing(self) -> Timing:
        """The record, once the block has ended.

        Raises:
            NotMeasured: the block has not ended yet.
        """
        if self._timing is None:
            raise NotMeasured("There is no timing yet: it is made when the with block ends. Read it after the block.")
        return self._timing

    @property
    def record(self) -> Timing:
        """The record: the timing itself."""
        return self.timing

    def __enter__(self) -> Stopwatch:
        self.start()
        return self

    @ends
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        if self._is_of_another_thread():  # such as a generator that another thread goes on with, or closes
            self._let_go()
            if error is None:
                raise RuntimeError(_OF_ANOTHER_THREAD)
        else:
            self.stop(error=error)

    def start(self) -> None:
        """Wait for what is in flight, begin to listen, and start the clock.

        Raises:
            JaxNotAvailable: JAX is not installed or too old.
        """
        if self._running:
            raise RuntimeError("This stopwatch is running already: make one for each block.")
        require_jax()
        self._begin()

    @begins("cancel")
    def _begin(self) -> None:
        self._notes = []
        self._prepare_fence()
        self._timing = None
        self._thread = threading.get_ident()
        self._threads_before = {thread.ident for thread in threading.enumerate()}
        self._started_at = timestamp()
        self._log = CompileLog(self._compiling)
        self._log.start()
        self._waits.start()
        self._running = True
        self._kept_before_ns = kept_waiting_ns()
        self._drain()  # last: Python in between would cool the caches that the measured call finds
        self._fenced, self._failure = self._fence.ready, self._fence.failure
        self._cpu_before = cpu_time()
        self._thread_cpu_before_ns = thread_cpu_ns()
        self.started_ns = self._clock()

    def returned(self, value: Any = None) -> int:
        """The code has returned: read the clock, and wait at once for `value`, or for the first arrays in it.

        Our own lines between here and that wait would take a processor from the threads that work on it, where there
        are as many of those as processors; and where all is ready, they are no wait. Nothing is raised here:
        :meth:`stop` does that.
        """
        self._returned_ns = returned_ns = self._clock()
        self._waits.pause()
        try:
            if value is not None:
                self._first = self._wait_at_once(value)
        except Exception:  # it failed, or does not say: it is looked at again, in peace
            pass
        except BaseException as interrupt:
            self._interrupt = interrupt
        return returned_ns

    @interruptible
    def _wait_at_once(self, value: Any) -> _Waited:
        __tracebackhide__ = True
        if is_array(value) and not value.is_deleted():  # JAX crashes where a deleted one is asked for more
            ready, looked_ns = _is_ready(value), self._clock()
            value.block_until_ready()
            ready_ns = self._clock()
            search = Search(value)
            return _Waited(search, search.look(), ready, looked_ns, ready_ns)
        # To look through a large result may take longer than the work: where there is a fence, it is asked before.
        search = Search(value)
        arrays = search.look(_FIRST_LOOK) if self._fenced else search.look()
        ready, looked_ns = all(map(_is_ready, arrays)), self._clock()
        for array in arrays:  # also where they are ready: what failed is raised here
            array.block_until_ready()
        return _Waited(search, arrays, ready, looked_ns, self._clock())

    @interruptible
    def _drain(self) -> None:
        self._fence.wait()

    @ends
    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> Timing:
        """Stop the clock when all work is done, and make the record.

        Args:
            error: the exception that is on its way through the block.
            code: the source that was timed.

        Raises:
            Exception: what the computation itself raised while it was waited for, or an interrupt; the record
                has been made by then, with the times so far.
        """
        if self._is_of_another_thread():
            raise RuntimeError(f"{_OF_ANOTHER_THREAD} Stop it there.")
        dispatched_ns = self._returned_ns
        if dispatched_ns is None:
            dispatched_ns = self.returned(self.result if self._running else None)
        __tracebackhide__ = True  # what failed while it was waited for points at the user's line
        if not self._running:
            raise RuntimeError("This stopwatch is not running: call start() first, or use it in a with statement.")
        try:
            return self._stop(dispatched_ns, error, code)
        finally:
            self.cancel()

    @ends
    def cancel(self) -> None:
        """Listen no longer, without a record; does nothing where the block has ended."""
        self._log.stop()
        self._waits.stop()
        self._running = False
        self.result = self.dropped = None
        self._forget()

    def __del__(self) -> None:
        """End what a stopwatch that was started and never stopped has begun; the garbage collector calls this."""
        if getattr(self, "_running", False):
            self._let_go()

    def _let_go(self) -> None:
        """End what it has begun without a record, amid any line and in any thread."""
        self._running = False
        try:
            self._waits.abandon()
            self._log.abandon()
        finally:
            forget(self, self._log, self._waits)

    def _is_of_another_thread(self) -> bool:
        return self._running and threading.get_ident() != self._thread

    def _forget(self) -> None:
        """Return what :meth:`returned` noted."""
        self._returned_ns = self._first = self._interrupt = None

    def _stop(self, dispatched_ns: int, error: BaseException | None, code: str | None) -> Timing:
        __tracebackhide__ = True
        result, self.result = self.result, None
        surfaced: BaseException | None = None
        try:
            if self._interrupt is not None:
                raise self._interrupt
            end = self._wait(result, dispatched_ns, fetch=self._fetch and error is None)
        except BaseException as raised:
            surfaced = raised
            end = _End(done_ns=self._clock(), held_ns=None, cpu=cpu_time())
        finally:
            del result
            self._forget()
            self._log.stop()
            self._waits.stop()
            self._running = False
        self._note_standstill(dispatched_ns)
        try:
            self._timing = self._make_record(dispatched_ns, end, surfaced if error is None else error, code)
            if self._record is not None:
                self._record(self._timing)
        finally:
            if surfaced is not None and error is None:
                raise surfaced
        return self._timing

    @interruptible
    def _wait(self, result: Any, dispatched_ns: int, *, fetch: bool) -> _End:
        """Wait for the result, then for everything else, and say which clock reading counts."""
        __tracebackhide__ = True
        search, arrays, ready, looked_ns, ready_ns = self._waited_for(result) or self._wait_at_once(result)
        # Where nothing had to be waited for, the few microseconds are ours. Many are not: then this thread was
        # set aside, work may have ended meanwhile unseen, and leaving them out could lie.
        at_once = ready and (looked_ns - dispatched_ns <= _SET_ASIDE_NS or not self._fenced)
        asked_ns = looked_ns if ready else ready_ns
        held_ns = done_ns = dispatched_ns if at_once else asked_ns
        dropped_ns = self._wait_for_dropped()
        if dropped_ns is not None:
            asked_ns = done_ns = dropped_ns
            held_ns = held_ns if arrays else dispatched_ns
        now_ns = self._clock()
        if now_ns - asked_ns <= _SET_ASIDE_NS:
            asked_ns = now_ns
        if self._fenced:
            cpu = cpu_time()  # the fence's own must not count, unless there is work of the user's behind it
            waited = self._fence.wait_for_programs(asked_ns)
            self._note_failure()
            later = cpu_time()
            waited = self._settle(waited)
            cpu = later if waited.found_work else cpu
            waited = self._fence.wait_for_others(waited)
            known = self._fence.failure is None
        else:
            waited, known = self._wait_without_fence(done_ns if dropped_ns else ready_ns)
            cpu = cpu_time()
        if waited.found_work or (waited.found_work is None and not arrays):
            if waited.found_work is None and waited.until_ns - done_ns > _SET_ASIDE_NS:
                self._notes.append(note("timing.descheduled", aside_ns=waited.until_ns - done_ns))
            if dropped_ns is None or waited.until_ns - dropped_ns > _NEAR_NS:
                held_ns = waited.held_until_ns or held_ns
            done_ns = max(waited.until_ns, done_ns)
        if (rest_ns := self._wait_for_rest(search)) is not None:
            held_ns = done_ns = max(rest_ns, done_ns)
        if ready and not at_once and done_ns == looked_ns:
            self._notes.append(note("timing.looked_late", late_ns=done_ns - dispatched_ns))
        self._notes += search.notes
        fetched = self._time_fetch(search.arrays) if fetch else (None, None)
        return _End(done_ns, held_ns if known else None, cpu, *fetched)

    def _wait_for_dropped(self) -> int | None:
        """Find when the work was done whose result is thrown away next; ``None`` where nothing had to be waited for.

        Its arrays tell to the microsecond what the fence tells only beyond its own noise. What failed there is
        nobody's to hear of, as if the arrays had been gone already.
        """
        dropped, self.dropped = self.dropped, None
        if dropped is None:
            return None
        if (first := self._waited_for(dropped)) is not None:
            return None if first.ready else first.ready_ns
        return self._clock() if wait_for_arrays(unready(Search(dropped).look(_FIRST_LOOK))) else None

    def _settle(self, waited: Waited) -> Waited:
        """Measure again where that is in doubt; what is left out then may have been work, and a note says so."""
        settled = self._fence.settle(waited)
        left_out_ns = waited.until_ns - settled.until_ns
        if left_out_ns > _WORTH_A_NOTE * (waited.until_ns - self.started_ns):
            self._notes.append(note("timing.undetectable", left_out_ns=left_out_ns))
        return settled

    def _note_standstill(self, returned_ns: int) -> None:
        """Say for how long the thread did not run, where a wait of the code may have been unheard."""
        ran_ns, kept_ns = thread_cpu_ns() - self._thread_cpu_before_ns, kept_waiting_ns()
        unheard = self._waits.unheard(probe().backend)
        if unheard is None or kept_ns is None or self._kept_before_ns is None:
            return
        ran_ns += kept_ns - self._kept_before_ns  # it was ready to run
        heard_ns = sum(end - begin for begin, end in self._waits.between(self.started_ns, returned_ns))
        compiling_ns = self._log.busy_ns(self.started_ns, returned_ns)
        stood_ns = returned_ns - self.started_ns - ran_ns - heard_ns - compiling_ns
        if stood_ns > max(_STANDSTILL_NS, _STANDSTILL * (returned_ns - self.started_ns)):
            self._notes.append(note("timing.standstill", stood_ns=stood_ns, unheard=unheard))

    def _wait_for_rest(self, search: Search) -> int | None:
        """Find when what was still to be found in the result was ready.

        ``None`` where all of it was when it was found.
        """
        __tracebackhide__ = True
        if search.over:
            return None
        arrays = search.look()
        late = unready(arrays)
        wait_for_all(arrays)  # also where they are ready: what failed is raised here
        return self._clock() if late else None

    def _waited_for(self, value: Any) -> _Waited | None:
        """Tell how `value` was waited for when the code had returned, if it was."""
        return self._first if self._first is not None and self._first.search.result is value else None

    def _wait_without_fence(self, ready_ns: int) -> tuple[Waited, bool]:
        """Wait first, and only then compile a fence: the measured code has started JAX itself.

        Returns:
            What was found, and whether that is all: work that nothing holds may end while the fence compiles.
        """
        if private_api.backends_started() is False:
            return Waited(False, ready_ns), True  # JAX has not been started even now: there is no work
        waited = self._fence.wait_for_others(Waited(False, ready_ns))
        behind = self._prepare_fence()
        if behind is not None and behind.found_work:
            waited = behind
        return waited, False

    @interruptible
    def _prepare_fence(self) -> Waited | None:
        """Compile the fence for the devices there are; what stands in the way becomes a note."""
        try:
            return self._fence.prepare()
        except Exception as error:  # jax.no_tracing(), a device that is out of memory
            self._notes.append(note("timing.no_fence", error=type(error).__name__))
            return None

    def _note_failure(self) -> None:
        """Say so where the fence has failed, before the code or behind it."""
        failure = self._fence.failure or self._failure
        if failure is not None:
            self._notes.append(note("timing.fence_failed", error=failure))

    def _time_fetch(self, arrays: list[Any]) -> tuple[int, int]:
        started_ns = self._clock()
        copied_bytes = host_copy(arrays)
        return self._clock() - started_ns, copied_bytes

    def _make_record(self, returned_ns: int, end: _End, error: BaseException | None, code: str | None) -> Timing:
        window: Any = {
            "start_ns": self.started_ns,
            "end_ns": returned_ns,
            "thread": self._thread,
            "threads_before": self._threads_before,
        }
        waits = self._waits.between(self.started_ns, returned_ns)
        compilations = self._log.compilations(**window, waits=waits)
        inside_ns = self._log.waited_ns(waits, **window)
        dispatch_ns = returned_ns - self.started_ns - inside_ns
        ours = [compilation for compilation in compilations if compilation.thread is None]
        return Timing(
            code=code,
            started_at=self._started_at,
            dispatch_ns=dispatch_ns,
            wait_ns=inside_ns + end.done_ns - returned_ns,
            code_wait_ns=inside_ns if self._waits.heard else None,
            unreached_ns=None if end.held_ns is None else end.done_ns - end.held_ns,
            tracing_ns=sum(each.tracing_ns for each in ours),
            lowering_ns=sum(each.lowering_ns for each in ours),
            compilation_ns=sum(each.compilation_ns for each in ours),
            cache_retrieval_ns=sum(each.cache_retrieval_ns for each in ours),
            cpu_user_ns=max(end.cpu.user_ns - self._cpu_before.user_ns, 0),
            cpu_system_ns=max(end.cpu.system_ns - self._cpu_before.system_ns, 0),
            fetch_ns=end.fetch_ns,
            fetch_bytes=end.fetch_bytes,
            error=None if error is None else type(error).__name__,
            notes=tuple(self._notes),
            compilations=compilations,
            heard_all=self._log.complete,
            environment=probe(),
        )


def _is_ready(array: Any) -> bool:
    """Tell whether it is; typed keys do not say."""
    return hasattr(array, "is_ready") and array.is_ready()
