"""Writes the reports of comparisons and sweeps."""

from __future__ import annotations

from ... import units
from ...report.compose import Brief
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from . import comparison, sweep


def brief(record: Comparison | Sweep) -> Brief:
    """Return what was compared, and at how many points."""
    remark = f"{len(record)} compared" if isinstance(record, Comparison) else units.count(len(record), "point")
    lines = [line.strip() for line in (record.code or "").splitlines()]
    return Brief("; ".join(filter(None, lines)) or ", ".join(record), remark=remark)


BRIEFS = {Comparison: brief, Sweep: brief}


REPORTS = {Comparison: comparison.report, Sweep: sweep.report}
