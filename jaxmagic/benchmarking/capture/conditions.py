"""Observes the conditions while samples are taken: programs that compile, and the load of other processes."""

from __future__ import annotations

import gc
import threading

from ...compilation.capture.compile_log import CompileLog
from ...compilation.record.compilation import Compilation
from ...interrupts import begins, ends
from ...runtime.clock import Clock, resolution
from ...runtime.machine_load import Load
from ..record.samples import Conditions
from .runner import Runner


class Surroundings:
    """Observes compilations and the load of other processes during a ``with`` block in which samples are taken.

    Args:
        clock: the clock, in nanoseconds.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._log = CompileLog()
        self._compilations: tuple[Compilation, ...] = ()
        self._other_load: float | None = None

    @begins("cancel")
    def __enter__(self) -> Surroundings:
        gc.collect()
        self._threads = {thread.ident for thread in threading.enumerate()}
        self._load = Load()
        self._log.start()
        self._started_ns = self._clock()
        return self

    @ends
    def __exit__(self, *_: object) -> None:
        try:
            ended_ns = self._clock()
        finally:
            self._log.stop()
        self._other_load = self._load.of_others()
        self._compilations = self._log.compilations(
            start_ns=self._started_ns, end_ns=ended_ns, thread=threading.get_ident(), threads_before=self._threads
        )

    @ends
    def cancel(self) -> None:
        """Stop listening."""
        self._log.stop()

    def conditions_of(self, runner: Runner, *, folded: bool) -> Conditions:
        """Return the conditions under which `runner` took its samples in the block.

        Args:
            runner: the runner that took the samples.
            folded: see :attr:`Conditions.folded`.
        """
        return Conditions(
            overhead_ns=runner.overhead_ns(),
            resolution_ns=resolution(self._clock),
            fresh=not runner.repeatable,
            fenced=runner.fenced,
            collected=runner.collected,
            collection_ns=runner.collection_ns,
            other_load=self._other_load,
            folded=folded,
            compilations=self._compilations,
            serial=runner.serial,
        )
