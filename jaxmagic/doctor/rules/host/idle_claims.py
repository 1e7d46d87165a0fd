"""Counts idle time of the device after waits in one finding only: that of the copies that it is idle for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....records.note import note
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from .host_time import host_time, matters

_COPIES, _WAITS = "transfer", "doctor.host_wait"


def divide_idle_time(findings: Sequence[RuleFinding], evidence: Evidence) -> list[RuleFinding]:
    """Return the findings in their order, of which the waits claim no idle time that copies account for.

    A copy that follows a wait delays the device however the code waits. What is left of the wait's cost is no
    finding if it is too little.
    """
    time = host_time(evidence)
    if time is None:
        return [*findings]
    copying_ns = sum(each.cost_ns or 0.0 for each in findings if each.rule == _COPIES)
    after_waits_ns = min(max(copying_ns - time.late_ns, 0.0), time.wait_cost_ns)
    left = [_less(each, after_waits_ns) if each.found.kind == _WAITS else each for each in findings]
    return [each for each in left if each.found.kind != _WAITS or matters(each.cost_ns or 0.0, evidence)]


def _less(finding: RuleFinding, copying_ns: float) -> RuleFinding:
    if not copying_ns or finding.cost_ns is None:
        return finding
    elsewhere = note("doctor.idle_elsewhere", rule=_COPIES, time_ns=round(copying_ns))
    return replace(finding, cost_ns=max(finding.cost_ns - copying_ns, 0.0), evidence=(*finding.evidence, elsewhere))
