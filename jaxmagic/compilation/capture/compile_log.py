"""Listening to JAX while it traces, lowers and compiles.

One set of listeners serves every measurement that is under way: the first one registers it, the last one takes
it away. The listeners are JAX's public ones (:mod:`jax.monitoring`); they are process-wide and run inside the
user's own call of JAX, so none of them ever raises and none does more than note what was said.
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


#: Calls that were heard in this session: what the next compilation is compared with.
_memory = Memory()


class CompileLog:
    """What JAX compiled between :meth:`start` and :meth:`stop`, in any thread.

    Args:
        progress: shows what the thread compiles that has started the log.

    Attributes:
        spans: the stages, in the order in which they ended.
        misses: JAX's explanations.
        complete: whether JAX could be listened to until the end.
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

    def hear(self, span: Span) -> None:
        """Note a stage that has ended, and show the one that begins with it."""
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
        """Return what was heard between two clock readings, put together to programs and explained.

        Args:
            start_ns: when the measured code began.
            end_ns: and when it had returned.
            thread: the one that ran it.
            threads_before: those that there were before: what they compiled is somebody else's.
            waits: when the code itself waited for results, in order and apart from each other.
        """
        found = group(
            self.spans,
            self.misses,
            _memory,
            start_ns=start_ns,
            end_ns=end_ns,
            main_thread=thread,
            threads=self._threads(thread, threads_before),
            waits=waits,
        )
        return tuple(replace(each, location=place_known_as(each.location)) for each in found)

    def waited_ns(
        self,
        waits: Sequence[tuple[int, int]],
        *,
        start_ns: int,
        end_ns: int,
        thread: int,
        threads_before: Collection[int | None],
    ) -> int:
        """Tell how much of `waits` was in no compilation; the arguments are those of :meth:`compilations`."""
        threads = self._threads(thread, threads_before)
        return own_waits_ns(waits, self.spans, start_ns, end_ns, main_thread=thread, threads=threads)

    def busy_ns(self, start_ns: int, end_ns: int) -> int:
        """For how long some stage was under way between two clock readings, in any thread."""
        return sum(
            self_times(self.spans, start_ns, end_ns, main_thread=0, threads={each.thread for each in self.spans})
        )

    def _threads(self, thread: int, before: Collection[int | None]) -> set[int]:
        """The threads that belong to the measured code: its own, and those that were born inside of it."""
        return {span.thread for span in self.spans} - set(before) | {thread}

    @ends
    def stop(self) -> None:
        """Listen no longer. A second call does nothing."""
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
        """Listen no longer, for a measurement that nobody holds any more: called amid any line, in any thread."""
        if self._token is not None:
            token, self._token = self._token, None
            _listeners.abandon(self, token)
            if self._progress is not None:
                self._progress.close()


def reset_here() -> None:
    """Switch JAX's explanations off in this thread, where another thread has ended what switched them on."""
    _listeners.reset_here()


class unheard:
    """A block: what this thread compiles in it is ours, and must not appear among the user's compilations."""

    @begins("__exit__")
    def __enter__(self) -> None:
        self._thread = threading.get_ident()
        _listeners.muted.add(self._thread)

    @ends
    def __exit__(self, *_: object) -> None:
        _listeners.muted.discard(self._thread)


class _Listeners:
    """The one set of listeners, and the measurements that it serves."""

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
        """Remove at once, or with the next one where a line of ours is at it: that may be this very thread's."""
        self._abandoned.append((log, token))
        if self._lock.acquire(blocking=False):
            try:
                self._remove_abandoned()
            finally:
                self._lock.release()

    def reset_here(self) -> None:
        """For this thread, behind its cells."""
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
                # Their clock is time.time(), which can step; the end is now, and only the length is theirs.
                start_ns=ended_ns - max(round((end - start) * 1e9), 0),
                end_ns=ended_ns,
                thread=thread,
                thread_name=threading.current_thread().name,
                cache=cache,
                saved_ns=saved_ns,
                call=_find_call(sys._getframe(1), function, arguments=stage == "compilation"),
            )
            for log in self._logs:
                log.hear(span)

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
    """The call that led to a span; where JAX's insides have changed it is unknown, and the span still counts."""
    try:
        return jit_calls.find_call(frame, function, arguments=arguments)
    except Exception:
        return None


def _plain_name(name: object) -> str:
    """``jit(f)`` to ``f``: JAX decorates the name from lowering on."""
    text = str(name) if name else "?"
    head, bracket, rest = text.partition("(")
    return rest[:-1] if bracket and rest.endswith(")") and head in ("jit", "pmap") else text


def _cache_in_use() -> bool:
    """Tell whether there is a persistent cache to ask; JAX reports the request even where there is none."""
    import jax

    return bool(jax.config.jax_compilation_cache_dir and jax.config.jax_enable_compilation_cache)


_listeners = _Listeners()
