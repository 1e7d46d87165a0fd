"""Listen to JAX while it traces, lowers and compiles.

One set of listeners serves all measurements in progress: the first one registers it, and the last one removes it. The
listeners use the public :mod:`jax.monitoring`. They are process-wide and run inside the user's own call of JAX, so
they never raise and do nothing but record events.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from types import FrameType
from typing import Any

from ...interrupts import begins, ends
from ...progress.record import CompileProgress
from ...records.cell_names import place_known_as
from ...runtime import private_api
from ...runtime.clock import now_ns
from ..analysis.causes import Memory
from ..analysis.grouping import group
from ..analysis.self_times import self_times
from ..analysis.waits import own_waits_ns
from ..record.compilation import CacheAnswer, Compilation, Stage
from ..record.events import Call, Miss, Span
from . import jit_calls
from .cache_miss_log import MissLog

_STAGES: dict[str, Stage] = {
    "/jax/core/compile/jaxpr_trace_duration": "tracing",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lowering",
    "/jax/core/compile/backend_compile_duration": "compilation",
}
_CACHE_ASKED = "/jax/compilation_cache/compile_requests_use_cache"
_CACHE_HIT = "/jax/compilation_cache/cache_hits"
_CACHE_SAVED = "/jax/compilation_cache/compile_time_saved_sec"


#: The calls observed in this session, with which new compilations are compared.
_memory = Memory()


class CompileLog:
    """Record what JAX compiles between :meth:`start` and :meth:`stop`, in any thread.

    Args:
        progress: shows what the thread that started the log is compiling.

    Attributes:
        spans: the stages, in the order in which they ended.
        misses: JAX's explanations.
        complete: whether the listeners stayed registered until the end.
    """

    def __init__(self, progress: CompileProgress | None = None) -> None:
        self.spans: list[Span] = []
        self.misses: list[Miss] = []
        self.complete = True
        self._token: int | None = None
        self._progress = progress
        self._thread = 0

    @begins("stop")
    def start(self) -> None:
        """Begin to listen."""
        self._thread = threading.get_ident()
        self._token = _listeners.add(self)

    def add_span(self, span: Span) -> None:
        """Record a stage that has ended, and show the stage that begins now."""
        self.spans.append(span)
        if self._progress is None or span.thread != self._thread:
            return
        if span.stage == "lowering":
            thread = span.thread
            self._progress.began(span.function, lambda: jit_calls.is_compiling(thread))
        elif span.stage != "tracing":
            self._progress.ended()

    def compilations(
        self,
        *,
        start_ns: int,
        end_ns: int,
        thread: int,
        threads_before: Collection[int | None],
        waits: Sequence[tuple[int, int]] = (),
    ) -> tuple[Compilation, ...]:
        """Return the compilations between two clock readings, with their causes.

        Args:
            start_ns: when the measured code began.
            end_ns: when the measured code had returned.
            thread: the thread that ran it.
            threads_before: the threads that existed before; their compilations do not belong to the measured code.
            waits: when the code itself waited for results, in order and without overlap.
        """
        compilations = group(
            self.spans,
            self.misses,
            _memory,
            start_ns=start_ns,
            end_ns=end_ns,
            main_thread=thread,
            threads=self._threads(thread, threads_before),
            waits=waits,
        )
        return tuple(replace(each, location=place_known_as(each.location)) for each in compilations)

    def waited_ns(
        self,
        waits: Sequence[tuple[int, int]],
        *,
        start_ns: int,
        end_ns: int,
        thread: int,
        threads_before: Collection[int | None],
    ) -> int:
        """Return how much of `waits` was outside any compilation; takes the arguments of :meth:`compilations`."""
        threads = self._threads(thread, threads_before)
        return own_waits_ns(waits, self.spans, start_ns, end_ns, main_thread=thread, threads=threads)

    def busy_ns(self, start_ns: int, end_ns: int) -> int:
        """Return for how long any thread was in some stage between two clock readings."""
        return sum(
            self_times(self.spans, start_ns, end_ns, main_thread=0, threads={each.thread for each in self.spans})
        )

    def _threads(self, thread: int, before: Collection[int | None]) -> set[int]:
        """Return the threads that belong to the measured code: its own, and those that it started."""
        return {span.thread for span in self.spans} - set(before) | {thread}

    @ends
    def stop(self) -> None:
        """Stop listening. A second call does nothing."""
        if self._token is None:
            return
        token, self._token = self._token, None
        try:
            self.complete = _listeners.are_registered() is not False
            _listeners.remove(self, token)
        finally:
            if self._progress is not None:
                self._progress.close()

    def abandon(self) -> None:
        """Stop listening for a measurement that was garbage-collected, which may happen on any line and thread."""
        if self._token is not None:
            token, self._token = self._token, None
            _listeners.abandon(self, token)
            if self._progress is not None:
                self._progress.close()


def reset_here() -> None:
    """Switch JAX's explanations off in this thread if another thread ended the measurement that switched them on."""
    _listeners.reset_here()


