"""Optimizers of Optax and flax.nnx that get no parameters or state, or are used as those of PyTorch."""

from __future__ import annotations

import textwrap

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = """
import optax
opt, params, grads = optax.adamw(1e-3), {"w": jnp.ones(2)}, {"w": jnp.ones(2)}
state = opt.init(params)
"""

#: What the advice amounts to.
STEP = """
updates, state = opt.update(grads, state, params)
params = optax.apply_updates(params, updates)
"""


@pytest.mark.parametrize(
    ("code", "found", "written"),
    [
        (
            "opt.update(grads, state)",
            "This optimizer needs the parameters for its updates, but update() does not get them.",
            "Pass them as the third argument: updates, state = opt.update(grads, state, params).",
        ),
        (
            "opt.update(grads, params, params)",
            "update() gets something else for the state than init() returned.",
            "Make the state once, state = opt.init(params).",
        ),
        (
            "opt.update(grads)",
            "update() needs the state that init() returned, but does not get it.",
            "Make the state once, state = opt.init(params).",
        ),
        (
            "opt = optax.chain(optax.clip(1.0), optax.sgd(0.1)); opt.update(grads)",
            "update() needs the state that init() returned, but does not get it.",
            "Each step is updates, state = opt.update(grads, state, params)",
        ),
        ("opt.step()", "An optimizer of Optax has no step", "then params = optax.apply_updates(params, updates)."),
        ("opt.zero_grad()", "An optimizer of Optax has no zero_grad", "updates, state = optimizer.update("),
    ],
)
def test_an_update_of_optax(code: str, found: str, written: str) -> None:
    pytest.importorskip("optax")
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(found)
    assert written in cell.said
    assert Cell(VALUES + STEP).error is None


@pytest.mark.parametrize("given", ["opt.update(grads, state, params)", "state"])
def test_updates_are_passed_without_the_state(given: str) -> None:
    pytest.importorskip("optax")
    cell = Cell(f"{VALUES}optax.apply_updates(params, {given})  # here")
    assert cell.finding.line == cell.here
    assert "update() of an optimizer returns two things" in cell.said


def test_updates_of_one_array_are_passed_without_the_state() -> None:
    pytest.importorskip("optax")
    cell = Cell("""
        import optax
        opt, w = optax.adam(0.1), jnp.ones(2)
        state = opt.init(w)
        w = optax.apply_updates(w, opt.update(w, state))  # here
    """)
    assert cell.finding.line == cell.here
    assert "updates, state = optimizer.update(grads, state, params). Pass the updates alone." in cell.said
    assert cell.rewritten("updates, state = opt.update(w, state); w = optax.apply_updates(w, updates)").error is None


@pytest.mark.parametrize("gradients", ["state, params", "tuple(params.values()), state"])
def test_something_else_in_place_of_the_gradients(gradients: str) -> None:
    pytest.importorskip("optax")
    cell = Cell(f"""
        import optax
        opt, params = optax.sgd(0.1), {{"w": jnp.ones(2), "b": jnp.ones(2)}}
        state = opt.init(params)
        u, state = opt.update({gradients})
        optax.apply_updates(params, u)  # here
    """)
    assert cell.finding.line == cell.here
    assert "If u is the first of them already, update() got the state in place of the gradients, or gradients in" in (
        cell.said
    )


def test_an_optimizer_of_nnx() -> None:
    pytest.importorskip("optax")
    pytest.importorskip("flax.nnx")
    values = "import optax\nfrom flax import nnx\nmodel = nnx.Linear(2, 2, rngs=nnx.Rngs(0))\n"
    cell = Cell(f"{values}opt = nnx.Optimizer(model, optax.adam(0.1))  # here")
    if cell.error is None:
        pytest.skip("this Flax has another optimizer")
    assert cell.said.startswith("Since Flax 0.11, the optimizer needs wrt")
    written = "opt = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)"
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None
    grads = "grads = nnx.grad(lambda model: model(jnp.ones(2)).sum())(model)\n"
    cell = Cell(f"{values}{written}\n{grads}opt.update(grads)  # here")
    assert "optimizer.update(model, grads)" in cell.said
    assert cell.rewritten("opt.update(model, grads)").error is None


