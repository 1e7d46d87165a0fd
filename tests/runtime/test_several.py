"""Measurements of programs that run on two real JAX processes end together, or are refused."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jaxmagic.benchmarking.capture.plan import Plan
from jaxmagic.errors import NotMeasured
from jaxmagic.runtime import several
from jaxmagic.runtime.executed_programs import ObservedPrograms

PROGRAM = Path(__file__).parents[1] / "two_processes.py"

#: A process that waits for the other one may wait forever.
LIMIT_S = 300


@pytest.mark.slow
@pytest.mark.clock
def test_every_measurement_of_a_sharded_result_ends_in_both_processes_or_is_refused_in_both() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    pair = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), str(port), str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for number in range(2)
    ]
    try:
        said = [each.communicate(timeout=LIMIT_S) for each in pair]
    finally:
        for each in pair:
            each.kill()
            each.wait()
    for process, (out, err) in zip(pair, said, strict=True):
        assert process.returncode == 0, err[-3000:]
        assert [line[2:] for line in out.splitlines() if line.startswith("> ")] == [
            "benchmark: refused",
            "compare: refused",
            "sweep: refused",
            "jaxtimeit: refused",
            "fresh processes: refused",
            "jaxtimeit -n 2 -r 7: 7 samples of 2 calls",
            "jaxtime: a record",
            "jaxmem: a record",
            "profile of 3 runs: a record",
            "a local result: measured",
        ], err[-3000:]


def executable(head: str, devices: int) -> Any:
    module = SimpleNamespace(to_string=lambda: f"HloModule jit_f, {head}\n\nENTRY main (x: f32[num_partitions=9])")
    return SimpleNamespace(hlo_modules=lambda: [module], local_devices=lambda: list(range(devices)))


@pytest.mark.parametrize(
    ("head", "local", "wanted"),
    [
        ("num_partitions=4", 2, True),
        ("num_partitions=4", 4, False),
        ("replica_count=2", 1, True),
        ("replica_count=2, num_partitions=2", 4, False),
        ("replica_count=2, num_partitions=2", 2, True),
        ("is_scheduled=true", 1, False),
    ],
)
def test_which_programs_run_elsewhere(monkeypatch: pytest.MonkeyPatch, head: str, local: int, wanted: bool) -> None:
    watched = ObservedPrograms(ran=[executable("", 1), executable(head, local)])
    assert not several.spans(watched)  # there is one process
    monkeypatch.setattr(several, "are_several", lambda: True)
    assert several.spans(watched) is wanted
    assert several.spans(ObservedPrograms(ran=None))  # this JAX does not tell


def test_calls_that_the_user_counts_are_not_refused() -> None:
    several.refuse_to_count(False)
    several.refuse_to_count(True, counted=Plan(samples=3, evaluations=2).is_counted)
    for plan in (Plan(), Plan(samples=3)):
        with pytest.raises(NotMeasured, match="-n 1 -r 20"):
            several.refuse_to_count(True, counted=plan.is_counted)
