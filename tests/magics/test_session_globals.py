"""Functions of the session that read what a setup assigns."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.error import UsageError

pytestmark = pytest.mark.clock

NET = """\
import functools
depth = 2
def layers(x):
    for _ in range(depth):
        x = jnp.tanh(x @ x)
    return x
def net(x):
    return layers(x)
def passed(x, depth):
    return [x for _ in range(depth)][0]
class Model:
    depth = 3
    def __call__(self, x):
        return x * self.depth
class Reads:
    def __call__(self, x):
        return x * depth
jitted, half, model, reads = jax.jit(net), functools.partial(net), Model(), Reads()
"""

QUICK = "-q -r 4"


@pytest.mark.parametrize("call", ["layers(x)", "net(x)", "jitted(x)", "half(x)", "jax.grad(lambda x: net(x))(x)"])
@pytest.mark.parametrize("setup", ["depth = 30", "for depth in (1, 30): pass", "def depth(): return 3", "depth = n"])
def test_a_setup_that_a_function_of_the_session_does_not_read_is_refused(session: Any, setup: str, call: str) -> None:
    session.run(f"{NET}n = 4")
    said = (
        r"^%%jaxcompare: the setup assigns depth, but layers\(\) reads depth from the session, and assignments of a "
    )
    with pytest.raises(UsageError, match=said + "setup are local. Write depth as an argument of layers"):
        session.run(f"%%jaxcompare {QUICK}\n{setup}\none: {call}\ntwo: {call}")
    assert session.shell.user_ns["depth"] == 2


def test_a_method_of_an_object_of_the_session_is_a_function_of_it(session: Any) -> None:
    session.run(NET)
    with pytest.raises(UsageError, match="reads depth from the session"):
        session.run(f"%%jaxcompare {QUICK}\ndepth = 30\none: reads(x)\ntwo: reads(x)")


@pytest.mark.parametrize(
    "setup",
    [
        "depth = 2",  # as in the session
        "import jax.numpy as jnp, jax",
        "size = 3",
        "def range(n): return [n]",  # Python's own name
    ],
)
def test_a_setup_that_changes_nothing_for_functions_is_none_of_their_business(session: Any, setup: str) -> None:
    session.run(NET)
    session.run(f"%%jaxcompare {QUICK}\n{setup}\none: net(x)\ntwo: net(x)")


@pytest.mark.parametrize("call", ["passed(x, depth)", "model(x) * depth", "fresh(x)"])
def test_what_is_passed_an_attribute_or_defined_by_the_setup_is_read(session: Any, call: str) -> None:
    session.run(NET)
    setup = "depth = 30\ndef fresh(x): return x * depth"
    session.run(f"%%jaxcompare {QUICK}\n{setup}\none: {call}\ntwo: {call}")


@pytest.mark.parametrize(
    "cell", ["one: net(x)\ntwo: net(x)", "one: net(x * depth)\ntwo: net(x)", "y = depth\none: net(x)"]
)
def test_a_variable_of_a_sweep_that_a_function_reads_from_the_session_is_refused(session: Any, cell: str) -> None:
    session.run(NET)
    with pytest.raises(UsageError, match=r"^--sweep: layers\(\) reads depth from the session, where a sweep"):
        session.run(f"%%jaxcompare {QUICK} --sweep depth=1,40\n{cell}")


def test_the_setup_of_a_repeated_cell_is_refused_as_well(session: Any) -> None:
    session.run(NET)
    for code in ("%%jaxtimeit -q -r 4 depth = 30\nnet(x)", "%jaxtimeit -q -r 4 --setup 'depth = 30' net(x)"):
        with pytest.raises(UsageError, match=r"^%%?jaxtimeit: the setup assigns depth, but layers\(\) reads depth"):
            session.run(code)
