"""A static number with which a function only computes is traced instead, and the result stays the same."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.rules.compiling.recompilations import Group
from jaxmagic.doctor.rules.compiling.static.traced_number import jit_without

#: Bodies of functions of an array `x` that only compute with `n`.
COMPUTING = [
    "return x * n",
    "return jnp.tanh(x * n + 1).sum()",
    "return x - 0.1 / (1 + n) * jnp.cos(x)",
    "rate = 0.1 / (1 + n)\nfor _ in range(3):\n    x = x - rate * x\nreturn x",
    "return jax.grad(lambda x: ((x - n) ** 2).sum())(x)",
    "x += n\nreturn x",
    "return {'x': -n * x, 'y': (x / n).mean()}",
    "return jax.tree.map(lambda each: -n * each, {'x': x})",
]

#: Bodies that may need its value while JAX traces, or do not read it.
OTHERS = [
    "return jnp.zeros(n + 1) + x[0]",
    "return x[:n].sum() * n",
    "return x * n if n > 1 else x",
    "return x * n if (n * x[0] if n else 0) else x",
    "for _ in range(n):\n    x = x * 0.5\nreturn x",
    "return jnp.pad(x, n + 1)",
    "size = n + 1\nreturn jnp.zeros(size) + x[0]",
    "size = LENGTH * n\nreturn jnp.pad(x, size)",
    "size = x.shape[0]\nreturn jnp.pad(x, size * n)",
    "return jnp.pad(x, x.shape[0] * n)",
    "return jnp.pad(x, len(x) + n)",
    "return jnp.pad(x, other * n) * n",
    "return jnp.sum(x, axis=n)",
    "return helper(x, n)",
    "return x * 2**n",
    "return x * (n % 3)",
    "return x * [1, 2, 3][n]",
    "n = n + 1\nreturn jnp.pad(x, n)",
    "return x + 1",
    "return jax.lax.scan(lambda c, each: (c, each * n), x[0], x)",  # a lambda may get a number
]


@pytest.fixture
def jit_of(tmp_path: Path, timing: Any, compilation: Any) -> Callable[..., str | None]:
    """Return the recommended jit of a function `f` that a file defines, and that compiled for these values."""

    def made(source: str, now: str = "2.5", before: str = "0.5", **changes: Any) -> str | None:
        file = tmp_path / "program.py"
        file.write_text(source)
        linecache.checkcache(str(file))
        line = next(number for number, each in enumerate(source.splitlines(), 1) if "def f(" in each)
        reason = changes.pop("reason", f"static argument n: {now} now, {before} before")
        cause = Cause(kind="static value", reason=reason, argument="n", now=now, before=before)
        group = Group("f", f"{file}:{line}", "static value", [compilation(cause=cause)] * 3)
        return jit_without(group, Evidence(code="f(x)", first=timing(), observed=timing()))

    return made


def source_of(body: str, jit: str = "partial(jax.jit, static_argnames='n')", parameters: str = "x, n") -> str:
    return f"@{jit}\ndef f({parameters}):\n{textwrap.indent(body, '    ')}\n"


@pytest.mark.parametrize("body", COMPUTING)
def test_one_program_computes_the_same_for_all_values(jit_of: Callable[..., str | None], body: str) -> None:
    code = jit_of(source_of(body))
    assert code == "f = jax.jit(f.__wrapped__)"
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "partial": partial}
    exec(source_of(body), names)
    x, values = jnp.linspace(0, 1, 4), (0.5, 2.5)
    before = [names["f"](x, n) for n in values]
    programs = names["f"]._cache_size()  # of all jitted functions around this one
    exec(code, names)
    after = [names["f"](x, n) for n in values]
    assert names["f"]._cache_size() == programs + 1
    for one, other in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("body", OTHERS)
def test_a_number_that_may_be_needed_while_jax_traces_stays_static(
    jit_of: Callable[..., str | None], body: str
) -> None:
    jit = "partial(jax.jit, static_argnames=('n', 'other'))"
    assert jit_of(source_of(body, jit, "x, n, other=3"), "2", "1") is None


@pytest.mark.parametrize(
    ("jit", "code"),
    [
        ("jax.jit(static_argnames='n')", "jax.jit(f.__wrapped__)"),
        ("functools.partial(jax.jit, static_argnums=1)", "jax.jit(f.__wrapped__)"),
        ("partial(jit, static_argnums=(-2, 2))", 'jax.jit(f.__wrapped__, static_argnames="m")'),
        ("partial(jax.jit, donate_argnums=0, static_argnames=['n'])", "jax.jit(f.__wrapped__, donate_argnums=0)"),
    ],
)
def test_other_options_stay(jit_of: Callable[..., str | None], jit: str, code: str) -> None:
    assert jit_of(source_of("return x * n", jit, "x, n, m=3")) == f"f = {code}"


@pytest.mark.parametrize(
    "jit",
    [
        "partial(jax.jit, static_argnames=STATIC)",
        "partial(jax.jit, static_argnames='m')",
        "own(jax.jit, static_argnames='n')",
        "jax.jit",
        "cached\n@partial(jax.jit, static_argnames='n')",
    ],
)
def test_other_decorators_are_left(jit_of: Callable[..., str | None], jit: str) -> None:
    assert jit_of(source_of("return x * n", jit, "x, n, m=3")) is None


def test_a_function_that_is_jitted_below_its_definition(jit_of: Callable[..., str | None]) -> None:
    plain = "def f(x, n):\n    return x * n\n"
    assert jit_of(f"{plain}fast = jax.jit(f, static_argnums=1)\n") == "fast = jax.jit(f)"
    assert jit_of(f"{plain}print(jax.jit(f, static_argnums=1)(x, 2))\n") is None
    assert jit_of(f"{plain}a = jax.jit(f, static_argnums=1)\nb = jax.jit(f, static_argnums=1)\n") is None


@pytest.mark.parametrize(
    "cause",
    [
        {"now": "'relu'", "before": "'tanh'"},
        {"now": "True", "before": "False"},
        {"now": "1700000000.5", "before": "0.5"},  # such as a time, of which 32 bits keep two minutes
        {"now": "(1, 2)", "before": "(1, 3)"},
        {"reason": "static arguments n: 2.5 now, 0.5 before; and other differences at m"},
    ],
)
def test_other_differences_are_left(jit_of: Callable[..., str | None], cause: dict[str, str]) -> None:
    assert jit_of(source_of("return x * n"), **cause) is None


def test_a_method_is_left(jit_of: Callable[..., str | None]) -> None:
    jit = "partial(jax.jit, static_argnames=('self', 'n'))"
    assert jit_of(source_of("return x * n", jit, "self, x, n")) is None
