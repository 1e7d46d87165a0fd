"""Modules of Equinox and flax.nnx that are passed to functions of JAX, which do not take them."""

from __future__ import annotations

import pytest
from failing_cells import Cell

EQUINOX = """
import equinox as eqx
key = jax.random.key(0)
model, x = eqx.nn.MLP(2, 1, 4, 1, key=key), jnp.ones((3, 2))
def loss(model, x):
    return jax.vmap(model)(x).sum()
def loss_aux(model, x):
    return loss(model, x), x
"""

NNX = """
from flax import nnx
class Net(nnx.Module):
    def __init__(self, rngs):
        self.dense, self.dropout = nnx.Linear(2, 2, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)
    def __call__(self, x):
        return self.dropout(self.dense(x))
net, x = Net(nnx.Rngs(0)), jnp.ones((4, 2))
"""


@pytest.mark.parametrize(
    ("call", "mended"),
    [
        ("jax.grad(loss)(model, x)", "eqx.filter_grad(loss)(model, x)"),
        ("y = 2, jax.value_and_grad(loss)(model, x)", "y = (2, eqx.filter_value_and_grad(loss)(model, x))"),
        ("jax.grad(loss_aux, has_aux=True)(model, x)", "eqx.filter_grad(loss_aux, has_aux=True)(model, x)"),
        ("jax.grad(lambda pair: loss(*pair))((model, x))", "eqx.filter_grad(lambda pair: loss(*pair))((model, x))"),
        ("jax.jit(loss)(model, x)", "eqx.filter_jit(loss)(model, x)"),
        ("jax.jit(jax.grad(loss))(model, x)", "eqx.filter_jit(eqx.filter_grad(loss))(model, x)"),
        ("jax.eval_shape(loss, model, x)", "eqx.filter_eval_shape(loss, model, x)"),
    ],
)
def test_functions_of_equinox_take_its_modules(call: str, mended: str) -> None:
    pytest.importorskip("equinox")
    cell = Cell(EQUINOX + call)
    assert "a module of Equinox with a value of type custom_jvp" in cell.said
    if "eval_shape" in call:  # not a function that is called with arguments of its own
        assert "eqx.filter_eval_shape" in cell.said
    else:
        assert cell.finding.code == mended
    assert Cell(EQUINOX + mended).error is None


@pytest.mark.parametrize(
    ("jitted", "call"),
    [("jax.jit", "filter_jit"), ("jax.grad", "filter_grad"), ("jax.value_and_grad", "filter_value_and_grad")],
)
def test_a_decorated_function(jitted: str, call: str) -> None:
    pytest.importorskip("equinox")
    source = EQUINOX + f"@{jitted}\ndef f(model, x):\n    return loss(model, x)\nf(model, x)"
    cell = Cell(source)
    assert f"Use eqx.{call}" in cell.said
    assert Cell(source.replace(f"@{jitted}", f"@eqx.{call}")).error is None


@pytest.mark.parametrize(
    "call",
    [
        "lax.scan(lambda m, t: (m, m(t)), model, x)",
        "lax.fori_loop(0, 3, lambda i, m: m, model)",
        "lax.cond(x.sum() > 0, lambda m: m, lambda m: m, model)",
        "lax.scan(lambda pair, t: (pair, pair[0](t)), (model, 1.0), x)",
    ],
)
def test_a_loop_over_a_module_carries_its_arrays(call: str) -> None:
    pytest.importorskip("equinox")
    assert "arrays, rest = eqx.partition(model, eqx.is_array)" in Cell(EQUINOX + call).said
    mended = """
arrays, rest = eqx.partition(model, eqx.is_array)
def body(arrays, t):
    model = eqx.combine(arrays, rest)
    return eqx.filter(model, eqx.is_array), model(t)
arrays, ys = lax.scan(body, arrays, x)
assert ys.shape == (3, 1)
eqx.combine(arrays, rest)(x[0])
"""
    assert Cell(EQUINOX + mended).error is None


