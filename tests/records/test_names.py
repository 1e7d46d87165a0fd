"""Names are cut to the room there is, but stay distinguishable."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jaxmagic.records.names import shortened

#: Names that have much in common, like the names of programs, operations and files.
PARTS = st.sampled_from(["update_", "cross_section_", "jax", "jacobian", "f", "a", "12", ".", "…", " ", "aa"])
NAME = st.lists(PARTS, max_size=12).map("".join) | st.text(max_size=40) | st.text(alphabet="p…q", max_size=9)
NAMES = st.lists(NAME, max_size=12)
MOST = st.integers(1, 40)


@given(NAMES, MOST)
def test_different_names_stay_different_and_equal_ones_equal(names: list[str], most: int) -> None:
    cut = shortened(names, most)
    assert len(cut) == len(names)
    assert len(set(cut)) == len(set(names))
    assert len(set(zip(names, cut, strict=True))) == len(set(names))


@given(NAMES, MOST)
def test_short_names_are_untouched_and_no_name_grows(names: list[str], most: int) -> None:
    for name, cut in zip(names, shortened(names, most), strict=True):
        assert cut == name if len(name) <= most else len(cut) <= len(name)


@given(NAMES, MOST)
def test_no_cut_could_be_that_of_another_long_name(names: list[str], most: int) -> None:
    cut = dict(zip(names, shortened(names, most), strict=True))
    for name, text in cut.items():
        if text == name or "…" in name:
            continue
        pattern = re.compile(".*".join(map(re.escape, text.split("…"))), re.S)
        assert [other for other in cut if len(other) > most and pattern.fullmatch(other)] == [name]


@given(NAMES, st.integers(2, 40))
def test_a_name_is_too_long_only_where_no_gap_tells_it_from_the_others(names: list[str], most: int) -> None:
    assume(not any("…" in name for name in names))  # those may look like what others are cut to
    for name, text in zip(names, shortened(names, most), strict=True):
        others = [other for other in set(names) if len(other) > most and other != name]
        if len(text) > most:
            for head in range(most):
                start, end = name[:head], name[len(name) - (most - 1 - head) :]
                fits = [o for o in others if len(o) >= most - 1 and o.startswith(start) and o.endswith(end)]
                assert fits or f"{start}…{end}" in names


@given(NAMES, MOST)
def test_the_order_of_the_names_does_not_matter(names: list[str], most: int) -> None:
    assert shortened(names[::-1], most) == shortened(names, most)[::-1]


@pytest.mark.parametrize(
    ("names", "most", "cut"),
    [
        (["update_cross_section_jacobian_forward", "update_cross_section_jacobian_reverse"], 24,
         ("update_cross…ian_forward", "update_cross…ian_reverse")),
        (["multiply_subtract_fusion.12", "multiply_subtract_fusion.13"], 15, ("multiply_su….12", "multiply_su….13")),
        (["a_long_name_of_a_file.py:1234"], 15, ("a_long_na…:1234",)),
        (["loss_of_first_layer_f32", "loss_of_other_layer_f32"], 12, ("loss_of_fir…", "loss_of_oth…")),
        (["the_loss_of_first_layer_f32", "the_loss_of_other_layer_f32"], 12, ("the…firs…f32", "the…othe…f32")),
        (["first_layer_of_the_model", "other_layer_of_the_model"], 12, ("first_layer…", "other_layer…")),
        (["x" * 10, "x" * 11, "y"], 5, ("x" * 10, "x" * 11, "y")),  # nothing but their length tells these apart
        (["abcdefgh", "abc…fgh"], 7, ("abcdef…", "abc…fgh")),  # as somebody has named one by hand
        (["q……qq", "qp…q…", "qqpqq"], 3, ("q……", "qp…", "qq…")),  # both could be cut to q……
        (["a" * 30], 1, ("…",)),
        ([], 5, ()),
    ],
)  # fmt: skip
def test_the_end_is_cut_and_the_middle_where_that_tells_names_apart(
    names: list[str], most: int, cut: tuple[str, ...]
) -> None:
    assert shortened(names, most) == cut


def test_many_long_names_that_differ_in_the_middle_have_room() -> None:
    names = [f"{'p' * 140}{number:03}{'q' * 140}" for number in range(60)]
    assert {len(each) for each in shortened(names, 24)} == {24}
