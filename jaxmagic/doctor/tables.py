"""The table of a diagnosis: a row per finding."""

from __future__ import annotations

from collections.abc import Sequence

from ..compilation.tables import compilations
from ..report.table import Table
from .record.diagnosis import Diagnosis
from .record.finding import RuleFinding

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
    "ceiling": "Float64",
    "survives": "boolean",
}


def findings(found: Sequence[RuleFinding]) -> Table:
    """List findings, one per row."""
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
            None if each.verified is None or each.verified.ceiling else each.verified.speedup,
            each.verified.speedup if each.verified is not None and each.verified.ceiling else None,
            None if each.verified is None else each.verified.survives,
        )
        for each in found
    ]
    return Table(_COLUMNS, rows)


TABLES = {
    Diagnosis: {
        "findings": lambda record: findings(record.findings),
        "compilations": lambda record: compilations(record.runs),
    },
    RuleFinding: {"findings": lambda record: findings([record])},
}
