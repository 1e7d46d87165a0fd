"""The table of a diagnosis: a row per finding."""

from __future__ import annotations

from ..report.table import Table
from .record.diagnosis import Diagnosis

_COLUMNS = {
    "rule": "string",
    "line": "string",
    "found": "string",
    "cost_ns": "Float64",
    "cost_bytes": "Int64",
    "basis": "string",
    "per": "string",
    "remedy": "string",
    "speedup": "Float64",
    "survives": "boolean",
}


def findings(diagnosis: Diagnosis) -> Table:
    """List the findings, most costly first."""
    rows = [
        (
            each.rule,
            each.line,
            str(each.found),
            each.cost_ns,
            each.cost_bytes,
            each.basis,
            each.per,
            None if each.remedy is None else str(each.remedy),
            None if each.verified is None else each.verified.speedup,
            None if each.verified is None else each.verified.survives,
        )
        for each in diagnosis.findings
    ]
    return Table(_COLUMNS, rows)


TABLES = {Diagnosis: {"findings": findings}}
