"""One line of text that says what runs, how far it is and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from .. import units
from ..terminal import printable

#: In a terminal or a notebook, a longer name would push the numbers out of sight.
_LONGEST = 60


@dataclass(slots=True)
class Stage:
    """One stage of a measurement: the words, the count and the clock readings.

    Attributes:
        text: what runs; nothing has begun where it is empty.
        began_s: when it began.
        done: steps that have ended.
        reached_s: when the last of them had.
        total: steps in all, if known.
        estimated: whether `total` is an estimate.
        expected_s: how long the stage is expected to take, if known.
        ticking: whether the elapsed time may be shown by a thread.
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
        """The part of the stage that has ended, from 0 to 1; ``None`` if unknown."""
        done, total = self.done, self.total
        return None if not total else min(max(done / total, 0.0), 1.0)

    def left_s(self, now_s: float) -> float | None:
        """Tell how long the stage will still take, if the steps to come are like those so far; ``None`` if unknown.

        >>> stage = Stage(text="rounds", began_s=0.0, done=10, reached_s=4.0, total=60)
        >>> stage.left_s(4.0), stage.left_s(5.0)
        (20.0, 19.0)
        """
        taken_s = self.reached_s - self.began_s
        if (share := self.share) and taken_s > 0:
            return max(self.began_s + taken_s / share - now_s, 0.0)
        return None if self.expected_s is None else max(self.began_s + self.expected_s - now_s, 0.0)


def line(stages: Sequence[Stage], now_s: float) -> str:
    """The line for nested stages, the outermost first; times are those of the outermost.

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
    """The stage with its count.

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
    """One line that leaves room for the numbers behind it."""
    words = printable(" ".join(text.split()))
    return words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "..."


def seconds(whole_s: int) -> str:
    """Whole seconds, and minutes from one on."""
    return units.time_short(whole_s * 10**9) if whole_s else "0 s"
