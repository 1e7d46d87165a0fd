"""Fewer events of a timeline: no row and no lane is left without one."""

from __future__ import annotations

from jaxmagic.charts.lane_thinning import Run, lane_runs, longest
from jaxmagic.charts.lanes import Called, Lane, Lanes
from jaxmagic.charts.scale import Scale


def lane(name: str, row: tuple[int, ...], length: tuple[int, ...]) -> Lane:
    return Lane(
        name=name, owner="", rows=1 + max(row), row=row, start=tuple(range(0, 100 * len(row), 100)), length=length,
        called=(0,) * len(row),
    )  # fmt: skip


def test_rows_and_lanes_whose_events_are_all_left_out_are_left_out_too() -> None:
    chart = Lanes(
        title="what ran when",
        x=Scale(label="time", quantity="time", low=0.0, high=1000.0),
        kinds=(("host", 7),),
        called=(Called(name="f", kind=0),),
        lanes=(lane("nested", (0, 1, 2), (90, 1, 80)), lane("short", (0, 0), (2, 3))),
    )
    found = longest(chart, 0.4)
    (kept,) = found.lanes
    assert (kept.name, kept.rows, kept.row, kept.length) == ("nested", 2, (0, 1), (90, 80))
    assert found.note == "3 events of 3 ns or less left out to keep the page small"


def test_no_event_is_too_short_to_be_drawn_and_the_longest_kind_in_a_stretch_wins() -> None:
    called = (Called(name="copy", kind=0), Called(name="host", kind=1))
    x = Scale(label="time", quantity="time", low=0.0, high=1e9)
    short = Lane(
        name="", owner="", rows=2, row=(0, 0, 1), start=(5, 20, 5 * 10**8), length=(1, 2, 0), called=(0, 1, 0)
    )  # fmt: skip
    chart = Lanes(title="", x=x, kinds=(("copy", 1), ("host", 7)), called=called, lanes=(short,))
    assert list(lane_runs(chart, short, 10)) == [Run(0, 1, False, 0.0, 1e8), Run(1, 0, False, 5e8, 6e8)]
