"""Locations of source lines are shortened."""

from __future__ import annotations

import pytest

from jaxmagic.records.paths import short_source


@pytest.mark.parametrize(
    ("source", "short"),
    [
        ("/home/me/train.py:12", "train.py:12"),
        ("train.py", "train.py"),
        ("cell 31:2", "cell 31:2"),
        ("<string>:1", "<string>:1"),
        ("", ""),
    ],
)
def test_a_folder_is_left_out(source: str, short: str) -> None:
    assert short_source(source) == short
