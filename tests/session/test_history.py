"""The session's records are ordered, bounded and indexable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jaxmagic
from jaxmagic.memory_use.record.live_arrays import HeldArray
from jaxmagic.memory_use.record.memory_profile import MemoryProfile
from jaxmagic.session import history as history_module
from jaxmagic.session.history import History


def test_the_oldest_is_forgotten_when_there_is_no_more_room(timing: Any) -> None:
    history = History(capacity=2)
    for code in "abc":
        history.append(timing(code=code))
    assert [record.code for record in history] == ["b", "c"]
    assert history[-1].code == "c"
    assert [record.code for record in history[:1]] == ["b"]


def test_an_index_that_is_not_there_says_how_many_there_are() -> None:
    with pytest.raises(IndexError, match="expected an index below 0, got 3"):
        History()[3]


def test_clear_forgets_everything(timing: Any) -> None:
    history = History()
    history.append(timing())
    history.clear()
    assert len(history) == 0
    assert not history


def test_old_records_of_memory_list_few_arrays_when_there_are_many(
    memory_profile: Any, live_arrays: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "MOST_ENTRIES", 50)
    history = History()
    record = memory_profile()
    one = HeldArray(
        shape="f32[1]", dtype="float32", sharding="", size_bytes=4, device_bytes=(("CPU:0", 4),), names=("x",)
    )
    whole = replace(record, arrays=replace(record.arrays, arrays=(one,) * 40), timeline=None, executables=())
    for _ in range(8):
        history.append(whole)
    kept = [record.arrays for record in history if isinstance(record, MemoryProfile)]
    assert [len(each.arrays) for each in kept] == [10, 10, 10, 10, 10, 40, 40, 40]
    assert all(each.by_device == {"CPU:0": 160} for each in kept)
    assert kept[0].arrays[-1].shape == "31 other arrays"
    assert "the 9 largest of 40 arrays are listed" in str(kept[0].notes[-1])
    assert history[-1] is whole


def test_old_records_of_memory_keep_no_timeline_and_no_maps_when_these_are_long(
    memory_profile: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped = next(each for each in memory_profile().executables if each.allocations)
    history, whole = History(), memory_profile(executables=(mapped,) * 8)
    monkeypatch.setattr(history_module, "MOST_ENTRIES", whole._entries + 10)
    for _ in range(5):
        history.append(whole)
    oldest, *others = history
    assert isinstance(oldest, MemoryProfile)
    assert others == [whole] * 4
    assert oldest.timeline is None
    assert oldest.peak_bytes == whole.peak_bytes
    assert all(each.allocations is None for each in oldest.executables)
    assert mapped.name in [each.name for each in oldest.executables]
    assert str(oldest.notes[-1]) == (
        "The history shortens earlier records. Dropped from this one: timeline, memory maps."
    )


def test_the_entries_that_are_counted_are_those_of_the_records(
    memory_profile: Any, live_arrays: Any, timing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "MOST_ENTRIES", 40)

    def listing(arrays: int) -> MemoryProfile:
        return replace(memory_profile(), arrays=live_arrays(*((4, (f"x{n}",)) for n in range(arrays))))

    history = History(capacity=6)

    def counted() -> bool:
        return list(history._entries) == [record._entries for record in history]

    for arrays in (30, 30, 30, 30, 30):  # the oldest are shortened
        history.append(listing(arrays))
        assert counted()
    assert history[0]._entries < 30
    history.replace_last(listing(12))
    assert counted()
    for _ in range(4):  # the oldest are dropped
        history.append(timing())
    assert counted()
    history.clear()
    assert counted()


def test_without_a_record_the_last_one_says_how_to_show_one_that_was_read(tmp_path: Path, timing: Any) -> None:
    path = jaxmagic.save(timing(), tmp_path / "t.json")
    assert "Wall time" in str(jaxmagic.load(path))
    with pytest.raises(jaxmagic.NotMeasured, match="no record that was read from a file: print.record. shows"):
        jaxmagic.last()
