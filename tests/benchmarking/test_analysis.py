"""A record beside an earlier one."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt
from typing import Any

import pytest
from processes import over_processes, scaled

import jaxmagic
from jaxmagic.benchmarking.analysis import against, against_record, needs_noise
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.process_noise import ProcessNoise, ProgramNoise
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.benchmarking.report.versus import about_load
from jaxmagic.benchmarking.verbs.earlier import Earlier
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.sweep import Sweep
from jaxmagic.records.environment import differing
from jaxmagic.report.style import Style
from jaxmagic.report.to_text import to_text


def test_records_of_one_process_rest_on_the_assumed_noise(benchmark: Benchmark) -> None:
    found = against(benchmark, scaled(benchmark, 1.2))
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.2)
    error = log((benchmark.interval_ns or (0, 0))[1] / (benchmark.interval_ns or (1, 1))[0]) / 2 / 1.96
    reach = 2.776 * sqrt(2 * (0.02**2 + error**2))
    assert found.interval == pytest.approx((1.2 * exp(-reach), 1.2 * exp(reach)), rel=1e-3)
    assert found.verdict == "slower"
    assert found.basis is not None
    assert (found.basis.old_processes, found.basis.new_processes, found.basis.source) == (1, 1, "assumed")
    assert found.basis.smallest_ratio == pytest.approx(1.12, abs=0.01)
    assert against(benchmark, benchmark).verdict == "too noisy to tell"
    assert against(benchmark, scaled(benchmark, 1.06)).verdict == "too noisy to tell"


def test_other_processes_beside_the_earlier_record_are_named(benchmark: Benchmark) -> None:
    busy = replace(
        benchmark,
        conditions=replace(benchmark.conditions, other_load=1.5),
        environment=replace(benchmark.environment, cpu_count=2),
    )
    quiet = replace(busy, conditions=replace(busy.conditions, other_load=0.1))
    found = against(busy, quiet)
    assert found.basis is not None
    assert (found.basis.old_load, found.basis.new_load) == ("1.5 of 2 CPUs", "")
    said = (
        "While the earlier record was taken, other processes kept 1.5 of 2 CPUs busy: the code may seem faster now, "
        "for which the interval allows."
    )
    assert about_load([found]) == [said]
    assert said in " ".join(to_text(found).split())
    assert said in Earlier(busy, "busy.json", anyway=False).told(quiet)[1]
    assert about_load([against(quiet, quiet)]) == []


@pytest.mark.parametrize(
    ("old_load", "new_load", "lower", "higher"),
    [
        (0.1, 1.0, 1.9, 1),  # the later one may take twice as long, and the earlier one 5 % longer
        (1.0, 0.1, 1, 1.9),
        (1.0, 1.0, 1, 1),  # both alike, which the noise of the processes shows
        (0.5, 1.5, 3, 1),
        (0.1, 0.4, 1, 1),  # too few to be noticed
        (None, 1.0, 2, 1),
    ],
)
def test_an_interval_allows_for_other_processes_beside_one_of_the_records(
    benchmark: Benchmark, old_load: float | None, new_load: float, lower: float, higher: float
) -> None:
    old, new = _beside_others(benchmark, old_load), _beside_others(scaled(benchmark, 1.8), new_load)
    low, high = against(old, new).interval or (0.0, 0.0)
    least, most = against(benchmark, scaled(benchmark, 1.8)).interval or (0.0, 0.0)
    assert (least / low, high / most) == pytest.approx((lower, higher))
    assert against(old, new).verdict == ("slower" if lower * 1.01 < least else "too noisy to tell")


@pytest.mark.parametrize("kind", ["benchmark", "comparison", "sweep"])
@pytest.mark.parametrize(
    ("old_load", "new_load", "said"),
    [
        (
            1.5,
            1.25,
            "1.5 of 2 CPUs busy while the earlier record was taken, and 1.2 of 2 CPUs busy now: measure",
        ),
        (1.5, 0.1, "While the earlier record was taken, other processes kept 1.5 of 2 CPUs busy"),
        (0.1, 1.25, "Other processes kept 1.2 of 2 CPUs busy: the code may seem slower now"),
    ],
)
def test_one_sentence_is_about_a_busy_machine_beside_an_earlier_record(
    kind: str, old_load: float, new_load: float, said: str, request: pytest.FixtureRequest
) -> None:
    old, new = (_beside_others(request.getfixturevalue(kind), load) for load in (old_load, new_load))
    sentences, basis = Earlier(old, "old.json", anyway=False).told(new)
    shown = " ".join([*sentences, *basis, *to_text(new, Style(compared=True)).split()])
    assert shown.count("ther processes kept") == 1
    assert said in shown
    assert ("ther processes kept" in to_text(new)) == (new_load > 1)


def _beside_others(record: Any, load: float | None) -> Any:
    """Return a record during which other processes kept so many of two processors busy."""
    if isinstance(record, Sweep):
        measured = [each for each in record.points if each.comparison]
        points = [replace(each, comparison=_beside_others(each.comparison, load)) for each in measured]
        return replace(record, points=tuple(points), environment=replace(record.environment, cpu_count=2))
    if isinstance(record, Comparison):
        candidates = [
            replace(each, conditions=replace(each.conditions, other_load=load)) for each in record.candidates
        ]
        changed: dict[str, Any] = {"candidates": tuple(candidates)}
    else:
        changed = {"conditions": replace(record.conditions, other_load=load)}
    return replace(record, environment=replace(record.environment, cpu_count=2), **changed)


def test_a_load_of_some_points_was_there_at_times(sweep: Sweep) -> None:
    first, *others = against_record(_beside_others(sweep, 0.1), _beside_others(sweep, 1.5))
    quiet = [each for each in others if each.basis is not None]
    mixed = [first, *(replace(each, basis=replace(each.basis, new_load="")) for each in quiet)]
    assert about_load(mixed) == [
        "Other processes kept 1.5 of 2 CPUs busy at times: the code may seem slower now, for which the interval "
        "allows. Measure when the machine is quiet."
    ]


def test_a_load_that_differs_from_point_to_point_is_a_range(sweep: Sweep) -> None:
    quiet = against_record(_beside_others(sweep, 0.1), _beside_others(sweep, 0.1))
    loads = ("1.5 of 2 CPUs", "0.80 of 2 CPUs", "1.2 of 2 CPUs")
    known = [each for each in quiet if each.basis is not None][: len(loads)]
    busy = [replace(each, basis=replace(each.basis, new_load=load)) for each, load in zip(known, loads, strict=True)]
    assert about_load(busy)[0].startswith("Other processes kept 0.80 to 1.5 of 2 CPUs busy: the code may seem slower")
    assert about_load([*busy, known[0]])[0].startswith("Other processes kept 0.80 to 1.5 of 2 CPUs busy at times:")


def test_the_noise_of_the_machine_counts_where_it_is_known(benchmark: Benchmark) -> None:
    noise = ProcessNoise(programs=(ProgramNoise(call_ns=1e7, sd=0.1),), processes=5)
    found = against(benchmark, scaled(benchmark, 1.2), process_noise=noise)
    assert found.verdict == "too noisy to tell"
    assert found.basis is not None
    assert found.basis.source == "measured"
    assert found.basis.between_sd == pytest.approx(0.1)
    assert against(benchmark, scaled(benchmark, 1.8), process_noise=noise).verdict == "slower"


def test_three_processes_on_both_sides_rest_on_themselves(benchmark: Benchmark) -> None:
    old = over_processes(benchmark, (1.0, 1.01, 0.99, 1.005))
    noise = ProcessNoise(programs=(ProgramNoise(call_ns=1e7, sd=0.5),), processes=5)
    assert not needs_noise(old, old)
    assert needs_noise(old, benchmark)
    assert needs_noise(old, over_processes(benchmark, (1.0, 1.0)))
    few = replace(benchmark, latency=replace(benchmark.latency, samples_ns=(10**7,) * 3))
    assert not needs_noise(benchmark, few)
    assert not needs_noise(few, benchmark)
    found = against(old, over_processes(benchmark, (1.06, 1.07, 1.05)), process_noise=noise)
    assert found.verdict == "slower"
    assert found.basis is not None
    assert (found.basis.old_processes, found.basis.new_processes, found.basis.source) == (4, 3, "records")
    apart = over_processes(benchmark, (0.8, 1.0, 1.3))
    assert against(old, apart).verdict == "too noisy to tell"
    assert against(old, over_processes(benchmark, (1.0, 1.005, 0.995, 1.0))).verdict == "no difference"


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"jaxmagic": "9", "ipython": None, "cache_directory": "/x"}, []),
        ({"jax": "9"}, ["jax"]),
        ({"backend": "gpu", "cpu_count": 64}, ["cpu_count", "backend"]),
        ({"xla_flags": "--x"}, ["xla_flags"]),
    ],
)
def test_what_may_change_times_makes_records_incomparable(
    benchmark: Benchmark, changes: Any, fields: list[str]
) -> None:
    other = replace(benchmark, environment=replace(benchmark.environment, **changes))
    assert list(differing(benchmark.environment, other.environment)) == fields
    if fields:
        with pytest.raises(jaxmagic.NotComparable, match=f"{fields[0]} was .* and is "):
            against(benchmark, other)
    assert against(benchmark, other, anyway=True).verdict == "too noisy to tell"


def test_processes_that_differ_by_more_than_is_known_are_what_the_verdict_rests_on(benchmark: Benchmark) -> None:
    found = against(benchmark, over_processes(benchmark, (0.8, 1.0, 1.3)))
    assert found.basis is not None
    assert found.basis.source == "records"
    assert found.basis.between_sd == pytest.approx(0.243, abs=0.001)


def test_the_verb_takes_records_as_well(benchmark: Benchmark) -> None:
    assert jaxmagic.compare(benchmark, benchmark) == against(benchmark, benchmark)
    other = replace(benchmark, environment=replace(benchmark.environment, jax="9"))
    with pytest.raises(jaxmagic.NotComparable):
        jaxmagic.compare(benchmark, other)
    found = jaxmagic.compare(benchmark, other, anyway=True)
    assert found.verdict == "too noisy to tell"
    assert found.differing == (f"jax was {benchmark.environment.jax!r} and is '9'",)
    assert jaxmagic.compare(benchmark, benchmark, anyway=True).differing == ()


def test_a_point_with_too_few_rounds_does_not_hide_the_others(sweep: Sweep) -> None:
    first, *others = sweep.points
    assert first.comparison is not None

    def cut(trial: Trial) -> Trial:
        return replace(trial, samples_ns=trial.samples_ns[:3])

    short = replace(
        first.comparison,
        candidates=tuple(replace(each, latency=cut(each.latency)) for each in first.comparison.candidates),
        again=cut(first.comparison.again),
    )
    found = against_record(sweep, replace(sweep, points=(replace(first, comparison=short), *others)))
    assert [each.label for each in found if each.ratio is None] == ["numpy at n=8", "jit at n=8"]
    assert {each.ratio.value for each in found if each.ratio is not None} == {1.0}
    with pytest.raises(jaxmagic.NotMeasured, match="fewer than four samples"):
        against_record(sweep, replace(sweep, points=(replace(first, comparison=short),)))


@pytest.mark.parametrize(
    ("short", "message"),
    [
        ("old", "The earlier record has fewer than four samples"),
        ("new", "The later record has fewer than four samples"),
        ("old new", "Each of the two records has fewer than four samples"),
    ],
)
def test_the_record_with_too_few_samples_is_named(benchmark: Benchmark, short: str, message: str) -> None:
    few = replace(benchmark, latency=replace(benchmark.latency, samples_ns=benchmark.samples_ns[:3]))
    old, new = (few if name in short else benchmark for name in ("old", "new"))
    with pytest.raises(jaxmagic.NotMeasured, match=message):
        jaxmagic.compare(old, new, measure=False)


def test_records_of_two_kinds_are_refused(benchmark: Benchmark, sweep: Sweep) -> None:
    with pytest.raises(TypeError, match="expected two records of the same kind, got Benchmark and Sweep"):
        jaxmagic.compare(benchmark, sweep)


def test_options_that_say_how_to_measure_are_refused_for_records(benchmark: Benchmark) -> None:
    for given in (
        {"strict": True},
        {"check": "equal"},
        {"baseline": "nobody"},
        {"budget_s": 2.0},
        {"modes": ["grad"]},
    ):
        with pytest.raises(TypeError, match="expected only anyway and measure, got options that say how"):
            jaxmagic.compare(benchmark, benchmark, **given)  # type: ignore[call-overload]


def test_arguments_and_a_setup_beside_them_are_refused() -> None:
    with pytest.raises(TypeError, match="setup: expected no other arguments, got both"):
        jaxmagic.compare({"a": abs, "b": abs}, 1, setup=lambda: (2,))
