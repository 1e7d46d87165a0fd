"""Where arrays lie, and what has to move: compared with the shards themselves."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gathered_evidence import evidence_of
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxmagic.doctor.capture.compiled.placements import described_placements, passed_arrays

pytestmark = pytest.mark.skipif(jax.device_count() < 4, reason="needs four devices")


def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("a", "b"))


def lacking(array: jax.Array, needed: NamedSharding) -> int:
    """Count the elements that devices lack, one by one."""
    numbers = np.arange(array.size).reshape(array.shape)
    has = {each.device: set(numbers[each.index].ravel()) for each in array.addressable_shards}
    wants = {device: numbers[index] for device, index in needed.devices_indices_map(array.shape).items()}
    return sum(len(set(each.ravel()) - has.get(device, set())) for device, each in wants.items())


@pytest.mark.parametrize("spec", [P(), P("a"), P(None, "b"), P("b", "a"), P(("a", "b")), P(None, ("b", "a"))])
@pytest.mark.parametrize("before", [None, P(), P("a"), P("b", "a"), P(("a", "b"))])
def test_moved_bytes_are_the_elements_that_devices_lack(spec: Any, before: Any) -> None:
    array, needed = jnp.ones((128, 256)), NamedSharding(mesh(), spec)
    if before is not None:
        array = jax.device_put(array, NamedSharding(mesh(), before))
    (passed,) = passed_arrays([(array, needed)])
    assert passed.moved_bytes == 4 * lacking(array, needed)


def test_small_arrays_and_other_arguments_are_left_out() -> None:
    needed = NamedSharding(mesh(), P())
    assert passed_arrays([(jnp.ones(10), needed), (np.ones((1000, 1000)), needed), (3, needed)]) == ()


def test_arrays_are_not_kept_alive() -> None:
    passed = passed_arrays([(jnp.ones((128, 256)), NamedSharding(mesh(), P()))])
    assert described_placements(passed, {}) == ()
    assert passed[0].array() is None


def test_shardings_and_meshes_have_the_names_of_variables() -> None:
    array, needed = jnp.ones((128, 256)), NamedSharding(mesh(), P(None, "b"))
    like = jax.device_put(array, needed)
    variables: dict[str, Any] = {"x": array, "params": {"w": like}}
    passed = passed_arrays([(array, needed)])

    def names(**more: Any) -> tuple[str | None, str | None]:
        (found,) = described_placements(passed, {**variables, **more})
        assert (found.path, found.spec, found.mesh_axes) == ("x", "None, 'b'", (("a", 2), ("b", 2)))
        return found.sharding, found.mesh

    assert names() == (None, None)  # what is inside of a container has no name of its own
    assert names(like=like) == ("like.sharding", "like.sharding.mesh")
    assert names(rows=needed) == ("rows", "rows.mesh")
    assert names(m=mesh()) == (None, "m")


def test_programs_on_one_device_have_no_placements() -> None:
    x = jnp.ones((256, 256))
    (program,) = evidence_of(jax.jit(lambda x: x @ x), x, names={"x": x}).programs or ()
    assert program.placements == ()
