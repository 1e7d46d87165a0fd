"""A method computes the same where it calls a jitted function in place of its statements."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from jaxmagic.doctor.capture.inputs import inputs_of
from jaxmagic.doctor.capture.library_names import library_names
from jaxmagic.doctor.record.evidence import Evidence, HostShare, HostWait
from jaxmagic.doctor.rules.rewriting.methods.jitted_method import JittedMethod, jitted_method
from jaxmagic.doctor.rules.rewriting.rewritten import pasted, rewritten
from jaxmagic.records.call_stack import Frame

BEGIN = """import time
import types
import jax
import jax.numpy as jnp
import numpy as np

X = jnp.linspace(0, 1, 12).reshape(4, 3)
Y = jnp.ones(4)

def squared(p, y):
    return jnp.mean((p - y) ** 2)

class Counter:
    def __init__(self):
        self.n = 0
    def add(self, x):
        self.n += 1
        return x * self.n

counter = Counter()

class Model:
    def __init__(self):
        self.w = jnp.full((3, 2), 0.1)
        self.v = jnp.zeros((3, 2))
        self.params = {"w": jnp.full(3, 0.2), "b": jnp.zeros(())}
        self.target = self.params
        self.key = jax.random.key(0)
        self.rate, self.n, self.flag, self.kind = 0.1, 0, True, "plain"
        self.config = types.SimpleNamespace(rate=0.5)
        self.seen, self.kept = np.zeros(3), []
        self.activation, self.rng = jax.nn.relu, np.random.default_rng(0)
        self.sizes, self.depth, self.limit = [3, 2], 2, None
    def predict(self, params, x):
        return self.activation(x @ params["w"] + params["b"]) * self.rate
    def loss(self, params, x, y):
        return squared(self.predict(params, x), y)
    def current(self, x):
        return jnp.tanh(x @ self.w) + self.rate
    def halved(self, x):
        return jnp.tanh(x) if self.n % 2 else x
    def deep(self, params, x, y):
        for _ in range(self.depth):
            x = jnp.tanh(x) * self.rate
        out = self.loss(params, x, y) if self.limit is None else jnp.zeros(())
        if self.flag and self.depth > 1:
            out = out + jnp.sum(params["w"] ** 2)
        return out
    def signed(self, x):
        return x if self.v[0, 0] > 0 else -x
    def kinds(self, x):
        return jnp.tanh(x) if self.kind == "plain" else x
    def counted(self, x):
        self.n += 1
        return x * self.n
    def sized(self, x):
        return x * jnp.ones(self.sizes[0]).sum()
"""

END = """
def run(model, x, y):
    for _ in range(3):
        out = model.step(x, y)
    return out
