"""Arrays that are split in ways that do not go together, along explicit axes of a mesh."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from failing_cells import Cell, sentence

from jaxmagic.doctor.analysis.failures.wrong_arguments import all as rules
from jaxmagic.doctor.record.failure import Failure

newer = pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="JAX 0.7 does it nevertheless")
newest = pytest.mark.skipif(jax.__version_info__ < (0, 12), reason="JAX 0.10 does it nevertheless on one device")


def cell(line: str, kind: str = "Explicit") -> Cell:
    return Cell(f"""
        P, sharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
        mesh = jax.make_mesh((1, 1), ("x", "y"), axis_types=(jax.sharding.AxisType.{kind},) * 2)
        def put(shape, *spec): return jax.device_put(jnp.ones(shape), sharding(mesh, P(*spec)))
        a, b, c, d = put((4, 4), "x", None), put((4, 4), None, "x"), put((4, 4), "y"), put((4, 4), "x", "y")
        with jax.set_mesh(mesh):
            result = {line}  # here
    """)


@pytest.mark.parametrize(
    ("line", "said", "code"),
    [
        (
            "a + b",
            "add gets arrays that are split in different ways: a (f32[4@x,4]) and b (f32[4,4@x]).",
            "a + RIGHT",
        ),
        (
            "a.T * a",
            "mul gets arrays that are split in different ways: a.T (f32[4,4@x]) and a (f32[4@x,4]).",
            "RIGHT",
        ),
        ("a + c", "add gets arrays that are split in different ways: a (P('x', None)) and c (P('y', None)).", None),
        ("a - a[:, 0]", "a (f32[4@x,4]) and a[:, 0] (f32[1,4@x]).", None),
        ("jnp.concatenate([a, b])", "a (P('x', None)) and b (P(None, 'x'))", None),
        ("lax.dynamic_update_slice(a, jnp.ones((2, 4)), (0, 0))", "float32[4@x,4] and float32[2,4]", None),
        ("jnp.where(a > 0, b, 0.0)", "result would be split as P('x', 'x'), along one axis of the mesh twice", None),
    ],
)
def test_arrays_that_are_split_in_different_ways(line: str, said: str, code: str | None) -> None:
    failed = cell(line)
    assert failed.finding.line == failed.here
    assert said in failed.said
    assert (failed.finding.code is None) == (code is None)
    if failed.finding.code is not None:
        assert "jax.sharding.reshard(" in failed.finding.code
        assert failed.rewritten(failed.finding.code).error is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("b @ a", "The product sums over an axis that is split along x."),
        ("jax.grad(lambda w: (w @ a).sum())(b)", "The product sums over an axis that is split along x."),
        ("b @ c", "split along x in one array, and along y in the other one"),
        ("jnp.einsum('ij,jk->ik', b, a)", "jnp.einsum sums over an axis that is split along x."),
        ("a @ b", "arrays that are split in different ways: a (f32[4@x,4]) and b (f32[4,4@x])."),
        ("d.reshape(2, 8)", "how to split what d.reshape makes of float32[4@x,4@y]."),
        ("a[jnp.array([0, 1])]", "how to split what this line takes of "),
        (
            "a.at[jnp.array([0, 1])].set(0.0)",
            "how to split what a.at[jnp.array([0, 1])].set makes of float32[4@x,4].",
        ),
        ("jnp.repeat(a, 2, axis=0)", "how to split what jnp.repeat makes of an array that is split."),
    ],
)
def test_a_result_whose_sharding_jax_does_not_choose(line: str, said: str) -> None:
    failed = cell(line)
    assert failed.finding.line == failed.here
    assert said in failed.said
    code = failed.finding.code
    assert code is not None
    assert "out_sharding=jax.P()" in code
    automatic = cell(line, "Auto").names["result"]
    np.testing.assert_array_equal(failed.rewritten(code).names["result"], automatic)


@pytest.mark.parametrize(
    ("line", "said", "spec"),
    [
        (
            "jnp.linalg.inv(a)",
            "needs both axes of each matrix of an array that is split as P('x', None)",
            "None, None",
        ),
        (
            "lax.scan(lambda c, x: (c, x), 0.0, d)",
            "needs axis 0 of an array that is split as P('x', 'y')",
            "None, 'y'",
        ),
        pytest.param("jnp.sort(d, axis=0)", "jnp.sort needs axis 0 of an array", "None, 'y'", marks=newer),
        pytest.param("lax.top_k(b, 2)", "lax.top_k needs axis 1 of float32[4,4@x] whole", "None, None", marks=newer),
        pytest.param("jnp.cumsum(d, axis=1)", "needs axis 1 of float32[4@x,4@y] whole", "'x', None", marks=newer),
        pytest.param("jnp.roll(d, 1, axis=0)", "needs axis 0 of f32[4@x,4@y] whole", "None, 'y'", marks=newest),
    ],
)
def test_an_axis_that_has_to_be_whole(line: str, said: str, spec: str) -> None:
    failed = cell(line)
    assert failed.finding.line == failed.here
    assert said in failed.said
    assert f"jax.sharding.reshard(x, jax.P({spec}))" in failed.said
    array = next(each for each in "abd" if f"({each}" in line or f" {each})" in line)
    mended = line.replace(f"({array}", f"(jax.sharding.reshard({array}, P({spec}))", 1)
    mended = mended.replace(f" {array})", f" jax.sharding.reshard({array}, P({spec})))", 1)
    assert cell(mended).error is None, mended


def test_a_part_that_devices_cannot_share_evenly() -> None:
    """Which takes two devices: JAX 0.12 words it so."""
    text = (
        "dynamic_slice on sharded dims where out dim (3) is not divisible by mesh axes (2) with spec (x) is not "
        "implemented. Got input type=f32[4@x,4] and output shape=(3, 4)"
    )
    read = rules.read(["ShardingTypeError"], text)
    assert read == ("sharded axis", {"size": "3", "type": "f32[4@x,4]"})
    failure = Failure(kind=read[0], error="ShardingTypeError", stack=(), said=tuple(read[1].items()))
    explained = rules.WRONG_ARGUMENTS[read[0]](failure)
    assert sentence(explained.found) == (
        "The line takes a part of size 3 along an axis of f32[4@x,4], which the devices that split this axis cannot "
        "share evenly."
    )
    assert "jax.sharding.reshard(x, jax.P(None, None))" in sentence(explained.remedy)


def test_automatic_axes_are_said_to_need_none_of_it() -> None:
    assert "axis_types=(jax.sharding.AxisType.Auto,)" in cell("a + b").said
    assert cell("a + b", "Auto").error is None


def test_a_spec_that_is_written_with_an_axis_twice_is_explained_as_one() -> None:
    assert "The spec P('x', 'x') names the axis x more than once." in cell("put((4, 4), 'x', 'x')").said


@pytest.mark.parametrize("given", [1, 3])
def test_each_argument_needs_a_sharding(given: int) -> None:
    cell = Cell(f"""
        s, f = jax.sharding.SingleDeviceSharding(jax.devices()[0]), lambda x, y: x + y
        z = jax.jit(f, in_shardings=(s,) * {given})(1.0, 2.0)  # here
    """)
    assert cell.finding.line == cell.here
    shardings = "1 sharding" if given == 1 else "3 shardings"
    assert f"in_shardings= has {shardings}, but the function gets 2 arguments." in cell.said
    for fits in ("(s, None)", "s"):
        assert cell.rewritten(f"z = jax.jit(f, in_shardings={fits})(1.0, 2.0)").error is None
