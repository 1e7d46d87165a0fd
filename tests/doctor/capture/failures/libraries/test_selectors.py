"""Flags that become traced at a call of jit, and fail in a helper, in a module, or in a library's layer."""

from __future__ import annotations

import pytest
from failing_cells import Cell

HELPER = """
def layer(x, train):
    if train:
        return x * 2
    return x
"""

LINEN = """
import flax.linen as nn
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(3)(x))
        return nn.Dropout(0.5)(x, deterministic=not train)
model, x = Net(), jnp.ones((1, 2))
variables = model.init(jax.random.key(0), x, False)
"""

DROPOUT = """
import flax.linen as nn
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, frozen):
        return nn.Dropout(0.5)(x, deterministic=frozen)
model, x = Net(), jnp.ones((1, 2))
variables = {}
"""


def step(body: str, *calls: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"@jax.jit\ndef step(x, train):\n{lines}\n" + "\n".join(calls)


def is_mended(cell: Cell) -> bool:
    """Return whether the cell runs with the decorator of the explanation."""
    assert cell.finding.code is not None
    assert 'static_argnames="train"' in cell.finding.code
    return Cell(cell.source.replace("@jax.jit", cell.finding.code)).error is None


@pytest.mark.parametrize(
    "body",
    [
        "return layer(x, train)",
        "return layer(x, train=train)",
        "return jax.grad(layer)(x, train)",
        "return jax.grad(lambda x: layer(x, train))(x)",
        "def loss(x):\n    return layer(x, train)\nreturn jax.value_and_grad(loss)(x)",
        "return jax.tree.map(lambda each: layer(each, train), x)",
    ],
)
@pytest.mark.parametrize("call", ["step(1.0, True)", "step(1.0, train=False)", "flag = True\nstep(1.0, flag)"])
def test_a_flag_that_is_passed_on_is_made_static(body: str, call: str) -> None:
    cell = Cell(HELPER.replace("if train:", "if train:  # here") + step(body, call))
    assert cell.finding.line == cell.here
    assert "train is a Python bool where step is called" in cell.said
    assert is_mended(cell)


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("return layer(x, train)", "step(1.0, jnp.array(True))"),
        ("return layer(x, train)", "step(1.0, np.bool_(True))"),
        ("return layer(x, train)", "step(1.0, 0.5)"),
        ("return layer(x, train & True)", "step(1.0, True)"),
        ("return layer(x, ~train)", "step(1.0, True)"),
        ("return layer(x, jnp.logical_not(train))", "step(1.0, True)"),
        ("train = train * 1\nreturn layer(x, train)", "step(1.0, True)"),
        ("return layer(x, x > 0)", "step(1.0, True)"),
        ("return layer(x, train.any())", "step(1.0, True)"),
        ("return layer(x, train)", "step(*(1.0, True))"),
        ("return layer(x, train)", "step(1.0, **{'train': True})"),
        ("return lax.scan(lambda c, _: (layer(c, train), None), x, length=2)", "step(1.0, train=jnp.array(True))"),
    ],
)
def test_a_value_that_would_be_traced_or_may_be_data_is_not_made_static(body: str, call: str) -> None:
    cell = Cell(HELPER + step(body, call))
    assert cell.failure.kind == "bool"
    assert "static" not in cell.said + (cell.finding.code or "")


@pytest.mark.parametrize("test", ["jnp.any(train)", "train.any()", "train and x > 0", "jnp.logical_not(train)"])
def test_what_jax_computes_from_a_flag_is_traced_even_if_it_is_static(test: str) -> None:
    cell = Cell(HELPER.replace("if train", f"if {test}") + step("return layer(x, train)", "step(1.0, True)"))
    assert cell.failure.kind == "bool"
    assert "static" not in cell.said


@pytest.mark.parametrize(
    ("line", "transform", "more"),
    [
        ("w[:n].sum()", "jax.grad", ""),
        ("w.reshape(n, -1).sum()", "jax.value_and_grad", ""),
        ("(w[n:] ** 2).sum()", "jax.grad", ""),
        ("w[:n]", "jax.vmap", ", in_axes=(0, None)"),
        ("sum(w[i] for i in range(n))", "jax.grad", ""),
    ],
)
def test_a_size_of_a_function_that_is_transformed_and_jitted_is_made_static(
    line: str, transform: str, more: str
) -> None:
    source = f"""
        def f(w, n):
            return {line}  # here
        w = jnp.ones((6, 6)) if "vmap" in "{transform}" else jnp.ones(6)
        g = jax.jit({transform}(f{more}))
        result = g(w, 3)
    """
    cell = Cell(source)
    assert cell.finding.line == cell.here
    assert 'n is a Python int where g is called: declare it static, with static_argnames="n"' in cell.said
    assert Cell(source.replace(f"f{more}))", f'f{more}), static_argnames="n")')).error is None


