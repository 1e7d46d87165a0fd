"""The argument that is not hashable is named also for a jitted method, and for functions of ``nnx.jit``."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

NET = """
class Net:
    def apply(self, w, *args, sizes=(2,)):
        return w.sum() * len(args[-1]) * len(sizes)
net, w = Net(), jnp.ones(2)
"""

WRAPPED = """
import functools
def named(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper
class Net:
    @named
    def apply(self, w, sizes):
        return w.sum() * len(sizes)
net, w = Net(), jnp.ones(2)
"""

MODULE = """
from flax import nnx
class Net(nnx.Module):
    def __init__(self):
        self.dense = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    def __call__(self, x, sizes):
        return self.dense(x).sum() * len(sizes)
net, x = Net(), jnp.ones((1, 2))
@nnx.jit({static})
def step(net, x, sizes):
    return net(x, sizes)
"""


@pytest.mark.parametrize(
    ("before", "options", "passed", "argument"),
    [
        (NET, "static_argnames='sizes'", "w, (1,), sizes=[4, 4, 4]", "sizes"),
        (NET, "static_argnums=2", "w, 1.0, [4, 4, 4]", "args[1]"),
        (WRAPPED, "static_argnums=1", "w, [4, 4, 4]", "sizes"),
        (WRAPPED, "static_argnames='sizes'", "w, [4, 4, 4]", "sizes"),
    ],
)
def test_the_argument_of_a_jitted_method_is_named(before: str, options: str, passed: str, argument: str) -> None:
    cell = Cell(f"{before}apply = jax.jit(net.apply, {options})\nresult = apply({passed})  # here")
    assert (cell.finding.line, cell.finding.found.facts["argument"]) == (cell.here, argument)
    assert cell.said.startswith(f"{argument} of apply is static, but the list passed for it ([4, 4, 4]) is not")
    assert cell.fallback is not None
    assert eval(cell.fallback, cell.names) == 6.0
    assert cell.finding.code is not None
    again = cell.rewritten(cell.finding.code)
    assert again.error is None
    assert again.names["result"] == 6.0


@pytest.mark.parametrize("options", ["static_argnums=2", "static_argnames='sizes'"])
@pytest.mark.parametrize("passed", ["net, x, [1, 2]", "net, x, sizes=[1, 2]"])
def test_the_argument_of_nnx_jit_is_named(options: str, passed: str) -> None:
    pytest.importorskip("flax.nnx")
    cell = Cell(f"{MODULE.replace('{static}', options)}result = step({passed})  # here")
    assert (cell.finding.line, cell.finding.found.facts["argument"]) == (cell.here, "sizes")
    assert cell.finding.code is not None
    again = cell.rewritten(cell.finding.code)
    assert again.error is None
    np.testing.assert_allclose(again.names["result"], again.names["net"](again.names["x"], (1, 2)), rtol=1e-5)


def test_what_was_given_by_a_star_is_not_named() -> None:
    cell = Cell(f"{NET}given = w, [4]\napply = jax.jit(net.apply, static_argnums=1)\napply(*given)  # here")
    assert cell.finding.found.facts["argument"] == ""
