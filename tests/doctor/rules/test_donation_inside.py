"""`donation` inside functions: what a training loop replaces is found where nothing else uses it, and else is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.finding import RuleFinding

SETUP = """
import functools
import jax, jax.numpy as jnp, numpy as np
def init(value=1.0):
    return {"a": jnp.full((600, 1000), value), "b": jnp.full((300, 1000), value)}
def sgd(p, g):
    return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), 1.0
step = jax.jit(sgd)
G, CACHE, KEPT = init(), init(2.0), []
"""

#: The bytes of what `init` makes.
P_BYTES = 3_600_000

Doctor = Callable[..., list[RuleFinding]]


@pytest.fixture
def doctor(session: Session) -> Doctor:
    """Runs a cell with functions, and another one under ``%%jaxdoctor``; returns what the rule found."""
    session.run(SETUP)

    def run(cell: str, setup: str) -> list[RuleFinding]:
        session.run(setup)
        session.run(f"%%jaxdoctor --only donation\n{cell}")
        diagnosis = jaxmagic.history()[-1]
        assert isinstance(diagnosis, Diagnosis)
        assert diagnosis.looked == ("donation",), diagnosis.notes
        return list(diagnosis.findings)

    return run


def needs_bytes(function: Any, *args: Any) -> int:
    need = function.lower(*args).compile().memory_analysis()
    sums = need.argument_size_in_bytes + need.output_size_in_bytes + need.temp_size_in_bytes
    return int(sums - need.alias_size_in_bytes)


LOOP = """
def train(n):
    p = init()
    for _ in range(n):
        p, loss = step(p, G)
    return p
"""

METHOD = """
class Trainer:
    def __init__(self, rate):
        self.rate, self.p = rate, init()
    def fit(self, n):
        losses = []
        for _ in range(n):
            self.p, loss = step(self.p, G)
            losses.append(loss)
        return losses
trainer = Trainer(0.1)
"""

PARAMETER = """
def fit(p, n):
    for _ in range(n):
        p, loss = step(p, G)
    return p, loss
p = init()
"""

NESTED = """
def main(n):
    @jax.jit
    def update(state, g):
        return sgd(state, g)
    state = init()
    for number in range(n):
        new, loss = update(state, g=G)
        state = new
        print(number, loss, state["a"].sum())
    return state
"""

ATTRIBUTE = """
class Trainer:
    def __init__(self):
        self.step, self.p, self.count = jax.jit(sgd), init(), 0
    def run(self, n):
        for _ in range(n):
            self.p, _ = self.step(self.p, G)
            self.count += 1
trainer = Trainer()
"""


@pytest.mark.parametrize(
    ("setup", "cell", "statement"),
    [
        (LOOP, "result = train(3)", "p, loss = step(p, G)"),
        (METHOD, "losses = trainer.fit(3)", "self.p, loss = step(self.p, G)"),
        (PARAMETER, "p, loss = fit(p, 3)", "p, loss = step(p, G)"),
        (PARAMETER, "for epoch in range(2):\n    p, loss = fit(p, n=3)", "p, loss = step(p, G)"),
    ],
)
def test_what_a_function_replaces_is_found_and_the_code_computes_the_same_with_less_memory(
    doctor: Doctor, session: Session, setup: str, cell: str, statement: str
) -> None:
    names: dict[str, Any] = session.shell.user_ns
    (found,) = doctor(cell, setup)
    assert found.cost_bytes == P_BYTES
    assert found.code == 'step = jax.jit(sgd, donate_argnames="p")'
    assert [each.facts["statement"] for each in found.evidence] == [statement]
    session.run(setup)
    session.run(cell)
    plain = {name: names[name] for name in ("result", "p", "trainer") if name in names}
    before = needs_bytes(names["step"], names["init"](), names["G"])
    session.run(found.code)
    session.run(setup)
    session.run(cell)
    for name, value in plain.items():
        one, other = (vars(each).get("p") if name == "trainer" else each for each in (value, names[name]))
        assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), one, other))
    assert before - needs_bytes(names["step"], names["init"](), names["G"]) == found.cost_bytes
    assert doctor(cell, setup) == []


@pytest.mark.parametrize("options", ["", "--verify", "--repeat", "--verify --repeat"])
def test_it_is_found_whatever_else_is_asked_for(doctor: Doctor, session: Session, options: str) -> None:
    """What compares the objects of the code before and after a run makes no other arrays of their memory."""
    doctor("pass", METHOD)
    session.run(f"%%jaxdoctor --only donation --budget 0.1s {options}\nfor _ in range(3):\n    trainer.fit(1)")
    diagnosis = jaxmagic.history()[-1]
    assert isinstance(diagnosis, Diagnosis)
    (found,) = diagnosis.findings
    assert found.cost_bytes == P_BYTES


def test_a_function_that_is_jitted_inside_is_found(doctor: Doctor) -> None:
    (found,) = doctor("result = main(3)", NESTED)
    assert found.code == (
        'import functools\n\n@functools.partial(jax.jit, donate_argnames="state")\ndef update(state, g):'
    )


def test_a_jitted_attribute_is_found_without_code_as_how_it_was_made_is_not_known(doctor: Doctor) -> None:
    (found,) = doctor("trainer.run(3)", ATTRIBUTE)
    assert (found.cost_bytes, found.code) == (P_BYTES, None)
    assert "self.p" in str(found.remedy)


def test_static_arguments_stay(doctor: Doctor) -> None:
    setup = """
