"""`donation`: what the code replaces is found if donating it spares memory, and a clean program is left alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import pytest
from gathered_evidence import evidence_of, with_memory
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.jitted_names import JittedName
from jaxmagic.doctor.rules import donation

SETUP = """
import functools
import jax, jax.numpy as jnp, numpy as np
def sgd(params, grads):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
step = jax.jit(sgd)
params = {"a": jnp.ones((1000, 1000)), "b": jnp.ones((500, 1000))}
grads = jax.tree.map(jnp.ones_like, params)
x = jnp.ones((1000, 1000))
"""

#: The bytes of `params`.
PARAMS_BYTES = 6_000_000


@pytest.fixture
def doctor(session: Session) -> Callable[..., list[RuleFinding]]:
    """Runs a cell under ``%%jaxdoctor`` and returns what the rule found."""
    session.run(SETUP)

    def run(cell: str, setup: str = "", options: str = "") -> list[RuleFinding]:
        session.run(setup)
        session.run(f"%%jaxdoctor --only donation {options}\n{cell}")
        diagnosis = jaxmagic.history()[-1]
        assert isinstance(diagnosis, Diagnosis)
        assert diagnosis.looked == ("donation",), diagnosis.notes
        return list(diagnosis.findings)

    return run


def peak_bytes(function: Any, *args: Any) -> int:
    need = function.lower(*args).compile().memory_analysis()
    sums = need.argument_size_in_bytes + need.output_size_in_bytes + need.temp_size_in_bytes
    return int(sums - need.alias_size_in_bytes)


@pytest.mark.parametrize(("copies_ns", "cost_ns"), [(10**12, 10**12), (1, None), (0, None)])
def test_the_time_of_copies_is_the_cost_if_it_matters_to_the_run(
    doctor: Callable[..., list[RuleFinding]], monkeypatch: pytest.MonkeyPatch, copies_ns: int, cost_ns: int | None
) -> None:
    monkeypatch.setattr(donation, "copies_spared", lambda *_: (PARAMS_BYTES, copies_ns))
    (found,) = doctor("params = step(params, grads)")
    assert (found.cost_ns, found.cost_bytes, found.per) == (cost_ns, PARAMS_BYTES, "run")


def test_replaced_argument_is_found_and_its_cost_is_the_compilers(
    doctor: Callable[..., list[RuleFinding]], session: Session
) -> None:
    (found,) = doctor("params = step(params, grads)")
    assert found.cost_bytes == PARAMS_BYTES
    assert found.code == 'step = jax.jit(sgd, donate_argnames="params")'
    assert (found.line, found.source) == ("cell 3:3", "def sgd(params, grads):")
    names: dict[str, Any] = session.shell.user_ns
    before = peak_bytes(jax.jit(names["sgd"]), names["params"], names["grads"])
    session.run(found.code)
    assert before - peak_bytes(names["step"], names["params"], names["grads"]) == found.cost_bytes
    assert doctor("params = step(params, grads)") == []


#: Several layers and their momentum: with donation, XLA copies what it would overwrite too early, and more than the
#: temporaries tell.
LAYERS = """
params = [jnp.ones((600, 600)) / 40 for _ in range({layers})]
momentum = jax.tree.map(jnp.zeros_like, params)
@jax.jit
def train(params, momentum, x):
    def loss(params):
        y = x
        for w in params:
            y = jnp.tanh(y @ w)
        return (y ** 2).mean()
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, jax.grad(loss)(params))
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum
"""

TABLE = """
params, momentum, x = jnp.ones((10_000, 64)), jnp.zeros((10_000, 64)), jnp.arange(1024)
@jax.jit
def train(params, momentum, x):
    momentum = 0.9 * momentum + jax.grad(lambda params: (params[x] ** 2).sum())(params)
    return params - 0.1 * momentum, momentum
