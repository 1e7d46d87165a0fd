"""Bytes of arrays, including elements smaller than a byte, are those that XLA plans."""

from __future__ import annotations

import gc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxmagic.memory_use.capture.array_bytes import bytes_of, device_bytes
from jaxmagic.memory_use.capture.live_arrays import list_live_arrays
from jaxmagic.memory_use.capture.usage_readings import array_bytes

ELEMENTS = 1001
TYPES = ["int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float8_e4m3fn", "bool", "int8", "bfloat16", "complex64"]


@pytest.fixture(params=TYPES)
def dtype(request: pytest.FixtureRequest) -> Any:
    return jnp.dtype(request.param)


def test_an_array_takes_what_its_program_planned_for_it(dtype: Any) -> None:
    made = jax.jit(lambda: jnp.ones(ELEMENTS, dtype)).lower().compile()
    planned = made.memory_analysis().output_size_in_bytes
    assert device_bytes(made()) == bytes_of(ELEMENTS, dtype) == planned


def test_both_lists_of_arrays_say_the_same(dtype: Any) -> None:
    devices = jax.local_devices()
    gc.collect()  # or arrays of other tests would be freed during the run
    gc.disable()
    try:
        before = array_bytes(devices)
        x = jnp.ones(ELEMENTS, dtype).block_until_ready()
        grown_bytes = array_bytes(devices) - before  # type: ignore[operator]
    finally:
        gc.enable()
    (held,) = [each for each in list_live_arrays({"x": x}).arrays if "x" in each.names]
    assert held.size_bytes == held.own_bytes == bytes_of(ELEMENTS, dtype)
    assert grown_bytes == held.own_bytes


@pytest.mark.parametrize(("spec", "piece_bytes"), [(P("x"), 126), (P(), 501)], ids=["in pieces", "copies"])
def test_each_piece_is_packed_by_itself(spec: P, piece_bytes: int) -> None:
    devices = jax.devices()[:4]
    if len(devices) < 4:
        pytest.skip("there are no four devices")
    elements = 1004 if spec else 1001  # shards of 251: the last byte of each is half full
    place = NamedSharding(Mesh(np.array(devices), "x"), spec)
    x = jax.device_put(jnp.ones(elements, "int4"), place)
    (held,) = [each for each in list_live_arrays({"x": x}).arrays if "x" in each.names]
    assert [each for _, each in held.device_bytes] == [piece_bytes] * 4


def test_padding_that_the_backend_tells_counts() -> None:
    """Fabricated, because the CPU does not pad."""

    class Padded:
        dtype, shape = jnp.dtype("int4"), (8,)
        sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])

        def on_device_size_in_bytes(self) -> int:
            return 512

    assert device_bytes(Padded()) == 512
