"""The verbs for people without magics."""

from __future__ import annotations

from typing import Any

import jax
import pytest

import jaxmagic
from jaxmagic import api
from jaxmagic.model.history import History


def test_stopwatch_adds_to_the_history(x: Any) -> None:
    before = len(jaxmagic.history())
    with jaxmagic.stopwatch() as watch:
        watch.result = x + 1
    assert len(jaxmagic.history()) == before + 1
    assert jaxmagic.last() is watch.timing
    assert jaxmagic.history()[-1] is watch.timing


def test_the_history_holds_no_array(x: Any) -> None:
    with jaxmagic.stopwatch() as watch:
        watch.result = y = x + 1
    before = len(jax.live_arrays())
    del y
    assert len(jax.live_arrays()) == before - 1


def test_last_of_nothing_says_what_to_run(monkeypatch: Any) -> None:
    monkeypatch.setattr("jaxmagic.api.session._history", History())
    with pytest.raises(jaxmagic.NotMeasured, match="Run %jaxtime"):
        jaxmagic.last()


def test_the_history_is_one_frame(timing: Any, compilation: Any) -> None:
    history = History()
    history.append(timing())
    history.append(timing(compilation()))
    frame = history.to_frame()
    assert list(frame["wall_ns"]) == [11_000_000, 182_000_000]
    assert list(history.to_frame("compilations")["record"]) == [1]


def test_what_is_no_function_is_told_how_to_write_it(x: Any) -> None:
    with pytest.raises(TypeError, match=r"benchmark\(\) takes a function .* Write benchmark\(f, x\)"):
        jaxmagic.benchmark(x + 1)
    with pytest.raises(TypeError, match="compare\\(\\) takes the functions by their labels"):
        jaxmagic.compare(len, max)
    with pytest.raises(ValueError, match="budget_s has to be a positive number; found '1s'"):
        jaxmagic.benchmark(len, [], budget_s="1s")


@pytest.mark.parametrize(
    ("candidates", "more", "error", "message"),
    [
        ({1: abs, 2: abs}, {}, ValueError, "labels have to be text; found 1"),
        ({" ": abs, "b": abs}, {}, ValueError, "labels have to be text; found ' '"),
        ({"a": abs, "b": 3}, {}, TypeError, "b: a function is wanted; found int"),
        ({"a": abs, "b": abs}, {"check": "close"}, ValueError, "check: one of allclose, equal, none"),
    ],
)
def test_what_cannot_be_compared_is_refused(candidates: Any, more: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jaxmagic.compare(candidates, 1, **more)


def test_a_record_is_compared_with_one_other(benchmark: Any) -> None:
    with pytest.raises(TypeError, match=r"compare\(old, new\); found 0 others"):
        jaxmagic.compare(benchmark)
