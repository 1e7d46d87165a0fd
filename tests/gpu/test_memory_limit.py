"""Programs that do not fit into a real device: the error is explained, and the variant that is said to fit runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.gpu

jax = pytest.importorskip("jax")

#: Each step of the backward pass keeps two arrays of a fortieth of the memory, or one if the block is recomputed.
TRAINING = """
    x = jnp.ones(({rows}, 1024))
    w = jnp.eye(1024)
    def block(w, h):
        return jnp.sin(jnp.tanh(h @ w)) + jnp.cos(h)
    def loss(w, x):
        h, _ = lax.scan(lambda h, _: (block(w, h), None), x, None, length=24)
        return h.sum()
    @jax.jit
    def step(w, x):
        return w - jax.grad(loss)(w, x)
    w = jax.block_until_ready(step(w, x))  # here
"""


@pytest.fixture
def limit_bytes() -> Iterator[int]:
    """The memory that JAX may use, with nothing in it."""
    stats = None if jax.default_backend() == "cpu" else jax.local_devices()[0].memory_stats()
    if not stats or not stats.get("bytes_limit"):
        pytest.skip("JAX sees no accelerator, or it does not report its memory")
    gc.collect()
    yield int(stats["bytes_limit"])
    gc.collect()


def sized(limit_bytes: int) -> str:
    return TRAINING.format(rows=limit_bytes // 40 // 4 // 1024)


def test_the_variant_that_is_said_to_fit_runs(limit_bytes: int) -> None:
    from failing_cells import Cell

    import jaxmagic

    cell = Cell(sized(limit_bytes))
    assert "RESOURCE_EXHAUSTED" in str(cell.error)
    diagnosis = jaxmagic.explain_error(cell.error, budget_s=120)
    (finding,) = diagnosis.findings
    assert finding.line == cell.here
    assert "Decorate block with @jax.checkpoint" in str(finding.remedy)
    assert "which fits" in str(finding.remedy)
    cell.error = None
    cell.names.clear()  # with what the failed cell still holds
    recomputed = Cell(sized(limit_bytes).replace("    def block", "    @jax.checkpoint\n    def block"))
    assert recomputed.error is None


@pytest.mark.parametrize("share", [0.95, 0.5])
def test_a_program_that_hardly_fits_is_found_without_a_given_limit(limit_bytes: int, share: float) -> None:
    import jaxmagic

    rows = int(share * limit_bytes) // 4 // 2 // 1024  # an argument and a result
    x = jax.numpy.ones((rows, 1024))
    double = jax.jit(lambda x: x * 2)
    need_bytes = jaxmagic.memory_requirement(double, x).peak_bytes
    assert need_bytes == pytest.approx(share * limit_bytes, rel=0.02)
    findings: Any = jaxmagic.diagnose(double, x, only=["memory"]).findings
    assert [each.rule for each in findings] == (["memory"] if share > 0.9 else [])
