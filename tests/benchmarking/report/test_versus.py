"""One time compared with another, in words: side by side, or two records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from IPython.lib.pretty import pretty

import jaxmagic
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.inputs import InputChange
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.benchmarking.record.versus import Versus, judge
from jaxmagic.benchmarking.report.versus import about_all_earlier, about_earlier, span
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.statistics.estimate import Estimate


def versus(label: str, baseline: str, value: float, low: float, high: float, **more: Any) -> Versus:
    """Make a comparison of two times."""
    ratio = Estimate(value=value, low=low, high=high, confidence=0.95)
    return Versus(
        label=label, baseline=baseline, ratio=ratio, verdict=judge(ratio), break_even_calls=None, **more
    )  # fmt: skip


@pytest.mark.parametrize(
    ("compared", "told"),
    [
        (versus("jit", "eager", 0.5, 0.4, 0.6), "jit is 2.00x faster (1.67x to 2.50x) than eager"),
        (versus("jit", "eager", 1.0, 0.99, 1.01), "jit compared with eager: no difference of more than 1 %"),
        (versus("eager", "eager", 1.0, 1.0, 1.0), "eager: the baseline"),
        (
            versus("new", "old", 1.0, 0.99, 1.01, differing=("jax was '1' and is '2'",)),
            "new compared with old: no difference of more than 1 %\n"
            "Compared although the environments differ: jax was '1' and is '2'.",
        ),
        (
            versus("new", "old", 2.0, 1.9, 2.1, code=("f(x)", "")),
            "new is 2.00x slower (1.90x to 2.10x) than old\nThe code differs: 'f(x)' before, nothing now.",
        ),
        (
            versus("new", "old", 2.0, 1.9, 2.1, inputs=(InputChange("x", "f32[3]", "f32[6]"),)),
            "new takes 2.00x (1.90x to 2.10x) as long as old, on other inputs\n"
            "The inputs differ: x was f32[3] and is f32[6].",
        ),
        (
            versus("new", "old", 0.5, 0.4, 0.6, inputs=tuple(InputChange(n, "1", "2") for n in "abcd")),
            "new takes 0.500x (0.400x to 0.600x) as long as old, on other inputs\n"
            "The inputs differ: a was 1 and is 2; b was 1 and is 2; c was 1 and is 2; and 1\n  more input.",
        ),
        (
            versus("new", "old", 2.0, 1.9, 2.1, inputs=None),
            "new is 2.00x slower (1.90x to 2.10x) than old\n"
            "One of the records does not list its inputs, which may differ.",
        ),
    ],
)
def test_it_prints_as_a_sentence(compared: Versus, told: str) -> None:
    assert str(compared) == told
    assert compared._repr_mimebundle_()["text/plain"] == told


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (0.9, 1.08, "between 1.11x faster and 1.08x slower"),
        (0.997, 1.08, "up to 1.08x slower"),
        (0.9, 1.004, "up to 1.11x faster"),
        (1.001, 1.08, "up to 1.08x slower"),
        (0.9, 0.999, "up to 1.11x faster"),
        (1.02, 1.08, "1.02x to 1.08x slower"),
        (0.9, 0.95, "1.05x to 1.11x faster"),
        (0.997, 1.004, "between 1.00x faster and 1.00x slower"),
    ],
)
def test_an_end_of_an_interval_that_rounds_to_one_is_no_factor(low: float, high: float, told: str) -> None:
    assert span(Estimate(value=1.0, low=low, high=high, confidence=0.95)) == told


@pytest.mark.parametrize(
    ("compared", "code", "told"),
    [
        (versus("new", "old", 0.4, 0.38, 0.42), "f(x)", "f(x) is 2.50x faster (2.38x to 2.63x) than in week.json."),
        (versus("jit", "jit", 2.0, 1.9, 2.1), None, "jit is 2.00x slower (1.90x to 2.10x) than in week.json."),
        (
            versus("jit", "jit", 2.0, 1.9, 2.1, inputs=(InputChange("x", "f32[3]", "f32[6]"),)),
            None,
            "jit takes 2.00x (1.90x to 2.10x) as long as in week.json, on other inputs.",
        ),
        (versus("jit", "jit", 1.0, 0.99, 1.01), None, "jit shows no difference of more than 1 % from week.json."),
        (
            versus("new", "old", 1.0, 0.8, 1.1),
            "y = f(x)\ng(y)",
            "The code may be between 1.25x faster and 1.10x slower than in week.json: too noisy to tell.",
        ),
        (
            versus("jit", "jit", 1.05, 1.006, 1.1),
            None,
            "jit may be 1.01x to 1.10x slower than in week.json: inconclusive.",
        ),
        (
            replace(versus("jit", "jit", 1.0, 1.0, 1.0), ratio=None),
            None,
            "jit has too few rounds to be compared with week.json.",
        ),
    ],
)
def test_a_comparison_with_a_file_is_a_sentence(compared: Versus, code: str | None, told: str) -> None:
    assert about_earlier(compared, code, "week.json") == told


def test_two_records_print_what_the_verdict_rests_on(benchmark: Benchmark) -> None:
    twice = replace(benchmark, latency=Trial(samples_ns=tuple(2 * each for each in benchmark.latency.samples_ns),
                                             evaluations=1), code="g(x)")  # fmt: skip
    first, code, *basis = str(jaxmagic.compare(benchmark, twice, measure=False)).splitlines()
    assert first.startswith("new is 2.00x slower (")
    assert code == "The code differs: 'f(x)' before, 'g(x)' now."
    assert basis[0].startswith("Each record is from 1 process. ")


def test_the_verdicts_of_two_comparisons_read_as_sentences_in_ipython(comparison: Comparison) -> None:
    shown = pretty(jaxmagic.compare(comparison, comparison, measure=False))
    assert "'numpy': numpy: no difference of more than " in shown or "'numpy': numpy: too noisy" in shown
    assert "Versus(" not in shown


def test_several_times_beside_an_earlier_record_begin_with_one_answer() -> None:
    changed = (InputChange("x", "f32[3]", "f32[6]"),)
    verdicts = [
        versus("a", "a", 2.0, 1.9, 2.1),
        versus("b", "b", 0.5, 0.4, 0.6),
        versus("c", "c", 2.0, 1.9, 2.1),
        versus("d", "d", 1.0, 0.99, 1.01),
        versus("e", "e", 2.0, 1.9, 2.1, inputs=changed),
        versus("f", "f", 1.0, 0.8, 1.1),
        versus("g", "g", 1.05, 1.006, 1.1),
        replace(versus("h", "h", 1.0, 1.0, 1.0), ratio=None),
    ]
    answer, *told = about_all_earlier(verdicts, None, "week.json")
    assert answer == (
        "Compared with week.json: 2 slower, 1 faster, 1 with no difference, 1 slower on other inputs, "
        "1 too noisy to tell, 1 inconclusive, 1 with too few rounds."
    )
    assert told == [about_earlier(each, None, "week.json") for each in verdicts]
    assert about_all_earlier(verdicts[:1], None, "week.json") == told[:1]


def test_a_time_on_other_inputs_says_so_whatever_the_verdict() -> None:
    changed = (InputChange("x", "f32[3]", "f32[6]"),)
    alike = versus("jit", "jit", 1.0, 0.99, 1.01, inputs=changed)
    assert (
        about_earlier(alike, None, "a.json")
        == "jit shows no difference of more than 1 % from a.json, on other inputs."
    )
    noisy = versus("jit", "jit", 1.0, 0.8, 1.1, inputs=changed)
    assert about_earlier(noisy, None, "a.json").endswith("slower than in a.json, on other inputs: too noisy to tell.")
