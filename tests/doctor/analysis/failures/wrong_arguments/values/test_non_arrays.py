"""Arguments that JAX cannot trace: the object of a method, and dtypes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from failing_cells import Cell, sentence

from jaxmagic.doctor.analysis.failures.explanation import explanation
from jaxmagic.doctor.record.failure import Operand


def test_the_object_of_a_method_is_passed_for_self() -> None:
    cell = Cell("""
        class A:
            @jax.jit
            def loss(self, x):
                return x.sum()
        a = A()
        a.loss(jnp.ones((4, 3)))  # here
    """)
    assert cell.said.startswith("a (A) is passed to a.loss for self, ")
    # JAX gets the object first, so that the only argument as it is written may be taken for it
    shifted = replace(cell.failure, operands=(Operand(text="jnp.ones((4, 3))", type="A"),))
    assert sentence(explanation(shifted).found).startswith("a (A) is passed to a.loss for self, ")


@pytest.mark.parametrize("dtype", ["jnp.float16", "y.dtype", "np.float32"])
def test_a_dtype_becomes_a_static_argument(dtype: str) -> None:
    cell = Cell(f"""
        y = jnp.ones(3)
        @jax.jit
        def f(x, t):
            return x.astype(t)
        result = f(y, {dtype})  # here
    """)
    assert cell.finding.line == cell.here
    assert 'Declare it static where the function is jitted: static_argnames="t".' in cell.said
    assert "pytree, for example" not in cell.said
    assert cell.finding.code == '@functools.partial(jax.jit, static_argnames="t")'
    assert cell.rewritten(cell.finding.code).error is None