"""

#: Bodies of ``step(self, x, y)`` that jit takes at least a part of, and the parameters of the first jitted function.
TAKEN = {
    "plain arrays": (
        "g = x.T @ jnp.tanh(x @ self.w)\nself.v = 0.9 * self.v + g\nself.w = self.w - self.rate * self.v\n"
        "return self.w",
        "w, v, rate, x",
    ),
    "a method that is differentiated": (
        "g = jax.grad(self.loss)(self.params, x, y)\nself.params = jax.tree.map(lambda p, d: p - d, self.params, g)",
        "params, x, y, rate, activation, cls",
    ),
    "a metric, a key and a counter": (
        "self.key, own = jax.random.split(self.key)\nnoise = jax.random.normal(own, x.shape)\n"
        "loss, g = jax.value_and_grad(self.loss)(self.params, x + noise, y)\n"
        "self.params = jax.tree.map(lambda p, d: p - self.rate * d, self.params, g)\nself.n += 1\n"
        "return {'loss': float(loss)}",
        "key, params, x, y, rate, activation, cls",
    ),
    "a method that reads what was assigned": (
        "self.w = self.w - 0.1 * jnp.ones_like(self.w)\nh = self.current(x)\nself.w = self.w + 0.1 * (x.T @ h)\n"
        "return h",
        "w, x, rate, cls",
    ),
    "a function inside, and an attribute that is another one": (
        "def off(params):\n    near = self.predict(self.target, x)\n"
        "    return squared(self.predict(params, x), near + y)\n"
        "g = jax.grad(off)(self.params)\nself.params = jax.tree.map(lambda p, d: p - d, self.params, g)\n"
        "self.n += 1\nif self.n % 2 == 0:\n    self.target = self.params",
        "target, self_params, x, y, rate, activation, cls",
    ),
    "a method that decides by a flag, a number and None": (
        "g = jax.grad(self.deep)(self.params, x, y)\n"
        "self.params = jax.tree.map(lambda p, d: p - self.rate * d, self.params, g)",
        "params, x, y, rate, activation, depth, limit, flag, cls",
    ),
    "several parts": (
        "h = jnp.tanh(x @ self.w)\nv = jnp.mean(h) * 2\nself.kept.append(float(v))\n"
        "self.w = self.w - self.config.rate * (x.T @ h)\nself.v = self.v + self.w\nreturn v",
        "w, x",
    ),
    "what Python and NumPy do stays outside": (
        "begin = time.time()\nsize = x.shape[0]\ng = x.T @ jnp.tanh(x @ self.w) / size\nself.w = self.w - 0.1 * g\n"
        "self.seen += 1\nself.n += size\nself.took = max(time.time() - begin, 0) * 0.0\nreturn self.n",
        "w, x, size",
    ),
    "a dictionary with two names, one of which it is changed by": (
        "self.params = jax.tree.map(lambda p: jnp.tanh(p) * 2, self.params)\nself.target = self.params\n"
        "self.w = self.w + jnp.sin(x).sum() * 2\nself.target['b'] = self.target['b'] + 1\nreturn self.params['b']",
        "params",
    ),
    "a number of Python that counts steps": (
        "self.n += 1\nself.v = 0.9 * self.v + 0.1 * (x.T @ jnp.tanh(x @ self.w))\n"
        "self.w = self.w - self.rate * self.v / (1 - 0.9 ** self.n)\nreturn self.n",
        "w, v, x, n_number, rate",
    ),
}  # fmt: skip

#: Bodies that jit may not take, or that would be something else under jit.
REFUSED = {
    "a method with an effect": "h = self.counted(x)\nself.w = self.w + h.sum() * 2\nreturn h",
    "a method that decides by a number": "h = self.halved(x) * 2\nself.w = self.w + h.sum()\nreturn h",
    "a method that decides by an array": "h = jnp.sin(self.signed(x)) * 2\nself.w = self.w + h.sum()\nreturn h",
    "a method that decides by a text": "h = self.kinds(x) * 2\nself.w = self.w + h.sum()\nreturn h",
    "a method of another object": "h = counter.add(x) * 2\nself.w = self.w + h.sum()\nreturn h",
    "NumPy's random numbers": "h = x * self.rng.normal() + 1\nself.w = self.w + h.sum() * 2\nreturn h",
    "a flag": "h = jnp.where(self.flag, x, 2 * x)\nself.w = self.w + h.sum()\nreturn h",
    "a list of sizes": "h = self.sized(x) * 2\nself.w = self.w + h.sum()\nreturn h",
    "changed inside": "self.params['w'] = self.params['w'] * 2 + x.sum()\nself.params['b'] = jnp.sin(x).sum() * 2",
    "an array of NumPy": "self.seen = self.seen * 2 + x.sum(0)\nreturn self.seen",
    "no more than numbers": "self.n += 1\nself.rate = self.rate * 0.5 + 0.1\nreturn self.n",
    "the object itself": "h = squared(x.sum(1), y) * len(vars(self))\nself.w = self.w + h * 2\nreturn h",
    "a list that grows": "self.kept = self.kept + [jnp.sin(x).sum() * 2]",
}  # fmt: skip

NUMBERS = count()


class Made:
    """A file with a class, an object of it, and the evidence of a run."""

    def __init__(
        self,
        body: str,
        path: Path,
        timing: Any,
        begin: str = BEGIN,
        given: str = "self, x, y",
        end: str = "",
        kind: str = "Model",
    ) -> None:
        method = f"    def step({given}):\n" + textwrap.indent(body, "        ") + "\n"
        self.kind = kind
        self.source, self.file = (
            begin + method + end + END,
            str(path / f"model{next(NUMBERS)}.py"),
        )  # Python keeps the text of a file
        Path(self.file).write_text(self.source)
        self.tree = ast.parse(self.source)
        names = self.names()
        read = {name: names[name] for name in ("run", "model", "x", "y")}
        lines = range(begin.count("\n") + 2, (begin + method).count("\n") + 1)
        outer = Frame(function="run", file=self.file, line=self.source.count("\n") - 1)
        here = [Frame(function="step", file=self.file, line=line) for line in lines]
        self.evidence = Evidence(
            code="run(model, x, y)",
            first=timing(),
            observed=timing(),
            inputs=inputs_of(read),
            names=library_names("run(model, x, y)", read),
            host=tuple(
                HostShare(line=each, called="", samples=self.samples(each), stack=(each, outer)) for each in here
            ),
        )

    def samples(self, line: Frame) -> int:
        """Return more samples for a line that calls JAX itself."""
        text = self.source.splitlines()[line.line - 1]
        return 10 if "jnp." in text or "jax." in text else 1

    def names(self, tree: ast.Module | None = None) -> dict[str, Any]:
        """Run the file, or a changed one, and make an object and what is passed to its method."""
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(self.tree if tree is None else tree, self.file, "exec"), names)
        return names | {"model": names[self.kind](), "x": names["X"], "y": names["Y"]}

    def pasted(self, found: JittedMethod) -> ast.Module:
        """Put the code in its place."""
        new = pasted(found.round.code)
        changed = rewritten(self.tree, found.round.line.line, new)
        assert changed is not None
        at = next(number for number, each in enumerate(changed.body) if isinstance(each, ast.FunctionDef))
        changed.body[at:at] = new.beside
        return ast.fix_missing_locations(changed)


@pytest.fixture
def made(tmp_path: Path, timing: Any) -> Callable[..., Made]:
    return lambda body, **others: Made(body, tmp_path, timing, **others)


def ran(names: dict[str, Any]) -> Any:
    """Run a method three times, and return its result and what the object holds then."""
    out = names["run"](names["model"], names["x"], names["y"])
    held = {
        name: value for name, value in vars(names["model"]).items() if name not in ("rng", "activation", "config")
    }
    held["key"] = jax.random.key_data(held["key"])
    return out, held


@pytest.mark.parametrize("case", TAKEN)
def test_the_object_holds_the_same_after_it(case: str, made: Any) -> None:
    body, given = TAKEN[case]
    program = made(body)
    found = jitted_method(program.evidence)
    assert found is not None
    definition = next(each for each in found.round.code.splitlines() if each.startswith("def "))
    assert {*definition.rpartition(")")[0].partition("(")[2].split(", ")} == {*given.split(", ")}
    before, after = ran(program.names()), ran(program.names(program.pasted(found)))
    assert jax.tree.structure(before) == jax.tree.structure(after)
    for one, other in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        assert type(one) is type(other)
        if not isinstance(one, str):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


SUBCLASS = """
class Penalized(Model):
    def loss(self, params, x, y):
        return super().loss(params, x, y) + 0.5 * (params["w"] ** 2).sum()
