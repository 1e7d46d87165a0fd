"""Which values are numbers, and how all are read."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.comparison.analysis.sweep_variables import variable


@pytest.mark.parametrize(
    ("values", "labels", "numbers"),
    [
        ([64, 2**20], ("64", "1048576"), (64.0, 1048576.0)),
        ([0.5, 1e-3], ("0.5", "0.001"), (0.5, 0.001)),
        ([np.int64(4), jnp.float32(8)], ("4", "8"), (4.0, 8.0)),
        ([jnp.float32, jnp.bfloat16], ("float32", "bfloat16"), None),
        ([True, False], ("True", "False"), None),
        ([0, 1], ("0", "1"), None),
        (["a", "b"], ("a", "b"), None),
        ([(1, 2), None], ("(1, 2)", "None"), None),
        ([len, max], ("len", "max"), None),
        ([1, "1e3"], ("1", "1e3"), None),
    ],
)
def test_values_as_people_read_them(values: list[Any], labels: tuple[str, ...], numbers: Any) -> None:
    found = variable("n", values)
    assert (found.labels, found.numbers) == (labels, numbers)


def test_a_value_that_is_there_twice_is_refused() -> None:
    for values in ([1, 1.0], ["a", "a"], [jnp.float32, jnp.float32]):
        with pytest.raises(ValueError, match="n: expected different values, got .* twice"):
            variable("n", values)


def test_different_values_that_read_alike_are_told_apart() -> None:
    assert variable("f", [lambda: 1, lambda: 2]).labels == ("<lambda>", "<lambda> (2)")
    assert variable("n", [1, "1"]).labels == ("1", "1 (2)")
    assert variable("n", [1.0000001, 1.0000002]).labels == ("1.0000001", "1.0000002")
    assert variable("n", [2**53 + 1, 1]).labels == ("9007199254740993", "1")
    assert variable("n", [b"12", b"13"]).numbers is None


def test_a_long_value_is_shortened() -> None:
    assert len(variable("n", ["x" * 1000]).labels[0]) == 60
