from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis


@pytest.fixture(autouse=True)
def saved_and_read(tmp_path: Path) -> Iterator[None]:
    """Whatever is diagnosed in a test can be saved and read."""
    before = {id(each) for each in jaxmagic.history()}
    yield
    for record in jaxmagic.history():
        if isinstance(record, Diagnosis) and id(record) not in before:
            assert jaxmagic.load(jaxmagic.save(record, tmp_path / "saved.json")) == record
