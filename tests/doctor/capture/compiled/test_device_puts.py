"""What ``jax.device_put`` moves between devices and from the host is noted by line, and nothing else."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxmagic.doctor.capture.compiled.device_puts import DevicePuts

pytestmark = pytest.mark.skipif(jax.device_count() < 4, reason="needs four devices")


def sharding(*spec: Any) -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:4]), ("data",)), P(*spec))


def test_the_same_array_to_the_same_place_counts() -> None:
    x, y, puts = jnp.ones((1024, 64)), jnp.ones((1024, 64)), DevicePuts()
    with puts.watch():
        for _ in range(3):
            jax.device_put(x, sharding("data"))  # thrice
        jax.device_put([x, y], sharding())  # a list
        jax.device_put(jax.device_put(x, sharding("data")), sharding("data"))  # the second one moves nothing
    jax.device_put(x, sharding())  # not observed
    lines = Path(__file__).read_text("utf-8").splitlines()
    found = [(lines[each.line.line - 1].rpartition("# ")[2], each) for each in puts.described({"x": x}) if each.line]
    assert [(text, each.count, each.placement is not None and each.placement.path) for text, each in found] == [
        ("thrice", 3, "x"),
        ("a list", 1, "x"),
        ("a list", 1, False),
        ("the second one moves nothing", 1, "x"),
    ]
    # By hand: three of four devices lack a quarter, or everything.
    assert [each.moved_bytes for _, each in found] == [
        x.nbytes * 3 // 4,
        3 * x.nbytes,
        3 * x.nbytes,
        x.nbytes * 3 // 4,
    ]


def test_other_copies_are_not_noted() -> None:
    whole, puts = jax.device_put(jnp.ones((1024, 64)), sharding()), DevicePuts()
    with puts.watch():
        jax.device_put([1.0, "x"][:1], sharding())
        jax.device_put(whole, sharding("data"))  # each device has its part
        jax.jit(lambda x: jax.device_put(x, sharding("data")))(whole)
    assert puts.described({}) == ()


@pytest.mark.parametrize("sharded", [True, False])
def test_arrays_of_numpy_count_with_the_type_that_devices_hold(sharded: bool) -> None:
    x, puts = np.ones((1024, 64)), DevicePuts()
    with puts.watch():
        for _ in range(3):
            jax.device_put(x, *[sharding("data")] * sharded)
    (found,) = puts.described({"x": x})
    assert (found.count, found.type, found.on_host, found.same_values) == (3, "float64[1024,64]", True, True)
    assert found.moved_bytes == 1024 * 64 * (8 if jax.config.jax_enable_x64 else 4)
    assert found.placement is not None
    assert (found.placement.path, found.placement.lies_on, found.placement.devices) == ("x", 0, 4 if sharded else 1)


@pytest.mark.parametrize(
    ("times", "changed", "same"), [(2, (), False), (3, (), True), (3, (2,), False), (9, (7,), False)]
)
def test_values_that_change_between_copies_are_noticed(times: int, changed: tuple[int, ...], same: bool) -> None:
    x, puts = np.ones((16, 4)), DevicePuts()
    with puts.watch():
        for number in range(times):
            x[3, 1] += number in changed
            jax.device_put(x)
    (found,) = puts.described({})
    assert (found.count, found.same_values) == (times, same)


def iterated(x: Any) -> Any:
    return list(x)


def sliced(x: Any) -> Any:
    return [x[at : at + 8] for at in range(0, len(x), 8)]


def transposed(x: Any) -> Any:
    return [each.T for each in x]


@pytest.mark.parametrize(("parts", "count"), [(iterated, 16), (sliced, 2), (transposed, 16)])
@pytest.mark.parametrize("changed", [False, True])
def test_new_views_of_the_same_part_are_the_same_array(parts: Any, count: int, changed: bool) -> None:
    x, puts = np.ones((16, 4, 2)), DevicePuts()
    with puts.watch():
        for epoch in range(3):
            x += epoch == 2 and changed
            for each in parts(x):
                jax.device_put(each)
    found = puts.described({"x": x})
    assert len(found) == count
    assert {(each.count, each.same_values, each.places) for each in found} == {(3, not changed, 1)}


def test_views_of_other_arrays_are_others() -> None:
    puts = DevicePuts()
    with puts.watch():
        for _ in range(3):
            for each in np.ones((4, 4)):  # a new array, perhaps where the last one was
                jax.device_put(each)
    assert {each.count for each in puts.described({})} == {1}


def test_arrays_are_not_kept_alive_and_jax_is_left_as_it_was() -> None:
    from jax._src import dispatch

    before = dispatch._batched_device_put_impl
    x, puts = jnp.ones((1024, 64)), DevicePuts()
    with pytest.raises(ZeroDivisionError), puts.watch():
        jax.device_put(x, sharding("data"))
        raise ZeroDivisionError
    assert dispatch._batched_device_put_impl is before
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None
    assert [each.placement for each in puts.described({})] == [None]
