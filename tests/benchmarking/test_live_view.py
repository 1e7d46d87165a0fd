"""A benchmark's live view."""

from __future__ import annotations

from jaxmagic.benchmarking.live_view import BenchmarkView
from jaxmagic.benchmarking.record.benchmark import Benchmark


def test_every_choice_shows_a_picture_and_the_report(benchmark: Benchmark) -> None:
    view = BenchmarkView(benchmark)
    seen = set()
    for drawn in view.drawn.options:
        for scale in view.scale.options:
            view.drawn.value, view.scale.value = drawn, scale
            (output,) = view.screen.outputs
            html = output["data"]["text/html"]
            assert html.count("<img") == 1
            seen.add(html)
    assert len(seen) == 4
