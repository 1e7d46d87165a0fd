"""The script beside a picture: the same for all, harmless where it has nothing to do."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from jaxmagic.charts.chart_of import chart_of
from jaxmagic.comparison.charts.choices import latencies
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.report.pictures import chart_to_html
from jaxmagic.report.to_html import to_html


@pytest.mark.parametrize("name", ["benchmark", "comparison"])
def test_the_html_holds_the_picture_and_the_script_and_no_address(request: Any, still: Any, name: str) -> None:
    html = to_html(request.getfixturevalue(name))
    ET.fromstring(still(html))
    assert html.count("<script>") == html.count("</script>") == 1
    assert not re.search(r'(src|href)="(?!data:)|https?:', html)
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg", "", still(html))
    assert len(html) < 22_000


def test_eight_candidates_of_a_thousand_rounds_stay_small(named: Any) -> None:
    record = named(*(f"candidate_{number}" for number in range(8)), rounds=1000)
    assert len(to_html(record).encode()) < 45_000
    assert len(chart_to_html(latencies(record)).encode()) < 45_000


def test_the_script_knows_nothing_but_its_key(named: Any, hostile: str) -> None:
    scripts = {
        re.sub(r'data-jaxmagic="\w{12}"', "", found)
        for labels in (("numpy", "jit"), ("a", hostile))
        for found in re.findall(r"<script>(.*?)</script>", to_html(named(*labels)), re.S)
    }
    assert len(scripts) == 1
    (script,) = scripts
    assert not re.search(r"%KEY%|^\s|^//|</|<!--|https?:", script, re.M)
    assert len(script) < 10_900


def test_the_same_picture_is_saved_as_the_same_text_and_another_one_has_another_key(comparison: Comparison) -> None:
    assert to_html(comparison) == to_html(comparison)
    one, other = (chart_to_html(each(comparison)) for each in (chart_of, latencies))
    key, in_script = re.findall(r'data-jaxmagic="(\w+)"', one)
    assert key == in_script
    assert key not in other
