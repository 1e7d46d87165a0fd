"""A profile to play with: its time by scope or by call stack, above its report."""

from __future__ import annotations

from ..analysis.profile_tree import By, profile_flame
from ..model.profile import Profile
from .panel import Guard, View, choice, row, screen, show

_BY: dict[str, By] = {"scope": "scope", "call stack": "stack"}


class ProfileView(View):
    """Controls over a profile, and its picture and report below.

    Args:
        record: what is shown.
    """

    def __init__(self, record: Profile) -> None:
        self.record = record
        self.by = choice("Device time by", tuple(_BY))
        self.screen = screen()
        guard = Guard(self.screen)
        guard.watch([self.by], self.refresh)
        super().__init__([row(self.by), self.screen])
        guard(self.refresh)(None)

    def refresh(self) -> None:
        """Show what the controls ask for."""
        show(self.screen, self.record, profile_flame(self.record, _BY[self.by.value]))
