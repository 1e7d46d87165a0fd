"""Functions that get many numbers in each call are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fabricate import hlo
from fabricate.profiling import MS

from jaxmagic.doctor.record.evidence import Dispatch, Evidence
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host import transfer
from jaxmagic.xla.hlo import Sharded


@pytest.fixture
def given(executable: Any, evidence: Callable[..., Evidence]) -> Callable[..., Evidence]:
    """Runs in which the device is idle for 20 ms because of 40 calls that get numbers."""

    def make(numbers: int, arrays: int = 0, shape: str = "f32[]", puts: int | None = None) -> Evidence:
        shapes = [shape] * numbers + ["f32[8]"] * arrays
        module = hlo.module(
            name="jit_f",
            inputs=tuple(Sharded(name=f"p{n}", shape=each, pieces=None) for n, each in enumerate(shapes)),
        )
        put = numbers if puts is None else puts
        call = Dispatch(name="f", count=40, host_ns=0, exposed_ns=20 * MS, puts=40 * put)
        program = Program(executable=executable(name="jit_f"), module=module, function="f")
        return evidence((call,), programs=(program,))

    return make


def test_numbers_are_to_be_passed_as_one_array(given: Callable[..., Evidence]) -> None:
    (found,) = transfer.look(given(60, arrays=20))
    assert found.found.facts == {"function": "f", "count": 40, "numbers": 60}
    assert found.remedy is not None
    assert found.remedy.kind == "doctor.many_numbers_remedy"
    assert found.cost_ns is not None
    assert 5 * MS < found.cost_ns < 15 * MS  # as the device is idle for 10 ms of the host's doing


@pytest.mark.parametrize("changes", [{"numbers": 19}, {"numbers": 60, "puts": 2}, {"numbers": 60, "shape": "f32[2]"}])
def test_few_numbers_and_arrays_are_no_finding(given: Callable[..., Evidence], changes: dict[str, Any]) -> None:
    assert list(transfer.look(given(**changes))) == []
