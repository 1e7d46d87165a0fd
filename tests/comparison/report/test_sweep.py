"""A sweep in every medium."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest
from pages import to_html

from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.comparison.record.candidate import Check, Work
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.curve import Growth, Variable
from jaxmagic.comparison.record.sweep import Failure, Point, Sweep
from jaxmagic.comparison.report import growth as growth_words
from jaxmagic.comparison.report import sweep_sentences as sweep_words
from jaxmagic.comparison.report.rounds import budget_for_verdict_ns
from jaxmagic.comparison.report.sweep import _points
from jaxmagic.magics.options import duration_ns
from jaxmagic.report.blocks import Excerpt, Table
from jaxmagic.report.style import Style
from jaxmagic.report.to_frame import to_frame
from jaxmagic.report.to_text import to_text
from jaxmagic.session.history import History
from jaxmagic.statistics.estimate import Estimate


def test_a_sweep_as_text(sweep: Sweep) -> None:
    expected = """\
        jit overtakes numpy near n = 64, between 32 and 128
          numpy and jit over n = 8, 16, …, 2048
             n        numpy                     jit
             8       142 µs   9.12 ms, 63.9x slower
            16       570 µs   9.12 ms, 16.0x slower
            32      2.28 ms   9.12 ms, 4.00x slower
            64      9.12 ms  9.12 ms, no difference
           128      36.5 ms   18.2 ms, 2.00x faster
           256       146 ms   36.5 ms, 4.00x faster
           512       584 ms   72.9 ms, 8.01x faster
          1024       2.33 s    146 ms, 16.0x faster
          2048  MemoryError         XlaRuntimeError
        Failed at n=2048: numpy: MemoryError: 32 GiB
        Failed at n=2048: jit: XlaRuntimeError: full
        numpy grows as n^2.00 (1.98 to 2.03).
        jit grows as n^1.00 (0.94 to 1.08) from n = 128 on, plus a constant overhead of
          about 9.1 ms (6 % of the time at n = 1024).
        Compiling: jit 171 ms each."""
    assert to_text(sweep) == dedent(expected)
    assert to_text(sweep, Style(form="line")) == dedent(expected).splitlines()[0]


@pytest.mark.parametrize(("count", "seen"), [(5, 5), (6, 6), (7, 5), (9, 5)])
def test_a_fold_leaves_out_more_than_one_point(sweep: Sweep, count: int, seen: int) -> None:
    (block,) = _points(replace(sweep, points=sweep.points[:count]), Style())
    table = block.part[0] if isinstance(block, Excerpt) else block
    assert isinstance(table, Table)
    assert len(table.rows) - 1 == seen


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ((0, 1, 2), "jit is slower than numpy at all 3 points, from 4.00x to 63.9x"),
        ((5,), "jit is 4.00x faster than numpy at the only point"),
        ((3,), "jit takes as long as numpy at the only point"),
        ((4, 4), "jit is 2.00x faster than numpy at all 2 points"),
    ],
)
def test_without_an_overtaking_a_sweep_begins_with_its_verdict(
    sweep: Sweep, numbers: tuple[int, ...], sentence: str
) -> None:
    found = replace(sweep, points=tuple(replace(sweep.points[each], at=(at,)) for at, each in enumerate(numbers)))
    assert to_text(found).splitlines()[0] == sentence
    assert f"<b>{sentence}</b>" in to_html(found)


def noisy(point: Point, first: float, last: float) -> Point:
    """Return the point with noise on the second candidate: its factors reach from the first to the last."""
    assert point.comparison is not None
    numpy, jit = point.comparison.candidates
    ns = numpy.latency.samples_ns[0]
    count = len(numpy.latency.samples_ns)
    times = tuple(round(ns * (first + (last - first) * at / (count - 1))) for at in range(count))
    same = replace(numpy.latency, samples_ns=(ns,) * count)
    both = replace(numpy, latency=same), replace(jit, latency=replace(jit.latency, samples_ns=times))
    return replace(point, comparison=replace(point.comparison, candidates=both, again=same))


def test_a_factor_that_is_not_known_well_is_written_as_its_interval(sweep: Sweep) -> None:
    points = tuple(replace(noisy(sweep.points[at], 1.5, 4.5), at=(number,)) for number, at in enumerate((0, 2)))
    points = (*points, replace(sweep.points[1], at=(2,)))
    headline, _, _, *rows = to_text(replace(sweep, points=points), Style(width=120)).splitlines()
    assert rows[0].endswith("x slower")
    low, high = (float(each) for each in re.findall(r"([\d.]+)x", rows[0]))
    assert 2 < low < 3 < high < 4
    assert rows[2].endswith("9.12 ms, 16.0x slower")  # which is known well
    assert headline == f"jit is slower than numpy at all 3 points, with intervals from {low:.2f}x to 16.2x"
    assert f"<b>{headline}</b>" in to_html(replace(sweep, points=points))


@pytest.mark.parametrize(
    ("first", "last", "cell"),
    [
        (0.5, 1.6, r"too noisy \(1\.[\d]+x faster to 1\.[\d]+x slower\)"),
        (0.85, 1.25, r"inconclusive \(1\.\d\dx to 1\.\d\dx slower\)"),
        (1.0, 1.0, "no difference"),
    ],
)
def test_a_cell_without_a_verdict_has_its_interval(sweep: Sweep, first: float, last: float, cell: str) -> None:
    found = replace(sweep, points=(noisy(sweep.points[2], first, last),))
    row = next(line for line in to_text(found, Style(width=120)).splitlines() if line.split()[0] == "32")
    assert re.search(rf"ms, {cell}$", row)
    assert re.search(cell.replace("$", ""), to_html(found))


def test_medians_farther_apart_than_the_interval_are_explained_for_all_points(sweep: Sweep) -> None:
    def slow(trial: Trial, rounds: int) -> Trial:
        return replace(
            trial, samples_ns=tuple(3 * each if at < rounds else each for at, each in enumerate(trial.samples_ns))
        )

    def drifting(point: Point) -> Point:
        assert point.comparison is not None
        numpy, jit = point.comparison.candidates
        half = len(numpy.latency.samples_ns) // 2
        both = (
            replace(numpy, latency=slow(numpy.latency, half - 1)),
            replace(jit, latency=slow(jit.latency, half + 2)),
        )
        again = slow(point.comparison.again, half - 1)
        return replace(point, comparison=replace(point.comparison, candidates=both, again=again))

    found = replace(sweep, points=tuple(map(drifting, sweep.points[:3])))
    text = " ".join(to_text(found).split())
    assert re.search(
        r"At all 3 points: By the medians alone, jit is [\d.]+x slower \(at n=32\) to 1\d\dx slower \(at n=8\)\. The "
        "verdicts rest on the ratios",
        text,
    )
    assert "By the medians alone" not in to_text(sweep)


def test_verdicts_that_differ_are_counted(sweep: Sweep) -> None:
    other = replace(sweep.points[3], at=(1,))
    found = replace(sweep, points=(sweep.points[0], other))
    assert to_text(found).startswith("jit compared with numpy, at 2 points: slower at 1, no difference at 1\n")


def test_what_computes_something_else_is_not_called_faster(sweep: Sweep) -> None:
    def unlike(point: Point) -> Point:
        assert point.comparison is not None
        numpy, jit = point.comparison.candidates
        check = Check(kind="allclose", passed=False, problem="different shape")
        other = replace(jit, check=check)
        both = (numpy, other, replace(other, label="scan"))
        return replace(point, comparison=replace(point.comparison, candidates=both))

    points = tuple(map(unlike, sweep.points[4:7]))
    found = replace(sweep, labels=(*sweep.labels, "scan"), points=points)
    text = " ".join(to_text(found).split())
    assert text.startswith(
        "The output of jit differs from that of numpy at all 3 points; the output of scan differs from that of numpy "
        "at all 3 points "
    )
    assert "No verdict" not in to_text(found)


def test_a_sweep_of_one_candidate_begins_with_its_growth_and_says_it_once(sweep: Sweep) -> None:
    def alone(point: Point) -> Point:
        if point.comparison is None:
            return point
        numpy, _ = point.comparison.candidates
        return replace(point, comparison=replace(point.comparison, candidates=(numpy,), values={}))

    one = replace(sweep, labels=("numpy",), points=tuple(map(alone, sweep.points)))
    text = to_text(one)
    assert text.startswith("numpy grows as n^2.00 (1.98 to 2.03)\n")
    assert text.count("n^2.00") == 1
    assert "no verdict" not in text
    named = to_text(replace(one, variables=(replace(one.variables[0], numbers=None),)))
    assert "To compare its values and their outputs, write a candidate for each: one with 8," in " ".join(
        named.split()
    )


def test_html_says_the_same(sweep: Sweep) -> None:
    html = to_html(sweep)
    for words in (
        "numpy and jit over n = 8, 16, …, 2048",
        "9.12 ms, 63.9x slower",
        "jit grows as n^1.00 (0.94 to 1.08) from n = 128 on, plus a constant overhead of about 9.1 ms "
        "(6 % of the time at n = 1024).",
        "jit overtakes numpy near n = 64, between 32 and 128",
        "Failed at n=2048: numpy: MemoryError: 32 GiB",
    ):
        assert words in html
    assert html.count("<tr>") == 10


def test_a_derivative_is_put_beside_the_same_derivative_of_the_baseline(sweep: Sweep, with_modes: Comparison) -> None:
    labels = tuple(with_modes)
    point = replace(sweep.points[0], comparison=with_modes)
    text = to_text(replace(sweep, labels=labels, points=(point,)), Style(width=200))
    assert "18.2 ms, 2.00x slower " in text  # numpy grad, beside its function
    assert "9.12 ms, 2.00x faster than numpy grad" in text


def test_throughput_is_in_the_table_and_what_it_leaves_out_is_said_once(sweep: Sweep) -> None:
    def counted(point: Point) -> Point:
        if point.comparison is None:
            return point
        work = Work(kind="flops", amount=1e9, caveats=("a loop is counted once",))
        made = tuple(replace(each, work=work) for each in point.comparison.candidates)
        return replace(point, comparison=replace(point.comparison, candidates=made))

    found = replace(sweep, points=tuple(map(counted, sweep.points)))
    for text in (to_text(found, Style(width=200)), to_html(found)):
        assert "9.12 ms, 63.9x slower, 110 GFLOP/s" in text
        assert text.count("a loop is counted once") == 1


def test_an_unfinished_sweep_says_what_ended_it(sweep: Sweep) -> None:
    begun = replace(sweep, points=sweep.points[:2])
    assert "Measured 2 of 9 points: interrupted." in to_text(replace(begun, stopped_by="interrupt"))
    assert "Measured 2 of 9 points: the budget of 10 s was spent." in to_text(replace(begun, stopped_by="budget"))
    assert "of 9 points" not in to_text(sweep)


def test_an_exponent_that_may_be_anything_is_not_printed_at_all(sweep: Sweep) -> None:
    crooked = [replace(sweep.points[each], at=(at,)) for at, each in enumerate((3, 0, 4))]
    text = " ".join(to_text(replace(sweep, points=tuple(crooked))).split())
    assert "The growth is unknown, because overhead or noise hides it: numpy." in text
    assert text.count("n^") == 1  # of the other one, which certainly grows


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, confidence=0.95)


def test_growth_that_other_processes_may_hide_says_so(sweep: Sweep) -> None:
    points = []
    for at, each in enumerate((3, 0, 4)):
        comparison = sweep.points[each].comparison
        assert comparison is not None
        first, *rest = comparison.candidates
        busy = replace(first, conditions=replace(first.conditions, other_load=2.5))
        points.append(replace(sweep.points[each], at=(at,), comparison=replace(comparison, candidates=(busy, *rest))))
    text = " ".join(to_text(replace(sweep, points=tuple(points))).split())
    assert "The growth is unknown, because other processes, overhead or noise hides it: numpy." in text


@pytest.mark.parametrize(
    ("exponent", "overhead_ns", "start", "words"),
    [
        (estimate(2, 1.9, 2.2), None, 8, "jit grows as n^2.00 (1.90 to 2.20)."),
        (estimate(2, 1.9, 2.2), None, 64, "jit grows as n^2.00 (1.90 to 2.20) from n = 64 on."),
        (estimate(-1, -1.1, -0.9), None, 8, "jit falls as n^-1.00 (-1.10 to -0.90)."),
        (
            estimate(1, 0.9, 1.1),
            estimate(12e3, 8.2e3, 17e3),
            inf,
            "jit grows as n^1.00 (0.90 to 1.10).",  # less than 1 % of the time at n = 1024
        ),
        (estimate(2, 1.2, 2.9), None, 8, "The growth is uncertain: jit about n^2.0, between n^1.2 and n^2.9."),
        (estimate(2.9, 1.26, 4.84), None, 8, "The growth is uncertain: jit about n^2.9, between n^1.2 and n^4.9."),
        (estimate(0.5, -0.44, 1.5), None, 8, "The growth is uncertain: jit about n^0.5, between n^-0.5 and n^1.5."),
        (estimate(1, -0.2, 3.1), None, 8, "The growth is unknown, because overhead or noise hides it: jit."),
        (estimate(1, 0.04, 3.1), None, 8, "The growth is unknown, because overhead or noise hides it: jit."),
        (estimate(0.2, -21.5, 21.8), None, 8, "The growth is unknown, because overhead or noise hides it: jit."),
        (estimate(2, 1.2, inf), None, 8, "The growth is uncertain: jit grows as n^1.2 or faster."),
        (estimate(2, 0.08, inf), None, 8, "The growth is unknown, because overhead or noise hides it: jit."),
        (estimate(2, -0.2, inf), None, 8, "The growth is unknown, because overhead or noise hides it: jit."),
        (estimate(-2, -inf, -0.5), None, 8, "The growth is uncertain: jit falls as n^-0.5 or faster."),
        (estimate(0, -inf, inf), None, 8, "The growth is unknown, because overhead or noise hides it: jit."),
    ],
)
def test_growth_is_told_as_far_as_it_is_known(
    sweep: Sweep,
    monkeypatch: pytest.MonkeyPatch,
    exponent: Estimate,
    overhead_ns: Estimate | None,
    start: float,
    words: str,
) -> None:
    found = Growth(exponent=exponent, start=start, overhead_ns=overhead_ns)
    curves = (replace(sweep["jit"][0], growth=found),)
    monkeypatch.setattr(Sweep, "curves", property(lambda _: curves))
    assert growth_words.about_growth(sweep) == [words]


def test_growth_that_other_processes_make_uncertain_is_told_with_that_cause(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Growth(exponent=estimate(2, 1.2, 2.9), start=8, overhead_ns=None)
    curves = (replace(sweep["jit"][0], growth=found),)
    monkeypatch.setattr(Sweep, "curves", property(lambda _: curves))
    monkeypatch.setattr(growth_words, "is_loaded", lambda *_: True)
    (told,) = growth_words.about_growth(sweep)
    assert told == (
        "The growth is uncertain, because other processes may have slowed some points down more than others: "
        "jit about n^2.0, between n^1.2 and n^2.9."
    )


def test_growth_that_is_no_power_is_told_from_point_to_point(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    curve = replace(sweep["jit"][0], positions=(0, 1, 2), times=tuple(estimate(ns, ns, ns) for ns in (10, 20, 80)))
    numbers = tuple(2.0**each for each in range(len(curve.variable.labels)))
    variable = replace(curve.variable, numbers=numbers)
    changing = Growth(exponent=estimate(1.5, -inf, inf), start=1, overhead_ns=None, changes=True)
    monkeypatch.setattr(Sweep, "curves", property(lambda _: (replace(curve, variable=variable, growth=changing),)))
    told = ["jit grows as no single power of n: from one point to the next as n^1.00 to n^2.00."]
    assert growth_words.about_growth(sweep) == told
    assert growth_words.about_known_growth(sweep) == []


def test_many_points_and_many_errors_are_shortened(sweep: Sweep) -> None:
    failures = (Failure(label=None, error="NameError: no x"),)
    numbers = tuple(float(each) for each in range(1, 41))
    variable = Variable(name="n", labels=tuple(map(str, range(1, 41))), numbers=numbers)
    points = tuple(Point(at=(each,), comparison=None, failures=failures) for each in range(40))
    text = to_text(replace(sweep, variables=(variable,), points=points))
    assert "… and 24 more points: see to_frame()" in text
    assert "Failed at 40 points, first at n=1: setup: NameError: no x" in text
    assert text.count("NameError") == 16 * 2 + 1


def test_names_of_the_users_are_escaped_and_cannot_move_the_cursor(sweep: Sweep) -> None:
    hostile = "<b onclick=alert(1)>\x1b[2J"
    variable = replace(sweep.variables[0], name="n", labels=(hostile, *sweep.variables[0].labels[1:]))
    failing = replace(sweep.points[-1], failures=(Failure(label=None, error=hostile),))
    found = replace(sweep, variables=(variable,), points=(*sweep.points[:-1], failing))
    assert "<b onclick" not in to_html(found)
    assert "&lt;b onclick" in to_html(found)
    assert "\x1b" not in to_text(found)


def test_a_frame_has_a_row_for_each_candidate_and_point(sweep: Sweep) -> None:
    frame = to_frame(sweep)
    assert list(frame.columns[:3]) == ["n", "label", "median_ns"]
    assert len(frame) == 18
    assert frame["n"].tolist()[::2] == [8, 16, 32, 64, 128, 256, 512, 1024, 2048]
    lost = frame[frame["n"] == 2048]
    assert lost["median_ns"].isna().all()
    assert lost["error"].tolist() == ["MemoryError: 32 GiB", "XlaRuntimeError: full"]
    assert frame["error"].isna().sum() == 16
    assert frame["compile_ns"].dtype == "Int64"
    assert len(to_frame(sweep, "compilations")) == 8


def test_a_frame_of_a_setup_that_failed_has_its_error_for_every_candidate(sweep: Sweep) -> None:
    point = Point(at=(0,), comparison=None, failures=(Failure(label=None, error="MemoryError"),))
    frame = to_frame(replace(sweep, points=(point,)))
    assert frame[["label", "error"]].values.tolist() == [["numpy", "MemoryError"], ["jit", "MemoryError"]]
    assert isinstance(to_frame(replace(sweep, points=())), pd.DataFrame)


def test_the_history_has_a_line_for_it(sweep: Sweep) -> None:
    history = History()
    history.append(sweep)
    assert "9 points" in to_text(history)


def test_the_picture_and_the_figure_have_all_curves(sweep: Sweep) -> None:
    assert "data:image/svg+xml;base64," in to_html(sweep)
    axes = sweep.figure().axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [line.get_label() for line in axes.lines[:3]] == ["numpy", "jit", "jit: compile"]


def test_without_a_single_time_there_is_a_report_without_a_picture(sweep: Sweep) -> None:
    html = to_html(replace(sweep, points=sweep.points[-1:]))
    assert "<img" not in html
    assert "MemoryError" in html


def test_an_integer_variable_is_one_in_the_frame(sweep: Sweep) -> None:
    assert to_frame(sweep)["n"].dtype == "int64"
    half = replace(sweep.variables[0], numbers=tuple(each / 16 for each in sweep.variables[0].numbers or ()))
    assert to_frame(replace(sweep, variables=(half,)))["n"].dtype == "float64"


def test_another_output_is_said_in_the_row_and_below_and_overtakes_nothing(sweep: Sweep) -> None:
    wrong = Check(kind="allclose", passed=False, like="numpy", leaf="x", largest_error=2.0, atol=0.1)
    points = []
    for point in sweep.points:
        comparison = point.comparison
        if comparison is not None:
            numpy, jit = comparison.candidates
            comparison = replace(comparison, candidates=(numpy, replace(jit, check=wrong)))
        points.append(replace(point, comparison=comparison))
    found = replace(sweep, points=tuple(points))
    for text in (" ".join(to_text(found).split()), to_html(found)):
        assert "9.12 ms*, 63.9x slower" in text
        assert "* The output is different." in text
        assert "At n=8, and at 7 more points: jit does not compute what numpy does at x: off by up to 2" in text
        assert "overtakes" not in text


def test_an_overhead_that_is_next_to_nothing_is_not_told(sweep: Sweep) -> None:
    text = to_text(sweep)
    assert "numpy grows as n^2.00 (1.98 to 2.03).\n" in text


def relabelled(sweep: Sweep, names: dict[str, str]) -> Sweep:
    """The same sweep with other labels."""

    def comparison(found: Comparison) -> Comparison:
        candidates = tuple(replace(each, label=names[each.label]) for each in found.candidates)
        return replace(found, candidates=candidates, baseline=names[found.baseline], twice=names[found.twice])

    points = tuple(
        replace(
            each,
            comparison=each.comparison and comparison(each.comparison),
            failures=tuple(replace(one, label=names.get(one.label or "", one.label)) for one in each.failures),
        )
        for each in sweep.points
    )
    labels = tuple(names[each] for each in sweep.labels)
    return replace(sweep, labels=labels, baseline=names[sweep.baseline], points=points)


def test_long_labels_stay_different_in_a_table_that_keeps_to_the_width(sweep: Any) -> None:
    long = relabelled(sweep, dict(zip(sweep.labels, ("x" * 90 + "_eager", "x" * 90 + "_jitted"), strict=True)))
    lines = to_text(long, Style(width=80)).splitlines()
    heads = next(line for line in lines if line.split()[0] == "n")
    assert len(set(heads.split())) == 3
    assert all(len(line) <= 82 for line in lines[1:])
    assert "x" * 41 not in to_text(long)


def of_rounds(comparison: Any, count: int) -> Any:
    """Return a comparison that its budget ended after the first rounds."""

    def first(trial: Any) -> Any:
        return replace(trial, samples_ns=trial.samples_ns[:count])

    candidates = tuple(replace(each, latency=first(each.latency)) for each in comparison.candidates)
    return replace(comparison, candidates=candidates, again=first(comparison.again), stopped_by="budget")


@pytest.mark.parametrize(("rounds", "said"), [(3, False), (4, True), (5, True), (6, False)])
def test_times_without_an_interval_are_named_where_there_is_a_verdict(sweep: Any, rounds: int, said: bool) -> None:
    first, second, *_ = [each for each in sweep.points if each.comparison]
    points = (first, replace(second, comparison=of_rounds(second.comparison, rounds)))
    pattern = (
        r"At n=16: Each time alone has no interval, which needs 6 rounds; the ratios have one, from within rounds\. "
        r"Use --budget (\S+) \(budget_s\) or more for the sweep, judging by the rounds so far\."
    )
    few = replace(sweep, points=points)
    found = [match for each in sweep_words.about_end(few) if (match := re.fullmatch(pattern, each))]
    assert len(found) == said
    for each in found:
        needed_ns = budget_for_verdict_ns(points[1].comparison, 6)
        assert needed_ns <= duration_ns(each[1]) / few.planned <= 1.2 * needed_ns


def test_too_few_rounds_name_the_budget_of_the_whole_sweep_that_brings_a_verdict(sweep: Any) -> None:
    assert not any("Too few rounds" in each for each in sweep_words.about_end(sweep))
    measured = [each for each in sweep.points if each.comparison]
    points = tuple(replace(each, comparison=of_rounds(each.comparison, 2)) for each in measured)
    (sentence, *_) = (each for each in sweep_words.about_end(replace(sweep, points=points)) if "rounds" in each)
    count = len(points)
    begins = f"Too few rounds for a verdict at {count} of {count} points: 2 rounds, where it needs 4. Use --budget "
    assert sentence.startswith(begins)
    assert sentence.endswith(" (budget_s) or more for the sweep, judging by the rounds so far.")
    given_ns = duration_ns(sentence.split("--budget ")[1].split(" ")[0])
    longest_ns = max(budget_for_verdict_ns(each.comparison) for each in points)
    assert longest_ns <= given_ns / sweep.planned <= 1.2 * longest_ns


@pytest.mark.parametrize(
    ("points", "title"),
    [
        (9, "Growth and compiling: numpy n^2.00, 1 more"),
        (2, "Compiling: jit 171 ms each"),
    ],
)
def test_the_fold_names_what_is_inside_and_the_first_of_it(sweep: Any, points: int, title: str) -> None:
    found = replace(sweep, points=sweep.points[:points])
    assert f"<summary>{title}</summary>" in re.sub("</?span[^>]*>", "", to_html(found))


def test_the_fold_tells_bounds_and_what_is_unknown(sweep: Any) -> None:
    open_ended = [Estimate(value=1.0, low=low, high=high, confidence=0.95) for low, high in ((0.2, 2.0), (0.5, inf))]
    curves = [
        replace(curve, growth=Growth(exponent=each, start=1.0, overhead_ns=None))
        for curve, each in zip(sweep.curves, open_ended, strict=True)
    ]

    class Drawn:
        curves: Any = ()
        points = ()

    drawn = Drawn()
    drawn.curves = curves
    (sentence,) = growth_words.about_growth(drawn)
    assert growth_words.briefly(drawn, [sentence]) == ["numpy n^0.2 to n^2.0", "jit grows as n^0.5 or faster"]
    assert growth_words.briefly(drawn, ["Compiling: jit 171 ms each."]) == []