def scaled(p, times):
    return jax.tree.map(lambda a: a * times, p)
scale = jax.jit(scaled, static_argnums=1)
def train(n):
    p = init()
    for _ in range(n):
        p = scale(p, 2)
    return p
"""
    (found,) = doctor("result = train(3)", setup)
    assert found.code == 'scale = jax.jit(scaled, static_argnames="times", donate_argnames="p")'


OPTAX = """
import optax
adam = optax.adam(1e-3)
@jax.jit
def update(params, state, grads):
    changes, state = adam.update(grads, state, params)
    return optax.apply_updates(params, changes), state
"""


@pytest.mark.parametrize(
    ("setup", "cell"),
    [
        (
            """
def train(n):
    params = init()
    state = adam.init(params)
    for _ in range(n):
        params, state = update(params, state, G)
    return params
""",
            "result = train(2)",
        ),
        (
            """
class Trainer:
    def __init__(self):
        self.params = init()
        self.state = adam.init(self.params)
    def fit(self, n):
        for _ in range(n):
            self.params, self.state = update(self.params, self.state, G)
trainer = Trainer()
""",
            "trainer.fit(2)",
        ),
    ],
)
def test_state_of_optax_is_found(doctor: Doctor, setup: str, cell: str) -> None:
    pytest.importorskip("optax")
    (found,) = doctor(cell, f"{OPTAX}{setup}")
    assert found.cost_bytes is not None
    assert 0.8 * 3 * P_BYTES <= found.cost_bytes <= 3 * P_BYTES + 4
    assert 'donate_argnames=("params", "state")' in str(found.code)


def test_a_state_that_holds_the_parameters_themselves_is_left_alone(doctor: Doctor) -> None:
    pytest.importorskip("optax")
    setup = """
import optax
lookahead = optax.lookahead(optax.sgd(0.1), sync_period=5, slow_step_size=0.5)
@jax.jit
def update(params, state, grads):
    changes, state = lookahead.update(grads, state, params)
    return optax.apply_updates(params, changes), state
def train(n):
    weights = init()
    params = optax.LookaheadParams(weights, weights)
    state = lookahead.init(params)
    for _ in range(n):
        params, state = update(params, state, G)
    return params
"""
    assert doctor("result = train(2)", setup) == []


def test_state_of_flax_is_found(doctor: Doctor) -> None:
    pytest.importorskip("flax")
    pytest.importorskip("optax")
    setup = """
import flax.linen as nn, optax
from flax.training.train_state import TrainState
model, x = nn.Dense(1000), jnp.ones((8, 1000))
@jax.jit
def update(state, batch):
    grads = jax.grad(lambda params: state.apply_fn(params, batch).mean())(state.params)
    return state.apply_gradients(grads=grads)
def train(n):
    params = model.init(jax.random.key(0), x)
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1, 0.9))
    for _ in range(n):
        state = update(state, x)
    return state