def test_the_part_to_differentiate_by_another_argument() -> None:
    pytest.importorskip("equinox")
    cell = Cell(EQUINOX + "jax.grad(lambda x, model: loss(model, x), argnums=1)(x, model)")
    assert "arrays, rest = eqx.partition(model, eqx.is_inexact_array)" in cell.said
    assert cell.finding.code is None
    mended = """
arrays, rest = eqx.partition(model, eqx.is_inexact_array)
jax.grad(lambda x, arrays: loss(eqx.combine(arrays, rest), x), argnums=1)(x, arrays)
"""
    assert Cell(EQUINOX + mended).error is None


@pytest.mark.parametrize(
    "call",
    [
        "jax.grad(lambda pair: 1.0)((eqx.nn.Linear(2, 2, key=key), jnp.sin))",
        "linear = eqx.nn.Linear(2, 2, key=key)\njax.jit(lambda a, f: 1.0)(linear, jnp.sin)",
        "linear = eqx.nn.Linear(2, 2, key=key)\njax.jit(lambda a, s: 1.0)(linear, 'text')",
        "conv = eqx.nn.Conv2d(2, 2, 3, padding_mode='ZEROS', key=key)\njax.jit(lambda a, s: 1.0)(conv, {'m': 't'})",
    ],
)
def test_a_value_beside_a_module_is_not_its_own(call: str) -> None:
    pytest.importorskip("equinox")
    cell = Cell(EQUINOX + call)
    assert cell.failure.kind == "not array"
    assert "module of Equinox with" not in cell.said


def test_integers_in_a_module() -> None:
    pytest.importorskip("equinox")
    source = EQUINOX + "model = eqx.tree_at(lambda m: m.layers[0].bias, model, jnp.arange(4))\n"
    source += "model = eqx.tree_at(lambda m: (m.activation, m.final_activation), model, (None, None))\n"
    cell = Cell(source + "jax.grad(lambda m: m.layers[0].weight.sum())(model)")
    assert "model is a module of Equinox with a leaf of dtype int32" in cell.said
    assert cell.finding.code is not None
    assert Cell(source + cell.finding.code).error is None


def test_numbers_of_python_deep_inside_a_module() -> None:
    pytest.importorskip("equinox")
    source = (
        EQUINOX
        + """
model = eqx.tree_at(lambda layer: layer.bias, eqx.nn.Linear(2, 2, key=key), 3)
for _ in range(4):
    model = eqx.nn.Sequential([model])
"""
    )
    cell = Cell(source + "jax.grad(lambda m: 1.0)(model)")
    assert "model is a module of Equinox with a leaf of dtype int32" in cell.said
    assert cell.finding.code is not None
    assert Cell(source + cell.finding.code).error is None


@pytest.mark.parametrize("transform", ["grad", "value_and_grad"])
def test_nnx_differentiates_by_parameters(transform: str) -> None:
    pytest.importorskip("flax")
    cell = Cell(NNX + f"jax.{transform}(lambda net, x: net(x).sum())(net, x)")
    assert "net is a module of flax.nnx with a leaf of dtype uint32" in cell.said
    assert cell.finding.code == f"nnx.{transform}(lambda net, x: net(x).sum())(net, x)"
    assert Cell(NNX + cell.finding.code).error is None


def test_an_integer_beside_a_module_of_nnx() -> None:
    pytest.importorskip("flax")
    cell = Cell(NNX + "count = jnp.ones((4, 2), jnp.uint32)\njax.grad(lambda n, net: n.sum())(count, net)")
    assert cell.failure.kind == "grad input"
    assert "nnx" not in cell.said


CELLS = f"""{EQUINOX}
x = x[0]
class Body(eqx.Module):
    linear: eqx.nn.Linear
    def __call__(self, c, t):
        return self.linear(c), t
    def start(self, c):
        return self.linear(c)
body = Body(eqx.nn.Linear(2, 2, key=key))
"""


