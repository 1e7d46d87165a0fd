"""What stands above the report of a record that is compared with an earlier one."""

from __future__ import annotations

import pytest

from jaxmagic.magics.deliver import _compared
from jaxmagic.report.blocks import Caution, Headline, Sentence
from jaxmagic.report.style import Style
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text

SENTENCES = ["f(x) is 2.00x slower than in week.json.", "The inputs differ.", "Each record is from 1 process."]


def test_it_begins_with_the_answer_in_text_and_in_html() -> None:
    composed = _compared(SENTENCES, ["The machine was busy."], 9, Style())
    assert [type(each) for each in composed.blocks] == [Headline, Sentence, Sentence, Caution]
    assert to_text(composed) == (
        "f(x) is 2.00x slower than in week.json\nThe inputs differ.\nEach record is from 1 process.\n"
        "Warning: The machine was busy."
    )
    assert to_text(composed, Style(form="line")) == "f(x) is 2.00x slower than in week.json"
    html = to_html(composed)
    assert html.index("<b>f(x) is") < html.index("The inputs differ.") < html.index("The machine was busy.")
    assert "monospace" not in html
    assert html.count("<b>") == 1


@pytest.mark.parametrize(
    ("most", "told"),
    [
        (4, [*SENTENCES[1:], "Warning: The machine was busy."]),
        (3, ["… --all shows 2 more sentences about the earlier record", "Warning: The machine was busy."]),
        (1, ["… --all shows 2 more sentences about the earlier record", "Warning: The machine was busy."]),
    ],
)
def test_neither_the_answer_nor_warnings_are_cut(most: int, told: list[str]) -> None:
    composed = _compared(SENTENCES, ["The machine was busy."], most, Style())
    assert to_text(composed).splitlines() == [SENTENCES[0].rstrip("."), *told]
    assert len(to_html(composed).split("week.json")) == 2
