from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fabricate.profiling import MS, use

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostUse
from jaxmagic.doctor.rules.host import dispatch_bound, host_time
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.timing.record import Timing


@pytest.fixture
def at_any_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find what is planted, however little it costs on this machine; `test_host_borders` has the thresholds."""
    monkeypatch.setattr(host_time, "LEAST_IDLE", 0.0)
    monkeypatch.setattr(host_time, "LEAST_NS", 0)
    monkeypatch.setattr(dispatch_bound, "_SHORT", 0.0)


@pytest.fixture
def evidence(timing: Callable[..., Timing]) -> Callable[..., Evidence]:
    """Runs of 100 ms, in which the device is busy for 40 ms and the code waits for 50 ms."""

    def make(dispatches: tuple[Dispatch, ...] = (), waited_ns: int = 0, **changes: Any) -> Evidence:
        steady = timing(dispatch_ns=50 * MS, wait_ns=50 * MS, code_wait_ns=50 * MS, cpu_user_ns=1, cpu_system_ns=1)
        busy = Dispatch(name="step", count=1, host_ns=0, exposed_ns=0, busy_ns=40 * MS)
        return Evidence(
            **{
                "code": None,
                "first": timing(),
                "observed": steady,
                "timed": (steady,),
                "profile": Profile(
                    runs=1,
                    recorded_ns=100 * MS,
                    device_uses=(use("CPU:0", 40 * MS),),
                    operation_times=(),
                    place_times=(),
                )
                if "profile" not in changes
                else None,
                "host_use": HostUse(
                    dispatches=dispatches or (busy,), idle_ns=60 * MS, waited_ns=waited_ns, waits=100
                ),
                "waits": (),
                "host": (),
                "programs": (),
            }
            | changes
        )

    return make
