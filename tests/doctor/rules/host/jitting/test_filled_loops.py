"""A loop that fills an array is one call of vmap or a loop of JAX, and each of its updates copies the whole array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from fabricate.profiling import MS

import jaxmagic
from jaxmagic.doctor.record.evidence import Dispatch, Evidence, Input
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host import not_jitted
from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.hlo import HloModule, Sharded

ROWS = """def gram(x, n):
    K = jnp.zeros((n, n))
    for i in range(n):
        K = K.at[i].set({value})
    return K
"""


def looked(
    folder: Any, evidence: Any, executable: Any, source: str, *, count: int = 800, busy_ns: int = 0, size: int = 800
) -> Any:
    file = folder / "gram.py"
    file.write_text(f"import jax.numpy as jnp\n{source}")
    line = Frame(function="gram", file=str(file), line=5)
    written = HloModule("scatter", {}, {}, {}, outputs=(Sharded(name="", shape=f"f32[{size},{size}]", pieces=None),))
    program = Program(
        executable=replace(executable(name="jit_scatter"), output_bytes=4 * size**2),
        module=written,
        function="scatter",
        eager=True,
        called_at=line,
        called_from=(line,),
    )
    other = replace(program, executable=executable(name="jit_squeeze"), module=None, function="squeeze")
    calls = tuple(
        Dispatch(name=name, count=count, host_ns=20 * MS, exposed_ns=20 * MS, busy_ns=busy)
        for name, busy in (("scatter", busy_ns), ("squeeze", 0))
    )
    inputs = (Input(path="x", kind="jax array", type="f32[800,3]"), Input(path="n", kind="number", type="int"))
    made: Evidence = evidence(calls, code="gram(x, n)", programs=(program, other), inputs=inputs)
    (found,) = not_jitted.look(made)
    return found


@pytest.mark.parametrize(
    ("value", "way", "words"),
    [
        ("f(x[i], x)", "rows", "No round of the loop in gram needs what another one writes into K: compute what all"),
        ("f(K[i - 1], x)", "in_turn", "need what earlier ones computed: let jax.lax.fori_loop run them"),
    ],
)
def test_the_advice_is_one_call(
    tmp_path: Any, evidence: Any, executable: Any, value: str, way: str, words: str
) -> None:
    found = looked(tmp_path, evidence, executable, ROWS.format(value=value))
    assert found.remedy.facts["way"] == way
    assert words in str(found.remedy)
    assert ("jax.vmap(row)" in found.code) is (way == "rows")
    assert found.source.startswith("K = K.at[i].set(")


def test_without_code_it_says_that_jit_would_unroll_the_loop(tmp_path: Any, evidence: Any, executable: Any) -> None:
    found = looked(tmp_path, evidence, executable, ROWS.format(value="sum([c * x[i] for c in (1, 2)])"))
    assert found.code is None
    assert "and write it into K at once. Jitted as it is, the loop would be unrolled." in str(found.remedy)


@pytest.mark.parametrize(
    ("busy_ms", "size", "cost_ms"),
    [
        (0, 800, 40 - 0.0375),  # one call in place of them, which takes 1.5 times as long as one of an operation
        (16, 800, (40 - 0.0375) * 34 / 40 + 16 * 799 / 800),  # with the device busy, the host has 34 ms to spare
        (0, 80, 40 - 10 * 0.0375),  # the loop runs ten times
    ],
)
def test_it_saves_the_copies_but_one(
    tmp_path: Any, evidence: Any, executable: Any, busy_ms: int, size: int, cost_ms: float
) -> None:
    source = ROWS.format(value="f(x[i], x)")
    found = looked(tmp_path, evidence, executable, source, busy_ns=busy_ms * MS, size=size)
    assert found.cost_ns == pytest.approx(cost_ms * MS, rel=1e-3)
    copied = [each for each in found.evidence if each.kind == "doctor.filled_copies"]
    assert [each.facts["size_bytes"] for each in copied] == [4 * size**2]


def kernel(point: Any, points: Any) -> Any:
    return jnp.exp(-jnp.sum((points - point) ** 2, axis=1))


row_of = jax.jit(kernel)


def gram(points: Any) -> Any:
    n = points.shape[0]
    K = jnp.zeros((n, n))
    for i in range(n):
        K = K.at[i].set(row_of(points[i], points))
    return K


@pytest.mark.clock
def test_the_call_is_tried(at_any_cost: Callable[..., None]) -> None:
    (found,) = jaxmagic.diagnose(gram, jnp.ones((120, 3)), only="not-jitted", verify=True, budget_s=600).findings
    assert found.code is not None
    assert "jax.vmap(row)" in found.code
    assert found.verified is not None
    assert found.verified.outputs_agree is True
    assert found.verified.speedup is not None
    assert found.verified.speedup > 1.5
