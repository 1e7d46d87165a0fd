"""A cell that jits its own functions: run once, it compiles each of them once, and that is no mistake."""

from __future__ import annotations

from typing import Any

import pytest
from shells import Session

from jaxmagic.doctor.rules.compiling.made_anew import EARLIER

KEPT = {
    "decorated": "@jax.jit\ndef f(v):\n    return jnp.tanh(v @ v).sum()\n",
    "with options": "@partial(jax.jit, static_argnums=1)\ndef f(v, n=2):\n    return jnp.tanh(v @ v).sum() * n\n",
    "a lambda": "f = jax.jit(lambda v: jnp.tanh(v @ v).sum())\n",
    "a gradient": "def loss(v):\n    return jnp.tanh(v @ v).sum()\nf = jax.jit(jax.grad(loss))\n",
    "several names": "f, g = jax.jit(lambda v: jnp.tanh(v @ v).sum()), 1\n",
    "a method": "class Net:\n    def fwd(self, v):\n        return jnp.tanh(v @ v).sum()\n"
    "net = Net()\nf = jax.jit(net.fwd)\n",
    "in a constructor": "class Net:\n    def __init__(self):\n        self.go = jax.jit(self.fwd)\n"
    "    def fwd(self, v):\n        return jnp.tanh(v @ v).sum()\nf = Net().go\n",
    "by a factory": "def make(k):\n    @jax.jit\n    def step(v):\n        return jnp.tanh(v @ v).sum() * k\n"
    "    return step\nf = make(2.0)\n",
    "returned at once": "def make(k):\n    return jax.jit(lambda v: jnp.tanh(v @ v).sum() * k)\nf = make(2.0)\n",
    "in a branch": "if True:\n    f = jax.jit(lambda v: jnp.tanh(v @ v).sum())\n",
}

#: Called inline, in a loop, or made in a function: these compile again whenever the line runs.
AGAIN = {
    "inline": "for _ in range(2):\n    y = x + 1\ny = jax.jit(lambda v: jnp.tanh(v @ v).sum())(x)",
    "inside another call": "y = jax.vmap(jax.jit(lambda v: jnp.tanh(v).sum()))(x)",
    "in a loop": "for _ in range(1):\n    f = jax.jit(lambda v: jnp.tanh(v @ v).sum())\n    y = f(x)",
    "in a function": "def run(x):\n    f = jax.jit(lambda v: jnp.tanh(v @ v).sum())\n    return f(x)\ny = run(x)",
    "by a factory in a function": "def make(k):\n    return jax.jit(lambda v: jnp.tanh(v @ v).sum() * k)\n"
    "def run(x):\n    return make(2.0)(x)\ny = run(x)",
    "by a factory in a loop": "def make(k):\n    return jax.jit(lambda v: jnp.tanh(v @ v).sum() * k)\n"
    "for k in range(3):\n    y = make(k)(x)",
    "in another cell's function": "y = elsewhere(x)",
}


@pytest.fixture
def shell(session: Session) -> Session:
    session.run("from functools import partial\nx = jnp.ones((50, 50))")
    session.run("def elsewhere(x):\n    f = jax.jit(lambda v: jnp.tanh(v @ v).sum())\n    return f(x)")
    return session


def found(shell: Session, cell: str) -> list[Any]:
    shell.run(f"%%jaxdoctor -q -v found --only recompile\n{cell}")
    return list(shell.shell.user_ns["found"].findings)


@pytest.mark.parametrize("name", KEPT)
def test_what_the_cell_jits_and_keeps_is_no_finding(shell: Session, name: str) -> None:
    assert found(shell, f"{KEPT[name]}for _ in range(3):\n    y = f(x)") == []
    (made,) = (each for each in shell.shell.user_ns["found"].notes if each.kind == "doctor.made_by_the_code")
    assert "because this code makes it" in str(made)


@pytest.mark.parametrize("name", AGAIN)
def test_what_is_made_for_each_call_costs_in_every_run(shell: Session, name: str) -> None:
    (finding,) = found(shell, AGAIN[name])
    assert finding.per == "run"


def test_a_variable_that_the_cell_assigns_is_to_be_passed(shell: Session) -> None:
    """Made once, the function would keep its first value."""
    shell.run("def scaled(x):\n    f = jax.jit(lambda v: jnp.tanh(v @ v).sum() * amp)\n    return f(x)")
    (finding,) = found(shell, "for amp in (1.0, 2.0):\n    y = scaled(x)")
    assert (finding.code, str(finding.remedy)[:58]) == (
        None,
        "Define and jit it once, outside, and pass amp as an argume",
    )
    assert "It reads amp from the code around it." in map(str, finding.evidence)