"""


def test_an_object_of_a_subclass_keeps_its_methods(made: Any) -> None:
    body, _ = TAKEN["a method that is differentiated"]
    program = made(body)
    found = jitted_method(program.evidence)
    assert found is not None
    results = []
    for tree in (None, program.pasted(found)):
        names = program.names(tree)
        exec(SUBCLASS, names)
        ran(names)  # its class is another argument, for which jit compiles again
        results.append(ran(names | {"model": names["Penalized"]()}))
    for one, other in zip(*map(jax.tree.leaves, results), strict=True):
        if not isinstance(one, str):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_is_written_where_jit_may_do_something_else(case: str, made: Any) -> None:
    assert jitted_method(made(REFUSED[case]).evidence) is None


BODY = TAKEN["a method that is differentiated"][0]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("class Model:", "class Model(types.SimpleNamespace):"),
        lambda text: text.replace("class Model:", "@str.title\nclass Model:").replace("@str.title", "@(lambda c: c)"),
        lambda text: text + "    def __eq__(self, other):\n        return True\n    __hash__ = None\n",
        lambda text: text + "    def put(self, name, value):\n        setattr(self, name, value)\n",
        lambda text: text.replace("self.flag, ", "self.loss, self.flag, ").replace("0, True", "0, squared, True"),
        lambda text: text.replace("    def predict(self,", "    @jax.jit\n    def predict(self,"),
        lambda text: text.replace("return squared(", "print(x)\n        return squared("),
    ],
)  # fmt: skip
def test_a_class_that_may_do_more_is_left_alone(change: Callable[[str], str], made: Any) -> None:
    assert jitted_method(made(BODY).evidence) is not None
    assert jitted_method(made(BODY, begin=change(BEGIN)).evidence) is None


def with_base(text: str) -> str:
    """Move a method of the class, and a part of what fills an object, into a base class."""
    begin, model = text.split("class Model:\n")
    making, predict, rest = model.partition(PREDICT)
    predict, loss, rest = (predict + rest).partition("    def loss(")
    making = making.replace("self.w = jnp.full((3, 2), 0.1)", "super().__init__(2)")
    return f"{begin}{BASE}{predict}\nclass Model(Base):\n{making}{loss}{rest}"


PREDICT = "    def predict(self, params, x):\n"
BASE = """class Base:
    def __init__(self, width):
        self.w = jnp.full((3, width), 0.1)
