"""Frames: tidy, typed, and not measured is not zero."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from jaxmagic.model.history import History
from jaxmagic.render.frames import to_frame


def test_one_row_a_record_with_the_unit_in_each_name(timing: Any, compilation: Any) -> None:
    frame = to_frame(timing(compilation()))
    assert len(frame) == 1
    assert frame["wall_ns"][0] == 182_000_000
    assert frame["compilations"][0] == 1
    assert str(frame["started_at"].dtype).startswith("datetime64")


def test_not_measured_is_not_zero(timing: Any) -> None:
    frame = to_frame(timing(unreached_ns=None))
    assert frame["unreached_ns"][0] is pd.NA
    assert frame["fetch_ns"][0] is pd.NA
    assert str(frame["wall_ns"].dtype) == "Int64"


def test_one_row_a_compilation(timing: Any, compilation: Any) -> None:
    frame = to_frame(timing(compilation(), compilation(function="g")), "compilations")
    assert list(frame["function"]) == ["f", "g"]
    assert list(frame["cause"]) == ["first call", "first call"]
    assert frame["total_ns"][0] == 171_000_000


def test_no_records_are_an_empty_frame_with_all_columns() -> None:
    assert "wall_ns" in to_frame(History()).columns
    assert "cause" in to_frame(History(), "compilations").columns


def test_wrong_questions_are_refused(timing: Any) -> None:
    with pytest.raises(ValueError, match="found 'nonsense'"):
        to_frame(timing(), "nonsense")
    with pytest.raises(TypeError, match="found a int"):
        to_frame(3)
