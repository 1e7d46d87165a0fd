from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import jaxmagic
from jaxmagic.doctor.capture.failures.traced.first_nan import first_nan
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.report.diagnosis import NO_REMEDY


@pytest.fixture(autouse=True)
def time_to_follow_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of a loop are computed for two seconds at most, which a busy machine may take to compile them."""
    assert first_nan.__kwdefaults__ is not None
    monkeypatch.setitem(first_nan.__kwdefaults__, "longest_ns", 10**15)


@pytest.fixture(autouse=True)
def saved_and_read(tmp_path: Path) -> Iterator[None]:
    """Whatever is diagnosed in a test can be saved and read, and says so where it knows no remedy."""
    before = {id(each) for each in jaxmagic.history()}
    yield
    for record in jaxmagic.history():
        if isinstance(record, Diagnosis) and id(record) not in before:
            assert jaxmagic.load(jaxmagic.save(record, tmp_path / "saved.json")) == record
            bare = [each for each in record.findings if each.rule != "error" and each.remedy is None]
            unknown = [each for each in bare if each.verified is None or each.verified.remedy is None]
            assert not unknown or NO_REMEDY in " ".join(str(record).split())
