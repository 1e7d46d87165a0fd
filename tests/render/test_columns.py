"""Tables in the columns of a terminal."""

from __future__ import annotations

import pytest

from jaxmagic.render.columns import table


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a_long_name_of_a_file.py:1234", "a_long_na…:1234"),
        ("multiply_subtract_fusion.12", "multiply_su….12"),
        ("a_long_name_without_a_number", "a_long_name_wi…"),
        ("a.123456789012345678901234567", "a.123456789012…"),
        ("short.py:1", "short.py:1"),
    ],
)
def test_a_cell_is_cut_before_the_number_that_tells_it_from_others(text: str, cut: str) -> None:
    _, row = table([("heads", "b"), (text, "1")], widest=15)
    assert row.split() == [cut, "1"]
