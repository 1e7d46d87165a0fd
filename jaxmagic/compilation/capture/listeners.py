"""Listens to JAX while it traces, lowers and compiles.

One set of listeners serves all measurements in progress: the first one registers it, and the last one removes it. The
listeners use the public :mod:`jax.monitoring`. They are process-wide and run inside the user's own call of JAX, so
they never raise and do nothing but record events.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any, Protocol

from ...interrupts import begins, ends
from ...runtime import private_api
from ...runtime.clock import now_ns
from ..record.compilation import CacheAnswer, Stage
from ..record.events import Call, Miss, Span
from . import jit_calls
from .cache_miss_log import MissLog
from .running_line import running_line

_STAGES: dict[str, Stage] = {
    "/jax/core/compile/jaxpr_trace_duration": "tracing",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lowering",
    "/jax/core/compile/backend_compile_duration": "compilation",
}
_CACHE_ASKED = "/jax/compilation_cache/compile_requests_use_cache"
_CACHE_HIT = "/jax/compilation_cache/cache_hits"
_CACHE_SAVED = "/jax/compilation_cache/compile_time_saved_sec"


class Log(Protocol):
    """A record of a measurement in progress.

    Attributes:
        misses: JAX's explanations.
    """

    misses: list[Miss]

    def add_span(self, span: Span) -> None:
        """Record a stage that has ended."""


class Listeners:
    """The set of listeners, and the measurements that it serves."""

    def __init__(self) -> None:
        self.muted: set[int] = set()
        self._logs: list[Log] = []
        self._abandoned: list[tuple[Log, int]] = []
        self._lock = threading.Lock()
        self._miss_log = MissLog(self._on_miss)
        self._cache: dict[int, tuple[CacheAnswer, int | None]] = {}

    def add(self, log: Log) -> int:
        """Serve a measurement, and return the token with which it is removed."""
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
        """Return whether the listeners are still registered; ``None`` if that is unknown."""
        return private_api.is_registered(self._on_span)

    def remove(self, log: Log, token: int) -> None:
        """Serve a measurement no longer."""
        with self._lock:
            self._remove(log, token)
            self._remove_abandoned()

    def abandon(self, log: Log, token: int) -> None:
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

    def _remove(self, log: Log, token: int) -> None:
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
                called_at=running_line(sys._getframe(1)),
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


#: Serves all measurements of the process.
shared = Listeners()


def reset_here() -> None:
    """Switch JAX's explanations off in this thread if another thread ended the measurement that switched them on."""
    shared.reset_here()


class unheard:
    """Keep what this thread compiles inside the ``with`` block out of the user's compilations."""

    @begins("__exit__")
    def __enter__(self) -> None:
        self._thread = threading.get_ident()
        shared.muted.add(self._thread)

    @ends
    def __exit__(self, *_: object) -> None:
        shared.muted.discard(self._thread)
