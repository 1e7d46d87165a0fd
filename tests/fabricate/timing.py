"""A timing, what compiled meanwhile, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jaxmagic.compilation.record.compilation import Cause, Compilation
from jaxmagic.records.environment import Environment
from jaxmagic.timing.record import Timing


@pytest.fixture
def environment() -> Environment:
    return Environment(
        jaxmagic="0.1.0",
        jax="0.10.2",
        jaxlib="0.10.2",
        python="3.11.7",
        ipython="9.18.1",
        platform="Linux",
        cpu_count=2,
        backend="cpu",
        device_kinds=("cpu",),
        device_count=1,
        local_device_count=1,
        process_count=1,
        x64=False,
        matmul_precision=None,
        xla_flags=None,
        cpu_async_dispatch=True,
        cache_directory=None,
    )


@pytest.fixture
def compilation() -> Callable[..., Compilation]:
    def make(**changes: Any) -> Compilation:
        values: dict[str, Any] = {
            "function": "f",
            "location": "cell.py:1",
            "tracing_ns": 3_700_000,
            "lowering_ns": 8_300_000,
            "compilation_ns": 159_000_000,
            "cache_retrieval_ns": 0,
            "cache": None,
            "saved_ns": None,
            "cause": Cause(kind="first call", reason="first call"),
        }
        return Compilation(**(values | changes))

    return make


@pytest.fixture
def timing(environment: Environment) -> Callable[..., Timing]:
    """A fabricated record whose parts follow from its compilations unless they are given."""

    def make(*compilations: Compilation, **changes: Any) -> Timing:
        stages = {
            name: sum(getattr(each, name) for each in compilations if each.thread is None)
            for name in ("tracing_ns", "lowering_ns", "compilation_ns", "cache_retrieval_ns")
        }
        values: dict[str, Any] = {
            "code": "f(x)",
            "started_at": "2026-01-02T03:04:05.678+00:00",
            "dispatch_ns": sum(stages.values()) + 900_000,
            "wait_ns": 10_100_000,
            "unreached_ns": 0,
            "cpu_user_ns": 210_000_000,
            "cpu_system_ns": 12_000_000,
            "compilations": tuple(compilations),
            "environment": environment,
        }
        return Timing(**(stages | values | changes))

    return make