"""
    (found,) = doctor("state = train(3)", setup)
    assert found.cost_bytes is not None
    assert 0.95 * 4_000_000 <= found.cost_bytes <= 2 * 4_004_000


#: Programs that use an array, or may use it, after they have passed it to `step`.
USED = {
    "the caller's parameter": (PARAMETER, "q = fit(p, 3); total = p['a'].sum()"),
    "the caller's parameter in a function": (
        f"{PARAMETER}def main():\n    p = init()\n    q, _ = fit(p, 3)\n    return p['a'].sum() + q['a'].sum()\n",
        "total = main()",
    ),
    "another call of the same function": (
        f"{PARAMETER}def main():\n    a, _ = fit(init(), 3)\n    b, _ = fit(a, 3)\n    return a['a'] + b['a']\n",
        "total = main()",
    ),
    "a variable of the caller": (PARAMETER, "start = p\np, loss = fit(p, 3)\ntotal = start['a'].sum()"),
    "an earlier cell's variable": (
        f"{PARAMETER}start = p\ndef total(start=start):\n    return start['a'].sum()\n",
        "p, loss = fit(p, 3); total()",
    ),
    "a cache": (
        "def train():\n    p = CACHE\n    for _ in range(3):\n        p, _ = step(p, G)\n",
        "train(); train()",
    ),
    "a cached result": (
        "@functools.cache\ndef make():\n    return init()\n"
        "def train():\n    p = make()\n    for _ in range(3):\n        p, _ = step(p, G)\n",
        "train(); train()",
    ),
    "another variable": (
        "def same(p):\n    return jax.tree.map(lambda a: a, p)\n"
        "def train():\n    start = init()\n    p = same(start)\n    for _ in range(3):\n        p, _ = step(p, G)\n"
        "    return start['a'] - p['a']\n",
        "train()",
    ),
    "the same memory": (
        "def train():\n    start = init()\n    p = jax.tree.map(lambda a: a.addressable_data(0), start)\n"
        "    for _ in range(3):\n"
        "        p, _ = step(p, G)\n    return start['a'] - p['a']\n",
        "train()",
    ),
    "the memory of a cache": (
        "def make():\n    return jax.tree.map(lambda a: jax.device_put(a, jax.devices()[0]), CACHE)\n"
        "def train():\n    p = make()\n    for _ in range(3):\n        p, _ = step(p, G)\n    return p\n",
        "q = train(); total = CACHE['a'].sum()",
    ),
    "a variable of a caller's caller": (
        "class T:\n    def __init__(self, p):\n        self.p = jax.tree.map(lambda a: a, p)\n"
        "    def fit(self):\n        self.p, _ = step(self.p, G)\n"
        "def main():\n    p = init()\n    t = T(p)\n    t.fit()\n    return p['a'].sum()\n",
        "main()",
    ),
    "a list": (
        "def train():\n    p, kept = init(), []\n    for _ in range(3):\n        kept.append(p)\n"
        "        p, _ = step(p, G)\n    return sum(each['a'].sum() for each in kept)\n",
        "train()",
    ),
    "a closure": (
        "def train():\n    p = init()\n    def total(p=p):\n        return p['a'].sum()\n"
        "    for _ in range(3):\n        p, _ = step(p, G)\n    return total()\n",
        "train()",
    ),
    "a generator": (
        "def train():\n    p = init()\n    for _ in range(3):\n        p, _ = step(p, G)\n        yield p\n",
        "sum(each['a'].sum() for each in list(train()))",
    ),
    "an attribute that is read": (
        f"{METHOD}def run():\n    before = trainer.p\n    trainer.fit(2)\n    return before['a'].sum()\n",
        "run()",
    ),
    "an attribute of the caller's": (
        "class T:\n    def __init__(self, p):\n        self.p = p\n"
        "    def fit(self):\n        self.p, _ = step(self.p, G)\np = init()\nt, u = T(init()), T(p)\n",
        "t.fit(); u.fit(); p['a'].sum()",
    ),
    "a field": (
        "from dataclasses import dataclass\n@dataclass\nclass T:\n    p: dict\n"
        "    def fit(self):\n        self.p, _ = step(self.p, G)\np = init()\nt, u = T(init()), T(p)\n",
        "t.fit(); u.fit(); p['a'].sum()",
    ),
    "another call": (
        f"{LOOP}def probe(p):\n    q, loss = step(p, G)\n    return p['a'].sum() + q['a'].sum()\n",
        "train(2); probe(init())",
    ),
    "a best result": (
        "def train():\n    p = best = init()\n    for _ in range(3):\n        p, loss = step(p, G)\n"
        "        if loss < 2:\n            best = p\n    return best['a'].sum()\n",
        "train()",
    ),
    "an error": (
        "def train():\n    p = init()\n    try:\n        for _ in range(3):\n            p, loss = step(p, G)\n"
        "            raise ValueError\n    except ValueError:\n        pass\n"
        "    q, loss = step(p, G)\n    return p['a'].sum()\n",
        "train()",
    ),
}


@pytest.mark.parametrize(("setup", "cell"), USED.values(), ids=USED)
def test_what_may_be_used_afterwards_is_left_alone(doctor: Doctor, setup: str, cell: str) -> None:
    assert doctor(cell, setup) == []


COPYING = """
@jax.jit
def push(p, i):
    return jax.tree.map(lambda a: a.at[i].set(2), p)
