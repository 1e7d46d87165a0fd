"""The library of modules through which a line calls an operation is known, and its modules by their names there."""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.doctor.capture.compiled import programs
from jaxmagic.doctor.capture.compiled.modules_at_call import modules_at_call

X = jnp.ones((2, 3))

#: Code of a library that calls what it gets, and makes modules.
LIBRARY = """
def call(f, *args):
    return f(*args)

class Module:
    def __init__(self, seen=None):
        self.seen = None if seen is None else seen()

    def __call__(self, f):
        return f()
"""


def library(name: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": name}
    exec(compile(LIBRARY, f"/lib/site-packages/{name.replace('.', '/')}.py", "exec"), names)
    return names


NNX, EQX, OTHER = library("flax.nnx.module"), library("equinox._module"), library("flux.model")


class Net(NNX["Module"]):  # type: ignore[misc]
    def forward(self, here: Any) -> Any:
        return here()


class Holder:
    def __init__(self) -> None:
        self.net, self.mlp, self.n = NNX["Module"](), EQX["Module"](), 3


def frame() -> FrameType:
    return sys._getframe()


def seen() -> Any:
    """Describe the place that a library calls, as its own code would."""
    found = frame().f_back
    assert found is not None
    return modules_at_call(found.f_back)  # that of whoever called this


def test_modules_are_named_by_the_line_that_calls_their_library() -> None:
    net, mlp, holder, number = NNX["Module"](), EQX["Module"](), Holder(), 3
    nets = {"a": [net]}
    assert len({holder.net, holder.mlp, holder.n, *nets["a"], mlp, number}) == 5
    through = NNX["call"](seen)
    assert (through.library, through.names) == ("nnx", ("net", "nets", "holder.net"))
    through = EQX["call"](seen)
    assert (through.library, through.names) == ("equinox", ("mlp", "holder.mlp"))


def test_what_a_function_drops_is_not_kept() -> None:
    net, array = NNX["Module"](), jnp.ones(3)
    known = weakref.ref(array)
    assert NNX["call"](seen).names == ("net",)
    assert net is not None
    del array
    assert known() is None


def test_variables_that_the_code_has_got_itself_stay() -> None:
    net = NNX["Module"]()
    mine = locals()
    assert NNX["call"](seen).library == "nnx"
    assert mine["net"] is net


def test_without_a_library_on_the_stack_there_is_none() -> None:
    net = NNX["Module"]()
    assert seen() is None
    assert OTHER["call"](seen) is None
    assert net(seen).library == "nnx"


def test_a_method_of_a_module_is_a_call_of_it() -> None:
    assert Net().forward(seen).library == "nnx"
    assert Net().forward(seen).names == ("self",)


def test_making_a_module_is_no_call_of_it() -> None:
    assert NNX["Module"](seen).seen is None


def predict(model: Any, x: Any) -> Any:
    return jax.vmap(model)(x) * 2


def loss(model: Any, x: Any) -> Any:
    return jnp.sum(predict(model, x))


@pytest.mark.parametrize(("package", "known"), [("equinox", "equinox"), ("flax.nnx", "nnx")])
def test_modules_that_a_function_makes_are_seen(package: str, known: str) -> None:
    library = pytest.importorskip(package)

    def model() -> Any:
        if known == "equinox":
            return library.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
        return library.Linear(3, 2, rngs=library.Rngs(0))

    def run(jitted: Any) -> None:
        made = model()
        predict(made, X)
        jitted(made, X)

    jitted = library.filter_jit(loss) if known == "equinox" else library.jit(loss)
    with programs.watch() as observed:
        run(jitted)
    found = programs.programs_of(observed, {})
    assert found is not None
    eager = {(each.library, each.modules) for each in found if each.eager and each.library is not None}
    assert eager == {(known, ("model",))}
    (step,) = (each for each in found if not each.eager and each.function is not None)
    assert step.library == known
    assert "made" in step.modules
    made = [
        each for each in found if each.eager and each.called_at is not None and each.called_at.function == "model"
    ]
    assert {each.library for each in made} <= {None}
