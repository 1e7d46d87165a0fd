"""Functions that a library jits anew in each round are found where they are made, and making them once is tried."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture.remedies.recompile import identity
from jaxmagic.doctor.record.finding import RuleFinding

X = jnp.full((8, 8), 0.5)

LIBRARY = """
import functools
import jax


class Compiled:
    def __init__(self, fun, level):
        self.fun, self.level = jax.jit(fun), level

    def __call__(self, *args):
        return self.fun(*args)


def compiled(fun=None, *, level=1):
    if fun is None:
        return functools.partial(compiled, level=level)
    return Compiled(fun, level)


def applied(fun, *args):
    return jax.jit(fun)(*args)
"""


@pytest.fixture
def lib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    package = tmp_path / "site-packages" / "library_of_others"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(package.parent))
    import library_of_others  # type: ignore[import-not-found]

    monkeypatch.setitem(globals(), "lib", library_of_others)
    monkeypatch.setitem(globals(), "compiled", library_of_others.compiled)
    yield library_of_others
    del sys.modules["library_of_others"]


def in_a_loop(x: Any) -> Any:
    for _ in range(3):
        f = lib.compiled(lambda x: jnp.sin(x) + 1)  # type: ignore[name-defined]
        x = f(x)
    return x


def called_at_once(x: Any) -> Any:
    return compiled(lambda x: jnp.sin(x) + 1)(x)  # type: ignore[name-defined] # noqa: F821


def decorated(x: Any) -> Any:
    @compiled(level=2)  # type: ignore[name-defined, untyped-decorator] # noqa: F821
    def g(y: Any) -> Any:
        return jnp.cos(y * 2)

    return g(x)


def with_other_values(x: Any) -> Any:
    out = []
    for n in range(3):
        f = lib.compiled(lambda x: x * n)  # type: ignore[name-defined]
        out.append(f(x))
    return out


def passed_on(x: Any) -> Any:
    return lib.applied(lambda x: jnp.sin(x) + 1, x)  # type: ignore[name-defined]


def found(function: Any, verify: bool = False) -> RuleFinding:
    (finding,) = jaxmagic.diagnose(function, X, only="recompile", verify=verify, budget_s=600).findings
    return finding


@pytest.mark.usefixtures("lib")
@pytest.mark.parametrize(
    ("function", "maker", "source"),
    [
        (in_a_loop, "lib.compiled", "f = lib.compiled("),
        (called_at_once, "compiled", "return compiled("),
        (decorated, "compiled", "def g("),
        (with_other_values, "lib.compiled", "f = lib.compiled("),
    ],
)
def test_the_line_is_where_the_library_is_asked_to_jit(function: Any, maker: str, source: str) -> None:
    finding = found(function)
    assert finding.applies_to == maker
    assert (finding.source or "").startswith(source)


def test_code_to_paste_makes_the_function_once(lib: ModuleType) -> None:
    code = found(in_a_loop).code or ""
    assert code.startswith("f = lib.compiled(")
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "lib": lib, "Any": Any}
    exec(code, names)
    names["in_a_loop"](X)
    with jaxmagic.stopwatch() as watch:
        value = names["in_a_loop"](X)
    assert watch.timing.compilations == ()
    np.testing.assert_array_equal(value, in_a_loop(X))


@pytest.mark.usefixtures("lib")
@pytest.mark.parametrize("function", [in_a_loop, called_at_once, decorated])
def test_the_remedy_is_tried(function: Any) -> None:
    verified = found(function, verify=True).verified
    assert verified is not None
    assert verified.outputs_agree
    assert verified.survives is not False  # on a busy machine, too few runs may fit into the time


@pytest.mark.usefixtures("lib")
def test_a_function_of_other_values_is_another_function() -> None:
    verified = found(with_other_values, verify=True).verified
    assert verified is not None
    assert verified.outputs_agree is not False


@pytest.mark.usefixtures("lib")
def test_a_function_that_is_passed_on_is_made_nowhere() -> None:
    finding = found(passed_on)
    assert finding.code is None
    assert finding.applies_to is None


def test_jax_jit_itself_is_not_named() -> None:
    assert found(lambda x: jax.jit(lambda y: y + 1)(x)).applies_to is None


@dataclass(frozen=True)
class Fixed:
    fun: Any
    options: Any


@dataclass
class Changing:
    fun: Any


def test_frozen_objects_are_the_same_if_their_fields_are() -> None:
    def make(n: int) -> Any:
        return lambda x: x * n

    first = identity(Fixed(make(1), {"a": 1}))
    assert identity(Fixed(make(1), {"a": 1})) == first
    assert identity(Fixed(make(2), {"a": 1})) != first
    assert identity(Fixed(make(1), {"a": 1.0})) != first
    one, other = Changing(1), Changing(1)
    assert identity(one) != identity(other)


def test_functions_inside_wrappers_of_equinox_are_the_same() -> None:
    eqx = pytest.importorskip("equinox")

    def make(n: int) -> Any:
        return eqx.filter_value_and_grad(lambda w: (w * n).sum())

    assert [identity(make(n)) == identity(make(1)) for n in (1, 2)] == [True, False]


def test_equinox_in_a_loop_is_made_once() -> None:
    eqx = pytest.importorskip("equinox")

    def train(x: Any) -> Any:
        for _ in range(2):
            f = eqx.filter_jit(lambda x: jnp.sin(x) + 1)
            x = f(x)
        return x

    finding = found(train, verify=True)
    assert finding.applies_to == "eqx.filter_jit"
    assert finding.verified is not None
    assert finding.verified.survives
    assert finding.verified.outputs_agree