CHANGING = {
    "an element": ("T = [1.0]\ndef inner(v): return total(v) * T[0]", "T[0] = float(i)", "T"),
    "an attribute that a method reads": (
        "class Plan:\n    def rate(self): return 0.1 * self.k\nplan = Plan()\n"
        "def inner(v): return total(v) * plan.rate()",
        "plan.k = i",
        "plan",
    ),
    "what a method changes": ("T = [1.0]\ndef inner(v): return total(v) * sum(T)", "T.append(i)", "T"),
    "a global": ("n = 0\ndef count():\n    global n\n    n += 1\ndef inner(v): return total(v) * n", "count()", "n"),
    "random numbers": ("import numpy as np\ndef inner(v): return total(v) * np.random.rand()", "", "np.random.rand"),
    "the clock": ("import time\ndef inner(v): return total(v) * time.time()", "", "time.time"),
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_a_function_reads_while_it_is_traced_is_to_be_passed(shell: Session, name: str) -> None:
    """Made once, it would keep what it read first, also through the functions that it calls."""
    defined, changes, read = CHANGING[name]
    shell.run(f"def total(v):\n    return sum(jnp.tanh(v @ v * i).sum() for i in range(8))\n{defined}")
    made = "jax.jit(lambda v: inner(v))(x)"
    loop = f"for i in range(4):\n    {changes}\n    y = {made}" if changes else f"y = [{made} for _ in range(4)]"
    (finding,) = found(shell, loop)
    assert finding.code is None
    assert f"it reads {read} again." in str(finding.remedy)
    assert ("a key of jax.random" in str(finding.remedy)) == (name == "random numbers")


def test_what_stays_the_same_is_not_said_to_change(shell: Session) -> None:
    shell.run("scale, table = 2.0, {'a': 1.0}\ndef inner(v): return (v * scale * table['a']).sum()")
    (finding,) = found(
        shell, "seen = []\nfor i in range(3):\n    y = jax.jit(lambda v: inner(v))(x)\n    seen.append(i)"
    )
    assert finding.code is not None
    assert "jitted = jax.jit(lambda v: inner(v))" in finding.code


def test_a_list_that_only_counts_traces_is_not_said_to_be_read(shell: Session) -> None:
    shell.run(
        "traces = []\ndef total(v):\n    return sum(jnp.tanh(v @ v * i).sum() for i in range(8))\n"
        "def inner(v):\n    traces.append(1)\n    return total(v)"
    )
    (finding,) = found(shell, "for _ in range(4):\n    y = jax.jit(lambda v: inner(v))(x)")
    assert str(finding.remedy) == "Define and jit it once, outside. It then changes traces only when JAX traces it."
    assert "jitted = jax.jit(lambda v: inner(v))" in str(finding.code)


@pytest.mark.parametrize(
    ("cell", "where"),
    [
        ("for _ in range(2):\n    y = jax.jit(lambda v: jnp.tanh(v @ v).sum())(x)", "cell"),
        ("def run(x):\n    f = jax.jit(lambda v: jnp.tanh(v @ v).sum())\n    return f(x)\ny = run(x)", "cell"),
        ("y = elsewhere(x)", "before"),
    ],
    ids=["loop", "function of the cell", "function of another cell"],
)
def test_code_that_each_run_would_make_again_belongs_in_an_earlier_cell(
    shell: Session, cell: str, where: str
) -> None:
    """In the cell itself, it would gain nothing if each round has a static value of its own."""
    (finding,) = found(shell, cell)
    first, second, *_ = finding.code.splitlines()
    assert (first == EARLIER) == (where == "cell")
    assert (second if where == "cell" else first).endswith(" = jax.jit(lambda v: jnp.tanh(v @ v).sum())")
    shell.run(finding.code)
    assert shell.shell.user_ns["y"] is not None


STATE = """
from dataclasses import dataclass
from typing import Any, NamedTuple

class Optimizer(NamedTuple):
    update: Any

def sgd(rate):
    return Optimizer(lambda w, g: w - rate * g)

@partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["tx"])
@dataclass
class State:
    w: Any
    tx: Any

def fit(make):
    state = State(x, tx=make(0.1))

    @jax.jit
    def step(state):
        return State(state.tx.update(state.w, jnp.tanh(state.w @ state.w)), state.tx)

    for _ in range(2):
        state = step(state)
    return state

one, two = sgd(0.1), sgd(0.2)
"""


def test_a_function_is_not_advised_alone_where_what_it_gets_is_made_anew_as_well(shell: Session) -> None:
    """Made once, it would compile as often: JAX compares the optimizer, a static field, by identity."""
    shell.run(STATE)
    (finding,) = found(shell, "for _ in range(2):\n    y = fit(sgd)")
    assert str(finding.found).endswith("because it is a new function object each time, and so is state.tx.")
    assert str(finding.remedy).startswith("Define and jit step once, outside. That alone is not enough, because JAX ")
    assert finding.code is None
    assert [str(each) for each in finding.evidence if each.kind == "doctor.recompile_object_made"] == [
        f"state.tx is made at {finding.line.rpartition(':')[0]}:17: state = State(x, tx=make(0.1))"
    ]


@pytest.mark.parametrize("given", ["one", "(one, two)[n]"])
def test_a_function_is_advised_alone_where_what_it_gets_stays_the_same(shell: Session, given: str) -> None:
    shell.run(STATE)
    (finding,) = found(shell, f"for n in range(2):\n    y = fit(lambda rate: {given})")
    assert finding.found.facts["objects"] == ""
    assert "def step(state):" in str(finding.code)