"""


@pytest.mark.parametrize("setup", [TABLE, LAYERS.format(layers=2), LAYERS.format(layers=6)])
def test_a_saving_that_was_not_compiled_is_an_estimate_and_a_verified_one_is_what_the_programs_need(
    doctor: Callable[..., list[RuleFinding]], session: Session, setup: str
) -> None:
    setup = f"x = jnp.ones((8, 600))\n{setup}"
    cell = "params, momentum = train(params, momentum, x)"
    (found,) = doctor(cell, setup)
    assert (found.basis, found.evidence[-1].kind) == ("estimated", "doctor.donation_shared")
    assert "at least" not in " ".join(map(str, found.evidence))
    (verified,) = doctor(cell, setup, options="--verify")
    names: dict[str, Any] = session.shell.user_ns
    args = names["params"], names["momentum"], names["x"]
    donating = jax.jit(names["train"].__wrapped__, donate_argnames=("params", "momentum"))
    saved = peak_bytes(names["train"], *args) - peak_bytes(donating, *args)
    assert verified.cost_bytes == pytest.approx(saved, abs=64)
    assert verified.basis == "measured"
    assert [each.kind for each in verified.evidence] == ["doctor.donation_replaced"]
    assert verified.code is not None


def test_what_is_donated_already_is_so_in_both_programs_of_a_trial(
    doctor: Callable[..., list[RuleFinding]], session: Session
) -> None:
    setup = """
a, b = jnp.ones((500, 1000)), jnp.ones((1000, 1000))
@functools.partial(jax.jit, donate_argnums=0)
def both(a, b):
    return a + 1, b * 2
"""
    (found,) = doctor("a, b = both(a, b)", setup, options="--verify")
    assert found.verified is not None
    assert found.verified.before_bytes == pytest.approx(10_000_000, abs=64)
    assert found.verified.after_bytes == pytest.approx(6_000_000, abs=64)


MOMENTUM = """
def momentum(p, m, g):
    m = 0.9 * m + g
    return p - 0.1 * m, m
move = jax.jit(momentum)
zeros, start = jnp.zeros_like(x), (x, jnp.zeros_like(x))
tree = {"a": x, "b": x + 1}
"""


@pytest.mark.parametrize(
    ("first", "copying"),
    [
        ("p, m = move(x, zeros, x + 1)", "p, m = move(x.copy(), zeros.copy(), x + 1)"),
        ("p, m = move(x, x * 0, x)", "p, m = move(x.copy(), x * 0, x)"),
        ("p, m = move(x, g=x, m=jnp.zeros_like(x))", "p, m = move(x.copy(), g=x, m=jnp.zeros_like(x))"),
        ("p, m = move(start[0], x + 1, x)", "p, m = move(start[0].copy(), x + 1, x)"),
    ],
)
def test_another_call_gets_copies_of_what_it_would_delete(
    doctor: Callable[..., list[RuleFinding]], session: Session, first: str, copying: str
) -> None:
    loop = "for _ in range(3):\n    p, m = move(p, m, x)"
    (found,) = doctor(f"{first}\n{loop}", MOMENTUM)
    assert found.code == 'move = jax.jit(momentum, donate_argnames=("p", "m"))'
    assert f"write {copying.removeprefix('p, m = ')} there." in str(found.remedy)
    session.run(found.code)
    for _ in range(2):
        session.run(f"{copying}\n{loop}\nassert not (x.is_deleted() or zeros.is_deleted())")
    session.run(MOMENTUM)
    (copied,) = doctor(f"{copying}\n{loop}")
    assert "would delete" not in str(copied.remedy)


def test_another_call_gets_a_copy_of_a_container(doctor: Callable[..., list[RuleFinding]]) -> None:
    loop = "for _ in range(3):\n    p = step(p, grads)"
    (found,) = doctor(f"p = step(params, grads)\n{loop}")
    assert "Another call would delete params: write step(jax.tree.map(jnp.copy, params), grads) there." in str(
        found.remedy
    )
    assert doctor(f"p = step(params.copy(), grads)\n{loop}") == []  # a dict's copy holds the same arrays
    (copied,) = doctor(f"p = step(jax.tree.map(jnp.copy, params), grads)\n{loop}")
    assert "would delete" not in str(copied.remedy)


@pytest.mark.parametrize(
    "before",
    [
        "p, m = move(x, zeros, x)",  # a copy costs as much as it spares
        "p, m = move(*start, x)",
        "for _ in range(3):\n    p, m = move(x, zeros, x)",
        "p, m = evaluate(), x + 1",
        "p, m = x + 0, x + 1\nlater = [move(x, zeros, x) for _ in range(3)]",
    ],
)
def test_what_another_call_passes_and_others_use_is_not_donated(
    doctor: Callable[..., list[RuleFinding]], before: str
) -> None:
    setup = f"{MOMENTUM}\ndef evaluate():\n    return move(x, zeros, x)[0]"
    after = "p, m = move(p, m, x)"
    assert doctor(f"{before}\n{after}", setup) == []
    (found,) = doctor(f"p, m = x + 0, x + 1\n{after}", setup)
    assert 'donate_argnames=("p", "m")' in str(found.code)


def test_a_method_of_the_same_name_is_another_function(doctor: Callable[..., list[RuleFinding]]) -> None:
    setup = """
