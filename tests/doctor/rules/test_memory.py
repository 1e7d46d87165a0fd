"""`memory`: programs are compared with the memory that there is."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic

#: Two arguments and a result of 1 MB each.
X = jnp.ones((500, 500))
ADD = jax.jit(lambda x, y: x + y)
NEEDS = 3_000_000


@pytest.mark.parametrize(
    ("memory_bytes", "sentence", "cost_bytes"),
    [
        (NEEDS - 1, "<lambda> needs 2.86 MiB, more than the 2.86 MiB of a device.", 1),
        (NEEDS // 2, "<lambda> needs 2.86 MiB, more than the 1.43 MiB of a device.", NEEDS // 2),
        (NEEDS, "<lambda> needs 2.86 MiB, 100 % of the 2.86 MiB of a device.", None),
        (int(NEEDS / 0.9), "<lambda> needs 2.86 MiB, 90 % of the 3.18 MiB of a device.", None),
    ],
)
def test_program_that_hardly_fits_is_found(memory_bytes: int, sentence: str, cost_bytes: int | None) -> None:
    (found,) = jaxmagic.diagnose(ADD, X, X + 1, only=["memory"], memory_bytes=memory_bytes).findings
    assert (str(found.found), found.cost_bytes) == (sentence, cost_bytes)
    assert str(found.evidence[0]).startswith("Arguments 1.91 MiB, results 977 KiB, temporaries 0 B.")


@pytest.mark.parametrize("memory_bytes", [int(NEEDS / 0.9) + 2, 10 * NEEDS, None])
def test_program_that_fits_is_left_alone(memory_bytes: int | None) -> None:
    assert jaxmagic.diagnose(ADD, X, X + 1, only=["memory"], memory_bytes=memory_bytes).findings == ()


def test_donated_arguments_count_once() -> None:
    donating: Any = jax.jit(lambda x, y: x + y, donate_argnums=0)
    assert jaxmagic.diagnose(donating, X + 2, X, only=["memory"], memory_bytes=2_500_000).findings == ()
