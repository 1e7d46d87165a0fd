"""Frames are tidy and typed, and show missing values as <NA>, not as zero."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from fabricate.profiling import fabricated

from jaxmagic.records import storage
from jaxmagic.report.to_frame import to_frame
from jaxmagic.session.history import History


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
    with pytest.raises(ValueError, match="got 'nonsense'"):
        to_frame(timing(), "nonsense")
    with pytest.raises(TypeError, match="expected a record, got int"):
        to_frame(3)


# --- where memory goes ---------------------------------------------------------------------------------------------


def test_of_a_history_the_rows_are_those_of_the_kind_that_it_has(timing: Any) -> None:
    history = History()
    history.append(replace(fabricated(), started_at="2026-11-22T15:43:54.591+00:00", error="ValueError"))
    frame = to_frame(history)
    assert frame[["code", "runs", "device_ns", "devices", "error"]].to_numpy().tolist() == [
        ["f(x)", 2, 30_000_000, 1, "ValueError"]
    ]
    assert frame["wall_ns"].isna().all()
    assert frame["started_at"][0].year == 2026
    history.append(timing())
    assert len(to_frame(history)["dispatch_ns"]) == 1
    assert len(to_frame(history, "profiles")) == 1


def test_one_row_a_program_with_what_it_needs(memory_profile: Any, executable: Any) -> None:
    unknown = executable(
        name="jit_g", temporary_bytes=None, ran=None, compiled=None, steps=None, allocations=None, constant_bytes=None
    )
    frame = to_frame(memory_profile(executables=(executable(limit_bytes=5000), unknown)))
    assert list(frame["name"]) == ["jit_f", "jit_g"]
    assert list(frame.loc[0, ["peak_bytes", "argument_bytes", "alias_bytes", "steps"]]) == [4096, 2048, 0, 4]
    assert list(frame.loc[0, ["ran", "compiled", "fits"]]) == [True, False, True]
    missing = ["ran", "compiled", "peak_bytes", "temporary_bytes", "constant_bytes", "limit_bytes", "fits", "steps"]
    assert all(each is pd.NA for each in frame.loc[1, missing])
    assert frame.loc[1, "argument_bytes"] == 2048


def test_one_row_a_buffer_with_its_program_and_its_allocation(memory_profile: Any, executable: Any) -> None:
    unmapped = executable(name="jit_h", allocations=None, steps=None)
    frame = to_frame(memory_profile(executables=(unmapped, executable())), "buffers")
    assert list(frame["executable"]) == [1, 1, 1, 1]
    assert list(frame["allocation"]) == [0, 1, 2, 3]
    assert list(frame["kind"]) == ["argument", "argument", "temporary", "output"]
    assert list(frame["instruction"]) == ["a.1", "b.1", "dot.1", "add.1"]
    assert list(frame["first"]) == [0, 0, 2, 3]
    assert frame["source"][0] is pd.NA
    assert all(each is pd.NA for each in frame["captured"])
    assert frame["source"][2] == "/home/me/cell.py:3"
    alone = to_frame(executable())
    assert alone["size_bytes"].sum() == executable().peak_bytes
    assert list(alone.columns) == list(frame.columns)


def test_one_row_an_array_and_no_name_is_missing(memory_profile: Any, live_arrays: Any) -> None:
    frame = to_frame(memory_profile(), "arrays")
    assert list(frame["names"]) == ["y, model.w", "x"]
    assert list(frame["made"]) == [True, False]
    alone = to_frame(live_arrays((8, ()), (4, ("x",))))
    assert alone["names"][0] is pd.NA
    assert list(alone["own_bytes"]) == [8, 4]
    assert "made" not in alone.columns  # the time of creation is unknown


def test_one_row_a_sample_and_a_column_for_each_device(memory_profile: Any) -> None:
    profile = memory_profile()
    frame = to_frame(profile, "timeline")
    assert list(frame["time_ns"]) == [0, 10**6, 2 * 10**6]
    assert frame["array_bytes"][1] is pd.NA
    assert frame["array_bytes"][2] == 3072
    sampled = replace(profile.timeline, device_bytes={"gpu:0": (1, None, 3)})
    frame = to_frame(replace(profile, timeline=sampled), "timeline")
    assert frame["gpu:0_bytes"][1] is pd.NA
    assert str(frame["gpu:0_bytes"].dtype) == "Int64"


def test_what_a_profile_has_not_is_an_empty_frame_with_all_columns(memory_profile: Any, live_arrays: Any) -> None:
    profile = memory_profile(executables=(), timeline=None, arrays=live_arrays())
    for of, column in (
        ("executables", "peak_bytes"),
        ("buffers", "size_bytes"),
        ("arrays", "made"),
        ("timeline", "rss_bytes"),
        ("compilations", "cause"),
    ):
        frame = to_frame(profile, of)
        assert len(frame) == 0
        assert column in frame.columns
    with pytest.raises(ValueError, match="got 'points'"):
        to_frame(profile, "points")


def test_text_is_text_and_nothing_is_na_in_every_frame_of_every_record(document: Any) -> None:
    record = storage._decode_document(document)
    with pytest.raises(ValueError, match="of: expected ") as refused:
        to_frame(record, "nonsense")
    for of in re.findall(r"'(\w+)'", str(refused.value).partition(", got")[0]):
        frame = to_frame(record, of)
        for column in frame:
            absent = frame[column][frame[column].isna()]
            assert not any(each is None for each in absent), (of, column)
            assert frame[column].dtype != object or not len(absent), (of, column)
