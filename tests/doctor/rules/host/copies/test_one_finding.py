"""Arrays that are converted again and again make one finding, at a line of the code that is examined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shells import Session

import jaxmagic

TABLE, TIMES = np.ones((1000, 300), np.float32), range(10)

observed_since = pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="converts in another way")


@jax.jit
def row_sum(table: Any, row: Any) -> Any:
    return table[row].sum()


def converted_inside(row: int) -> Any:
    return row_sum(jnp.asarray(TABLE), row)


def in_a_comprehension() -> Any:
    return [row_sum(jnp.asarray(TABLE), row) for row in TIMES]  # in_a_comprehension


def in_a_generator() -> Any:
    return sum(row_sum(jnp.asarray(TABLE), row) for row in TIMES)  # in_a_generator


def in_a_loop() -> None:
    for row in TIMES:
        row_sum(jnp.asarray(TABLE), row)  # in_a_loop


def in_a_called_function() -> Any:
    return [converted_inside(row) for row in TIMES]  # in_a_called_function


def in_a_nested_function() -> None:
    def nested(row: int) -> Any:
        return row_sum(jnp.asarray(TABLE), row)

    for row in TIMES:
        nested(row)  # in_a_nested_function


def by_map() -> Any:
    return list(map(converted_inside, TIMES))  # by_map


def by_map_of_a_lambda() -> Any:
    return list(map(lambda row: row_sum(jnp.asarray(TABLE), row), TIMES))  # by_map_of_a_lambda


def in_a_comprehension_that_a_loop_runs() -> None:
    for _ in range(3):
        in_a_comprehension()


def by_diagnose(function: Callable[[], Any], session: Session) -> Any:
    return jaxmagic.diagnose(function, only=["transfer"])


def by_the_magic(function: Callable[[], Any], session: Session) -> Any:
    session.shell.user_ns["function"] = function
    session.run("%jaxdoctor -q --only transfer -v diagnosis function()")
    return session.shell.user_ns["diagnosis"]


def by_a_called_magic(function: Callable[[], Any], session: Session) -> Any:
    session.shell.user_ns["function"] = function
    session.shell.run_line_magic("jaxdoctor", "-q --only transfer -v diagnosis function()")
    return session.shell.user_ns["diagnosis"]


def lines_found(examine: Any, function: Callable[[], Any], session: Session) -> Iterator[str]:
    """The ends of the lines of all findings; the loop here is not of the code that is examined."""
    for each in (function,):
        diagnosis = examine(each, session)
        for found in diagnosis.findings:
            file, _, line = str(found.line).rpartition(":")
            yield Path(file).read_text("utf-8").splitlines()[int(line) - 1].rpartition("# ")[2]


@pytest.mark.clock
@pytest.mark.usefixtures("at_any_cost")
@pytest.mark.parametrize("examine", [by_diagnose, by_the_magic, by_a_called_magic])
@pytest.mark.parametrize(
    "function",
    [
        in_a_comprehension,
        in_a_generator,
        in_a_loop,
        pytest.param(in_a_called_function, marks=observed_since),
        pytest.param(in_a_nested_function, marks=observed_since),
        pytest.param(by_map, marks=observed_since),
        pytest.param(by_map_of_a_lambda, marks=observed_since),
        in_a_comprehension_that_a_loop_runs,
    ],
)
def test_one_cost_has_one_finding(examine: Any, function: Callable[[], Any], session: Session) -> None:
    expected = function.__name__.removesuffix("_that_a_loop_runs")
    assert list(lines_found(examine, function, session)) == [expected]
