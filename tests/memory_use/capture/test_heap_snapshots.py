"""Heap profiles before and after code: its allocations, and reports in spite of failures."""

from __future__ import annotations

import gc
import gzip
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxmagic.memory_use.analysis.heap import stacks
from jaxmagic.memory_use.capture import heap_snapshots as snapshots
from jaxmagic.memory_use.capture.heap_snapshots import HeapWatch
from jaxmagic.memory_use.capture.pprof import read_heap
from jaxmagic.memory_use.record.heap import HeapDifference
from jaxmagic.records import cell_names as sources
from jaxmagic.records.call_stack import Frame, is_users


def watched(act: Callable[[], Any], **options: Any) -> tuple[HeapDifference | None, list[str]]:
    gc.collect()  # or arrays of other tests would be freed during the run
    watch = HeapWatch(**options)
    watch.start()
    result = jax.block_until_ready(act())
    found = watch.stop()
    del result
    return found, list(map(str, watch.notes))


def test_what_the_code_has_put_there_comes_first_and_by_its_line() -> None:
    def act() -> Any:
        return jnp.full((1000,), 7.0, jnp.float32)

    found, notes = watched(act)
    assert found is not None
    assert notes == []
    assert found.change_bytes == 4000
    row = stacks(found)[0]
    assert (row.change_bytes, row.stack[-1].function, row.stack[-1].line) == (
        4000,
        "act",
        act.__code__.co_firstlineno + 1,
    )
    assert all(map(is_users, row.stack))


def test_the_code_of_a_cell_is_in_its_cell(monkeypatch: Any) -> None:
    def naming(file: str) -> str | None:
        return "cell 12" if file == __file__ else None

    def act() -> Any:
        return jnp.full((1000,), 7.0, jnp.float32)

    monkeypatch.setattr(sources, "_namings", [])
    sources.add_naming(naming)
    found, _ = watched(act)
    assert found is not None
    frame = stacks(found)[0].stack[-1]
    assert frame == Frame(function="act", file=__file__, line=act.__code__.co_firstlineno + 1)
    assert frame.location == f"cell 12:{frame.line}"


def test_the_later_profile_is_kept_as_jax_gave_it() -> None:
    kept: list[bytes] = []
    found, notes = watched(lambda: jnp.ones(77), keep=kept.append)
    assert notes == []
    (data,) = kept
    assert data[:2] == b"\x1f\x8b"
    assert found is not None
    assert read_heap(data).total_bytes == found.after.total_bytes


def test_a_file_that_cannot_be_written_is_a_sentence(x: Any) -> None:
    def full(_: bytes) -> None:
        raise OSError(28, "No space left on device", "heap.pb.gz")

    found, notes = watched(lambda: x, keep=full)
    assert found is not None
    assert notes == ["Could not write the raw heap profile: [Errno 28] No space left on device: 'heap.pb.gz'."]


@pytest.mark.parametrize(
    "broken",
    [b"", b"hello", b"\x1f\x8b", gzip.compress(b"hello", mtime=0)],
    ids=("nothing", "text", "head", "text in gzip"),
)
def test_a_broken_profile_is_a_sentence_and_kept_all_the_same(monkeypatch: Any, broken: bytes) -> None:
    kept: list[bytes] = []
    monkeypatch.setattr(jax.profiler, "device_memory_profile", lambda *_: broken)
    found, notes = watched(lambda: None, keep=kept.append)
    assert found is None
    assert kept == [broken]
    (note,) = notes
    assert note.startswith("Could not read JAX's heap profile: expected a complete pprof profile of memory")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_backend_that_has_none_is_a_sentence(monkeypatch: Any, when: str) -> None:
    taken = iter([when == "before", when == "after"])
    real = jax.profiler.device_memory_profile

    def give(*backend: Any) -> bytes:
        if next(taken):
            raise RuntimeError("UNIMPLEMENTED: no heap profile here")
        return real(*backend)

    monkeypatch.setattr(jax.profiler, "device_memory_profile", give)
    found, notes = watched(lambda: None)
    assert notes == [
        f"JAX returned no heap profile {when} the code (RuntimeError: UNIMPLEMENTED: no heap profile here)."
    ]
    if when == "after":
        assert found is None
    else:
        assert found is not None
        assert (found.before, found.change_bytes) == (None, None)


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_jax_gives_is_read_or_told(monkeypatch: Any, data: bytes) -> None:
    monkeypatch.setattr(jax.profiler, "device_memory_profile", lambda *_: data)
    found, notes = watched(lambda: None)
    assert (found is None) == bool(notes)


def test_an_interrupt_goes_through(monkeypatch: Any) -> None:
    class Interrupted(BaseException):
        pass

    def interrupt() -> None:
        raise Interrupted

    monkeypatch.setattr(snapshots, "heap_data", interrupt)
    with pytest.raises(Interrupted):
        HeapWatch().start()


def test_nothing_stays_alive(x: Any) -> None:
    watched(lambda: x + 1)
    before = len(jax.live_arrays())
    found, _ = watched(lambda: x + 1)
    gc.collect()
    assert found is not None
    assert len(jax.live_arrays()) == before
