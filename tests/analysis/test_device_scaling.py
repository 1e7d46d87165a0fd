"""How the time of a candidate falls with the number of devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from profiles import MS, fabricated, use

from jaxmagic.analysis.device_scaling import device_scaling
from jaxmagic.model.comparison import Comparison
from jaxmagic.model.profile import Profile
from jaxmagic.model.sweep import Point, Sweep, Variable


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
    assert [each.efficiency for each in found] == pytest.approx([1, 0.8, 0.5], rel=0.02)
    assert [each.exposed_share for each in found] == [0, 0.25, 0.5]
    assert [each.idle_share for each in found] == [0.25, 0.25, 0.25]
    for each in found:
        assert each.speedup.low <= each.speedup.value <= each.speedup.high


def test_the_report_and_the_frame_have_the_table(scaled: Sweep) -> None:
    text = " ".join(str(scaled).split())
    assert "devices time speed-up efficiency exchange idle" in text
    assert "50 % 25 %" in text
    assert scaled.to_frame("scaling")["devices"].tolist() == [1, 2, 4]
    assert "speed-up" in scaled._repr_mimebundle_()["text/html"]


def test_where_the_number_of_devices_does_not_vary_there_is_none(scaled: Sweep, sweep: Sweep) -> None:
    assert device_scaling(sweep) == []
    assert "speed-up" not in str(sweep)
    first, *_ = scaled.points
    same = replace(scaled, points=tuple(replace(first, at=each.at) for each in scaled.points))
    assert device_scaling(same) == []


def test_where_something_else_varies_as_well_there_is_none(scaled: Sweep) -> None:
    other = Variable(name="n", labels=("8",), numbers=(8.0,))
    points = tuple(replace(each, at=(*each.at, 0)) for each in scaled.points)
    assert device_scaling(replace(scaled, variables=(*scaled.variables, other), points=points)) == []


def test_a_point_that_failed_is_left_out(scaled: Sweep) -> None:
    _, second, third = scaled.points
    failed = Point(at=(0,), comparison=None)
    found = device_scaling(replace(scaled, points=(failed, second, third)))
    assert [(each.devices, round(each.speedup.value, 2)) for each in found] == [(2, 1.0), (4, 1.25)]