class Rule:
    def step(self, p, g):
        return sgd(p, g)
rule = Rule()
@jax.jit
def step(p, g):
    return rule.step(p, g)
"""
    (found,) = doctor("params = step(params, grads)", setup)
    assert 'donate_argnames="p"' in str(found.code)


def test_decorated_function_in_a_loop_is_found(doctor: Callable[..., list[RuleFinding]]) -> None:
    setup = """
state = (params, 0)
@jax.jit
def update(state, grads):
    return (sgd(state[0], grads), state[1] + 1), 1.0
"""
    (found,) = doctor("for _ in range(3):\n    state, norm = update(state, grads)\n    print(norm)", setup)
    assert found.cost_bytes == PARAMS_BYTES + 4
    assert found.code == (
        'import functools\n\n@functools.partial(jax.jit, donate_argnames="state")\ndef update(state, grads):'
    )


def test_options_of_the_decorator_stay(doctor: Callable[..., list[RuleFinding]]) -> None:
    (found,) = doctor(
        "x = scaled(x, times=3)",
        '@functools.partial(jax.jit, static_argnames="times")\ndef scaled(y, times):\n    return y * times',
    )
    assert found.code == (
        '@functools.partial(jax.jit, static_argnames="times", donate_argnames="y")\ndef scaled(y, times):'
    )


def test_row_that_is_set_is_found(doctor: Callable[..., list[RuleFinding]]) -> None:
    (found,) = doctor("x = set_row(x)", "set_row = jax.jit(lambda y: y.at[5].set(0))")
    assert found.cost_bytes == 4_000_000
    assert found.code is None  # a lambda has no name


def test_replacement_in_a_later_statement_is_found(doctor: Callable[..., list[RuleFinding]]) -> None:
    (found,) = doctor("new = step(params, grads=grads)\nparams = new")
    assert found.cost_bytes == PARAMS_BYTES


@pytest.mark.parametrize(
    ("setup", "step", "result"),
    [
        ("state = {'p': x}", "state['p'] = shift(state['p'])", "state['p'][:20]"),
        ("state = S(x, 0)", "state = move(state)", "(state.n, state.p[:20])"),
    ],
)
def test_the_newest_value_may_be_read(
    doctor: Callable[..., list[RuleFinding]], session: Session, setup: str, step: str, result: str
) -> None:
    declared = """
from typing import NamedTuple
class S(NamedTuple):
    p: jax.Array
    n: jax.Array | int
shift = jax.jit(lambda p: p.at[5].add(1))
move = jax.jit(lambda s: S(s.p.at[5].add(1), s.n + 1))
"""
    cell = f"for _ in range(3):\n    {step}\n    total = jnp.sum(jax.tree.leaves(state)[0])\nresult = {result}"
    (found,) = doctor(cell, f"{declared}{setup}")
    assert found.cost_bytes == pytest.approx(4_000_000, abs=8)
    donating = declared.replace("1))", "1), donate_argnums=0)")
    session.run(f"x = x + 0\n{donating}{setup}")
    for _ in range(2):
        session.run(f"{cell}\nassert jax.tree.leaves(result)[-1].sum() > 0")


def test_state_of_optax_is_found(doctor: Callable[..., list[RuleFinding]]) -> None:
    pytest.importorskip("optax")
    (found,) = doctor(
        "params, state = update(params, state, grads)",
        """
