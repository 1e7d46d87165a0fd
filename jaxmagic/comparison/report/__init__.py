"""The reports of comparisons and sweeps."""

from __future__ import annotations

from ... import units
from ...report.compose import Brief
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from . import comparison, sweep


def brief(found: Comparison | Sweep, digits: int) -> Brief:
    """Tell what was compared, and at how many points."""
    remark = f"{len(found)} compared" if isinstance(found, Comparison) else units.count(len(found), "point")
    return Brief(found.code or ", ".join(found), remark=remark)


BRIEFS = {Comparison: brief, Sweep: brief}


REPORTS = {Comparison: comparison.report, Sweep: sweep.report}
