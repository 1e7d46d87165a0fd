"""Write the progress line: what is running, how far it is, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from .. import units
from ..terminal import printable

#: The most letters of a name; a longer one would push the numbers out of sight.
_LONGEST = 60


@dataclass(slots=True)
class Stage:
    """One stage of a measurement: its name, count and clock readings.

    Attributes:
        text: what is running; empty before the first stage begins.
        began_s: when the stage began.
        done: the number of steps that have ended.
        reached_s: when the last of these steps ended.
        total: the number of all steps, if known.
        estimated: whether `total` is an estimate.
        expected_s: the expected duration of the stage, if known.
        ticking: whether a thread may show the elapsed time.
    """

    text: str = ""
    began_s: float = 0.0
    done: float = 0
    reached_s: float = 0.0
    total: float | None = None
    estimated: bool = False
    expected_s: float | None = None
    ticking: bool = True

    @property
    def share(self) -> float | None:
        """The completed share of the stage, from 0 to 1; ``None`` if unknown."""
        done, total = self.done, self.total
        return None if not total else min(max(done / total, 0.0), 1.0)

    def left_s(self, now_s: float) -> float | None:
        """Estimate the time left from the steps so far, or from the expected duration; ``None`` if unknown.

        >>> stage = Stage(text="rounds", began_s=0.0, done=10, reached_s=4.0, total=60)
        >>> stage.left_s(4.0), stage.left_s(5.0)
        (20.0, 19.0)
        """
        end_s = self._end_s()
        return None if end_s is None else max(end_s - now_s, 0.0)

    def overdue_s(self, now_s: float) -> float:
        """Return for how long the stage has gone on after its estimated end.

        >>> Stage(text="recording", began_s=0.0, expected_s=2.0).overdue_s(5.0)
        3.0
        """
        end_s = self._end_s()
        return 0.0 if end_s is None else max(now_s - end_s, 0.0)

    def _end_s(self) -> float | None:
        taken_s = self.reached_s - self.began_s
        if (share := self.share) and taken_s > 0:
            return self.began_s + taken_s / share
        return None if self.expected_s is None else self.began_s + self.expected_s


def line(stages: Sequence[Stage], now_s: float) -> str:
    """Return the line for nested stages, outermost first; the times are for the outermost stage.

    >>> point = Stage(text="points", began_s=0.0, done=2, reached_s=11.0, total=8)
    >>> line([point, Stage(text="jit: rounds", began_s=11.0, done=12, total=60, estimated=True)], 12.0)
    'points: 2 of 8; jit: rounds: 12 of about 60; 12 s, about 32 s left'
    """
    begun = [each for each in stages if each.text]
    if not begun:
        return ""
    times = seconds(int(now_s - begun[0].began_s))
    left_s = begun[0].left_s(now_s)
    if left_s is not None and left_s > 0:
        times += f", about {seconds(ceil(round(left_s, 3)))} left"
    return "; ".join([*map(_what_runs, begun), times])


def _what_runs(stage: Stage) -> str:
    """Return the name of a stage with its count.

    >>> _what_runs(Stage(text="calls", done=3)), _what_runs(Stage(text="reading", done=0.25, total=1))
    ('calls: 3', 'reading: 25 %')
    """
    words = short(stage.text)
    if stage.total == 1 and stage.share is not None:
        return f"{words}: {units.share(stage.share, 1)}"
    if stage.total:
        about = "about " if stage.estimated else ""
        return f"{words}: {stage.done:.0f} of {about}{stage.total:.0f}"
    return f"{words}: {stage.done:.0f}" if stage.done else words


def short(text: str) -> str:
    """Shorten text to one line that leaves room for the numbers after it."""
    words = printable(" ".join(text.split()))
    return words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "..."


def seconds(whole_s: int) -> str:
    """Format whole seconds, as minutes from one minute on."""
    return units.time_short(whole_s * 10**9) if whole_s else "0 s"
