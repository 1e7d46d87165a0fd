"""The record of live arrays: its bytes add up."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.memory_use.record.live_arrays import HeldArray, LiveArrays


def held(*device_bytes: tuple[str, int], **changes: Any) -> HeldArray:
    values: dict[str, Any] = {
        "shape": "f32[256]",
        "dtype": "float32",
        "sharding": "SingleDevice cpu:0",
        "size_bytes": 1024,
        "device_bytes": device_bytes,
    }
    return HeldArray(**(values | changes))


@pytest.fixture
def record(environment: Any) -> LiveArrays:
    return LiveArrays(
        arrays=(
            held(("cpu:0", 1024), ("cpu:1", 1024), names=("w",)),
            held(("cpu:1", 1024), shared_bytes=(("cpu:1", 1024),), names=("copy",), made=True),
            held(("cpu:1", 512), size_bytes=512),
        ),
        started_at="2026-01-02T03:04:05.678+00:00",
        search_complete=True,
        environment=environment,
    )


def test_shared_memory_counts_once(record: LiveArrays) -> None:
    assert record.by_device == {"cpu:1": 1536, "cpu:0": 1024}
    assert list(record.by_device) == ["cpu:1", "cpu:0"]
    assert record.total_bytes == 2560
    assert [array.own_bytes for array in record.arrays] == [2048, 0, 512]


def test_arrays_without_a_name_and_new_ones(record: LiveArrays) -> None:
    assert record.unnamed == (record.arrays[2],)
    assert record.made == (record.arrays[1],)


def test_a_record_cannot_be_changed(record: LiveArrays) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.search_complete = False  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.arrays[0].made = True  # type: ignore[misc]


def test_no_bytes_are_negative() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        held(("cpu:0", -1))


def test_to_dict_has_the_derived_fields_too(record: LiveArrays) -> None:
    found = record.to_dict()
    assert found["total_bytes"] == 2560
    assert found["by_device"] == {"cpu:1": 1536, "cpu:0": 1024}
    assert found["arrays"][0]["names"] == ("w",)
    assert found["environment"]["jax"] == "0.10.2"


def test_the_history_shortens_a_long_list(record: LiveArrays) -> None:
    many = replace(record, arrays=(record.arrays[0],) * 50)
    fewer = many._shortened()
    assert (many._entries, fewer._entries) == (50, 10)
    assert fewer.arrays[-1].shape == "41 other arrays"
    assert fewer._shortened() is fewer