import optax
adam = optax.adam(1e-3)
state = adam.init(params)
@jax.jit
def update(params, state, grads):
    changes, state = adam.update(grads, state)
    return optax.apply_updates(params, changes), state
""",
    )
    assert found.cost_bytes is not None
    assert 0.8 * 3 * PARAMS_BYTES <= found.cost_bytes <= 3 * PARAMS_BYTES + 4
    assert 'donate_argnames=("params", "state")' in str(found.code)


def test_state_of_flax_is_found(doctor: Callable[..., list[RuleFinding]]) -> None:
    pytest.importorskip("flax")
    pytest.importorskip("optax")
    (found,) = doctor(
        "state = train(state, x[:8])",
        """
import flax.linen as nn, optax
from flax.training.train_state import TrainState
model = nn.Dense(1000)
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(0), x), tx=optax.sgd(0.1, 0.9))
@jax.jit
def train(state, batch):
    grads = jax.grad(lambda params: state.apply_fn(params, batch).mean())(state.params)
    return state.apply_gradients(grads=grads)
""",
    )
    assert found.cost_bytes is not None
    assert 0.95 * 4_000_000 <= found.cost_bytes <= 4_000_000


@pytest.mark.parametrize(
    ("cell", "setup"),
    [
        ("new = step(params, grads)", ""),  # may be used in the next cell
        ("old = params; params = step(params, grads)", ""),
        ("for _ in range(3):\n    params = step(params, grads)\n    kept.append(params)", "kept = []"),
        ("params, old = step(params, grads), params", ""),
        ("p = params\nfor _ in range(3):\n    p = step(p, grads)", ""),  # params is used by the next run of the cell
        ("params = step(params, grads)", "step = jax.jit(sgd, donate_argnums=0)"),
        ("x = f(x)", "f = jax.jit(lambda y: y @ y.T)"),  # is read until the end
        ("x = f(x)", "f = jax.jit(lambda y: y.T + 1)"),
        ("x = f(x)", "f = jax.jit(lambda y: jnp.sort(y, 0))"),
        ("x, y = f(x, y)", "y = x + 1; f = jax.jit(lambda x, y: (y + 1, x + 1))"),
        ("x = f(x)", "f = jax.jit(lambda y: y.astype(jnp.bfloat16))"),
        ("x = f(x)", "f = jax.jit(lambda y: y[:5])"),
        ("x = f(x)", "x = x[:100]; f = jax.jit(lambda y: y + 1)"),  # 0.4 MB
        ("params = step(params, grads)", "params = {'a': x, 'b': x}; grads = {'a': x, 'b': x}"),  # donated twice
        ("def f(params):\n    params = step(params, grads)\nf(params)", ""),
        ("grads = f(params)", "f = jax.jit(jax.grad(lambda p: (p['a'].sum() + p['b'].sum()) ** 2))"),
    ],
)
def test_clean_programs_are_left_alone(doctor: Callable[..., list[RuleFinding]], cell: str, setup: str) -> None:
    assert doctor(cell, setup) == []


def test_diagnose_does_not_guess_what_is_used_afterwards() -> None:
    assert jaxmagic.diagnose(jax.jit(lambda x: x + 1), jax.numpy.ones((1000, 1000)), only=["donation"]).findings == ()


@pytest.mark.filterwarnings("ignore:Some donated buffers")
@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("y.sum()", "No result has the type f32[1000,1000]."),
        (
            "y.astype(jnp.bfloat16)",
            "The argument is f32[1000,1000], the result with these dimensions is bf16[1000,1000].",
        ),
    ],
)
def test_donation_in_vain_is_found(doctor: Callable[..., list[RuleFinding]], result: str, reason: str) -> None:
    (found,) = doctor("out = f(x)", f"f = jax.jit(lambda y: {result}, donate_argnums=0)")
    assert str(found.found) == "<lambda> donates y (3.81 MiB), but no result can reuse that memory."
    assert [str(each) for each in found.evidence] == [reason]
    assert found.cost_bytes is None


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_second_argument_that_is_donated_for_one_result_is_found(doctor: Callable[..., list[RuleFinding]]) -> None:
    (found,) = doctor("out = f(x, y)", "y = x + 1; f = jax.jit(lambda a, b: a + b, donate_argnums=(0, 1))")
    assert str(found.found) == "<lambda> donates b (3.81 MiB), but no result can reuse that memory."
    assert [str(each) for each in found.evidence] == [
        "All results of type f32[1000,1000] reuse the memory of other arguments."
    ]


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_batch_that_is_donated_with_the_state_of_optax_is_found(
    doctor: Callable[..., list[RuleFinding]], session: Session
) -> None:
    pytest.importorskip("optax")
    setup = """
