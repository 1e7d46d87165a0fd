"""A remedy that makes later runs fast is told with the time that its first run took to compile."""

from __future__ import annotations

import pytest

from jaxmagic.doctor.capture.remedies.measured_remedy import Run, measured

S = 10**9


class Clock:
    """A clock that only the measured code moves."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns

    def first_takes(self, *first_ns: int) -> Run:
        """Return something to run that takes these times first, and none later."""
        left = list(first_ns)

        def call() -> int:
            self.now_ns += left.pop(0) if left else 0
            return 1

        return Run(call)


def told(before_ns: int, after_ns: int, deadline_ns: int = 1000 * S) -> list[str]:
    clock = Clock()
    found = measured(
        clock.first_takes(before_ns),
        clock.first_takes(after_ns),
        budget_ns=10**7,
        deadline_ns=deadline_ns,
        clock=clock,
    )
    return [str(each) for each in found.verified.notes if each.kind == "doctor.tried_first_run"]


SENTENCE = "The first run with the remedy took 32.0 s, which includes compiling it."


@pytest.mark.parametrize(
    ("before_ns", "after_ns", "expected"),
    [
        (0, 32 * S, [SENTENCE]),
        (S, 32 * S, [f"{SENTENCE[:-1]}: 32 times as long as a run without it."]),
        (0, S - 1, []),
        (32 * S, 0, []),
    ],
)
def test_a_long_first_run_with_the_remedy_is_told(before_ns: int, after_ns: int, expected: list[str]) -> None:
    assert told(before_ns, after_ns) == expected


def test_it_is_told_as_well_if_no_time_is_left_then() -> None:
    assert told(0, 32 * S, deadline_ns=20 * S) == [SENTENCE]


class Bag(dict[str, float]):
    """A dictionary whose items are attributes as well: another one is a ``KeyError``."""

    def __getattr__(self, name: str) -> float:
        return self[name]


def test_a_result_that_has_no_size_is_compared() -> None:
    run = Run(lambda: Bag(loss=1.0))
    found = measured(run, run, budget_ns=10**7, deadline_ns=10**18, clock=Clock()).verified
    assert found.before_ns is not None
