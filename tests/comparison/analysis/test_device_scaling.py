"""How the time of a candidate falls with the number of devices."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from fabricate.profiling import MS, fabricated, use
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.comparison.analysis.device_scaling import device_scaling, speed_up
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.curve import Variable
from jaxmagic.comparison.record.sweep import Point, Sweep
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.report.style import Style
from jaxmagic.report.to_text import to_text
from jaxmagic.statistics.estimate import Estimate


def profile(devices: int, exchange_ns: int) -> Profile:
    uses = (use(f"CPU:{n}", 30 * MS, exposed_collective_ns=exchange_ns) for n in range(devices))
    return replace(fabricated(), device_uses=tuple(uses))


@pytest.fixture
def scaled(sweep: Sweep, compared: Callable[..., Comparison]) -> Sweep:
    """Jit takes 8 ms on one device, 5 on two and 4 on four, where a fourth and a half are exchange."""
    points = []
    for index, (devices, time_ns) in enumerate(((1, 8e6), (2, 5e6), (4, 4e6))):
        comparison = compared(10e6, time_ns)
        numpy, jit = comparison.candidates
        jit = replace(jit, profile=profile(devices, index * 10 * MS))
        points.append(Point(at=(index,), comparison=replace(comparison, candidates=(numpy, jit))))
    variable = Variable(name="devices", labels=("1", "2", "4"), numbers=(1.0, 2.0, 4.0))
    return replace(sweep, variables=(variable,), points=tuple(points))


def test_speed_up_and_efficiency_are_beside_the_fewest_devices(scaled: Sweep) -> None:
    found = device_scaling(scaled)
    assert [(each.label, each.devices) for each in found] == [("jit", 1), ("jit", 2), ("jit", 4)]
    assert [each.speedup.value for each in found] == pytest.approx([1, 1.6, 2], rel=0.02)
    assert [each.efficiency.value for each in found] == pytest.approx([1, 0.8, 0.5], rel=0.02)
    assert [each.exposed_share for each in found] == [0, 0.25, 0.5]
    assert [each.idle_share for each in found] == [0.25, 0.25, 0.25]
    fewest, *more = found
    assert (fewest.speedup.low, fewest.speedup.high) == (1, 1)  # it is beside itself
    for each in more:
        assert each.speedup.low < each.speedup.value < each.speedup.high
        assert each.efficiency.low == pytest.approx(each.speedup.low / each.devices)
        assert each.efficiency.high == pytest.approx(each.speedup.high / each.devices)


def test_a_sweep_over_devices_without_profiles_names_the_option(scaled: Sweep) -> None:
    def plain(point: Point) -> Point:
        assert point.comparison is not None
        candidates = tuple(replace(each, profile=None) for each in point.comparison.candidates)
        return replace(point, comparison=replace(point.comparison, candidates=candidates))

    def named(sweep: Sweep) -> int:
        return to_text(sweep).count("Measure with --profile (profile=True) to see speed-up")

    (variable,) = scaled.variables
    environment = replace(scaled.environment, device_count=4)
    scaled = replace(scaled, environment=environment)
    without = replace(scaled, points=tuple(map(plain, scaled.points)))
    assert [named(without), named(scaled)] == [1, 0]
    assert "These devices are virtual" in to_text(without)
    assert "These devices are virtual" not in to_text(
        replace(without, environment=replace(environment, backend="gpu"))
    )
    assert named(replace(without, variables=(replace(variable, name="n_GPUs"),))) == 1
    assert named(replace(without, variables=(replace(variable, name="size"),))) == 0
    assert named(replace(without, environment=replace(environment, device_count=2))) == 0  # as many there are not


@given(st.lists(st.floats(1e-3, 0.5), min_size=4, max_size=4))
def test_a_speed_up_is_never_known_better_than_opposite_ends_allow(reaches: list[float]) -> None:
    one, two, three, four = reaches
    before = Estimate(value=8.0, low=8 * (1 - one), high=8 * (1 + two), confidence=0.95)
    after = Estimate(value=4.0, low=4 * (1 - three), high=4 * (1 + four), confidence=0.95)
    found = speed_up(before, after)
    assert found.low <= before.low / after.high
    assert found.high >= before.high / after.low
    back = speed_up(after, before)
    assert (back.value, back.low, back.high) == pytest.approx((1 / found.value, 1 / found.high, 1 / found.low))


def test_a_speed_up_knows_what_differs_between_points_and_promises_nothing_for_few_samples() -> None:
    before = Estimate(value=8.0, low=8.0, high=8.0, confidence=0.0)
    found = speed_up(before, replace(before, value=4.0, low=4.0, high=4.0))
    assert found.confidence == 0
    assert found.high / found.value == pytest.approx(1.094, abs=0.001)


def test_the_report_and_the_frame_have_the_table(scaled: Sweep) -> None:
    text = " ".join(str(scaled).split())
    assert "devices time speed-up efficiency exposed comm. idle" in text
    assert re.search(r"50 % \(\d\d to \d\d %\) 50 % 25 %", text)
    assert "1.00x 100 % 0 % 25 %" in text
    assert scaled.to_frame("scaling")["devices"].tolist() == [1, 2, 4]
    assert (scaled.to_frame("scaling")["efficiency_low"] <= scaled.to_frame("scaling")["efficiency_high"]).all()
    assert "speed-up" in scaled._repr_mimebundle_()["text/html"]


def test_the_only_candidate_is_not_named_in_each_row(scaled: Sweep) -> None:
    assert "  candidate  devices" in str(scaled)
    points = []
    for point in scaled.points:
        assert point.comparison is not None
        comparison = replace(
            point.comparison, candidates=point.comparison.candidates[1:], baseline="jit", twice="jit"
        )
        points.append(replace(point, comparison=comparison))
    text = to_text(replace(scaled, points=tuple(points), labels=("jit",), baseline="jit"))
    assert "  devices     time" in text
    assert "candidate  devices" not in text


def test_the_report_says_whether_it_scales_and_that_virtual_devices_share_cores(scaled: Sweep) -> None:
    text = " ".join(str(scaled).split())
    assert re.search(r"jit on 4 devices is \d\.\d+x faster \(.*\) than jit on 1 device", text)
    assert "Growth cannot be estimated" not in text
    assert "virtual" in text
    environment = replace(scaled.environment, backend="gpu")
    assert "virtual" not in str(replace(scaled, environment=environment))


def test_an_efficiency_without_a_useful_bound_has_none(scaled: Sweep) -> None:
    *points, last = scaled.points
    assert last.comparison is not None
    numpy, jit = last.comparison.candidates
    noisy = tuple(each * (1 if n % 2 else 40) for n, each in enumerate(jit.latency.samples_ns))
    jit = replace(jit, latency=replace(jit.latency, samples_ns=noisy))
    comparison = replace(last.comparison, candidates=(numpy, jit))
    noisy_sweep = replace(scaled, points=(*points, replace(last, comparison=comparison)))
    text = " ".join(to_text(noisy_sweep, Style(width=120)).split())
    assert re.search(r"jit 4 .* [\d.]+ % \(at least \d.* %\)", text)
    assert "jit on 4 devices compared with jit on 1 device: too noisy to tell (between" in text


def test_one_sample_has_no_interval(scaled: Sweep) -> None:
    points = []
    for point in scaled.points:
        assert point.comparison is not None
        candidates = tuple(
            replace(each, latency=replace(each.latency, samples_ns=each.latency.samples_ns[:1]))
            for each in point.comparison.candidates
        )
        again = replace(point.comparison.again, samples_ns=point.comparison.again.samples_ns[:1])
        points.append(replace(point, comparison=replace(point.comparison, candidates=candidates, again=again)))
    few = replace(scaled, points=tuple(points))
    assert re.search(r"jit 4 4\.05 ms 2\.00x too few rounds 50 % 25 %", " ".join(str(few).split()))
    said = " ".join(str(few).split())
    assert "compared with jit on 1 device: too few rounds to tell (1 of the 6 that it takes)" in said
    assert re.search(r"Too few rounds for a verdict at 3 of 3 points: 1 round, where it needs 6[.]", said)
    frame = few.to_frame("scaling")
    ends = frame[["speedup_low", "speedup_high", "efficiency_low", "efficiency_high"]]
    assert ends[frame["devices"] > 1].isna().all(axis=None)
    assert (ends[frame["devices"] == 1] == 1).all(axis=None)


def test_a_candidate_that_uses_as_many_devices_at_each_point_is_told(scaled: Sweep) -> None:
    first, *_ = scaled.points
    same = replace(scaled, points=tuple(replace(first, at=each.at) for each in scaled.points))
    same = replace(same, environment=replace(same.environment, device_count=4))
    told = "jit ran on 1 device at each point: shard its arrays over the devices"
    assert told in " ".join(str(same).split())
    (variable,) = same.variables
    alone = replace(same, variables=(replace(variable, labels=("4",), numbers=(4.0,)),), points=(first,))
    assert told not in " ".join(str(alone).split())
    assert told not in " ".join(str(scaled).split())


def test_where_the_number_of_devices_does_not_vary_there_is_none(scaled: Sweep, sweep: Sweep) -> None:
    assert device_scaling(sweep) == []
    assert "speed-up" not in str(sweep)
    first, *_ = scaled.points
    same = replace(scaled, points=tuple(replace(first, at=each.at) for each in scaled.points))
    assert device_scaling(same) == []


def test_where_something_else_varies_as_well_it_is_told(scaled: Sweep) -> None:
    scaled = replace(scaled, environment=replace(scaled.environment, device_count=4))
    other = Variable(name="n", labels=("8",), numbers=(8.0,))
    points = tuple(replace(each, at=(*each.at, 0)) for each in scaled.points)
    text = " ".join(str(replace(scaled, variables=(*scaled.variables, other), points=points)).split())
    assert "Speed-up and efficiency need a sweep over the number of devices alone." in text
    assert "These devices are virtual" in text


def test_where_something_else_varies_as_well_there_is_none(scaled: Sweep) -> None:
    other = Variable(name="n", labels=("8",), numbers=(8.0,))
    points = tuple(replace(each, at=(*each.at, 0)) for each in scaled.points)
    assert device_scaling(replace(scaled, variables=(*scaled.variables, other), points=points)) == []


def test_a_point_that_failed_is_left_out(scaled: Sweep) -> None:
    _, second, third = scaled.points
    failed = Point(at=(0,), comparison=None)
    found = device_scaling(replace(scaled, points=(failed, second, third)))
    assert [(each.devices, round(each.speedup.value, 2)) for each in found] == [(2, 1.0), (4, 1.25)]
