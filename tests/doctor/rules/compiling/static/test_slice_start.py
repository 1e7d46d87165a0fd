"""A static number that only begins slices, or is an index, is traced instead, and the result stays the same."""

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

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.rules.compiling import recompile
from jaxmagic.doctor.rules.compiling.recompilations import Group
from jaxmagic.doctor.rules.compiling.static import slice_start as rule
from jaxmagic.doctor.rules.compiling.static.slice_start import SliceStart

#: Bodies of functions that need `n` only for where a slice of an array `DATA` begins, with the line that has it, and
#: what replaces this line.
SLICES = [
    ("return x * DATA[n:n + 2]", 0, "return x * jax.lax.dynamic_slice_in_dim(DATA, n, 2)"),
    ("i = n * 2 % 6\nreturn x * DATA[i:i + 2]", 1, "return x * jax.lax.dynamic_slice_in_dim(DATA, i, 2)"),
    ("return x * DATA[n * 2:(n + 1) * 2]", 0, "return x * jax.lax.dynamic_slice_in_dim(DATA, n * 2, 2)"),
    (
        "begin = 2 * n\nend = begin + 2\nx = x * DATA[begin:end]\nreturn x",
        2,
        "x = x * jax.lax.dynamic_slice_in_dim(DATA, begin, 2)",
    ),
    ("size = len(x)\nreturn x * DATA[n:n + size]", 1, "return x * jax.lax.dynamic_slice_in_dim(DATA, n, size)"),
    (
        "t = jnp.stack([DATA, DATA])\nreturn x * t[:, n:n + 2]",
        1,
        "return x * jax.lax.dynamic_slice_in_dim(t, n, 2, axis=1)",
    ),
    (
        "def loss(w):\n    return (w * DATA[n:n + 2]).sum()\nreturn jax.grad(loss)(x)",
        1,
        "return (w * jax.lax.dynamic_slice_in_dim(DATA, n, 2)).sum()",
    ),
    ("if True:\n    x = x * DATA[n:n + 2]\nreturn x", 1, "x = x * jax.lax.dynamic_slice_in_dim(DATA, n, 2)"),
]

#: Bodies that only take items.
ITEMS = [
    "return x * DATA[n]",
    "k = n % 3\nreturn x * DATA[k + 1]",
    "t = jnp.stack([DATA, DATA])\nreturn x * t[:, n][0]",
]

#: Bodies that may need the value while JAX traces, or would compute something else.
OTHERS = [
    "return x + 1",
    "return DATA[:n].sum() * x",
    "return DATA[n:].sum() * x",
    "return DATA[n:2 * n + 1].sum() * x",
    "return x * DATA[n - 2:n]",
    "return x * DATA[-n:2 - n]",
    "return x * DATA[n:n + 2] if n else x",
    "return x * DATA[n:n + 2] * jnp.zeros(n + 1).sum()",
    "return x * DATA[n:n + 2] * n",
    "return x * HOST[n]",
    "return x * HOST[n:n + 2]",
    "return x * [1, 2, 3][n]",
    "return x * DATA.shape[n]",
    "return x.at[n].set(0.0)",
    "return x.at[n:n + 1].set(0.0)",
    "return x * helper(n)[n]",
    "return x * DATA[n / 2]",
    "return x * DATA[2**n]",
    "return x * DATA[n * 65536 % 3]",
    "for _ in range(n):\n    x = x * DATA[n]\nreturn x",
    "return jnp.stack([DATA[n] for n in range(3)])",
    "return jax.vmap(lambda n: DATA[n] * x[0])(x)",
]


@pytest.fixture
def start_of(tmp_path: Path, timing: Any, compilation: Any) -> Callable[..., SliceStart | None]:
    """Return how a function `f` that a file defines uses the number for whose values it compiled."""

    def made(source: str, now: str = "3", before: str = "1") -> SliceStart | None:
        file = tmp_path / "program.py"
        file.write_text(source)
        linecache.checkcache(str(file))
        line = next(number for number, each in enumerate(source.splitlines(), 1) if "def f(" in each)
        reason = f"static argument n has a different value: {now} now, {before} before"
        cause = Cause(kind="static value", reason=reason, argument="n", now=now, before=before)
        group = Group("f", f"{file}:{line}", "static value", [compilation(cause=cause)] * 3)
        inputs = (
            Input(path="DATA", kind="jax array", type="f32[8]"),
            Input(path="HOST", kind="numpy array", type="f32[8]"),
        )
        return rule.slice_start(group, Evidence(code="f(x)", first=timing(), observed=timing(), inputs=inputs))

    return made


