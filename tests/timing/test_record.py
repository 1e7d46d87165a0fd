"""The record: parts that add up, and facts that cannot be changed."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest


def test_wall_and_host_and_compile_follow_from_the_parts(timing: Any, compilation: Any) -> None:
    record = timing(compilation())
    assert record.compile_ns == 171_000_000
    assert record.host_ns == 900_000
    assert record.wall_ns == 182_000_000


def test_a_record_cannot_be_changed(timing: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        timing().wait_ns = 0


@pytest.mark.parametrize("field", ["wait_ns", "tracing_ns", "cpu_user_ns", "fetch_ns"])
def test_no_duration_is_negative(timing: Any, field: str) -> None:
    with pytest.raises(ValueError, match=f"{field}: expected a duration"):
        timing(**{field: -1})


def test_parts_cannot_exceed_the_dispatch(timing: Any) -> None:
    with pytest.raises(ValueError, match="parts of the dispatch"):
        timing(dispatch_ns=10, compilation_ns=11)


def test_to_dict_has_the_derived_fields_too(timing: Any, compilation: Any) -> None:
    found = timing(compilation()).to_dict()
    assert found["wall_ns"] == 182_000_000
    assert found["compilations"][0]["cause"]["kind"] == "first call"
    assert found["environment"]["jax"] == "0.10.2"
