"""The line that makes a static part of an argument anew is found; where it cannot be told, nothing is said."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxmagic.doctor.rules.rewriting.new_objects import (
    NewObject,
    find_new_object,
    optimizers_among,
    optimizers_given,
)
from jaxmagic.records.call_stack import Frame

BEGIN = "import optax\nfrom optax import adam\n\n\n@jax.jit\ndef step(state, x):\n    return state, x\n\n\n"


def made(tmp_path: Path, body: str, path: str) -> NewObject | None:
    """Find an object in a function whose last line calls `step`."""
    file = tmp_path / "train.py"
    lines = body.splitlines()
    file.write_text(BEGIN + "def fit(lr):\n" + "".join(f"    {each}\n" for each in lines))
    first = BEGIN.count("\n") + 1
    site = Frame(function="fit", file=str(file), line=first + len(lines))
    found = find_new_object(path, Frame(function="step", file=str(file), line=5), "step", [site])
    return None if found is None else found._replace(file="", line=found.line - first)


@pytest.mark.parametrize(
    ("body", "path", "line", "optimizer"),
    [
        ("state = State.create(tx=optax.sgd(lr))\nstate, y = step(state, x)", "state.tx", 1, "optax.sgd"),
        ("tx = adam(learning_rate=lr)\nstate = State(tx=tx)\nstep(state, x)", "state.tx", 1, "adam"),
        (
            "tx = optax.chain(optax.clip(1.0), optax.adamw(lr))\nstate = State(tx=tx)\nstep(state, x)",
            "state.tx",
            1,
            "optax.adamw",
        ),
        ("tx = optax.adam(1e-3)\nstep(State(tx=tx), x)", "state.tx", 1, ""),
        ("model = Net(3, lambda v: v)\nstep(model, x)", "state", 1, None),
        ("step(State(model=Net(act=lambda v: v)), x)", "state.model.act", 1, None),
    ],
)
def test_the_line_that_makes_an_object_is_found(
    tmp_path: Path, body: str, path: str, line: int, optimizer: str | None
) -> None:
    assert made(tmp_path, body, path) == NewObject("", line, optimizer)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("step(lr, x)", "state"),  # a parameter
        ("state = lr.state\nstep(state, x)", "state.tx"),
        ("step(*lr)", "state.tx"),
        ("step(x=1, state=step)", "state"),
    ],
)
def test_an_object_that_is_made_elsewhere_has_no_line(tmp_path: Path, body: str, path: str) -> None:
    assert made(tmp_path, body, path) is None


def test_optimizers_around_a_function_are_found(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    body = "tx, n = 1, 2\ntx = optax.adamw(lr)\nrule = adam(0.1)\n@jax.jit\ndef make_step(w):\n    return tx, rule, n"
    file.write_text(BEGIN + "def fit(lr):\n" + "".join(f"    {each}\n" for each in body.splitlines()))
    line = BEGIN.count("\n") + 5
    assert optimizers_among(("n", "tx", "rule", "lr"), str(file), line) == {"tx": "optax.adamw", "rule": ""}
    assert optimizers_among(("tx",), str(file), 1) == {}
    assert optimizers_among(("tx",), "no file", 1) == {}


MAKERS = """
def create(key):
    params = init(key)
    return State.create(params=params, tx=optax.sgd(0.1))

def fitted(key):
    optimizer = optax.adam(0.1)
    return optimizer.init(init(key))

"""


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("o = nnx.Optimizer(model, optax.adam(1e-3))\nfor x in xs:\n    step(o, x)", ["state"]),
        ("tx = optax.chain(adam(0.1))\nstate = State.create(tx=tx)\nstep(x=x, state=state)", ["state"]),
        ("state = create(key)\nfor x in xs:\n    state, _ = step(state, x)", ["state"]),
        ("tx = adam(0.1)\nstep(params, tx)", ["x"]),
        ("step(optax.apply_updates(p, u), x)", []),  # arrays
        ("tx = adam(0.1)\nstep(tx.init(p), x)", []),
        ("step(adam(0.1).init(p), x)", []),
        ("step(fitted(key), x)", []),
        ("step(rates_of(adam(0.1)), x)", []),  # whatever that returns
        ("step(lr, x)", []),  # a parameter: whether each run makes it is unknown
        ("step(state, x)", []),  # made outside
        ("step(*lr)", []),
    ],
)
def test_an_argument_is_known_to_hold_an_optimizer_that_each_run_makes(
    tmp_path: Path, body: str, given: list[str]
) -> None:
    file = tmp_path / "train.py"
    lines = body.splitlines()
    before = BEGIN + MAKERS + "def fit(lr):\n"
    file.write_text(before + "".join(f"    {each}\n" for each in lines))
    (function,) = ast.parse("def step(state, x): pass").body
    assert isinstance(function, ast.FunctionDef)
    site = Frame(function="fit", file=str(file), line=before.count("\n") + len(lines))
    assert optimizers_given(function, site) == given


def test_an_optimizer_of_a_module_is_made_once(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(f"{BEGIN}tx = adam(0.1)\nstep(params, tx)\n")
    (function,) = ast.parse("def step(state, x): pass").body
    assert isinstance(function, ast.FunctionDef)
    site = Frame(function="<module>", file=str(file), line=BEGIN.count("\n") + 2)
    assert optimizers_given(function, site) == []