def source_of(body: str, jit: str = "partial(jax.jit, static_argnames='n')") -> str:
    return f"@{jit}\ndef f(x, n):\n{textwrap.indent(body, '    ')}\n"


def results(source: str) -> tuple[list[Any], int]:
    """Return what a function computes for some numbers, and how many programs that takes."""
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "partial": partial, "DATA": jnp.linspace(0, 1, 8)}
    exec(source, names)
    jax.clear_caches()
    return [names["f"](jnp.ones(2), n) for n in (0, 1, 3)], names["f"]._cache_size()


@pytest.mark.parametrize(("body", "at", "new"), SLICES)
def test_a_slice_of_constant_size_begins_at_an_array(
    start_of: Callable[..., SliceStart | None], body: str, at: int, new: str
) -> None:
    found = start_of(source_of(body))
    assert found is not None
    assert (found.slices, found.items) == (1, 0)
    assert found.code == f"# dynamic_slice_in_dim shifts a slice that would reach beyond the end\n{new}"
    before, programs = results(source_of(body))
    after, fewer = results(source_of(body.replace(body.splitlines()[at].strip(), new), "jax.jit"))
    np.testing.assert_allclose(after, before, rtol=1e-6)
    assert (programs, fewer) == (3, 1)


@pytest.mark.parametrize("body", ITEMS)
def test_an_index_of_an_array_of_jax_may_be_an_array(start_of: Callable[..., SliceStart | None], body: str) -> None:
    found = start_of(source_of(body))
    assert found is not None
    assert (found.slices, found.items) == (0, 1)
    assert found.code == "f = jax.jit(f.__wrapped__)"
    before, programs = results(source_of(body))
    after, fewer = results(f"{source_of(body)}{found.code}\n")
    np.testing.assert_allclose(after, before, rtol=1e-6)
    assert (programs, fewer) == (3, 1)


@pytest.mark.parametrize("body", OTHERS)
def test_a_number_stays_static_that_may_be_needed(start_of: Callable[..., SliceStart | None], body: str) -> None:
    assert start_of(source_of(body)) is None


def test_only_integers_from_zero_on_begin_slices(start_of: Callable[..., SliceStart | None]) -> None:
    source = source_of("return x * DATA[n:n + 2]")
    assert start_of(source) is not None
    for value in ("-1", "1.0", "True", "16777216"):
        assert start_of(source, now=value) is None


def test_another_jit_has_no_static_number_to_leave_out(start_of: Callable[..., SliceStart | None]) -> None:
    assert start_of(source_of("return x * DATA[n:n + 2]", jit="eqx.filter_jit")) is None


@pytest.mark.parametrize(
    ("body", "now", "inside"),
    [
        ("return x * DATA[n:n + 2]", "6", True),
        ("return x * DATA[n:n + 2]", "7", False),
        ("i = n * 2 % 8\nreturn x * DATA[i:i + 2]", "7", True),
        ("i = n * 2\nreturn x * DATA[i:i + 2]", "7", False),
        ("size = len(x)\nreturn x * DATA[n:n + size]", "3", False),
        ("return x * DATA[n]", "9", True),
    ],
)
def test_where_programs_differ_it_is_not_because_a_slice_is_shorter(
    start_of: Callable[..., SliceStart | None], monkeypatch: pytest.MonkeyPatch, body: str, now: str, inside: bool
) -> None:
    monkeypatch.setattr(rule, "forms_of", lambda *given: 2)
    assert (start_of(source_of(body), now=now) is not None) is inside


DATA = jnp.linspace(0, 1, 32)


@partial(jax.jit, static_argnames="step")
def train_step(x: Any, step: int) -> Any:
    begin = step * 4
    return x + jnp.sin(DATA[begin : begin + 4]) * DATA[step]


def test_a_step_that_only_selects_a_batch_is_to_be_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)

    def run() -> Any:
        x = jnp.zeros(4)
        for step in range(5):
            x = train_step(x, step)
        return x

    (finding,) = jaxmagic.diagnose(run, only=["recompile"]).findings
    assert str(finding.remedy) == (
        "train_step needs step only for where slices of constant size begin and as an index. An array will do for "
        "that, and one program serves all values: leave step out of static_argnums and static_argnames, and let "
        "jax.lax.dynamic_slice_in_dim take the slices. Then a slice that would reach beyond the end is shifted to "
        "lie inside, and an index beyond the end is that of the last item."
    )
    assert finding.code == (
        "# dynamic_slice_in_dim shifts a slice that would reach beyond the end\n"
        "return x + jnp.sin(jax.lax.dynamic_slice_in_dim(DATA, begin, 4)) * DATA[step]"
    )