@pytest.mark.parametrize(
    ("call", "mended"),
    [
        ("jax.jit(model)(x)", "eqx.filter_jit(model)(x)"),
        ("jax.jit(body.start)(x)", "eqx.filter_jit(body.start)(x)"),
        ("jax.checkpoint(model)(x)", "eqx.filter_checkpoint(model)(x)"),
        ("lax.scan(body, x, x)", "lax.scan(lambda *args: body(*args), x, x)"),
        (
            "lax.cond(x.sum() > 0, body.linear, jnp.sin, x)",
            "lax.cond(x.sum() > 0, lambda *args: body.linear(*args), jnp.sin, x)",
        ),
    ],
)
def test_a_module_as_the_function_has_no_hash(call: str, mended: str) -> None:
    pytest.importorskip("equinox")
    cell = Cell(CELLS + call)
    assert "is a module of Equinox with arrays inside, or a method of one" in cell.said
    assert cell.finding.code == mended
    assert Cell(CELLS + mended).error is None


def test_a_module_that_was_jitted_before_its_call() -> None:
    pytest.importorskip("equinox")
    cell = Cell(f"{CELLS}jitted = jax.jit(model)\njitted(x)")
    assert "The function is a module of Equinox" in cell.said
    assert "Use eqx.filter_jit" in cell.said


@pytest.mark.parametrize("call", ["{model: 1}", "hash(body)", "{x: 1}", "jax.jit(lambda: {body})()"])
def test_other_uses_of_a_hash_are_not_about_the_function(call: str) -> None:
    pytest.importorskip("equinox")
    cell = Cell(CELLS + call)
    assert "has no hash" in cell.said
    assert "filter_jit" not in cell.said


@pytest.mark.parametrize(
    ("call", "mended"),
    [
        ("optimizer.init(model)", "optimizer.init(eqx.filter(model, eqx.is_array))"),
        ("s = optimizer.init(params=model)", "s = optimizer.init(params=eqx.filter(model, eqx.is_array))"),
        ("jax.tree.map(jnp.zeros_like, model)", "jax.tree.map(jnp.zeros_like, eqx.filter(model, eqx.is_array))"),
    ],
)
def test_what_computes_with_each_leaf_gets_the_arrays_of_a_module(call: str, mended: str) -> None:
    pytest.importorskip("equinox")
    pytest.importorskip("optax")
    source = EQUINOX + "optimizer = optax.adam(1e-3)\n"
    source = source.replace("import equinox", "import optax, equinox")
    cell = Cell(source + call)
    assert "a value of type custom_jvp, but zeros_like takes arrays and numbers." in cell.said
    assert cell.finding.code == mended
    assert Cell(source + mended).error is None


def test_a_module_in_a_container_whose_leaves_have_to_be_arrays() -> None:
    pytest.importorskip("equinox")
    cell = Cell(EQUINOX + 'jax.tree.map(jnp.zeros_like, {"model": model})')
    assert "An argument has a module of Equinox with a value of type custom_jvp" in cell.said
    assert "Pass its arrays alone, eqx.filter(model, eqx.is_array)" in cell.said
    assert cell.finding.code is None


def test_parameters_of_linen_that_the_body_of_a_scan_makes() -> None:
    pytest.importorskip("flax")
    source = """
        import flax.linen as nn
        class Model(nn.Module):
            @nn.compact
            def __call__(self, xs):
                cell = nn.Dense(3)
                def step(h, x):
                    h = jnp.tanh(cell(h) + x)
                    return h, h
                {before}
                return lax.scan(step, xs[0], xs)[1]
        model, xs = Model(), jnp.ones((4, 3))
        made = model.init(jax.random.key(0), xs)
        y = model.apply(made, xs)
    """
    cell = Cell(source.format(before="pass"))
    assert cell.failure.kind == "leak"
    assert "A layer of flax.linen computed it" in cell.said
    assert "storing" not in cell.said
    assert "Call step once before JAX traces it" in cell.said
    assert Cell(source.format(before="if self.is_initializing(): step(xs[0], xs[0])")).error is None
