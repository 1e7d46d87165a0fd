"""Pictures: well-formed, small, escaped, and with everything where its value is."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.model.benchmark import Benchmark, Trial
from jaxmagic.model.comparison import Comparison
from jaxmagic.render.axis import Axis
from jaxmagic.render.charts import distribution, forest
from jaxmagic.render.html import to_html
from jaxmagic.render.svg import Drawing

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing: Drawing) -> ET.Element:
    return ET.fromstring(drawing.to_svg())


def words(drawing: Drawing) -> list[str]:
    return [each.text or "" for each in parsed(drawing).iter(f"{SVG}text")]


@given(st.floats(1e-3, 1e6), st.floats(1.001, 1e4), st.booleans())
def test_ticks_are_round_few_and_on_the_axis(low: float, factor: float, log: bool) -> None:
    axis = Axis(low, low * factor, 0, 100, log)
    ticks = axis.ticks()
    assert len(ticks) <= 10
    assert all(low * (1 - 1e-6) <= each <= low * factor * (1 + 1e-6) for each in ticks)
    assert ticks == sorted(set(ticks))


def test_an_axis_puts_values_where_they_belong() -> None:
    assert [Axis(10, 20, 0, 100).at(each) for each in (10, 15, 20, 99)] == [0, 50, 100, 100]
    assert Axis(1, 100, 0, 100, log=True).at(10) == pytest.approx(50)
    assert Axis(5, 5, 0, 100).at(5) == 50


def test_a_distribution_rises_from_nothing_to_all_with_the_median_in_its_interval(benchmark: Benchmark) -> None:
    drawing = distribution(benchmark)
    assert {"0 %", "50 %", "100 %", "time of a call (ms)"} <= set(words(drawing))
    (interval,) = parsed(drawing).iter(f"{SVG}rect")
    left = float(interval.attrib["x"])
    curve = list(parsed(drawing).iter(f"{SVG}path"))[-1].attrib["d"]
    points = [tuple(map(float, each.split())) for each in re.findall(r"[\d.]+ [\d.]+", curve)]
    assert points[0][1] == 116
    assert points[-1][1] <= 14
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    middle = next(x for x, y in points if y <= 64)
    assert left - 6 <= middle <= left + float(interval.attrib["width"]) + 6


def test_samples_beyond_the_picture_are_counted(benchmark: Benchmark) -> None:
    far = Trial(samples_ns=(*benchmark.samples_ns, 10**9, 2 * 10**9), evaluations=1)
    assert "2 beyond →" in words(distribution(replace(benchmark, latency=far)))


@pytest.mark.parametrize("samples", [(5, 5, 5), (5,) * 20, (1, 10**12)])
def test_odd_samples_have_a_picture_as_well(benchmark: Benchmark, samples: Any) -> None:
    parsed(distribution(replace(benchmark, latency=Trial(samples_ns=samples, evaluations=1))))


def test_a_forest_has_a_row_for_each_candidate_left_of_one_if_it_is_faster(comparison: Comparison) -> None:
    drawing = forest(comparison)
    assert {"numpy", "jit", "1x", "time over that of numpy; less is faster"} <= set(words(drawing))
    numpy, jit = (float(each.attrib["cx"]) for each in parsed(drawing).iter(f"{SVG}circle"))
    assert jit < numpy
    (noise,) = parsed(drawing).iter(f"{SVG}rect")
    assert float(noise.attrib["x"]) < numpy < float(noise.attrib["x"]) + float(noise.attrib["width"])


def test_a_forest_of_few_rounds(comparison: Comparison) -> None:
    few = Trial(samples_ns=(1, 2, 3), evaluations=1)
    candidates = tuple(replace(each, latency=few) for each in comparison.candidates)
    parsed(forest(replace(comparison, again=few, candidates=candidates)))


def test_labels_are_escaped_in_the_picture(comparison: Comparison) -> None:
    numpy, jit = comparison.candidates
    evil = replace(comparison, candidates=(numpy, replace(jit, label='<script>"&')))
    assert '<script>"&' in words(forest(evil))


@pytest.mark.parametrize("name", ["benchmark", "comparison"])
def test_the_html_holds_the_picture_and_is_small(request: Any, name: str) -> None:
    record = request.getfixturevalue(name)
    html = to_html(record)
    (encoded,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    ET.fromstring(base64.b64decode(encoded))
    assert "<script" not in html
    assert not re.search(r'(src|href)="(?!data:)', html)
    assert len(html) < 12_000


def test_eight_candidates_of_a_thousand_rounds_stay_small(comparison: Comparison) -> None:
    one = comparison.candidates[1]
    many = Trial(samples_ns=tuple(range(10**6, 10**6 + 1000)), evaluations=1)
    candidates = tuple(replace(one, label=f"candidate {n}", latency=many) for n in range(8))
    record = replace(comparison, baseline="candidate 0", twice="candidate 0", again=many, candidates=candidates)
    assert len(to_html(record)) < 40_000
