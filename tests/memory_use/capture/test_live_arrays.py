"""Live arrays: their bytes on each device, and which of them are new."""

from __future__ import annotations

import subprocess
import sys
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxmagic.memory_use.capture import array_survey as survey
from jaxmagic.memory_use.capture import live_arrays as arrays
from jaxmagic.memory_use.capture.live_arrays import list_live_arrays, snapshot
from jaxmagic.memory_use.record.live_arrays import HeldArray, LiveArrays

four = pytest.mark.skipif(jax.local_device_count() < 4, reason="needs four devices")


def place(*spec: Any) -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:4]), ("x",)), P(*spec))


def found(record: LiveArrays, name: str) -> HeldArray:
    (array,) = (array for array in record.arrays if name in array.names)
    return array


def own_by_device(record: LiveArrays, names: set[str]) -> dict[str, int]:
    """Own bytes of the arrays with these names, without shared memory."""
    total: dict[str, int] = {}
    for array in record.arrays:
        if names & set(array.names):
            for device, size in array.device_bytes:
                total[device] = total.get(device, 0) + size
            for device, size in array.shared_bytes:
                total[device] = total.get(device, 0) - size
    return total


def here() -> str:
    device = jax.devices()[0]
    return f"{device.platform}:{device.id}"


def test_an_array_is_listed_with_its_name_and_its_bytes() -> None:
    w = jnp.ones((256, 512))
    record = list_live_arrays({"w": w})
    array = found(record, "w")
    assert (array.shape, array.dtype, array.size_bytes) == ("f32[256,512]", "float32", 524288)
    assert array.device_bytes == ((here(), 524288),)
    assert array.sharding == f"SingleDevice {here()}"
    assert record.search_complete
    assert record.by_device[here()] >= 524288


def test_the_largest_is_first() -> None:
    small, large = jnp.ones(3), jnp.ones(3000)
    record = list_live_arrays({"small": small, "large": large})
    sizes = [sum(size for _, size in array.device_bytes) for array in record.arrays]
    assert sizes == sorted(sizes, reverse=True)
    assert record.arrays.index(found(record, "large")) < record.arrays.index(found(record, "small"))


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (jnp.bfloat16, "bf16[2,3]"),
        (jnp.int32, "i32[2,3]"),
        (jnp.uint8, "u8[2,3]"),
        (bool, "bool[2,3]"),
        (jnp.complex64, "c64[2,3]"),
        (jnp.float8_e4m3fn, "f8_e4m3fn[2,3]"),
    ],
)
def test_types_are_written_as_jax_does(dtype: Any, shape: str) -> None:
    x = jnp.ones((2, 3), dtype)
    assert found(list_live_arrays({"x": x}), "x").shape == shape == x.aval.str_short(short_dtypes=True)


@four
def test_a_sharded_array_counts_a_piece_on_each_device() -> None:
    y = jax.device_put(np.ones((256, 512), np.float32), place("x", None))
    array = found(list_live_arrays({"y": y}), "y")
    assert array.sharding == "NamedSharding P('x', None) over 4 devices"
    assert array.size_bytes == 524288
    assert array.device_bytes == tuple((f"cpu:{n}", 131072) for n in range(4))


@four
def test_a_replicated_array_counts_on_every_device() -> None:
    r = jax.device_put(np.ones(1000, np.float32), place())
    array = found(list_live_arrays({"r": r}), "r")
    assert array.size_bytes == 4000
    assert array.device_bytes == tuple((f"cpu:{n}", 4000) for n in range(4))


@four
def test_looking_at_the_pieces_takes_no_memory() -> None:
    """JAX keeps shards as arrays of their own, so ``jax.live_arrays()`` has their memory two or three times."""
    y = jax.jit(lambda: jnp.ones((64, 52)), out_shardings=place("x", None))()
    before = list_live_arrays({"y": y})
    str(y)
    pieces = y.addressable_shards
    assert len(jax.live_arrays()) >= 4 + 1
    after = list_live_arrays({"y": y})
    assert after.by_device == before.by_device
    assert len(after.arrays) == len(before.arrays)
    assert any(note.kind == "memory_use.shards_not_listed" for note in after.notes)
    named = list_live_arrays({"y": y, "pieces": pieces})  # shards with names are listed, as shared
    piece = next(array for array in named.arrays if any(name.startswith("pieces[2]") for name in array.names))
    assert piece.shared_bytes == piece.device_bytes == (("cpu:2", 64 * 52),)
    assert named.by_device == before.by_device


