"""Arrays of NumPy that are converted are noted by line, with whether their values stayed the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.compiled.conversions import Conversions
from jaxmagic.doctor.record.conversion import Conversion

observed_since = pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="converts in another way")


def converted(array: Any) -> Any:
    return jnp.array(array)  # here


def of(observed: Conversions) -> list[Conversion]:
    lines = Path(__file__).read_text("utf-8").splitlines()
    return [each for each in observed.described({}) if lines[each.line.line - 1].endswith("# here")]


@observed_since
@pytest.mark.parametrize(
    ("written", "same"),
    [((), True), ((2,), False), ((7,), False), ((19,), False)],  # 19: after the last comparison
)
def test_values_that_change_between_the_calls(written: tuple[int, ...], same: bool) -> None:
    array, observed = np.ones((6, 5)), Conversions()
    with observed.watch():
        for step in range(20):
            array[0, 0] += step in written
            converted(array)  # around
    converted(array)
    (found,) = of(observed)
    assert (found.count, found.size_bytes, found.same_values) == (20, 6 * 5 * 4, same)
    assert found.type == "float32[6,5]"
    assert Path(__file__).read_text("utf-8").splitlines()[found.called_from[0].line - 1].endswith("# around")


@observed_since
def test_arrays_are_told_apart() -> None:
    observed = Conversions()
    with observed.watch():
        for _ in range(5):
            converted(np.ones(3))  # a new one each time
            converted([1.0, 2.0])
            converted(jnp.ones(3))
            jax.jit(lambda x: x + converted(np.ones(3)))(1.0)
    assert all(each.count == 1 and not each.same_values for each in of(observed))


@jax.jit
def total(batch: Any) -> Any:
    return sum(map(jnp.sum, jax.tree.leaves(batch)))


def passed(batch: Any) -> Any:
    return total(batch)  # here


def test_arrays_that_are_passed_are_noted_in_each_call_and_named(x: Any) -> None:
    observed, rows = Conversions(), {"x": np.ones((100, 90)), "few": np.ones(9)}
    with observed.watch():
        for _ in range(20):
            passed(rows)
            passed({"x": x})
    passed(rows)
    lines = Path(__file__).read_text("utf-8").splitlines()
    (found,) = (each for each in observed.described({"rows": rows, "other": [x]}) if each.function)
    assert lines[found.line.line - 1].endswith("# here")
    assert (found.function, found.path, found.type) == ("total", "rows['x']", "float64[100,90]")
    assert (found.count, found.size_bytes, found.same_values) == (20, 100 * 90 * 8, True)
    assert (found.place, found.leaves) == (1, 2)
    assert [each.path for each in observed.described({}) if each.function] == [""]


@jax.jit
def difference(one: Any, other: Any) -> Any:
    return jnp.sum(one - other)


def test_places_of_one_array_are_told_apart() -> None:
    array, observed = np.ones((100, 90)), Conversions()
    with observed.watch():
        for _ in range(3):
            difference(array, other=array)
    found = [(each.place, each.leaves, each.count) for each in observed.described({}) if each.function]
    assert found == [(0, 2, 3), (1, 2, 3)]


@pytest.mark.parametrize("written", [2, 7, 19])
def test_values_that_change_between_the_calls_of_a_function(written: int) -> None:
    array, observed = np.ones((100, 90)), Conversions()
    with observed.watch():
        for step in range(20):
            array[0, 0] += step == written
            passed(array)
    (found,) = of(observed)
    assert (found.count, found.same_values) == (20, False)


def test_new_arrays_are_not_the_same() -> None:
    observed = Conversions()
    with observed.watch():
        for step in range(20):
            passed(np.full((100, 90), step))
    assert all(each.count == 1 for each in of(observed))
