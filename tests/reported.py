"""Counts what JAX itself reports to do, which is another witness than jaxmagic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

TRACED = "/jax/core/compile/jaxpr_trace_duration"
LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILED = "/jax/core/compile/backend_compile_duration"


@contextmanager
def reported() -> Iterator[Counter[str]]:
    """Count the events with a duration that JAX reports in the block."""
    counts: Counter[str] = Counter()

    def listen(event: str, *_: Any, **__: Any) -> None:
        counts[event] += 1

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield counts
    finally:
        getattr(jax.monitoring, "unregister_event_duration_listener", _unregister)(listen)


def _unregister(listener: Any) -> None:
    """On JAX 0.8 and older, the call is private."""
    from jax._src import monitoring

    monitoring._unregister_event_duration_listener_by_callback(listener)