@four
def test_copies_that_jax_did_not_make_are_shared_on_that_device() -> None:
    x = jnp.ones(1234)
    r = jax.device_put(x, place())
    record = list_live_arrays({"x": x, "r": r})
    assert found(record, "x").shared_bytes in ((), (("cpu:0", 4936),))  # JAX may copy or not
    same = x.addressable_data(0).unsafe_buffer_pointer() in [
        piece.data.unsafe_buffer_pointer() for piece in r.addressable_shards
    ]
    assert bool(found(record, "x").shared_bytes) is same


def test_an_array_that_has_a_name_is_no_piece_of_one_that_has_none() -> None:
    """On JAX up to 0.10, printing makes a hidden array, which is newer."""
    x = jnp.ones(4321) + 1
    hidden = jax.device_put(x, jax.devices()[0])
    assert hidden is not x
    record = list_live_arrays({"x": x})
    assert found(record, "x").shared_bytes == ()
    assert sum(array.shape == "f32[4321]" for array in record.arrays) == 1


@four
def test_looking_leaves_no_array_behind() -> None:
    x, y = jnp.ones(77) + 1, jax.jit(lambda: jnp.ones((4, 77)), out_shardings=place("x", None))()
    z = jax.device_put(x, jax.devices()[0])
    names = {"x": x, "y": y, "z": z}
    there = {id(array) for array in jax.live_arrays()}
    list_live_arrays(names)
    snapshot()
    assert {id(array) for array in jax.live_arrays()} == there


def test_looking_keeps_no_array_alive() -> None:
    x = jnp.ones(55)
    reference = weakref.ref(x)
    before = snapshot()
    record = list_live_arrays({"x": x, "held": [x]}, before=before)
    assert found(record, "x")
    del x
    assert reference() is None
    assert before.total_bytes > 0


def test_what_was_made_since_the_snapshot_is_told_apart() -> None:
    old = jnp.ones(61)
    before = snapshot()
    new = jnp.ones(62)
    record = list_live_arrays({"old": old, "new": new}, before=before)
    assert found(record, "new").made
    assert not found(record, "old").made
    assert not found(list_live_arrays({"new": new}), "new").made


def test_an_array_at_the_address_of_a_dead_one_is_new() -> None:
    old = jnp.ones(63)
    before = snapshot()
    assert before.has(old)
    new = jnp.ones(64)
    before.references[id(new)] = before.references.pop(id(old))
    assert not before.has(new)


def test_a_snapshot_has_the_same_bytes_as_a_look() -> None:
    x = jnp.ones(999)
    before, record = snapshot(), list_live_arrays({"x": x})
    assert dict(before.device_bytes) == record.by_device
    assert before.total_bytes == record.total_bytes


def test_deleted_and_donated_arrays_are_left_out() -> None:
    deleted, donated = jnp.ones(71), jnp.ones(72)
    deleted.delete()
    result = jax.jit(lambda x: x + 1, donate_argnums=0)(donated)
    record = list_live_arrays({"deleted": deleted, "donated": donated, "result": result})
    assert [array.names for array in record.arrays if set(array.names) & {"deleted", "donated"}] == []
    assert found(record, "result").shape == "f32[72]"


def test_what_was_donated_or_deleted_since_a_snapshot_is_told_with_the_names_that_are_left() -> None:
    long_ago, deleted, donated, gone = jnp.ones(71), jnp.ones(72), jnp.ones(73), jnp.ones(74)
    long_ago.delete()
    before = snapshot()
    deleted.delete()
    gone.delete()
    result = jax.jit(lambda x: x + 1, donate_argnums=0)(donated)
    names = {"long_ago": long_ago, "deleted": deleted, "state": {"donated": donated}, "result": result}
    record = list_live_arrays(names, before=before)
    told = {each.names[0]: (each.shape, each.size_bytes, each.device_bytes) for each in record.deleted}
    assert told == {"deleted": ("f32[72]", 288, ()), "state['donated']": ("f32[73]", 292, ())}
    assert list_live_arrays(names).deleted == ()
    del deleted, names
    assert [each.names for each in list_live_arrays({"donated": donated}, before=before).deleted] == [("donated",)]


