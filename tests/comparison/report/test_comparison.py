"""A comparison and a benchmark in every medium."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic import units
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.comparison.capture.check_outputs import check_output
from jaxmagic.comparison.record.candidate import Check
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.report.outputs import about_outputs
from jaxmagic.records.note import Note, note
from jaxmagic.report.style import AT_A_GLANCE, Style
from jaxmagic.report.to_frame import to_frame
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text
from jaxmagic.session.history import History

LOW = Check(
    kind="allclose", passed=True, leaf="x", largest_error=0.01, atol=0.09, dtype="bfloat16", like_dtype="float32"
)
MISMATCH = Check(kind="allclose", passed=False, leaf="['w']", largest_error=0.5, rtol=3e-4, atol=3e-4)


class _Unreadable:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")


def with_check(comparison: Comparison, check: Check) -> Comparison:
    numpy, jit = comparison.candidates
    return replace(comparison, candidates=(numpy, replace(jit, check=check)))


def test_a_comparison_as_text(comparison: Comparison) -> None:
    expected = """\
        jit is 2.00x faster (1.98x to 2.01x) than numpy
          numpy  9.12 ms  baseline
                 first call 11.0 ms
          jit    4.56 ms  2.00x faster (1.98x to 2.01x)
                 first call 182 ms; 171 ms of it compiling, paid for after 38 calls (37
                 to 39)
        60 rounds in shuffled order, until every ratio was known to 1 %. Noise: two
          measurements of numpy in the same rounds differ by at most 1.1 %."""
    assert to_text(comparison) == dedent(expected)
    assert to_text(comparison, Style(form="line")) == dedent(expected).splitlines()[0]


def test_the_title_of_the_details_names_only_what_is_inside(comparison: Comparison) -> None:
    def title(compared: Comparison) -> str:
        (found,) = re.findall(r">(Details: [^<]*)<", to_html(compared, AT_A_GLANCE))
        return str(found)

    assert title(comparison) == "Details: first calls, compiling and break-even"
    numpy, jit = comparison.candidates
    same = replace(jit, latency=numpy.latency)
    assert title(replace(comparison, candidates=(numpy, same))) == "Details: first calls and compiling"
    plain = replace(same, first_call=numpy.first_call)
    assert title(replace(comparison, candidates=(numpy, plain))) == "Details: first calls"


def test_medians_that_are_farther_apart_than_the_interval_are_explained(named: Any) -> None:
    """While the machine is slow, b is measured in three rounds more than a; in all others they are 1.3x apart."""
    found = named("a", "b")
    assert "By the medians alone" not in str(found)
    a, b = found.candidates

    def slow(trial: Any, rounds: int) -> Any:
        return replace(trial, samples_ns=tuple(3 * each if n < rounds else each
                                               for n, each in enumerate(trial.samples_ns)))  # fmt: skip

    changed = replace(
        found,
        candidates=(replace(a, latency=slow(a.latency, 29)), replace(b, latency=slow(b.latency, 32))),
        again=slow(found.again, 29),
    )
    assert changed["b"].interval[1] < 1.4  # type: ignore[index]
    text = " ".join(str(changed).split())
    assert re.search(
        r"By the medians alone, b is 3\.8\dx slower\. The verdict rests on the ratios within rounds, where drifts",
        text,
    )


@pytest.mark.parametrize("spread", [1.02, 25.0])
def test_a_baseline_that_is_far_from_itself_is_too_noisy_to_give_a_number(named: Any, spread: float) -> None:
    found = named("a", "b", rounds=7)
    again = tuple(round(each * spread ** (-1) ** number) for number, each in enumerate(found.again.samples_ns))
    noisy = replace(found, again=replace(found.again, samples_ns=again), stopped_by="budget")
    text = " ".join(to_text(noisy).split())
    assert ("Too noisy: two measurements of a in the same rounds may differ by more than" in text) == (spread == 25)
    assert ("two measurements of a in the same rounds differ by at most" in text) == (spread != 25)
    assert "2420 %" not in text
    assert "2400 %" not in text


def test_noise_that_every_verdict_exceeds_is_not_too_much(named: Any) -> None:
    found = named("a", "b", rounds=7)
    again = tuple(round(each * 25.0 ** (-1) ** number) for number, each in enumerate(found.again.samples_ns))
    a, b = found.candidates
    slow = replace(b, latency=replace(b.latency, samples_ns=tuple(10**5 * each for each in b.latency.samples_ns)))
    noisy = replace(found, candidates=(a, slow), again=replace(found.again, samples_ns=again), stopped_by="budget")
    text = " ".join(to_text(noisy).split())
    assert re.match(r"a is \d+x faster \(\d+x to \d+x\) than b ", text)
    assert "Too noisy" not in text
    assert "two measurements of a in the same rounds may differ by more than 50 %, but all candidates" in text


def test_differences_are_larger_than_the_noise_only_with_their_whole_intervals(named: Any) -> None:
    """One candidate is 1.5x slower; the two times of the other are up to 1.6 times apart."""
    found = named("a", "b", rounds=60)
    a, b = found.candidates
    times = a.latency.samples_ns
    again = tuple(round(each * (1.6 if number < 36 else 1.0)) for number, each in enumerate(times))
    slow = replace(b, latency=replace(b.latency, samples_ns=tuple(round(1.5 * each) for each in times)))
    noisy = replace(found, candidates=(a, slow), again=replace(found.again, samples_ns=again), stopped_by="budget")
    assert noisy["b"].verdict == "slower"
    assert noisy["b"].interval[0] < noisy.noise.high  # type: ignore[index,union-attr]
    text = " ".join(to_text(noisy).split())
    assert "may differ by more than 50 %. b may differ by less than this noise: more rounds" in text


@pytest.mark.parametrize("told", [note("timing.not_called", function="f"), note("timing.quoted_call")])
@pytest.mark.parametrize(
    ("uncalled", "headline"),
    [
        (("numpy",), "Nothing to compare: numpy was not called"),
        (("jit",), "Nothing to compare: jit was not called"),
        (("numpy", "jit"), "Nothing to compare: numpy and jit were not called"),
    ],
)
def test_what_was_not_called_has_no_verdict(
    comparison: Comparison, uncalled: tuple[str, ...], headline: str, told: Note
) -> None:
    candidates = tuple(
        replace(each, first_call=replace(each.first_call, notes=(told,))) if each.label in uncalled else each
        for each in comparison.candidates
    )
    assert to_text(replace(comparison, candidates=candidates)).splitlines()[0] == headline


def test_outputs_that_cannot_be_compared_leave_their_times(comparison: Comparison) -> None:
    check = check_output(_Unreadable(), 3, "allclose")
    assert check.problem is not None
    found = with_check(comparison, check)
    text = " ".join(to_text(found).split())
    assert text.startswith(
        "No winner: no output can be compared with that of numpy. The times are correct, but the candidates may "
        "compute different results"
    )
    assert "4.56 ms 2.00x faster (1.98x to 2.01x), with an output that could not be compared" in text
    assert "Whether jit computes what numpy does is unknown" in text
    assert ": the outputs cannot be" in text
    assert "does not compute" not in text


def test_what_computes_something_else_is_never_the_fastest(comparison: Comparison) -> None:
    found = with_check(comparison, MISMATCH)
    for text in (" ".join(to_text(found).split()), to_html(found)):
        assert "No winner: no output matches that of numpy. The times are correct, but the candidates compute" in text
        assert "with a different output" in text
        assert "off by up to 0.5 (" in text


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (Check(kind="equal", passed=True), "All outputs are equal."),
        (
            LOW,
            "by at most 0.01 (jit, at x), with 0.09 allowed in bfloat16 against float32. jit returns bfloat16",
        ),
        (
            replace(LOW, largest_error=0.0),
            "All outputs are equal except for their types: jit returns bfloat16 where numpy returns float32.",
        ),
        (
            replace(LOW, passed=False, largest_error=0.1, dtype="float32"),
            "off by up to 0.1, with 0.09 allowed in float32.",
        ),
        (Check(kind="allclose", passed=True, leaf="x", largest_error=0.0, atol=1.0), "All outputs are equal."),
        (
            Check(kind="allclose", passed=True, leaf="['w']", largest_error=1e-7, atol=3e-4),
            "All outputs agree: they differ by at most 1e-07 (jit, at ['w']), with 0.0003 allowed.",
        ),
        (
            replace(LOW, largest_error=2.7, mean_error=2.5, rtol=0.088, atol=3.1),
            "differ by at most 7.7 % of the largest value (jit, by 2.7 at x), with 8.8 % allowed in bfloat16 against "
            'float32. To allow no more than 1 %, write --check 1% (check="1%"). On '
            "average jit is 2.5 larger. Rounding errors rarely have all the same sign. jit returns",
        ),
        (
            replace(LOW, largest_error=2.7, mean_error=-1.3, rtol=0.088, atol=3.1),
            'write --check 1% (check="1%"). jit returns',
        ),
        (replace(LOW, largest_error=0.3, mean_error=0.3, rtol=0.088, atol=3.1), "against float32. jit returns"),
        (
            replace(
                LOW, passed=False, largest_error=0.059, rtol=3.4e-4, atol=0.012, dtype="float32", largest_share=0.04
            ),
            "off by up to 0.059 (0.17 % of the largest value), with 0.034 % allowed in float32. If this is "
            'rounding, --check 5% (check="5%") allows it.',
        ),
        (
            replace(
                LOW, passed=False, largest_error=9.0, rtol=3.4e-4, atol=0.012, dtype="float32", largest_share=0.26
            ),
            "off by up to 9 (26 % of the largest value), with 0.034 % allowed in float32.\n",
        ),
        (
            replace(LOW, passed=False, given=True, rtol=0.1, atol=0.0),
            "with rtol=0.1 and atol=0 allowed. Values near 0 need atol as well: --check RTOL,ATOL",
        ),
        (replace(LOW, passed=False, given=True, rtol=0.1, atol=0.1), "with rtol=0.1 and atol=0.1 allowed.\n"),
        (
            Check(kind="equal", passed=False, leaf="x", problem="different dtype: f8, not f4"),
            "jit does not compute what numpy does at x: different dtype: f8, not f4.",
        ),
    ],
)
def test_what_the_check_of_outputs_came_to(comparison: Comparison, check: Check, sentence: str) -> None:
    found = with_check(comparison, check)
    said = " ".join(about_outputs(found))
    assert sentence in f"{said}\n"
    assert said[:60] in " ".join(to_text(found).split())


def test_what_all_leaves_differ_by_at_most_is_the_largest_share_of_all(comparison: Comparison) -> None:
    """A loss of 100 differs by more than a gradient of 1 does, but by a smaller share; so with candidates."""
    ones = np.ones(4, np.float32)
    loss, gradient = np.float32(100 + 0.02), jnp.asarray(ones + 0.03125, jnp.bfloat16)
    for value, reference in (
        ((loss, gradient), (np.float32(100), ones)),
        ((gradient, loss), (ones, np.float32(100))),
    ):
        found = check_output(value, reference, "allclose")
        (said, *_) = about_outputs(with_check(comparison, found))
        place = 0 if value[0] is gradient else 1
        assert said == (
            f"All outputs agree: they differ by at most 3.1 % of the largest value (jit, by 0.031 at [{place}]), "
            "with 8.8 % allowed in bfloat16 against float32."
        )
    numpy, jit = with_check(comparison, check_output(gradient, ones, "allclose")).candidates
    other = replace(jit, label="other", check=check_output(loss, np.float32(100), "allclose"))
    assert "3.1 % of the largest value (jit" in about_outputs(replace(comparison, candidates=(numpy, jit, other)))[0]


def test_types_that_differ_in_any_leaf_are_told_where_all_values_are_equal(comparison: Comparison) -> None:
    ones = np.ones(4, np.float32)
    found = check_output((jnp.asarray(ones, jnp.bfloat16), ones), (ones, ones), "allclose")
    assert about_outputs(with_check(comparison, found))[0] == "All outputs are equal except for their types:"


def test_headlines(comparison: Comparison) -> None:
    numpy, jit = comparison.candidates
    same = replace(jit, latency=numpy.latency)
    wrong = replace(jit, label="wrong", check=MISMATCH)
    for candidates, baseline, wanted in (
        ((numpy, jit), "numpy", "jit is 2."),
        ((numpy, same), "numpy", "No difference"),
        ((numpy, same, wrong), "numpy", "No difference between numpy and jit; the output of wrong differs\n"),
    ):
        text = to_text(replace(comparison, candidates=candidates, baseline=baseline))
        assert text.startswith(wanted)
    slow = replace(comparison, baseline="jit")
    assert to_text(slow).startswith("jit is 2.00x faster (1.98x to 2.01x) than numpy\n")
    few = Trial(samples_ns=(1, 2, 3), evaluations=1)
    short = replace(comparison, again=few, candidates=tuple(replace(each, latency=few) for each in (numpy, jit)))
    assert "too few rounds to tell" in to_text(short)
    assert "A verdict needs 4 rounds." in " ".join(to_text(short).split())
    assert short.to_frame()["verdict"].tolist() == ["baseline", "too few rounds"]


def test_labels_and_outputs_are_escaped(comparison: Comparison) -> None:
    numpy, jit = comparison.candidates
    evil = replace(jit, label="<script>alert(1)</script>", check=replace(MISMATCH, leaf="<img src=x>"))
    html = to_html(replace(comparison, candidates=(numpy, evil)))
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    torn = replace(comparison, candidates=(numpy, replace(jit, label="\ud800\u2028\0")))
    assert not re.search("[\ud800\u2028\0]", to_html(torn))
    assert "\x1b" not in to_text(replace(comparison, candidates=(numpy, replace(jit, label="\x1b[2J"))))


def test_a_comparison_as_a_frame(comparison: Comparison) -> None:
    frame = to_frame(comparison)
    assert list(frame["label"]) == ["numpy", "jit"]
    assert list(frame["verdict"]) == ["baseline", "faster"]
    assert frame["memory_bytes"].isna().all()
    assert frame["temporary_bytes"].isna().all()
    assert str(frame["break_even_calls"].dtype) == "Int64"
    jit = frame.set_index("label").loc["jit"]
    assert (jit["break_even_calls_low"], jit["break_even_calls_high"]) == comparison["jit"].break_even_interval
    assert frame["work_per_s_low"].isna().all()
    samples = to_frame(comparison, "samples")
    assert len(samples) == 3 * 60
    assert set(samples["kind"]) == {"latency", "again"}
    assert list(to_frame(comparison, "compilations")["function"]) == ["f"]
    with pytest.raises(
        ValueError,
        match="expected one of 'candidates', 'samples', 'lines', 'operations', 'compilations', got 'all'",
    ):
        to_frame(comparison, "all")


def test_a_benchmark_as_text(benchmark: Benchmark) -> None:
    expected = """\
        9.98 ms per call   (9.94 to 10.1 ms with 95 % confidence)
          90 samples: half of them 9.85 to 10.1 ms, min 9.43 ms.
          The interval assumes that these 90 samples are independent.
          9.43 ms ▁▂ ▂ ▂▁▁▂▆▂▅█▃▄▄▅▆▃▂▂▂ ▂     ▁ 10.7 ms
          Pipelined: 9.57 ms per call, 10 in flight.
          First call: 182 ms, 171 ms (94 %) of it compiling (f).
        Stopped because the interval is within 1 % of the median."""
    assert to_text(benchmark) == dedent(expected)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"stopped_by": "budget"}, "Stopped by the budget of 1 s; the interval is within 1 % of the median."),
        ({"stopped_by": "budget", "rtol": 0.001}, "of the median, not 0.1 %."),
        ({"stopped_by": "count"}, "Stopped after 90 samples, as requested."),
        (
            {"pipelined": None},
            "Pipelined: not measured, because 24 calls did not fit into 20 % of the budget: use --budget 1.5s",
        ),
    ],
)
def test_what_was_not_reached_is_said(benchmark: Benchmark, changes: Any, sentence: str) -> None:
    assert sentence in " ".join(to_text(replace(benchmark, **changes)).split())


@pytest.mark.parametrize(("low", "times"), [(1.5, None), (51.43, "5043"), (3.0, "200"), (1.999, None)])
def test_an_interval_that_is_wider_than_its_median_is_told_in_multiples_of_what_was_asked(
    benchmark: Benchmark, low: float, times: str | None
) -> None:
    """A third of the samples is so many times the median, which the interval then reaches."""
    ns = 10**6
    samples = (ns,) * 5 + (round(low * ns),) * 4
    latency = replace(benchmark.latency, samples_ns=samples, evaluations=1)
    wide = replace(benchmark, latency=latency, stopped_by="budget", rtol=0.01)
    assert wide.estimate is not None
    assert wide.estimate.relative_width == pytest.approx(low - 1)
    text = " ".join(to_text(wide).split())
    if times is None:
        assert f"the interval is within {units.percent(low - 1)} of the median, not 1 %." in text
    else:
        assert f"the interval reaches {times} times as far as asked (1 %)." in text
        assert not re.search(r"\d{3} %", text.replace("100 %", ""))


def test_an_interval_that_only_rounds_to_what_was_wanted_is_a_little_wider(benchmark: Benchmark) -> None:
    assert benchmark.estimate is not None
    width = benchmark.estimate.relative_width
    text = " ".join(str(replace(benchmark, rtol=width * 0.9999, stopped_by="budget")).split())
    wanted = units.percent(width * 0.9999)
    assert f"the interval is within a little more than {wanted} of the median, not {wanted}." in text


def test_few_samples_have_no_interval(benchmark: Benchmark) -> None:
    few = replace(benchmark, latency=Trial(samples_ns=(10, 11, 12), evaluations=1), stopped_by="budget")
    text = to_text(few)
    assert "(median of 3 samples: too few for an interval)" in text
    assert "an interval needs six samples" in text
    assert "█" not in text
    assert to_frame(few, "benchmarks")["interval_low_ns"].isna().all()


def test_every_medium_says_what_the_interval_of_few_samples_assumes(benchmark: Benchmark) -> None:
    said = "The interval assumes that these 90 samples are independent."
    assert said in " ".join(to_text(benchmark).split())
    assert said in to_html(benchmark)
    many = replace(benchmark, latency=Trial(samples_ns=benchmark.samples_ns * 2, evaluations=1))
    assert "assumes" not in to_text(many)


def test_one_sample_is_told_as_one(benchmark: Benchmark) -> None:
    text = to_text(replace(benchmark, latency=Trial(samples_ns=(10**9,), evaluations=1), stopped_by="budget"))
    assert text.startswith("1.00 s per call   (one sample: too few for an interval)\n  One sample.\n")
    assert "an interval needs six samples; --budget 6s (budget_s) would allow them." in " ".join(text.split())


def test_the_mean_of_several_calls_has_another_name(benchmark: Benchmark) -> None:
    several = replace(benchmark, latency=Trial(samples_ns=benchmark.samples_ns, evaluations=10))
    assert to_text(several).startswith("998 µs per call (means of 10 calls)   (")


def test_pipelined_calls_are_put_beside_as_many_that_are_waited_for(benchmark: Benchmark) -> None:
    assert benchmark.pipelined is not None
    once = benchmark.pipelined.samples_ns
    slower = Trial(samples_ns=tuple(2 * each for each in once for _ in range(2)), evaluations=10)
    text = " ".join(to_text(replace(benchmark, waited=slower)).split())
    assert "Pipelined: 9.57 ms per call, 10 in flight; 2.00x" in text
    same = Trial(samples_ns=tuple(each for each in once for _ in range(2)), evaluations=10)
    text = " ".join(to_text(replace(benchmark, waited=same)).split())
    assert "10 in flight; not waiting for each call saves no measurable time." in text


def test_a_number_is_not_torn_from_its_unit(benchmark: Benchmark) -> None:
    for width in range(40, 81):
        for line in to_text(benchmark, Style(width=width)).splitlines():
            assert line.split()[0] not in ("ms", "%", "µs", "s", "%.", "ms,")


def test_warnings_are_in_every_medium_and_escaped(benchmark: Benchmark) -> None:
    found = replace(benchmark, conditions=replace(benchmark.conditions, folded=True))
    assert "Warning: The jitted call takes no array" in to_text(found)
    assert "The jitted call takes no array" in to_html(found)


def test_a_benchmark_as_frames(benchmark: Benchmark) -> None:
    samples = to_frame(benchmark)
    assert list(samples["kind"].value_counts()[["latency", "pipelined", "warm-up"]]) == [90, 7, 3]
    assert np.allclose(samples["call_ns"] * samples["evaluations"], samples["sample_ns"])
    summary = to_frame(benchmark, "benchmarks")
    assert summary["median_ns"][0] == benchmark.median_ns
    assert summary["compile_ns"][0] == 171_000_000


def test_the_history_shows_and_lists_records_of_all_kinds(
    timing: Any, benchmark: Benchmark, comparison: Comparison
) -> None:
    history = History()
    for record in (timing(), benchmark, comparison):
        history.append(record)
    text = to_text(history)
    assert "\nNewest first:" in text
    assert "per call" in text
    assert "2 compared" in text
    assert len(to_frame(history)) == 1
    assert len(to_frame(history, "benchmarks")) == 1
    assert list(to_frame(history, "compilations")["record"]) == [1, 2]


def test_the_history_keeps_the_candidates_of_a_comparison_apart(comparison: Comparison) -> None:
    history = History.of_records([replace(comparison, code="numpy: f(x)\n\njit: g(x)\n")])
    assert to_text(history).endswith("2 compared  numpy: f(x); jit: g(x)")


@pytest.mark.parametrize("name", ["benchmark", "comparison"])
def test_records_are_saved_and_loaded(request: Any, tmp_path: Any, name: str) -> None:
    record = request.getfixturevalue(name)
    record = replace(record, **({"value": object()} if name == "benchmark" else {"values": {"jit": object()}}))
    loaded = jaxmagic.load(jaxmagic.save(record, tmp_path / "record.json"))
    assert loaded == record
    assert type(loaded) is type(record)


def test_a_derivative_is_put_beside_the_same_derivative_of_the_baseline(with_modes: Comparison) -> None:
    text = " ".join(to_text(with_modes).split())
    assert "numpy grad 18.2 ms 2.00x slower" in text  # what a derivative costs, beside its function
    assert "jit grad 9.12 ms 2.00x faster (1.96x to 2.02x) than 'numpy grad'" in text
    function, derivative = text.split(" than 'numpy grad' ")[0].split("; ")
    assert function.startswith("jit is 2.")
    assert derivative == "'jit grad' is 2.00x faster (1.96x to 2.02x)"


def test_each_mode_has_its_own_verdict_in_the_headline(with_modes: Comparison) -> None:
    def with_jit(**latencies: Trial) -> str:
        jits = {name.replace("_", " "): trial for name, trial in latencies.items()}
        changed = [replace(each, latency=jits.get(each.label, each.latency)) for each in with_modes.candidates]
        return " ".join(to_text(replace(with_modes, candidates=tuple(changed))).split("\n\n")[0].split())

    numpy, numpy_grad = (with_modes.candidate(each).latency for each in ("numpy", "numpy grad"))
    slower = Trial(samples_ns=tuple(3 * each for each in numpy_grad.samples_ns), evaluations=1)
    assert with_jit(jit=numpy, jit_grad=slower).startswith(
        "No difference between numpy and jit; 'numpy grad' is 3.00x faster"
    )
    assert with_jit(jit_grad=numpy_grad).startswith("jit is 2.")
    assert "; no difference between 'numpy grad' and 'jit grad'" in with_jit(jit_grad=numpy_grad)


def test_one_function_and_its_derivative_are_put_beside_each_other(with_modes: Comparison) -> None:
    one = replace(with_modes, candidates=with_modes.candidates[:2])
    assert to_text(one).startswith("numpy is 2.00x faster (2.00x to 2.00x) than 'numpy grad'\n")


def test_each_mode_has_its_own_fastest(with_modes: Comparison) -> None:
    numpy, numpy_grad, jit, jit_grad = with_modes.candidates
    swapped = (
        replace(numpy, latency=jit.latency),
        replace(numpy_grad, latency=jit_grad.latency),
        replace(jit, latency=numpy.latency),
        replace(jit_grad, latency=numpy_grad.latency),
    )
    found = replace(with_modes, candidates=swapped, again=jit.latency)
    text = " ".join(to_text(found).split())
    assert text.startswith(
        "numpy is 2.00x faster (1.97x to 2.01x) than jit; 'numpy grad' is 2.00x faster (1.96x to 2.02x) than"
    )


def test_outputs_are_judged_beside_the_baseline_that_is_chosen(comparison: Comparison) -> None:
    numpy, jit = comparison.candidates
    other = replace(jit, label="other", check=MISMATCH)
    same_as_other = replace(jit, label="like other", check=MISMATCH)
    three = replace(comparison, candidates=(numpy, other, same_as_other))
    assert "baseline, with" not in to_text(replace(three, baseline="other"))
    lines = to_text(replace(three, baseline="other"), Style(width=200)).splitlines()
    assert "with a different output" in next(line for line in lines if line.startswith("  numpy"))
    assert "with a different output" not in next(line for line in lines if line.startswith("  like other"))


def test_memory_is_told_with_its_temporaries_and_drawn_where_it_differs(
    comparison: Comparison, executable: Any
) -> None:
    numpy, jit = comparison.candidates
    program = executable(argument_bytes=1024, output_bytes=1024, temporary_bytes=4096, alias_bytes=1024)
    record = replace(comparison, candidates=(replace(numpy, memory=replace(program, temporary_bytes=0)), jit))
    assert "needs 1.00 KiB" in to_text(record)
    record = replace(comparison, candidates=(record.candidates[0], replace(jit, memory=program)))
    assert "needs 5.00 KiB, 4.00 KiB of it temporary" in " ".join(to_text(record).split())
    assert 'alt="memory against time"' not in to_html(record)  # two points would repeat the table
    third = replace(record, candidates=(*record.candidates, replace(record.candidates[1], label="third")))
    assert 'alt="memory against time"' in to_html(third)
    assert 'alt="memory against time"' not in to_html(comparison)
    frame = to_frame(record)
    assert list(frame["memory_bytes"]) == [1024, 5120]
    assert list(frame["temporary_bytes"]) == [0, 4096]
    assert list(frame["alias_bytes"]) == [1024, 1024]


def test_a_long_label_is_cut_in_the_headline_and_in_sentences(named: Any) -> None:
    comparison = named("a" * 200, "b" * 200)
    html = re.sub("<[^>]*>", "\n", to_html(comparison, Style(picture=False)))
    for text in (to_text(comparison), html):
        assert not re.search("a{41}|b{41}", text)
        assert re.search("a{39}…", text.strip().splitlines()[0])