def collect(p, n):
    for i in range(n):
        p = push(p, i)
    return p
start = init()
"""


@pytest.mark.parametrize(
    ("setup", "cell", "copied"),
    [
        (COPYING, "new = collect(start, 5)", "jax.tree.map(jnp.copy, p)"),
        (COPYING.replace("start = init()", "start = init()['a']"), "new = collect(start, 5)", "p.copy()"),
        (
            f"{COPYING}def run():\n    new = collect(start, 5)\n    return new\n",
            "new = run()",
            "jax.tree.map(jnp.copy, p)",
        ),
    ],
)
def test_what_the_caller_keeps_is_copied_once_where_each_call_copies_it(
    doctor: Doctor, session: Session, setup: str, cell: str, copied: str
) -> None:
    (found,) = doctor(cell, setup)
    assert f"Donate p, and write p = {copied} before the loop in collect: " in str(found.remedy)
    assert found.code is not None
    before = jax.tree.map(lambda a: a.copy(), session.shell.user_ns["new"])
    donating = found.code.partition("\n\n")[2].strip()
    session.run(
        setup.replace("@jax.jit\ndef push(p, i):", donating).replace("    for i", f"    p = {copied}\n    for i")
    )
    session.run(f"{cell}\n{cell}\nassert not any(each.is_deleted() for each in jax.tree.leaves(start))")
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), before, session.shell.user_ns["new"]))
    (peak, less) = (
        found.found.facts["peak_bytes"],
        needs_bytes(session.shell.user_ns["push"], session.shell.user_ns["start"], 1),
    )
    assert peak - less == found.cost_bytes


@pytest.mark.parametrize(
    ("setup", "cell"),
    [
        (COPYING, "new = collect(start, 2)"),  # one copy instead of two
        (COPYING.replace("p = push(p, i)", "p = push(p, i)\n        KEPT.append(p)"), "new = collect(start, 5)"),
        (COPYING.replace("    return p\n", "    return p, push(p, 0)\n"), "new = collect(start, 5)"),
        (COPYING.replace("a.at[i].set(2)", "a + i"), "new = collect(start, 5)"),  # copies nothing
    ],
)
def test_no_copy_is_advised_that_replaces_no_others(doctor: Doctor, setup: str, cell: str) -> None:
    assert doctor(cell, setup) == []


def test_programs_that_use_arrays_afterwards_fail_with_donation(session: Session) -> None:
    for setup, cell in list(USED.values())[:6]:
        session.run(f"{SETUP}{setup}")
        session.run('step = jax.jit(sgd, donate_argnames="p")')
        with pytest.raises((RuntimeError, ValueError), match="deleted"):
            session.run(cell)


@pytest.mark.parametrize("cached", [True, False])
def test_what_a_later_run_replaces_held_the_array_in_the_first_one(cached: bool, session: Session) -> None:
    session.run("%load_ext jaxmagic")
    session.run("import functools, jax, jax.numpy as jnp\nxs = [jnp.ones(1000)] * 3")
    session.run(f"""%%jaxdoctor -q -v found --only donation
step = jax.jit(lambda p, x: (p * 0.9 + x, x.sum()))
{"@functools.cache" if cached else ""}
def init(): return jnp.ones((1000, 1000))
def train():
    p = init()
    for x in xs:
        p, total = step(p, x)
    return p
first = train()
second = train()
total = float((first - second).sum())
""")
    assert len(session.shell.user_ns["found"].findings) == (0 if cached else 1)