class unheard:
    """Keep what this thread compiles inside the ``with`` block out of the user's compilations."""

    @begins("__exit__")
    def __enter__(self) -> None:
        self._thread = threading.get_ident()
        _listeners.muted.add(self._thread)

    @ends
    def __exit__(self, *_: object) -> None:
        _listeners.muted.discard(self._thread)


class _Listeners:
    """The set of listeners, and the measurements that it serves."""

    def __init__(self) -> None:
        self.muted: set[int] = set()
        self._logs: list[CompileLog] = []
        self._abandoned: list[tuple[CompileLog, int]] = []
        self._lock = threading.Lock()
        self._miss_log = MissLog(self._on_miss)
        self._cache: dict[int, tuple[CacheAnswer, int | None]] = {}

    def add(self, log: CompileLog) -> int:
        with self._lock:
            self._remove_abandoned()
            try:
                if not self._logs:
                    self._register()
                token = self._miss_log.begin()
            except BaseException:
                if not self._logs:
                    self._unregister()
                raise
            self._logs = [*self._logs, log]
            return token

    def are_registered(self) -> bool | None:
        return private_api.is_registered(self._on_span)

    def remove(self, log: CompileLog, token: int) -> None:
        with self._lock:
            self._remove(log, token)
            self._remove_abandoned()

    def abandon(self, log: CompileLog, token: int) -> None:
        """Remove `log` now, or with the next removal if the lock is held, perhaps by this very thread."""
        self._abandoned.append((log, token))
        if self._lock.acquire(blocking=False):
            try:
                self._remove_abandoned()
            finally:
                self._lock.release()

    def reset_here(self) -> None:
        """Reset the flag of this thread; called when a cell has run."""
        self._miss_log.reset_left()

    def _remove_abandoned(self) -> None:
        while self._abandoned:
            self._remove(*self._abandoned.pop())

    def _remove(self, log: CompileLog, token: int) -> None:
        self._logs = [other for other in self._logs if other is not log]
        try:
            self._miss_log.end(token)
        finally:
            if not self._logs:
                self._unregister()

    def _register(self) -> None:
        from jax import monitoring

        monitoring.register_event_time_span_listener(self._on_span)
        monitoring.register_event_listener(self._on_event)
        monitoring.register_event_duration_secs_listener(self._on_duration)

    def _unregister(self) -> None:
        private_api.unregister_listener("event_time_span", self._on_span)
        private_api.unregister_listener("event", self._on_event)
        private_api.unregister_listener("event_duration", self._on_duration)
        self._cache.clear()

    def _on_span(self, event: str, start: float, end: float, **details: Any) -> None:
        ended_ns = now_ns()
        stage = _STAGES.get(event)
        thread = threading.get_ident()
        if stage is None or thread in self.muted:
            return
        with suppress(Exception):
            cache, saved_ns = self._cache.pop(thread, (None, None)) if stage == "compilation" else (None, None)
            if cache == "miss" and not _cache_in_use():
                cache = None
            function = _plain_name(details.get("fun_name"))
            span = Span(
                stage="cache retrieval" if cache == "hit" else stage,
                function=function,
                # JAX uses time.time(), which can step: take only the length from it, and let the span end now.
                start_ns=ended_ns - max(round((end - start) * 1e9), 0),
                end_ns=ended_ns,
                thread=thread,
                thread_name=threading.current_thread().name,
                cache=cache,
                saved_ns=saved_ns,
                call=_find_call(sys._getframe(1), function, arguments=stage == "compilation"),
            )
            for log in self._logs:
                log.add_span(span)

    def _on_event(self, event: str, **_: Any) -> None:
        if event == _CACHE_ASKED:
            self._cache[threading.get_ident()] = ("miss", None)
        elif event == _CACHE_HIT:
            self._cache[threading.get_ident()] = ("hit", None)

    def _on_duration(self, event: str, seconds: float, **_: Any) -> None:
        if event == _CACHE_SAVED:
            self._cache[threading.get_ident()] = ("hit", round(seconds * 1e9))

    def _on_miss(self, text: str) -> None:
        thread = threading.get_ident()
        if thread in self.muted:
            return
        miss = Miss(text=text, thread=thread, at_ns=now_ns())
        for log in self._logs:
            log.misses.append(miss)


def _find_call(frame: FrameType, function: str, *, arguments: bool) -> Call | None:
    """Find the call that led to a span; if JAX's internals have changed, it is unknown, and the span still counts."""
    try:
        return jit_calls.find_call(frame, function, arguments=arguments)
    except Exception:
        return None


def _plain_name(name: object) -> str:
    """Reduce ``jit(f)`` to ``f``; JAX decorates the name from lowering on."""
    text = str(name) if name else "?"
    head, bracket, rest = text.partition("(")
    return rest[:-1] if bracket and rest.endswith(")") and head in ("jit", "pmap") else text


def _cache_in_use() -> bool:
    """Return whether there is a persistent cache; JAX reports the request even if there is none."""
    import jax

    return bool(jax.config.jax_compilation_cache_dir and jax.config.jax_enable_compilation_cache)


_listeners = _Listeners()
