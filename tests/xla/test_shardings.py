"""Shardings of real modules for four devices, as every version of JAX writes them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from recordings import module_of

P = PartitionSpec


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("i", "j"))


@pytest.mark.parametrize(
    ("spec", "shape", "pieces"),
    [
        (P("i", "j"), "f32[4,4]", (2, 2)),
        (P(None, "j"), "f32[8,4]", (1, 2)),
        (P("j"), "f32[4,8]", (2, 1)),
        (P(("i", "j")), "f32[2,8]", (4, 1)),
        (P(None, ("j", "i")), "f32[8,2]", (1, 4)),
        (P(), "f32[8,8]", (1, 1)),
    ],
)
def test_what_a_program_takes_and_gives_is_divided_as_jax_was_told(
    mesh: Mesh, spec: PartitionSpec, shape: str, pieces: tuple[int, ...]
) -> None:
    sharding = NamedSharding(mesh, spec)
    array = jax.device_put(jnp.ones((8, 8)), sharding)
    out = {"twice": sharding, "sum": NamedSharding(mesh, P())}
    module = module_of(jax.jit(lambda x: {"twice": x * 2, "sum": x.sum()}, out_shardings=out), array)
    (taken,) = module.inputs
    assert (taken.name, taken.shape, taken.pieces) == ("x", shape, pieces)
    assert [(each.shape, each.pieces) for each in module.outputs] == [("f32[]", ()), (shape, pieces)]


def test_on_one_device_nothing_is_said_of_pieces() -> None:
    module = module_of(lambda x: x * 2, jnp.ones(3))
    assert [(each.name, each.shape, each.pieces) for each in module.inputs] == [("x", "f32[3]", None)]
    assert [each.pieces for each in module.outputs] == [None]


@pytest.mark.parametrize(("axes", "groups"), [(("i", "j"), 1), (("i",), 2), (("j",), 2)])
def test_it_is_known_which_devices_exchange_with_each_other(mesh: Mesh, axes: tuple[str, ...], groups: int) -> None:
    array = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("i", "j")))
    out = P(*(None if axis in axes else axis for axis in ("i", "j")))
    program = jax.shard_map(lambda x: jax.lax.psum(x, axes), mesh=mesh, in_specs=P("i", "j"), out_specs=out)
    module = module_of(jax.jit(program), array)
    found = [each for each in module.instructions.values() if each.opcode == "all-reduce"]
    assert [each.num_replica_groups for each in found] == [groups]
