"""Names that JAX's modules do not have: the line with the name that they have, or where it is."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.analysis.failures.wrong_arguments.names.missing import RULES
from jaxmagic.doctor.analysis.failures.wrong_arguments.names.replaced import _ANYWHERE, _IN_MODULE, _SUBJECTS, MODULES
from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = "x, m = jnp.ones((2, 3)), jnp.ones((3, 3))\n"


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("jnp.cat([x, m])", "jnp.concatenate([x, m])"),
        ("y = jnp.cat([x, x], dim=1)", "y = jnp.concatenate([x, x], axis=1)"),
        ("jnp.unsqueeze(x, dim=0)", "jnp.expand_dims(x, axis=0)"),
        ("jnp.clamp(x, 0, 1)", "jnp.clip(x, 0, 1)"),
        ("jnp.tensor([1.0])", "jnp.array([1.0])"),
        ("jnp.tensor([1.0], requires_grad=True)", None),
        ("jnp.mm(x, m)", "jnp.matmul(x, m)"),
        ("jnp.permute(x, (1, 0))", "jnp.transpose(x, (1, 0))"),
        ("jnp.relu(x)", "jax.nn.relu(x)"),
        ("jnp.softmax(x, dim=1)", "jax.nn.softmax(x, axis=1)"),
        ("jnp.inv(m)", "jnp.linalg.inv(m)"),
        ("jnp.erf(x)", "lax.erf(x)"),
        ("jnp.grad(jnp.sin)(1.0)", "jax.grad(jnp.sin)(1.0)"),
        ("jnp.jit(jnp.sin)", "jax.jit(jnp.sin)"),
        ("jnp.lax.rsqrt(x)", "jax.lax.rsqrt(x)"),
        ("jnp.rsqrt(x)", "lax.rsqrt(x)"),
        ("jnp.scan(lambda c, x: (c, x), 0, x)", "lax.scan(lambda c, x: (c, x), 0, x)"),
        ("lax.zeros((2,))", "jnp.zeros((2,))"),
        ("jax.jnp.zeros(2)", "jax.numpy.zeros(2)"),
        ("jnp.product(x)", "jnp.prod(x)"),
        ("jnp.in1d(x, 2)", "jnp.isin(x, 2)"),
        ("jnp.trapz(x)", "jnp.trapezoid(x)"),
        ("jnp.row_stack([x, m])", "jnp.vstack([x, m])"),
        ("y = x * jnp.NaN", "y = x * jnp.nan"),
        ("x.astype(jnp.float)", "x.astype(jnp.float32)"),
        ("jax.tree_map(jnp.sin, {'a': x})", "jax.tree.map(jnp.sin, {'a': x})"),
        ("jax.tree_leaves({'a': x})", "jax.tree.leaves({'a': x})"),
        ("isinstance(x, jax.DeviceArray)", "isinstance(x, jax.Array)"),
        ("jax.ops.index_update(m, jax.ops.index[0, :], 2.0)", "m.at[0, :].set(2.0)"),
        ("y = jax.ops.index_add(m, (0, 1), 2.0)", "y = m.at[0, 1].add(2.0)"),
        ("from jax import tree_map, vmap", "from jax import vmap\nfrom jax.tree import map as tree_map"),
        ("from jax.numpy import cat", "from jax.numpy import concatenate as cat"),
        ("from jax.numpy import relu as r", "from jax.nn import relu as r"),
    ],
)
def test_the_name_that_jax_has(code: str, written: str | None) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert " has no " in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


def test_the_module_of_the_new_name_is_imported() -> None:
    cell = Cell("del jax, jnp\nimport jax.numpy as jnp\ny = jnp.grad(jnp.sin)(1.0)  # here")
    assert cell.finding.code == "import jax\ny = jax.grad(jnp.sin)(1.0)"
    assert cell.rewritten(cell.finding.code).error is None
    cell = Cell("del jnp\nimport jax.numpy\ny = jax.numpy.cat([np.ones(2)])  # here")
    assert cell.finding.code == "y = jax.numpy.concatenate([np.ones(2)])"
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("jnp.random.normal(0, 1, (3,))", "jax.random.normal(key, shape), with key = jax.random.key(0)"),
        ("jax.random.randn(3)", "Write jax.random.normal(key, shape), with a key"),
        ("jnp.normal(x, (3,))", "Write jax.random.normal. It takes a key as its first argument"),
        ("jax.random.seed(0)", "There is no global seed: make a key, key = jax.random.key(seed)"),
        ("jnp.no_grad()", "JAX differentiates only what jax.grad or a function like it is given"),
        ("jax.nn.Linear(3, 3)", "They are in flax.nnx, flax.linen and equinox.nn."),
        ("jax.nn.cross_entropy(x, m)", "optax.softmax_cross_entropy_with_integer_labels(logits, labels)"),
        ("jnp.ndenumerate(x)", "NumPy has np.ndenumerate. It takes NumPy arrays: np.asarray(x)"),
        ("jnp.tile2(x)", "A name like it: jnp.tile."),
        ("T = jnp.Tensor", "The type of arrays is jax.Array"),
        ("from jax.config import config", "It is no module: jax.config.update(name, value)."),
        ("from jax.experimental import optimizers", "It is jax.example_libraries.optimizers now."),
        ("import jax.linear_util as lu", "It is jax.extend.linear_util"),
    ],
)
def test_names_with_another_use(code: str, said: str) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code is None


def test_a_name_like_numpys_takes_numpys_arrays() -> None:
    assert Cell("list(np.ndenumerate(np.asarray(jnp.ones(2))))").error is None


@pytest.mark.parametrize("name", _ANYWHERE)
def test_each_replacement_exists(name: str) -> None:
    cell = Cell(f"{VALUES}import jax.image\njax.image.{name}  # here")
    assert cell.finding.code is not None or "random" in cell.said
    if cell.finding.code is not None:
        assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize("name", [*_SUBJECTS, *(name for _, name in _IN_MODULE)])
def test_each_subject_has_words(name: str) -> None:
    cell = Cell(f"{VALUES}import jax.image\njax.image.{name}  # here")
    if recognize(cell.error) is not None:  # type: ignore[arg-type]
        assert cell.said
    assert {f"jax.{each}" for each in ("config", "linear_util")} <= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_each_former_module_has_words(module: str) -> None:
    cell = Cell(f"import {module}  # here")
    if cell.error is not None:
        assert cell.said.startswith(f"This version of JAX has no module {module}.")


@pytest.mark.parametrize(
    "code",
    [
        "jnp.foo",
        "import jax.foo",
        "np.cat",
        "raise AttributeError(\"module 'jax.numpy' has no attribute 'cat'\")",
        "math.cat",
    ],
)
def test_other_names_have_no_explanation(code: str) -> None:
    cell = Cell(code)
    assert cell.error is not None
    assert recognize(cell.error) is None


def test_a_name_that_jax_has_removed_is_recognized_by_its_words() -> None:
    import re

    text = "jax.tree_map was removed in JAX v0.6.0: use jax.tree.map (jax v0.4.25 or newer)"
    match = next(found for each in RULES if (found := re.match(each.message, text)))
    assert match.groupdict() == {"module": "jax", "name": "tree_map"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("jnp.gather(x, 1, i)", "For PyTorch's gather(x, axis, indices), write jnp.take_along_axis("),
        ("jnp.scatter(x, 1, i, x)", "Write x.at[indices].set(values), or .add(values), which return a new array."),
        ("jnp.reduce(x, 'sum')", "JAX has lax.reduce, but with other arguments: operands, init_values, "),
        ("jnp.rsqrt(x, x, x, x)", "JAX has lax.rsqrt, but with other arguments: x"),
    ],
)
def test_functions_of_other_modules_with_other_arguments_have_no_code(code: str, said: str) -> None:
    cell = Cell(f"x, i = jnp.ones((2, 3)), jnp.array([[1], [0]])\n{code}  # here")
    assert said in cell.said
    assert cell.finding.code is None


def test_a_call_that_fits_has_code() -> None:
    cell = Cell("y = jnp.rsqrt(x=jnp.array(4.0))  # here")
    assert cell.finding.code == "y = lax.rsqrt(x=jnp.array(4.0))"
    assert cell.rewritten(cell.finding.code).names["y"] == 0.5