"""
DERIVED = """
class Derived(Model):
    def __init__(self):
        super().__init__()
        self.rate = 0.2
    def loss(self, params, x, y):
        return squared(self.predict(params, x), 2 * y)
"""


@pytest.mark.parametrize(
    "parts", [{"begin": with_base(BEGIN)}, {"end": DERIVED, "kind": "Derived"}], ids=["base", "derived"]
)
def test_an_object_has_the_methods_of_its_bases(parts: dict[str, str], made: Any) -> None:
    program = made(BODY, **parts)
    found = jitted_method(program.evidence)
    assert found is not None
    assert "rate" in found.static  # which predict() reads
    assert "self = object.__new__(cls)  # an object of its class, with nothing but what is passed" in found.round.code
    results = [ran(program.names()), ran(program.names(program.pasted(found)))]
    for one, other in zip(*map(jax.tree.leaves, results), strict=True):
        if not isinstance(one, str):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Model(Base):", "class Model(Base, Counter):"),
        (PREDICT, PREDICT + "        self.n += 1\n"),
        (PREDICT, "    def decay(self):\n        self.rate *= 0.5\n" + PREDICT),
        (PREDICT, "    @property\n" + PREDICT),
    ],
)
def test_a_base_class_that_may_do_more_is_left_alone(old: str, new: str, made: Any) -> None:
    begin = with_base(BEGIN)
    assert old in begin
    assert jitted_method(made(BODY, begin=begin.replace(old, new)).evidence) is None


@pytest.mark.parametrize("before", ["print(x)\n        return ", "return super().loss(params, x, y) + "])
def test_a_method_that_an_object_has_instead_counts(before: str, made: Any) -> None:
    end = DERIVED.replace("return squared", f"{before}squared")
    assert jitted_method(made(BODY, end=end, kind="Derived").evidence) is None


@pytest.mark.parametrize("given", ["self, x, y, how='mean'", "self, x, y, how=None", "self, x, y, *, how=True"])
def test_a_parameter_that_is_no_array_is_not_passed(given: str, made: Any) -> None:
    body = "h = jnp.sin(x) * 2\nself.w = self.w + jnp.sum(h * {}) * 2\nreturn self.w"
    assert jitted_method(made(body.format("2"), given=given).evidence) is not None
    assert jitted_method(made(body.format("how"), given=given).evidence) is None


def test_a_line_that_waits_stays_outside(made: Any) -> None:
    program = made("h = jnp.sin(x) * 2\nh = jnp.cos(h) * 2\nh = h * 2 + self.current(x).sum()\nreturn h")
    found = jitted_method(program.evidence)
    assert found is not None
    assert found.round.statements == 3
    assert found.round.compiles
    line = found.round.line
    waits = (
        HostWait(line=replace(line, line=line.line + 2), function="__float__", library=None, count=9, wait_ns=9),
    )
    less = jitted_method(replace(program.evidence, waits=waits))
    assert less is not None
    assert less.round.statements == 2


def test_a_method_that_is_jitted_already_is_left_alone(made: Any) -> None:
    program = made(BODY)
    text = program.source.replace("    def step(", "    @jax.jit\n    def step(")
    Path(program.file).write_text(text)
    moved = tuple(
        replace(each, stack=(), line=replace(each.line, line=each.line.line + 1)) for each in program.evidence.host
    )
    assert jitted_method(replace(program.evidence, host=moved)) is None


def test_an_update_of_a_large_array_is_made_in_place(made: Any) -> None:
    begin = BEGIN.replace("self.w = ", "self.buffer = jnp.zeros((1 << 18,))\n        self.w = ", 1)
    body = "h = jnp.tanh(self.current(x))\nself.buffer = self.buffer.at[self.n].set(h.sum())\nself.n += 1\nreturn h"
    program = made(body, begin=begin)
    found = jitted_method(program.evidence)
    assert found is not None
    assert found.donated == ("self.buffer",)
    names = program.names(program.pasted(found))
    before = names["model"].buffer
    results = [ran(program.names()), ran(names)]
    assert before.is_deleted()
    for one, other in zip(*map(jax.tree.leaves, results), strict=True):
        if not isinstance(one, str):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
