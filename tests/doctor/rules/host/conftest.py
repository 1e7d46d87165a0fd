from __future__ import annotations

import pytest

from jaxmagic.doctor.rules.host import dispatch_bound, host_time


@pytest.fixture
def at_any_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find what is planted, however little it costs on this machine; `test_host_borders` has the thresholds."""
    monkeypatch.setattr(host_time, "LEAST_IDLE", 0.0)
    monkeypatch.setattr(host_time, "LEAST_NS", 0)
    monkeypatch.setattr(dispatch_bound, "_SHORT", 0.0)