import optax
adam = optax.adam(1e-3)
state = adam.init(params)
@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def update(params, state, batch):
    changes, state = adam.update(jax.grad(lambda p: (batch @ p["a"]).sum() + p["b"].sum())(params), state)
    return optax.apply_updates(params, changes), state
"""
    (found,) = doctor("params, state = update(params, state, x[:600])", setup)
    assert str(found.found) == "update donates batch (2.29 MiB), but no result can reuse that memory."
    assert not session.shell.user_ns["x"].is_deleted()


@pytest.mark.parametrize("function", ["y", "(y, y + 1)", "y @ y", "(y.sum(), y * 2)"])
def test_donation_that_a_result_uses_is_left_alone(
    doctor: Callable[..., list[RuleFinding]], session: Session, function: str
) -> None:
    setup = f"z = x + 1; f = jax.jit(lambda y: {function}, donate_argnums=0)"
    assert doctor("out = f(z)", setup) == []
    assert session.shell.user_ns["z"].is_deleted()


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_result_that_is_sharded_in_another_way_is_named() -> None:
    evidence = evidence_of(
        jax.jit(lambda x: x.astype(jax.numpy.bfloat16), donate_argnums=0), jax.numpy.ones((1024, 512))
    )
    assert evidence.programs is not None
    (program,) = evidence.programs
    assert program.module is not None
    (result,) = program.module.outputs
    split = replace(result, shape="f32[1024,512]", pieces=(2, 1))
    changed = replace(program, module=program.module._replace(outputs=(split,)))
    (found,) = donation.look(replace(evidence, programs=(changed,)))
    assert [str(each) for each in found.evidence] == [
        "The results of type f32[1024,512] on each device are sharded differently from the argument."
    ]


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_donation_in_vain_of_little_is_left_alone(doctor: Callable[..., list[RuleFinding]]) -> None:
    assert doctor("out = f(x[:100])", "f = jax.jit(lambda y: y.sum(), donate_argnums=0)") == []


@pytest.mark.parametrize(
    ("elements", "argument_bytes", "found"),
    [(2**18, 2**20, 1), (2**18 - 1, 2**20, 0), (2**18, 49 * 2**20, 1), (2**18, 50 * 2**20, 0)],
)
def test_least_memory_that_counts(elements: int, argument_bytes: int, found: int) -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    evidence = with_memory(evidence_of(jax.jit(step), jax.numpy.ones(elements)), argument_bytes=argument_bytes)
    assert evidence.programs is not None
    location = evidence.programs[0].location
    assert location is not None
    jitted = JittedName(name="step", function="step", location=location)
    assert len(list(donation.look(replace(evidence, code="x = step(x)", jitted=(jitted,))))) == found


def test_other_function_of_the_same_name_is_left_alone() -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    evidence = evidence_of(jax.jit(step), jax.numpy.ones(2**18))
    other = JittedName(name="step", function="step", location="elsewhere.py:1")
    assert list(donation.look(replace(evidence, code="x = step(x)", jitted=(other,)))) == []
