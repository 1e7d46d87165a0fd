"""The live view of a profile: one of its pictures, chosen from a list, within its report."""

from __future__ import annotations

from ..report.panel import Guard, View, choice, row, screen, show_below
from .charts import CHARTS
from .record.profile import Profile

_PICTURES = {
    "device time by scope": "scopes",
    "device time by call stack": "stacks",
    "timeline": "timeline",
    "roofline": "roofline",
    "steps": "steps",
    "memory": "memory",
}

#: The text where there is no picture.
_NOTHING = "report"


class ProfileView(View):
    """The answer of a report, a list of pictures, the chosen one, and the rest of the report.

    Args:
        record: the profile to show.
    """

    def __init__(self, record: Profile) -> None:
        self.record = record
        drawn = {name: CHARTS[Profile][of].draw(record) for name, of in _PICTURES.items()}
        self._pictures = {name: chart for name, chart in drawn.items() if chart is not None}
        self.look_at = choice("Show", tuple(self._pictures) or (_NOTHING,))
        self.answer, self.screen = screen(), screen()
        guard = Guard(self.screen)
        guard.watch([self.look_at], self.refresh)
        super().__init__([self.answer, row(self.look_at), self.screen])
        guard(self.refresh)(None)

    def refresh(self) -> None:
        """Show the chosen picture."""
        show_below(self.answer, self.screen, self.record, self._pictures.get(self.look_at.value))


VIEWS = {Profile: ProfileView}
