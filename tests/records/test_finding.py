"""Several findings of one kind in one sentence."""

from __future__ import annotations

import pytest

from jaxmagic.records.finding import as_ranges


@pytest.mark.parametrize(
    ("texts", "names", "said"),
    [
        ([], [], {}),
        (["A 5 % rise."], [], {"A 5 % rise.": [0]}),
        (["A 5 % rise.", "A 5 % rise."], [], {"A 5 % rise.": [0, 1]}),
        (["1.0 of 2 CPUs.", "0.80 of 2 CPUs.", "1.3 of 2 CPUs."], [], {"0.80 to 1.3 of 2 CPUs.": [0, 1, 2]}),
        (["It rose by 5 %.", "It fell by 9 %.", "It rose by 20 %."], [], {
            "It rose by 5 to 20 %.": [0, 2], "It fell by 9 %.": [1]}),
        (["1.20 ms (40 %), 3.00 ms (60 %)", "1.10 ms (55 %), 4.00 ms (45 %)"], [], {
            "1.10 to 1.20 ms (40 to 55 %), 3.00 to 4.00 ms (45 to 60 %)": [0, 1]}),
        (["f: f32[8,8] took 5 ms", "f: f32[8,16] took 7 ms"], [], {
            "f: f32[8,8] took 5 ms": [0], "f: f32[8,16] took 7 ms": [1]}),
        (["step_1 by 2 %", "step_2 by 3 %"], [], {"step_1 by 2 %": [0], "step_2 by 3 %": [1]}),
        (["layers 2 by 3 %", "layers 4 by 5 %", "layers 2 by 6 %"], ["layers 2", "layers 4"], {
            "layers 2 by 3 to 6 %": [0, 2], "layers 4 by 5 %": [1]}),
        (["took 900 µs", "took 1.10 ms"], [], {"took 900 µs": [0], "took 1.10 ms": [1]}),
    ],
)  # fmt: skip
def test_sentences_that_differ_in_numbers_are_one(
    texts: list[str], names: list[str], said: dict[str, list[int]]
) -> None:
    assert as_ranges(texts, names) == said