@pytest.mark.parametrize("n", ["jnp.int32(3)", "np.int32(3)"])
def test_an_array_as_the_size_of_a_transformed_function_is_not_made_static(n: str) -> None:
    cell = Cell(f"g = jax.jit(jax.grad(lambda w, n: w[:n].sum()))\ng(jnp.ones(6), {n})")
    assert "static, with" not in cell.said


def test_a_size_that_is_passed_on_is_made_static() -> None:
    cell = Cell(
        "def layer(x, train):\n    return x + jnp.zeros(train)\n" + step("return layer(x, train)", "step(1.0, 3)")
    )
    assert is_mended(cell)


@pytest.mark.parametrize(
    "call",
    [
        "return model.apply(variables, x, train=train)",
        "return model.apply(variables, x, train)",
        "def loss(v):\n    return model.apply(v, x, train=train).sum()\nreturn jax.grad(loss)(variables)",
    ],
)
def test_through_apply_of_flax(call: str) -> None:
    pytest.importorskip("flax")
    cell = Cell(LINEN + step(call, "step(x, False)"))
    assert "train is a Python bool where step is called" in cell.said
    assert is_mended(cell)


@pytest.mark.parametrize(
    ("jitted", "call", "option"),
    [
        ("jax.jit(model.apply)", "jax.jit(model.apply)(variables, x, False)", "static_argnums=2"),
        ("jax.jit(model.apply)", "jax.jit(model.apply)(variables, x, train=False)", 'static_argnames="train"'),
        ("jax.jit(model.apply)", "f = jax.jit(model.apply)\nf(variables, x, False)", "static_argnums=2"),
        ("jax.jit(model.init)", "jax.jit(model.init)(jax.random.key(0), x, False)", "static_argnums=2"),
    ],
)
def test_jit_of_apply_itself(jitted: str, call: str, option: str) -> None:
    pytest.importorskip("flax")
    cell = Cell(LINEN + call)
    assert f"declare it static, with {option} where the function is jitted" in cell.said
    assert Cell(LINEN + call.replace(jitted, f"{jitted[:-1]}, {option})")).error is None


def test_in_a_layer_of_flax() -> None:
    pytest.importorskip("flax")
    cell = Cell(DROPOUT + step("return model.apply(variables, x, train)", "step(x, True)"))
    assert cell.failure.library is not None
    assert "pure_callback" not in cell.said
    assert is_mended(cell)


def test_in_a_layer_of_equinox() -> None:
    pytest.importorskip("equinox")
    cell = Cell(
        "import equinox as eqx\nd = eqx.nn.Dropout(0.5)\n" + step("return d(x, inference=train)", "step(1.0, True)")
    )
    assert "train is a Python bool where step is called" in cell.said
    assert is_mended(cell)


def test_through_nnx_jit() -> None:
    pytest.importorskip("flax")
    source = f"""
from flax import nnx
{HELPER}
@nnx.jit
def step(x, train):
    return layer(x, train)
step(1.0, True)
"""
    cell = Cell(source)
    assert 'static_argnames="train" where the function is jitted' in cell.said
    mended = source.replace("@nnx.jit", '@functools.partial(nnx.jit, static_argnames="train")')
    assert Cell(mended).error is None


@pytest.mark.parametrize(
    ("jitted", "signature", "call", "said", "mended"),
    [
        (
            "jax.jit, static_argnums=0",
            "n, x, train",
            "step(2, 1.0, True)",
            "2 in static_argnums",
            "static_argnums=(0, 2)",
        ),
        (
            "jax.jit, static_argnames='n'",
            "n, x, train",
            "step(2, 1.0, True)",
            '"train" in static_argnames',
            "static_argnames=('n', 'train')",
        ),
        (
            "jax.jit, static_argnums=0",
            "n, x, *rest",
            "step(2, 1.0, True)",
            "2 in static_argnums",
            "static_argnums=(0, 2)",
        ),
        ("jax.jit, donate_argnums=0", "n, x, *, train", "step(2, 1.0, train=True)", 'static_argnames="train"', None),
    ],
)
def test_beside_other_options_of_jit(jitted: str, signature: str, call: str, said: str, mended: str | None) -> None:
    source = f"{HELPER}\n@functools.partial({jitted})\ndef step({signature}):\n    return layer(x, FLAG)\n{call}"
    source = source.replace("FLAG", "rest[0]" if "rest" in signature else "train")
    cell = Cell(source)
    assert said in cell.said
    option = "donate_argnums=0, static_argnames='train'" if mended is None else mended
    assert Cell(source.replace(jitted.partition(", ")[2], option)).error is None


@pytest.mark.parametrize("number", ["static_argnums=(0, 2)", "static_argnums=2"])
def test_in_a_method(number: str) -> None:
    decorated = number != "static_argnums=2"
    source = f"""
{HELPER}
class Trainer:
    def __init__(self):
        if not {decorated}:
            self.step = jax.jit(self.run)
    {"@functools.partial(jax.jit, static_argnums=0)" if decorated else ""}
    def run(self, x, *rest):
        return layer(x, rest[0])
trainer = Trainer()
trainer.{"run" if decorated else "step"}(1.0, True)
"""
    cell = Cell(source)
    position = 2 if decorated else 1
    assert f"{position} in static_argnums" in cell.said or f"static_argnums={position} where" in cell.said
    mended = source.replace("jax.jit, static_argnums=0", f"jax.jit, {number}")
    assert Cell(mended.replace("jax.jit(self.run)", "jax.jit(self.run, static_argnums=1)")).error is None


