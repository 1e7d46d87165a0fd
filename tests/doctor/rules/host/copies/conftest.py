from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import MS, use

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostUse
from jaxmagic.doctor.record.program import Program
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.records.call_stack import Frame


@pytest.fixture
def converting(tmp_path: Path, timing: Any, executable: Any) -> Any:
    """Runs of 100 ms in which 20 conversions take 40 ms of the device's time, and 10 ms before."""

    def make(
        converted: str,
        *,
        source: str,
        count: int = 20,
        programs: int = 1,
        code: str = "run(x, 20)",
        **changes: Any,
    ) -> Evidence:
        file = tmp_path / "run.py"
        file.write_text(source.format(converted))
        line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if converted in text)
        whole = executable(name="jit_stage", output_bytes=2**20)
        program = Program(executable=whole, module=None, function="stage", eager=True)
        program = replace(program, called_at=Frame(function="run", file=str(file), line=line))
        call = Dispatch(name="stage", count=count, host_ns=MS, exposed_ns=10 * MS, busy_ns=40 * MS)
        other = Dispatch(name="f", count=count, host_ns=MS, exposed_ns=0, busy_ns=30 * MS)
        run = timing(dispatch_ns=50 * MS, wait_ns=50 * MS)
        return Evidence(
            code=code,
            first=timing(),
            observed=run,
            timed=(run,),
            profile=Profile(
                runs=1,
                recorded_ns=100 * MS,
                device_uses=(use("CPU:0", 70 * MS),),
                operation_times=(),
                place_times=(),
            ),
            host_use=HostUse(dispatches=(call, other), idle_ns=30 * MS, waited_ns=0, waits=0),
            waits=(),
            host=(),
            programs=(program,) * programs,
            **changes,
        )

    return make