def test_a_text_of_others_has_no_explanation() -> None:
    cell = Cell("raise TypeError('Missing required argument `wrt`.')")
    assert cell.error is not None
    assert recognize(cell.error) is None


@pytest.mark.parametrize(
    ("code", "found", "written"),
    [
        ("(x, y)", "takes integer labels, but y has dtype float32.", "convert them: y.astype(int)."),
        ("(x, labels=y / 2)", "but y / 2 has dtype float32.", "convert them: (y / 2).astype(int)."),
        ("(x, y.astype(float))", "but y.astype(float) has dtype float32.", "convert them: y.astype(int)."),
        ("(*[x, y])", "but the labels have dtype float32.", "convert them: labels.astype(int)."),
        ("(logits=k, labels=y)", "takes floats, but k has dtype int32.", "with .astype(float)."),
        ("(labels=y, logits=k)", "takes floats, but k has dtype int32.", "with .astype(float)."),
        ("(k, y)", "takes floats, but k has dtype int32.", "with .astype(float)."),
    ],
)
def test_labels_and_logits_of_other_dtypes(code: str, found: str, written: str) -> None:
    optax = pytest.importorskip("optax")
    function = "optax.softmax_cross_entropy_with_integer_labels"
    cell = Cell(f"import optax\nx, y = jnp.ones((3, 4)), jnp.ones(3)\nk = x.astype(int)\n{function}{code}  # here")
    if "subdtype" not in str(cell.error):
        pytest.skip(f"Optax {optax.__version__} says it in other words")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{function} takes ")
    assert found in cell.said
    assert written in cell.said


