"""Takes one measurement, from draining to the finished record.

The order of steps is the measurement. Everything of ours that takes time happens before the first clock reading or
after the last one that counts::

    start     prepare the fence, listen, drain what is in flight │ clock
    returned  clock │ wait for the value, if it is one array, clock
    stop      wait for the result, clock │ fence, clock if it found work │ stop listening, make sense of it
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from ...compilation.capture.compile_log import CompileLog
from ...errors import NotMeasured
from ...interrupts import begins, ends, forget
from ...progress.record import CompileProgress
from ...records.exportable import Holder
from ...records.note import note
from ...runtime.clock import Clock, cpu_time, kept_waiting_ns, now_ns, thread_cpu_ns, timestamp
from ...runtime.environment import probe
from ...runtime.functions import only_name
from ...runtime.jax_version import require_jax
from ...runtime.machine_load import Load
from ...tracebacks import drop_handler, of_the_user
from ..analysis import of_quoted_call
from ..record import Timing
from .completion import Completion, End
from .fence import Fence, shared
from .waits import WaitLog

#: A thread that did not run for this long, and for this share of the dispatch, is noted.
_STANDSTILL_NS, _STANDSTILL = 1_000_000, 0.2

_OF_ANOTHER_THREAD = "This stopwatch was started by another thread, for which JAX's explanations are switched on."


class Stopwatch(Holder):
    """Times a block of code and all the JAX work that it starts. See ``jaxmagic.stopwatch()``.

    Attributes:
        result: set this inside the block to the value of interest, to separate waiting for that value from waiting
            for other work. It is released when the block ends.
        dropped: a value that the block discards, kept until the block ends and waited for after the result.
        started_ns: the clock reading at which the code started.
    """

    _holds, _record_class = "timing", Timing
    _returned_ns: int | None
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
        self._completion = Completion(fence, clock)
        self._timing: Timing | None = None
        self._named: str | None = None
        self._running = False
        self._forget()

    @property
    def running(self) -> bool:
        """Whether the stopwatch was started and has not been stopped."""
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
    @of_the_user
    def timing(self) -> Timing:
        """The record, once the block has ended.

        Raises:
            NotMeasured: the block has not ended yet.
        """
        if self._timing is None:
            raise NotMeasured("There is no timing yet: it is made when the with block ends. Read it after the block.")
        return self._timing

    @property
    @of_the_user
    def record(self) -> Timing:
        """The record, which is the timing itself."""
        return self.timing

    def _held(self) -> Timing | None:
        return self._timing

    def __enter__(self) -> Stopwatch:
        self.start()
        return self

    @ends
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        if self._is_of_another_thread():  # for example a generator that another thread resumes or closes
            self._let_go()
            if error is None:
                raise RuntimeError(_OF_ANOTHER_THREAD)
        else:
            self.stop(error=error)
        if isinstance(error, KeyboardInterrupt):
            drop_handler(error)

    def see(self, code: str | None, names: Mapping[str, Any]) -> None:
        """Note whether the code is only a name, which calls nothing."""
        self._named = only_name(code)

    def start(self) -> None:
        """Wait for work in flight, subscribe to JAX's events, and start the clock.

        Raises:
            JaxNotAvailable: JAX is not installed or too old.
        """
        if self._running:
            raise RuntimeError("This stopwatch is running already: make one for each block.")
        require_jax()
        self._begin()

    @begins("cancel")
    def _begin(self) -> None:
        self._completion = Completion(self._fence, self._clock)
        self._completion.prepare()
        self._timing = None
        self._thread = threading.get_ident()
        self._threads_before = {thread.ident for thread in threading.enumerate()}
        self._started_at = timestamp()
        self._log = CompileLog(self._compiling)
        self._log.start()
        self._waits.start()
        self._load = Load()
        self._running = True
        self._kept_before_ns = kept_waiting_ns()
        self._completion.drain()  # last: Python in between would cool the caches that the measured call finds
        self._cpu_before = cpu_time()
        self._thread_cpu_before_ns = thread_cpu_ns()
        self.started_ns = self._clock()

    def returned(self, value: Any = None) -> int:
        """Read the clock when the code has returned, and wait at once for `value` or for the first arrays in it.

        Lines of ours before that wait would take a processor from the threads that compute the value, if there are as
        many threads as processors. Nothing is raised here; ``stop()`` raises.
        """
        self._returned_ns = returned_ns = self._clock()
        self._waits.pause()
        try:
            if value is not None:
                self._completion.wait_at_once(value)
        except Exception:  # it failed, or does not say: stop() looks again
            pass
        except BaseException as interrupt:
            self._interrupt = interrupt
        return returned_ns

    @ends
    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> Timing:
        """Stop the clock when all work is done, and make the record.

        Args:
            error: the exception that is propagating through the block.
            code: the source that was timed.

        Raises:
            Exception: the computation failed while it was waited for, or was interrupted. The record has been made by
                then, with the times so far.
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
        """End the measurement without a record; does nothing if the block has ended."""
        self._log.stop()
        self._waits.stop()
        self._running = False
        self.result = self.dropped = None
        self._forget()

    def __del__(self) -> None:
        """Clean up after a stopwatch that was started and never stopped."""
        if getattr(self, "_running", False):
            self._let_go()

    def _let_go(self) -> None:
        """End the measurement without a record, at any line and in any thread."""
        self._running = False
        try:
            self._waits.abandon()
            self._log.abandon()
        finally:
            forget(self, self._log, self._waits)

    def _is_of_another_thread(self) -> bool:
        return self._running and threading.get_ident() != self._thread

    def _forget(self) -> None:
        """Forget what :meth:`returned` noted."""
        self._returned_ns = self._interrupt = None
        self._completion.forget()

    def _stop(self, dispatched_ns: int, error: BaseException | None, code: str | None) -> Timing:
        __tracebackhide__ = True
        result, self.result = self.result, None
        uncalled = self._named is not None and callable(result)
        surfaced: BaseException | None = None
        try:
            if self._interrupt is not None:
                raise self._interrupt
            self._completion.dropped, self.dropped = self.dropped, None
            fetch = self._fetch and error is None
            end = self._completion.wait(result, self.started_ns, dispatched_ns, fetch=fetch)
        except BaseException as raised:
            surfaced = raised
            end = End(done_ns=self._clock(), held_ns=None, cpu=cpu_time())
        finally:
            del result
            self._forget()
            self._log.stop()
            self._waits.stop()
            self._running = False
        self._note_standstill(dispatched_ns)
        if uncalled and self._named is not None:
            self._completion.notes.append(note("timing.not_called", function=self._named))
        try:
            self._timing = self._make_record(dispatched_ns, end, surfaced if error is None else error, code)
            if self._record is not None:
                self._record(self._timing)
        finally:
            if surfaced is not None and error is None:
                raise surfaced
        return self._timing

    def _note_standstill(self, returned_ns: int) -> None:
        """Note how long the thread did not run, if a wait of the code may have been missed."""
        ran_ns, kept_ns = thread_cpu_ns() - self._thread_cpu_before_ns, kept_waiting_ns()
        unheard = self._waits.unheard(probe().backend)
        if unheard is None or kept_ns is None or self._kept_before_ns is None:
            return
        ran_ns += kept_ns - self._kept_before_ns  # ready to run, but not scheduled
        heard_ns = sum(end - begin for begin, end in self._waits.between(self.started_ns, returned_ns))
        compiling_ns = self._log.busy_ns(self.started_ns, returned_ns)
        stood_ns = returned_ns - self.started_ns - ran_ns - heard_ns - compiling_ns
        if stood_ns > max(_STANDSTILL_NS, _STANDSTILL * (returned_ns - self.started_ns)):
            self._completion.notes.append(note("timing.standstill", stood_ns=stood_ns, unheard=unheard))

    def _make_record(self, returned_ns: int, end: End, error: BaseException | None, code: str | None) -> Timing:
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
            notes=(*self._completion.notes, *of_quoted_call(code)),
            compilations=compilations,
            heard_all=self._log.complete,
            other_load=self._load.of_others(),
            environment=probe(),
        )
