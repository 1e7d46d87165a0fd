"""The limit of a recording. Which runs are timed is tested in ``test_run.py``."""

from __future__ import annotations

import pytest

from jaxmagic.profiling.capture.run_plan import RunPlan


@pytest.mark.parametrize(
    ("per_s", "most_s", "most_events", "expected"),
    [
        (None, 5.0, 1_000_000, 5.0),  # a short first run
        (50_000.0, 5.0, 1_000_000, 5.0),
        (2_000_000.0, 5.0, 1_000_000, 0.5),
        (2_000_000.0, None, 1_000_000, 0.5),
        (2_000_000.0, 5.0, None, 5.0),
        (2_000_000.0, None, None, None),
        (1e12, 5.0, 1_000_000, 0.05),
        (0.0, 5.0, 1_000_000, 5.0),  # nothing ran in the moments
    ],
)
def test_the_limit_is_what_is_reached_first(
    per_s: float | None, most_s: float | None, most_events: int | None, expected: float | None
) -> None:
    assert RunPlan(1, most_s, most_events).limit_s(per_s) == expected