def test_a_rate_that_a_layer_decides_by() -> None:
    pytest.importorskip("flax")
    begin = """
import flax.linen as nn
@jax.jit
def f(x, rate):
    return nn.Dropout(rate, deterministic=False).apply({}, x, rngs={"dropout": jax.random.key(0)})
f(jnp.ones(2), 0.5)
"""
    cell = Cell(begin)
    assert "pass a Python value, such as a constant or an argument that is static" in cell.said
    assert "pure_callback" not in cell.said
    assert Cell(begin.replace("@jax.jit", '@functools.partial(jax.jit, static_argnames="rate")')).error is None


TRANSFORMED = """
import inspect
def transform(function):
    def apply_fn(params, *args, **kwargs):
        return params * function(*args, **kwargs)
    rest = list(inspect.signature(function).parameters.values())
    first = inspect.Parameter("params", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    apply_fn.__signature__ = inspect.Signature([first, *rest])
    return apply_fn
apply = transform(lambda x, train, other: layer(x, train))
"""

HAIKU = """
import haiku as hk
f = hk.transform_with_state(lambda x, train: hk.BatchNorm(True, True, 0.9)(hk.Linear(3)(x), train))
x = jnp.ones((2, 3))
params, state = f.init(jax.random.key(0), x, True)
apply = f.apply
"""


@pytest.mark.parametrize(
    "given", ["2.0, 1.0, True, False", "2.0, 1.0, train=True, other=3", "2.0, 1.0, True, other=2"]
)
def test_a_function_with_a_signature_that_a_library_has_given_to_it(given: str) -> None:
    cell = Cell(f"{HELPER}{TRANSFORMED}jax.jit(apply)({given})")
    assert "train is a Python bool where jax.jit(apply) is called" in cell.said
    assert 'static_argnames="train"' in cell.said
    assert Cell(f'{HELPER}{TRANSFORMED}jax.jit(apply, static_argnames="train")({given})').error is None


@pytest.mark.parametrize("given", ["2.0, 1.0, jnp.array(True), 1", "2.0, 1.0, train=jnp.array(True), other=3"])
def test_an_array_in_its_place_is_not_made_static(given: str) -> None:
    assert "static" not in Cell(f"{HELPER}{TRANSFORMED}jax.jit(apply)({given})").said


@pytest.mark.parametrize("given", ["x, True", "x, train=True"])
def test_through_apply_of_haiku(given: str) -> None:
    pytest.importorskip("haiku")
    cell = Cell(f"{HAIKU}jax.jit(apply)(params, state, None, {given})")
    assert 'static_argnames="train" where the function is jitted' in cell.said
    assert Cell(f'{HAIKU}jax.jit(apply, static_argnames="train")(params, state, None, {given})').error is None


@pytest.mark.parametrize("call", ["n=2, verbose=True", "2, True"])
@pytest.mark.parametrize(
    ("options", "said", "again"),
    [
        ('static_argnames="verbose"', '"n" in static_argnames', 'static_argnames=("verbose", "n")'),
        ("static_argnums=2", "1 in static_argnums", "static_argnums=(1, 2)"),
        ("static_argnums=()", "1 in static_argnums", "static_argnums=1"),
        (
            'static_argnames="verbose", static_argnums=2',
            '"n" in static_argnames and 1 in static_argnums',
            'static_argnames=("verbose", "n"), static_argnums=(1, 2)',
        ),
    ],
)
@pytest.mark.parametrize("decorated", [True, False])
def test_an_argument_gets_static_in_the_options_that_jit_has(
    decorated: bool, options: str, said: str, again: str, call: str
) -> None:
    source = f"""
        {"@functools.partial(jax.jit, OPTIONS)" if decorated else ""}
        def f(x, n, verbose=False):
            for _ in range(n):  # here
                x = x * 2
            return x
        {"" if decorated else "f = jax.jit(f, OPTIONS)"}
        f(1.0, {call})
    """
    cell = Cell(source.replace("OPTIONS", options))
    assert cell.finding.line == cell.here
    assert f"declare it static, with {said} where" in cell.said
    assert Cell(source.replace("OPTIONS", again)).error is None


def test_a_jit_that_is_not_seen_leaves_open_which_options_it_has() -> None:
    cell = Cell("""
        def f(x, n, verbose):
            for _ in range(n):
                x = x * 2
            return x
        functions = {"f": jax.jit(f, static_argnums=2)}
        functions["f"](1.0, 2, True)
    """)
    said = '"n" in static_argnames and 1 in static_argnums, as far as it has these options, where'
    assert said in cell.said
