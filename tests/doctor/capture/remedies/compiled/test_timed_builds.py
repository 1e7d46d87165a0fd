"""Two ways to compile are timed in turns, as far as the time goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxmagic.doctor.capture.remedies.compiled.timed_builds import timed_builds
from jaxmagic.doctor.capture.remedies.remedy import Builds, NotTried
from jaxmagic.doctor.record.finding import Verified
from jaxmagic.records.note import note
from jaxmagic.runtime.clock import Clock

SECOND = 10**9
ABOUT = note("doctor.tried_compile_time")


class StandingClock:
    """A clock that stands still, except while something takes its time."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns

    def takes(self, seconds: int, result: Any = None) -> Callable[[], Any]:
        def called() -> Any:
            self.now_ns += seconds * SECOND
            return result

        return called


def timed(before: Callable[[], Any], after: Callable[[], Any], clock: Clock, seconds: int) -> Verified:
    builds = Builds(before, after, ((), ()), (ABOUT,))
    deadline_ns = clock() + seconds * SECOND
    return timed_builds(builds, budget_ns=seconds * SECOND, deadline_ns=deadline_ns, clock=clock).verified


def kinds(verified: Verified) -> list[str]:
    return [each.kind.removeprefix("doctor.") for each in verified.notes]


def test_without_time_for_more_the_first_times_are_told() -> None:
    clock = StandingClock()
    found = timed(clock.takes(13), clock.takes(2), clock, 14)
    assert (found.before_ns, found.after_ns) == (13 * SECOND, 2 * SECOND)
    assert (found.speedup, found.survives, found.outputs_agree) == (None, None, None)
    assert kinds(found) == ["tried_compile_time", "trial_unfinished"]


def test_what_never_compiled_both_ways_has_no_times() -> None:
    clock = StandingClock()
    found = timed(clock.takes(13), clock.takes(2), clock, 12)
    assert (found.before_ns, found.after_ns) == (None, None)
    assert kinds(found) == ["trial_unfinished"]


def test_a_way_that_fails_has_no_times() -> None:
    def refuses() -> Any:
        raise NotTried(note("doctor.not_tried_cache"))

    clock = StandingClock()
    found = timed(clock.takes(1), refuses, clock, 60)
    assert (found.before_ns, found.after_ns) == (None, None)
    assert kinds(found) == ["not_tried_cache"]
