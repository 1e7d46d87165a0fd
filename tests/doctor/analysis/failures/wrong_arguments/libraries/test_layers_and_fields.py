"""Layers without random numbers, fields that cannot be assigned, and state that cannot be changed."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

NNX = """
from flax import nnx
x = jnp.ones((2, 3))
class Net(nnx.Module):
    def __init__(self, rngs):
        self.norm = nnx.BatchNorm(3, rngs=rngs)
    def __call__(self, x):
        return self.norm(x)
net, rngs = Net(nnx.Rngs(0)), nnx.Rngs(0)
"""

EQUINOX = """
import equinox as eqx
model = eqx.nn.Linear(2, 1, key=jax.random.key(0))
"""

LINEN = """
import flax.linen as nn
model, x = nn.Dense(3), jnp.ones((2, 4))
variables = model.init(jax.random.key(0), x)
"""


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("y = nnx.Linear(3, 4)(x)", "rngs is missing", "y = nnx.Linear(3, 4, rngs=nnx.Rngs(0))(x)"),
        ("nnx.Linear(3, 4, rngs)", "takes its rngs as a keyword", "nnx.Linear(3, 4, rngs=rngs)"),
        ("nnx.Linear(3, 4, nnx.Rngs(0))", "takes its rngs as a keyword", "nnx.Linear(3, 4, rngs=nnx.Rngs(0))"),
        (
            "nnx.Linear(3, 4, rngs=jax.random.key(0))",
            "takes nnx.Rngs for rngs, but gets a key or a seed",
            "nnx.Linear(3, 4, rngs=nnx.Rngs(jax.random.key(0)))",
        ),
        ("nnx.Linear(3, 4, rngs=0)", "takes nnx.Rngs for rngs", "nnx.Linear(3, 4, rngs=nnx.Rngs(0))"),
    ],
)
def test_layers_of_nnx_without_random_numbers(code: str, said: str, written: str) -> None:
    pytest.importorskip("flax.nnx")
    cell = Cell(f"{NNX}{code}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


def test_a_module_passes_its_own_random_numbers_on() -> None:
    pytest.importorskip("flax.nnx")
    source = "from flax import nnx\nclass Net(nnx.Module):\n    def __init__(self, rngs):\n"
    cell = Cell(f"{source}        self.a = nnx.Linear(2, 2)  # here\nNet(nnx.Rngs(0))")
    assert cell.finding.line == cell.here
    assert cell.finding.code == "self.a = nnx.Linear(2, 2, rngs=rngs)"
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("eqx.nn.MLP(2, 1, 4, 1)", "eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))"),
        ("m = eqx.nn.Linear(2, 1)", "m = eqx.nn.Linear(2, 1, key=jax.random.key(0))"),
        (
            "model.weight = jnp.zeros((1, 2))",
            "model = eqx.tree_at(lambda tree: tree.weight, model, jnp.zeros((1, 2)))",
        ),
    ],
)
def test_modules_of_equinox(code: str, written: str) -> None:
    pytest.importorskip("equinox")
    cell = Cell(f"{EQUINOX}{code}  # here")
    assert cell.finding.line == cell.here
    assert "key is missing" in cell.said or "model.weight cannot be assigned" in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


def test_a_new_module_has_to_be_returned_by_the_method_that_makes_it() -> None:
    pytest.importorskip("equinox")
    cell = Cell("""
        import equinox as eqx
        class Counter(eqx.Module):
            n: jax.Array = 0
            def __call__(self, x):
                self.n = self.n + 1  # here
                return x
        Counter()(1.0)
    """)
    assert cell.finding.code == "self = eqx.tree_at(lambda tree: tree.n, self, self.n + 1)"
    assert (
        "Return it as well, and use it in place of the old one in the caller, which keeps the old self." in cell.said
    )


def test_a_field_of_equinox_is_declared() -> None:
    pytest.importorskip("equinox")
    source = "import equinox as eqx\nclass M(eqx.Module):\n    a: jax.Array\n    def __init__(self):\n"
    cell = Cell(f"{source}        self.b = jnp.ones(2)  # here\nM()")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("b is no field of this module of Equinox.")
    assert "Declare it in the class: b: jax.Array" in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("model.apply(x, variables)", "takes the variables first", "model.apply(variables, x)"),
        (
            "state.params = {}",
            "state.params cannot be assigned: it is a field of an immutable dataclass of Flax.",
            "state = state.replace(params={})",
        ),
        ("frozen['a'] = 2", "frozen['a'] cannot be assigned: it is a FrozenDict.", "frozen = frozen.copy({'a': 2})"),
    ],
)
def test_variables_and_states_of_flax(code: str, said: str, written: str) -> None:
    pytest.importorskip("flax")
    pytest.importorskip("optax")
    more = """
