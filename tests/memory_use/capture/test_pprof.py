"""Heap profiles: real ones by file and line, and broken ones, which are refused with a reason."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxmagic.memory_use.analysis.heap import by_stack, changes, without_internals
from jaxmagic.memory_use.capture import pprof as heap
from jaxmagic.memory_use.capture.pprof import heap_data, read_heap
from jaxmagic.memory_use.record.heap import HeapChange, HeapProfile
from jaxmagic.records.call_stack import Frame, owner

WANTED = "heap profile: expected a complete pprof profile of memory, got "
ADVICE = ". Pass the result of jax.profiler.device_memory_profile()"


def take_heap(backend: str | None = None) -> HeapProfile:
    data, _ = heap_data(backend)
    return read_heap(data)


def grown_by(act: Callable[[], Any]) -> list[HeapChange]:
    """What `act` of this file allocates; its result is alive meanwhile."""
    before = take_heap()
    result = jax.block_until_ready(act())
    after = take_heap()
    del result
    added = [each for each in changes(before, after) if each.change_count > 0]
    return [each for each in added if (found := owner(each.stack)) and found.file == __file__]


def line_of(act: Any) -> int:
    return int(act.__code__.co_firstlineno)


def buffers(changes: list[HeapChange]) -> list[HeapChange]:
    return [each for each in changes if each.kind == "buffer"]


def test_an_eager_array_is_found_by_file_and_line() -> None:
    def act() -> Any:
        return jnp.full((1000,), 7.0, jnp.float32)

    (found,) = buffers(grown_by(act))
    assert owner(found.stack) == Frame(function="act", file=__file__, line=line_of(act) + 1)
    assert (found.change_bytes, found.change_count) == (4000, 1)
    assert found.device == str(jax.devices()[0])


def test_the_stack_has_the_outermost_call_first() -> None:
    def act() -> Any:
        return jnp.full((1000,), 7.0, jnp.float32)

    (found,) = buffers(grown_by(act))
    functions = [frame.function for frame in found.stack]
    assert functions.index("grown_by") < functions.index("act") < functions.index("full")


def test_the_result_of_a_jitted_call_is_found_where_it_was_called() -> None:
    jitted = jax.jit(lambda x: x + 1)
    x = jax.device_put(np.zeros(500, np.float32))
    calls = (lambda: jitted(x), lambda: jitted(x))  # the first compiles, the second takes JAX's fast path
    for act in calls:
        (found,) = buffers(grown_by(act))
        assert owner(found.stack) == Frame(function="<lambda>", file=__file__, line=line_of(act))
        assert found.change_bytes == 2000


def test_a_line_that_runs_for_the_first_time_and_again_is_one_row_without_internals() -> None:
    jitted = jax.jit(lambda x: x * 3)
    x = jax.device_put(np.zeros(123, np.float32))

    def act() -> Any:
        return jitted(x)

    results = jax.block_until_ready([act(), act(), act()])
    profile = take_heap()
    line = Frame(function="act", file=__file__, line=line_of(act) + 1)
    assert len({each.stack for each in profile.samples if owner(each.stack) == line and each.size_bytes}) > 1
    rows = by_stack(without_internals(profile))
    found = [row.size_bytes for row in rows if row.stack[-1:] == (line,)]
    assert found == [sum(each.nbytes for each in results)]


def test_shards_lie_on_their_devices() -> None:
    if len(jax.devices()) < 2:
        pytest.skip("needs several devices")
    mesh = Mesh(np.array(jax.devices()), "x")
    data = np.zeros((len(jax.devices()), 100), np.float32)
    found = buffers(grown_by(lambda: jax.device_put(data, NamedSharding(mesh, PartitionSpec("x")))))
    assert {each.device: each.change_bytes for each in found} == {str(device): 400 for device in jax.devices()}


def test_a_program_is_an_executable_on_no_device() -> None:
    jitted, x = jax.jit(lambda x: x - 17), jax.device_put(np.zeros(3))
    (found,) = (each for each in grown_by(lambda: jitted(x)) if each.kind != "buffer")
    assert (found.kind, found.device, found.change_count) == ("executable", None, 1)


def test_a_deleted_array_is_no_longer_in_it() -> None:
    def act() -> Any:
        array = jnp.full((1000,), 7.0, jnp.float32)
        array.delete()
        return ()

    assert buffers(grown_by(act)) == []


def test_the_bytes_are_what_the_record_was_read_from() -> None:
    x = jax.block_until_ready(jnp.ones(7))
    data, notes = heap_data()
    profile = read_heap(data, "2026-01-02T03:04:05.678+00:00")
    assert read_heap(gzip.decompress(data), profile.started_at) == profile
    assert profile.total_bytes >= x.nbytes
    assert notes == ()


def test_the_backend_can_be_chosen() -> None:
    x = jax.block_until_ready(jax.device_put(np.ones(7), jax.devices("cpu")[0]))
    profile = take_heap("cpu")
    assert profile.by_device[str(x.device)] >= x.nbytes


def test_a_backend_that_does_not_exist_is_an_error_of_jax() -> None:
    with pytest.raises(RuntimeError, match="nowhere"):
        take_heap("nowhere")


@pytest.mark.slow
def test_no_backend_is_started() -> None:
    program = """if 1:
        from jaxmagic.memory_use.capture.pprof import heap_data, read_heap
        from jaxmagic.runtime.private_api import backends_started
        data, notes = heap_data()
        assert backends_started() is False
        assert [each.kind for each in notes] == ['memory_use.no_backend'], notes
        assert read_heap(data).samples == ()
    """
    subprocess.run([sys.executable, "-c", program], check=True)


def pprof(**changes: Any) -> Any:
    """A profile of one array and one program, as a message that a test may break."""
    texts = ["", "allocations", "count", "space", "bytes", "kind", "buffer", "device", "gpu:0", "f", "a.py", "g"]
    message = heap._messages()["Profile"](texts=[each.encode() for each in texts])
    message.types.add(name=1, unit=2)
    message.types.add(name=3, unit=4)
    sample = message.samples.add(locations=[2, 1], values=[3, 120])
    sample.labels.add(key=5, text=6)
    sample.labels.add(key=7, text=8)
    message.samples.add(values=[1, 0])
    for number, line in ((1, 10), (2, 20)):
        message.locations.add(id=number).lines.add(function=number, line=line)
    message.functions.add(id=1, name=9, file=10)
    message.functions.add(id=2, name=11, file=10)
    for name, value in changes.items():
        setattr(message, name, value)
    return message


def read(message: Any) -> HeapProfile:
    return read_heap(message.SerializeToString())


def test_a_profile_is_read_field_by_field() -> None:
    one, other = read(pprof()).samples
    assert (one.size_bytes, one.count, one.kind, one.device) == (120, 3, "buffer", "gpu:0")
    assert one.stack == (Frame(function="f", file="a.py", line=10), Frame(function="g", file="a.py", line=20))
    assert (other.size_bytes, other.kind, other.device, other.stack) == (0, "unknown", None, ())


def test_a_function_has_its_readable_name_and_not_the_systems() -> None:
    message = pprof()
    message.functions[0].ParseFromString(b"\x08\x01\x10\x09\x18\x0b\x20\x0a")  # id 1, name 9, system name 11, file 10
    assert read(message).samples[0].stack[0].function == "f"


def test_columns_are_found_by_name_and_unit() -> None:
    message = pprof()
    message.types.insert(0, heap._messages()["ValueType"](name=3, unit=2))
    for each in message.samples:
        each.values.insert(0, 99)
    assert read(message) == read(pprof())


def test_inlined_calls_are_inside_of_the_call_behind_them() -> None:
    message = pprof()
    message.locations[1].lines.add(function=1, line=5)
    assert [frame.line for frame in read(message).samples[0].stack] == [10, 5, 20]


def test_the_time_is_read_where_it_is_written() -> None:
    assert read(pprof()).started_at is None
    assert read(pprof(time_ns=1_700_000_000_123_456_789)).started_at == "2023-11-14T22:13:20.123+00:00"
    for extreme in (2**63 - 1, -(2**63)):
        assert read(pprof(time_ns=extreme)).started_at is not None


def test_a_name_that_is_no_text_is_read_all_the_same() -> None:
    message = pprof()
    message.texts[10] = b"\xff.py"
    assert read(message).samples[0].stack[0].file == "\N{REPLACEMENT CHARACTER}.py"


def break_column(message: Any) -> None:
    message.types[1].unit = 2


def break_columns(message: Any) -> None:
    del message.types[:]


BROKEN: dict[str, tuple[Callable[[Any], object], str]] = {
    "negative size": (lambda m: m.samples[0].values.__setitem__(1, -5), "space of -5"),
    "negative count": (lambda m: m.samples[0].values.__setitem__(0, -1), "allocations of -1"),
    "size beyond all memory": (lambda m: m.samples[0].values.__setitem__(1, 2**60), f"space of {2**60}"),
    "value missing": (lambda m: m.samples[0].values.pop(), "a sample with 1 values for 2 columns"),
    "value too many": (lambda m: m.samples[1].values.append(1), "a sample with 3 values for 2 columns"),
    "location missing": (lambda m: m.locations.pop(), "a stack with the location 2, which is missing"),
    "function missing": (lambda m: m.functions.pop(0), "a location in the function 1, which is missing"),
    "name missing": (lambda m: m.texts.pop(), "a name with the number 11, where there are 11"),
    "negative name": (lambda m: setattr(m.functions[0], "file", -1), "a name with the number -1, where there are 12"),
    "label missing": (lambda m: setattr(m.samples[0].labels[0], "key", 50), "a name with the number 50, where there"),
    "negative line": (lambda m: setattr(m.locations[0].lines[0], "line", -9), "a line of -9"),
    "another profile": (break_column, "a profile of 'allocations' in 'count', 'space' in 'count'"),
    "no columns": (break_columns, "a profile of nothing"),
}


@pytest.mark.parametrize(("act", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_profile_is_refused_with_what_is_wrong(act: Callable[[Any], object], words: str) -> None:
    message = pprof()
    act(message)
    with pytest.raises(ValueError, match=f"^{re.escape(WANTED + words)}.*{re.escape(ADVICE)}$"):
        read(message)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "a profile of nothing"),
        (b"hello", "5 other bytes"),
        (b"\x1f\x8b", "broken gzip data"),
        (gzip.compress(b"hello", mtime=0), "5 other bytes"),
        (gzip.compress(b"hello" * 99, mtime=0)[:-9], "broken gzip data"),
    ],
    ids=("nothing", "text", "head", "text in gzip", "cut"),
)
def test_what_is_no_profile_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(WANTED + words)}.*{re.escape(ADVICE)}$"):
        read_heap(data)


def test_a_gzip_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_MOST_BYTES", 1000)
    bomb = gzip.compress(bytes(2**24))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="^heap profile: expected at most") as caught:
            read_heap(bomb)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**22
    assert str(caught.value) == (
        "heap profile: expected at most 1000 bytes, got more. "
        "Open it with the pprof tool, or take a profile while fewer arrays are alive"
    )
    with pytest.raises(ValueError, match="at most 1000 bytes, got more"):
        read_heap(bytes(1001))


def test_few_bytes_cannot_become_many_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_MOST_SAMPLES", 2)
    message = pprof()
    read(message)
    message.samples.add(values=[1, 1])
    with pytest.raises(ValueError, match="at most 2 samples, got more"):
        read(message)


def test_few_bytes_cannot_become_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_MOST_FRAMES", 10_000)
    message = pprof()
    for line in range(200):
        message.locations[0].lines.add(function=1, line=line)
    message.samples[0].locations.extend([1] * 40)
    read(message)
    message.samples[0].locations.extend([1] * 40)
    with pytest.raises(ValueError, match="at most 10000 calls in its stacks, got more"):
        read(message)
    with pytest.raises(ValueError, match="at most 10000 calls in its stacks, got more"):
        read(pprof_with_one_long_stack_of_nothing())


def pprof_with_one_long_stack_of_nothing() -> Any:
    message = pprof()
    message.locations.add(id=3)
    message.samples[0].locations.extend([3] * 10_001)
    return message


@cache
def real() -> bytes:
    """A real profile, decompressed."""
    alive = [jnp.ones(3), jax.jit(lambda x: x + 1)(jnp.zeros(5))]
    jax.block_until_ready(alive)
    return gzip.decompress(heap_data()[0])


def read_or_refuse(data: bytes) -> None:
    """Read any bytes: the result is a record, or a ValueError with advice."""
    try:
        read_heap(data)
    except ValueError:
        with pytest.raises(ValueError, match="^heap profile: .*, got .*[.] [PO].*"):
            read_heap(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_refuse(data)
    read_or_refuse(gzip.compress(data))
    read_or_refuse(b"\x1f\x8b" + data)


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_real_profile_with_other_bytes_is_read_or_refused(changes: list[tuple[float, int]]) -> None:
    data = bytearray(real())
    for place, value in changes:
        data[int(place * len(data))] = value
    read_or_refuse(bytes(data))
    packed = bytearray(gzip.compress(real()))
    for place, value in changes:
        packed[int(place * len(packed))] = value
    read_or_refuse(bytes(packed))


@given(st.floats(0, 1, exclude_max=True))
def test_no_part_of_a_real_profile_passes_for_the_whole(share: float) -> None:
    read_heap(real())
    for whole in (real(), gzip.compress(real())):
        with pytest.raises(ValueError, match="^heap profile: .*, got "):
            read_heap(whole[: int(share * len(whole))])


def test_the_last_bytes_of_a_profile_are_needed() -> None:
    for missing in range(1, 100):
        with pytest.raises(ValueError, match="^heap profile: "):
            read_heap(real()[:-missing])
