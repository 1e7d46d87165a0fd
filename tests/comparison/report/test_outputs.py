"""What the report of a check suggests does what it says, whatever the scales of the outputs are."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.comparison.capture.check_outputs import check_output
from jaxmagic.comparison.record.candidate import Candidate
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.report.outputs import about_outputs
from jaxmagic.comparison.verbs.checks import check_of
from jaxmagic.magics import options

X = np.linspace(0.5, 1, 64, dtype=np.float32)


def squares(x: jax.Array) -> Any:
    """A loss of about 600 with gradients of about 20, in float32 whatever they were computed in."""
    found = jax.value_and_grad(lambda x: 1000 * jnp.mean(x * x))(x)
    return jax.tree.map(lambda each: each.astype(jnp.float32), found)


def in_low(dtype: Any) -> tuple[Any, Any]:
    return squares(jnp.asarray(X, dtype)), squares(jnp.asarray(X))


#: Pairs of an output and the one that it is compared with, which differ by rounding.
PROGRAMS = {
    "value_and_grad in bfloat16": in_low(jnp.bfloat16),
    "value_and_grad in float16": in_low(jnp.float16),
    "scales far apart": ({"a": X * 1e-6 * 1.004, "b": X * 1e6 * 1.0005}, {"a": X * 1e-6, "b": X * 1e6}),
    "an error that is as typed": ((X * 1.03125,), (X,)),
    "a low type with a larger share passes": (
        (jnp.asarray(X * 1.05, jnp.bfloat16), X * np.float32(1.004)),
        (jnp.asarray(X, jnp.bfloat16), X),
    ),
    "integers are equal": ((X * np.float32(1.003), np.arange(5)), (X, np.arange(5))),
    "complex numbers": ((X * (1.002 + 0.001j),), (X * (1 + 0j),)),
}


def compared(comparison: Comparison, *pairs: tuple[Any, Any], check: Any = "allclose") -> Comparison:
    """The comparison of the first output of each pair with the second one."""
    numpy, jit = comparison.candidates
    others = [
        replace(jit, label=f"jit{index or ''}", check=check_output(*pair, check)) for index, pair in enumerate(pairs)
    ]
    return replace(comparison, candidates=(numpy, *others))


def checks(comparison: Comparison) -> list[bool]:
    found: list[Candidate] = [each for each in comparison.candidates if each.check is not None]
    return [each.check is not None and each.check.passed for each in found]


def suggested(comparison: Comparison) -> list[Any]:
    """The rules that the report suggests, as they are typed for the magic and in Python."""
    said = " ".join(about_outputs(comparison))
    typed = re.findall(r"--check (\S+) \(check=(.*?)\)(?= allows|\.)", said)
    assert all(f'"{magic}"' == python for magic, python in typed)
    return [rule for magic, _ in typed for rule in (options.check(magic), check_of(magic))]


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_allows_rounding_allows_every_leaf(comparison: Comparison, program: str) -> None:
    pair = PROGRAMS[program]
    found = compared(comparison, pair)
    rules = suggested(found)
    assert (checks(found), len(rules)) == ([False], 2)
    for rule in rules:
        assert checks(compared(comparison, pair, check=rule)) == [True]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_no_more_than_a_percent_holds_for_every_scale(comparison: Comparison, scale: float) -> None:
    def low(factor: float) -> tuple[Any, Any]:
        return jnp.asarray(X * scale * factor, jnp.bfloat16), X * scale

    two = [low(1.001), low(1.03)]
    found = compared(comparison, *[(tuple(a for a, _ in two), tuple(b for _, b in two))])
    assert checks(found) == [True]
    (rule, _) = suggested(found)
    assert rule == 0.01
    assert checks(compared(comparison, low(1.001), low(1.03), check=rule)) == [True, False]


def test_one_option_allows_all_candidates_that_differ_by_rounding(comparison: Comparison) -> None:
    pairs = [((X * 1.004,), (X,)), ((X * 1.02,), (X,)), ((X * 2,), (X,))]
    found = compared(comparison, *pairs)
    assert checks(found) == [False, False, False]
    rules = suggested(found)
    assert len(rules) == 4  # none for the last, which is no rounding
    assert set(rules) == {0.03}
    assert checks(compared(comparison, *pairs, check=rules[0])) == [True, True, False]


def test_nothing_is_suggested_where_no_share_means_it(comparison: Comparison) -> None:
    for pair in (
        ((X * 1.004, np.arange(5) + 1), (X, np.arange(5))),
        ((X * 1.004, X * 0 + 1e-9), (X, X * 0)),
        ((X * 1.004, X * 2), (X, X)),
    ):
        found = compared(comparison, pair)
        assert checks(found) == [False]
        assert suggested(found) == []


def test_a_share_needs_types_without_rounding_to_be_equal() -> None:
    assert check_output((X * 1.004, np.arange(5)), (X, np.arange(5)), 0.01).passed
    assert not check_output((X * 1.004, np.arange(5) * 2), (X, np.arange(5)), 0.9).passed