import optax
from flax.core import freeze
from flax.training.train_state import TrainState
state, frozen = TrainState.create(apply_fn=None, params={}, tx=optax.sgd(0.1)), freeze({"a": 1})
"""
    cell = Cell(f"{LINEN}{more}{code}  # here")
    assert cell.finding.line == cell.here
    if "'items'" in str(cell.error):
        pytest.skip("with JAX 0.7, Flax calls a method that the array lacks before it looks at its arguments")
    assert said in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


def test_a_variable_of_nnx_from_outside_is_changed_under_jit() -> None:
    pytest.importorskip("flax.nnx")
    cell = Cell(f"{NNX}@jax.jit\ndef f(x):\n    return net(x)  # not here\nf(x)")
    assert cell.said.startswith("An object of flax.nnx, BatchStat, is changed in a function that JAX traces")
    assert "nnx.jit(lambda model, x: model(x))(model, x)" in cell.said
    assert Cell(f"{NNX}nnx.jit(lambda model, x: model(x))(net, x)").error is None


def test_a_list_of_modules_of_nnx() -> None:
    nnx = pytest.importorskip("flax.nnx")
    if not hasattr(nnx, "List"):
        pytest.skip("this Flax takes lists")
    source = "from flax import nnx\nclass Net(nnx.Module):\n    def __init__(self, rngs):\n"
    cell = Cell(f"{source}        self.layers = [nnx.Linear(2, 2, rngs=rngs)]  # here\nNet(nnx.Rngs(0))")
    assert "layers holds modules or arrays in a list" in cell.said
    if "unexpected Arrays" in str(cell.error):  # Flax 0.12.0 looks at the module when it is complete
        assert cell.finding.line == f"{cell.file}:{len(cell.source.splitlines())}"
        assert cell.rewritten("self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs)])").error is None
        return
    assert cell.finding.line == cell.here
    assert cell.finding.code == "self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs)])"
    assert cell.rewritten(cell.finding.code).error is None


def test_dropout_without_random_numbers() -> None:
    pytest.importorskip("flax.nnx")
    pytest.importorskip("equinox")
    cell = Cell(f"{NNX}nnx.Dropout(0.5)(x)  # here")
    assert "nnx.Dropout(0.5, rngs=nnx.Rngs(0))" in cell.said
    assert Cell(f"{NNX}nnx.Dropout(0.5, rngs=nnx.Rngs(0))(x)").error is None
    cell = Cell(f"{EQUINOX}eqx.nn.Dropout(0.5)(jnp.ones(2))  # here")
    assert "Pass a key at each call: model(x, key=key)." in cell.said
    assert Cell(f"{EQUINOX}eqx.nn.Dropout(0.5)(jnp.ones(2), key=jax.random.key(0))").error is None
    assert Cell(f"{EQUINOX}eqx.nn.inference_mode(eqx.nn.Dropout(0.5))(jnp.ones(2))").error is None


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def __init__(self, *, key): ...\nA()",
        "class Linear:\n    def __init__(self, *, rngs): ...\nLinear()",
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass A:\n    a: int\nA(1).a = 2",
        "raise ValueError('FrozenDict is immutable.')",
        "raise RuntimeError('Dropout requires a key when running in non-deterministic mode.')",
    ],
)
def test_similar_errors_have_no_explanation(code: str) -> None:
    cell = Cell(code)
    assert cell.error is not None
    assert recognize(cell.error) is None


def test_a_module_of_nnx_that_is_differentiated_without_being_an_argument() -> None:
    pytest.importorskip("flax.nnx")
    step = """
from flax import nnx
model, x = nnx.Linear(2, 1, rngs=nnx.Rngs(0)), jnp.ones(2)
@{}
def step({}):
    return nnx.grad(lambda model: model(x).sum())(model)  # here
grads = step({})
"""
    cell = Cell(step.format("jax.jit", "x", "x"))
    if cell.error is None:
        pytest.skip("this Flax takes it")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("An object of flax.nnx, Param, is passed to a function of nnx in a function that JAX")
    assert "Pass the module as an argument, and transform the function with nnx" in cell.said
    assert Cell(step.format("nnx.jit", "model, x", "model, x")).error is None


@pytest.mark.parametrize(
    ("line", "said", "written"),
    [
        (
            "norm(jnp.ones((4, 8)))",
            "takes one example of shape (8,), but gets an array of shape (4, 8)",
            "vmap(norm)",
        ),
        ("norm(jnp.ones((2, 4, 8)))", "of shape (2, 4, 8)", "vmap(jax.vmap(norm))"),
        ("norm(jnp.ones((8, 4)))", "of shape (8, 4)", None),
        ("conv(jnp.ones((4, 3, 8, 8)))", "Conv of Equinox takes one example with 3 axes", "vmap(conv)"),
        ("conv(jnp.ones((8, 8)))", "gets an array of shape (8, 8)", None),
        ("Net()(jnp.ones((4, 8)))", "gets an array of shape (4, 8)", None),
    ],
)
def test_a_layer_of_equinox_takes_one_example(line: str, said: str, written: str | None) -> None:
    pytest.importorskip("equinox")
    cell = Cell(f"""
import equinox as eqx
norm, conv = eqx.nn.LayerNorm((8,)), eqx.nn.Conv2d(3, 2, 3, key=jax.random.key(0))
class Net(eqx.Module):
    def __call__(self, x):
        return norm(x) + 1
y = {line}  # here
""")
    assert said in cell.said
    code = None if written is None else f"y = jax.{written}({line.partition('(')[2]}"
    assert cell.finding.code == code
    batch = written is not None or "Net()" in line
    assert ("Map the whole model over the batch where it is called: jax.vmap(model)(batch)." in cell.said) == batch
    if code is not None:
        assert cell.rewritten(code).error is None
