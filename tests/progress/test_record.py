"""The progress that is not shown."""

from __future__ import annotations

from jaxmagic.progress.record import SILENT


def test_the_silent_one_takes_every_report() -> None:
    SILENT.stage("rounds", 60, ticking=False, expected_s=10.0)
    SILENT.advance(3)
    SILENT.advance(3, 60)
