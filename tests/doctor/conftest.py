from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import jaxmagic
from jaxmagic.doctor.capture.failures.traced.loop_bodies import first_nan
from jaxmagic.doctor.record.diagnosis import Diagnosis


@pytest.fixture(autouse=True)
def time_to_follow_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of a loop are computed for two seconds at most, which a busy machine may take to compile them."""
    assert first_nan.__kwdefaults__ is not None
    monkeypatch.setitem(first_nan.__kwdefaults__, "longest_ns", 10**15)


@pytest.fixture(autouse=True)
def saved_and_read(tmp_path: Path) -> Iterator[None]:
    """Whatever is diagnosed in a test can be saved and read."""
    before = {id(each) for each in jaxmagic.history()}
    yield
    for record in jaxmagic.history():
        if isinstance(record, Diagnosis) and id(record) not in before:
            assert jaxmagic.load(jaxmagic.save(record, tmp_path / "saved.json")) == record