def test_an_array_that_is_deleted_after_it_was_listed_is_left_out() -> None:
    deleted, stays = jnp.ones(71), jnp.ones(71)
    deleted.delete()
    (fact,) = survey.share(survey.survey([deleted, stays]))
    assert fact.array is stays
    fact.array = deleted
    assert survey._addresses(fact) == []  # cloning it would crash on JAX up to 0.10


def test_an_array_that_is_deleted_meanwhile_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may delete the array between any two queries."""
    x, stays = jnp.ones(81), jnp.ones(81)
    real = survey._place

    def place_and_delete(sharding: Any) -> Any:
        if not x.is_deleted():
            x.delete()
        return real(sharding)

    monkeypatch.setattr(survey, "_place", place_and_delete)
    assert found(list_live_arrays({"x": x, "stays": stays}), "stays")
    y = jnp.ones(82)

    def search_and_delete(*args: Any, **options: Any) -> Any:
        holders = search(*args, **options)
        y.delete()
        return holders

    search = arrays.find_holders
    monkeypatch.setattr(arrays, "find_holders", search_and_delete)
    assert found(list_live_arrays({"y": y, "stays": stays}), "stays")


def test_a_typed_key_is_found_by_its_name() -> None:
    key = jax.random.key(0)
    array = found(list_live_arrays({"key": key}), "key")
    assert array.dtype == "uint32"
    assert found(list_live_arrays({"state": {"key": key}}), "state['key']").size_bytes == array.size_bytes


def test_an_empty_array_takes_nothing() -> None:
    a, b = jnp.ones((0, 3)), jnp.ones((0, 3))
    record = list_live_arrays({"a": a, "b": b})
    assert found(record, "a").size_bytes == found(record, "b").size_bytes == 0
    assert found(record, "a").shared_bytes == ()


def test_work_is_not_waited_for(work: Any) -> None:
    """Arrays of the same size are also queried for their address. The search for names queries no array."""
    same = jnp.ones((512, 512))
    assert work.is_left_running_by(lambda result: survey.share(survey.survey([result, same])))


def test_arrays_of_other_processes_count_here_with_what_lies_here() -> None:
    """Fabricated, because one process cannot make such arrays."""

    class Device:
        platform, id = "gpu", 1

        def default_memory(self) -> Any:
            raise RuntimeError("not said")

    class Sharding:
        addressable_devices = frozenset([Device()])
        device_set = frozenset([*addressable_devices, Device()])
        spec, memory_kind = P("x"), "device"

        def shard_shape(self, shape: Any) -> Any:
            return (shape[0] // 2,)

    class Array:
        shape, size, dtype, sharding = (8,), 8, np.dtype("float32"), Sharding()

        def is_deleted(self) -> bool:
            return False

        def on_device_size_in_bytes(self) -> int:
            raise RuntimeError("not fully addressable")

    (fact,) = survey.survey([Array()])
    assert fact.device_bytes == (("gpu:1", 16),)
    assert fact.place.words == "Sharding P('x',) over 2 devices".replace(
        "P('x',)", str(P("x")).replace("PartitionSpec", "P")
    )


def test_a_search_cut_short_says_so() -> None:
    x = jnp.ones(3)
    record = list_live_arrays({"x": x} | {f"n{n}": [n] for n in range(1000)}, limit_s=0)
    assert not record.search_complete
    said = "The search for names was cut short: an array that is shown without a name may have one."
    assert said in map(str, record.notes)  # arrays of other tests may be alive, and noted


@pytest.mark.slow
def test_no_backend_is_started_and_importing_imports_no_jax() -> None:
    code = (
        "import sys; from jaxmagic.memory_use.capture.live_arrays import list_live_arrays, snapshot;"
        "assert 'jax' not in sys.modules;"
        "import jax;"
        "record = list_live_arrays({}); assert record.arrays == () and record.environment.backend is None;"
        "assert snapshot().total_bytes == 0;"
        "from jax._src import xla_bridge; assert not xla_bridge.backends_are_initialized()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
