"""What called functions and methods will read and assign, foreseen from their source."""

from __future__ import annotations

import ast
from typing import Any

import jax
import pytest

from jaxmagic.doctor.capture.side_effects.foreseen import foreseen

params = 1.0
result = 0.0
best = 0.0


def advance() -> None:
    global params
    params = params + 1


def epoch(steps: int) -> None:
    for _ in range(steps):
        advance()


def only_writes() -> None:
    global result
    result = 1.0
    print(result)


def perhaps() -> None:
    global best
    if params > best:
        best = params


def makes_another() -> Any:
    def later() -> None:
        global params
        params = params + 1

    return later


class Trainer:
    def __init__(self) -> None:
        self.weights, self.steps, self.loss = 1.0, 0, 0.0
        self.cached: Any = None

    def step(self, x: float) -> float:
        self.weights, self.loss = self.weights - x, x
        self.steps += 1
        return self.loss

    def fit(self, data: list[float]) -> list[float]:
        return [self.step(x) for x in data]

    def predict(self, x: float) -> float:
        if self.cached is None:
            self.cached = self.weights
        return self.cached * x  # type: ignore[no-any-return]

    @property
    def never_read(self) -> Any:
        raise AssertionError


class Holder:
    def __init__(self) -> None:
        self.trainer = Trainer()
        self.advance = advance

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


KNOWN = {
    **{each.__name__: each for each in (advance, epoch, only_writes, perhaps, makes_another)},
    "trainer": Trainer(),
    "holder": Holder(),
    "Trainer": Trainer,
    "params": params,
    "xs": [1.0],
}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("advance()", ["params"]),
        ("epoch(3)", ["params"]),
        ("y = [epoch(1) for _ in range(2)]", ["params"]),
        ("y = epoch", []),
        ("only_writes()", []),
        ("perhaps()", []),
        ("makes_another()", []),
        ("if params:\n    advance()", []),
        ("def f():\n    advance()", []),
        ("trainer.step(1.)", ["trainer.weights", "trainer.loss", "trainer.steps"]),
        ("trainer.fit(xs)", ["trainer.weights", "trainer.loss", "trainer.steps"]),
        ("holder.trainer.fit(xs)", ["holder.trainer.weights", "holder.trainer.loss", "holder.trainer.steps"]),
        ("holder.advance()", ["params"]),
        ("holder.missing()", []),
        ("trainer.never_read()", []),
        ("trainer.predict(1.)", []),
        ("Trainer().fit(xs)", []),
        ("unknown(3); xs[0].f()", []),
        ("print(len(xs))", []),
    ],
)
def test_what_is_read_and_then_assigned_is_foreseen(code: str, names: list[str]) -> None:
    assert foreseen(ast.parse(code), KNOWN).assigned == names


def test_the_function_that_is_diagnosed_is_called() -> None:
    assert foreseen(None, {"epoch": epoch}).assigned == ["params"]
    assert foreseen(None, {"fit": KNOWN["trainer"].fit}).assigned == ["self.weights", "self.loss", "self.steps"]


class Jitted:
    """What ``nnx.jit`` makes: it has the user's function, and the methods of a jitted one."""

    def __init__(self, function: Any) -> None:
        self.__wrapped__ = function

    def __call__(self, *args: Any) -> Any:
        return self.__wrapped__(*args)

    def lower(self) -> None: ...

    def trace(self) -> None: ...


class Optimizer:
    def __init__(self) -> None:
        self.step = 0

    def update(self, model: Any, grads: Any) -> float:
        return float(grads)


def train_step(model: Any, optimizer: Any, x: float) -> float:
    optimizer.update(model, x)
    return x


def functional(model: Any, optimizer: Any, x: float) -> float:
    return optimizer.update(model, x)  # type: ignore[no-any-return]


def local() -> list[float]:
    losses: list[float] = []
    losses.append(1.0)
    return losses


def keep(history: list[float], x: float) -> None:
    history.append(x)


def count(trainer: Any) -> None:
    trainer.steps += 1


OBJECTS = {
    **{each.__name__: each for each in (train_step, functional, local, keep, count)},
    "step": Jitted(train_step),
    "compiled": jax.jit(train_step),
    "optimizer": Optimizer(),
    "model": Trainer(),
    "losses": [1.0],
    "seen": {"x": 1.0},
    "history": {"loss": [1.0], "accuracy": []},
}


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("losses.append(1.)", ["losses"]),
        ("for x in xs:\n    losses.append(x)", ["losses"]),
        ("losses.index(1.)", []),
        ("history['loss'].append(1.)", ["history['loss']"]),
        ("for name in names:\n    history[name].append(1.)", ["history[name]"]),
        ("history['unknown'].append(1.)", []),
        ("seen[name].append(1.)", []),
        ("losses[0].append(1.)", []),
        ("seen.update(x=1.)", []),
        ("last = losses.pop()", []),
        ("seen['x'] = 1.", ["seen"]),
        ("seen['x'] += 1.", ["seen"]),
        ("y = seen['x']", []),
        ("if xs: losses.append(1.)", []),
        ("for i in range(9):\n    if i % 3 == 0:\n        losses.append(i)", ["losses"]),
        ("for i in range(0, n):\n    for x in xs:\n        if not i % n:\n            losses.append(x)", ["losses"]),
        ("for i, x in enumerate(xs):\n    if i == 0:\n        keep(losses, x)", ["losses"]),
        ("for i in range(1, 9):\n    if i % 3 == 0:\n        losses.append(i)", []),
        ("for i in range(9):\n    if i % 3 == 1:\n        losses.append(i)", []),
        ("for i in range(9):\n    if i % 3 == 0:\n        pass\n    else:\n        losses.append(i)", []),
        ("for i in range(9):\n    if not i % 3 == 0:\n        losses.append(i)", []),
        ("for i in range(9):\n    for i in xs:\n        if i == 0:\n            losses.append(i)", []),
        ("for i in range(9):\n    if i == 0:\n        if xs:\n            losses.append(i)", []),
        ("step(model, optimizer, 1.)", ["optimizer"]),
        ("loss = step(model, optimizer=optimizer, x=1.)", ["optimizer"]),
        ("train_step(model, optimizer, 1.)", ["optimizer"]),
        ("functional(model, optimizer, 1.)", []),
        ("compiled(model, optimizer, 1.)", []),
        ("local()", []),
        ("keep(losses, 1.)", ["losses"]),
        ("keep([], 1.)", []),
        ("unknown.append(1.)", []),
    ],
)
def test_changes_of_objects_are_foreseen(code: str, changed: list[str]) -> None:
    assert foreseen(ast.parse(code), OBJECTS) == ([], changed, [], [])


def test_what_a_function_reads_from_the_one_around_it_is_known() -> None:
    losses: list[float] = []

    def log(x: float) -> None:
        losses.append(x)

    assert foreseen(ast.parse("log(1.)"), {"log": log}).changed == ["losses"]


def test_an_attribute_of_what_a_function_gets_is_foreseen() -> None:
    assert foreseen(ast.parse("count(model)"), OBJECTS) == (["model.steps"], [], [], [])


def test_what_a_call_passes_is_known_by_the_names_of_the_parameters() -> None:
    assert foreseen(None, {"keep": keep, "history": [], "x": 1.0}).changed == ["history"]
    assert foreseen(None, {"fit": Trainer().fit, "data": [1.0]}).assigned[:1] == ["self.weights"]


def test_variables_that_no_call_passes_are_no_arguments() -> None:
    assert foreseen(None, {"keep": keep, "history": [], "y": 1.0}) == ([], [], [], [])