@pytest.mark.parametrize(
    ("optimizer", "held"),
    [
        ("optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1))", "state[1][0].mu"),
        ("optax.sgd(0.1, momentum=0.9)", "state[0].trace"),
    ],
)
def test_a_state_of_other_parameters_is_made_again(optimizer: str, held: str) -> None:
    pytest.importorskip("optax")
    cell = Cell(f"""
        import optax
        opt = {optimizer}
        params = {{"head": jnp.ones(3), "body": jnp.ones(2)}}
        state = opt.init({{"head": params["head"]}})
        grads = {{"head": jnp.ones(3), "body": jnp.ones(2)}}
        updates, state = opt.update(grads, state, params)  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"grads and {held} must have the same structure:")
    assert "state was made for other parameters than those of the gradient." in cell.said
    assert "make it once, after making the parameters: state = opt.init(params)." in cell.said
    assert cell.rewritten("state = opt.init(params)").error is None


@pytest.mark.parametrize(
    ("params", "grads", "convert"),
    [
        ("[jnp.ones(3), jnp.ones(2)]", "(jnp.ones(3), jnp.ones(2))", "list(grads)"),
        ("(jnp.ones(3), jnp.ones(2))", "[jnp.ones(3), jnp.ones(2)]", "tuple(grads)"),
        ("{'a': [jnp.ones(3)]}", "{'a': (jnp.ones(3),)}", "list(grads['a'])"),
    ],
)
def test_a_gradient_in_another_container_is_converted(params: str, grads: str, convert: str) -> None:
    pytest.importorskip("optax")
    cell = Cell(f"""
        import optax
        opt, params, grads = optax.adam(0.1), {params}, {grads}
        state = opt.init(params)
        updates, state = opt.update(grads, state, params)  # here
    """)
    kind = convert.partition("(")[0]
    if "at one place, one has" in cell.said:  # JAX does not say where
        assert "Convert the gradient if it was put together by hand. Otherwise make the state once" in cell.said
    else:
        assert f"If these have a {kind}, convert the gradient: {convert}. Otherwise make the state once" in cell.said
    assert "other parameters than those of the gradient" not in cell.said
    converted = f"grads['a'] = {convert}" if "['a']" in convert else f"grads = {convert}"
    assert cell.rewritten(f"{converted}; opt.update(grads, state, params)").error is None


@pytest.mark.parametrize("jit", ["", "@jax.jit"])
def test_the_state_of_an_optimizer_has_no_gradient(jit: str) -> None:
    pytest.importorskip("optax")
    code = """
import optax
opt = optax.adam(0.1)
{jit}
def step(p, s):
    g = jax.grad(lambda p: jnp.sum(p["w"] ** 2))(p)  # here
    return s, p
params = {{"w": jnp.ones(3)}}
params, state = step(*step(params, opt.init(params)))
"""
    cell = Cell(code.format(jit=jit))
    assert cell.finding.line == cell.here
    assert "p holds the state of an optimizer, whose count is an integer." in cell.said
    assert "return and assign both in the same order" in cell.said
    assert "Indices, labels and counts" not in cell.said


TRAINING = """
    import optax
    opt = optax.adam(0.1)
    {decorator}
    def train_step(o, s, p, g):
        u, s = {update}  # here
        return optax.apply_updates(p, u), s
    both = {{"head": jnp.ones(3), "body": jnp.ones(2)}}
    weights, state = both, opt.init({{"head": jnp.ones(3)}})
    for _ in range(2): weights, state = train_step(None, {state}, weights, both)
"""


@pytest.mark.parametrize(
    ("decorator", "update", "state", "written"),
    [
        (
            "@jax.jit",
            "opt.update(g, s, p)",
            "state",
            "before the first call of train_step: state = opt.init(weights)",
        ),
        ("@jax.jit", "opt.update(g, s, params=p)", "state", "of train_step: state = opt.init(weights)"),
        ("@jax.jit", "opt.update(g, s)", "state", "of train_step: state = opt.init(params)"),
        ("@jax.jit", "opt.update(g, s, p)", "(*state,)", "of train_step: state = opt.init(weights)"),
        ("", "opt.update(g, s, p)", "state", "of train_step: state = opt.init(weights)"),
        ("@(lambda f: lambda *a: f(*a))", "opt.update(g, s, p)", "state", ", where the caller makes it: state = opt"),
    ],
)
def test_a_state_that_a_function_gets_is_made_by_its_caller(
    decorator: str, update: str, state: str, written: str
) -> None:
    pytest.importorskip("optax")
    cell = Cell(textwrap.dedent(TRAINING).format(decorator=decorator, update=update, state=state))
    assert cell.finding.line == cell.here
    assert "s was made for other parameters than those of the gradient. If the state is wrong, make it " in cell.said
    assert written in cell.said


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("def fit(p, s):\n    step(s, p)\nfit(weights, state)", "call of fit: state = opt.init(weights)."),
        ("def fit(p):\n    own = state\n    step(own, p)\nfit(weights)", "call of step: own = opt.init(p)."),
        ("def fit(*given):\n    step(*given)\nfit(state, weights)", "where the caller makes it: state = opt.init("),
    ],
)
def test_a_state_that_is_passed_on_is_made_where_it_is_passed_first(code: str, written: str) -> None:
    pytest.importorskip("optax")
    cell = Cell(f"""
import optax
opt, weights = optax.adam(0.1), {{"head": jnp.ones(3), "body": jnp.ones(2)}}
state = opt.init({{"head": jnp.ones(3)}})
@jax.jit
def step(s, p):
    return opt.update(p, s, p)  # here
{code}
""")
    assert cell.finding.line == cell.here
    assert written in cell.said


def test_trees_of_other_functions_called_update_are_only_compared() -> None:
    cell = Cell("""
        class C:
            def update(self, a, b): return jax.tree.map(jnp.add, a, b)
        a, b = {"x": 1}, {"y": 1}
        C().update(a, b)
    """)
    assert "was made for other parameters" not in cell.said
