"""Pipelined calls are measured where enough of them fit into the budget, and the report names a budget that is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jaxmagic.benchmarking.capture.pipeline import take_pipelined
from jaxmagic.benchmarking.capture.runner import Runner
from jaxmagic.benchmarking.record.samples import PIPELINED, Conditions
from jaxmagic.benchmarking.report.processes import why_not_pipelined
from jaxmagic.magics.options import duration_ns


def taking(call_ns: float) -> Callable[[Runner, int], int]:
    """Sample calls that take so long, without calling anything."""
    return lambda _, calls: round(calls * call_ns)


@pytest.mark.parametrize("call_ns", [1e5, 3.3e6, 9.99e6, 2e8])
def test_the_budget_that_the_report_names_is_enough(call_ns: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "detect_serial", lambda _: False)
    for name in ("pipelined_sample", "waited_sample"):
        monkeypatch.setattr(Runner, name, taking(call_ns))
    told = why_not_pipelined(Conditions(overhead_ns=0.0, resolution_ns=1), "budget", call_ns)
    assert told.startswith("Pipelined: not measured, because 24 calls did not fit into 20 % of the budget: use --b")
    share_ns = PIPELINED * duration_ns(told.split("--budget ")[1].split(" ")[0])
    runner = Runner(lambda: None)
    assert take_pipelined(runner, call_ns, 23 * call_ns) is None
    for slower in (1.0, 1.2):
        taken = take_pipelined(runner, slower * call_ns, share_ns)
        assert taken is not None
        assert len(taken.pipelined.samples_ns) >= 4
    assert share_ns < 40 * call_ns
