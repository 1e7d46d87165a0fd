"""Where no rule knows why the host keeps the device idle, the lines where it was are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS, use

from jaxmagic.doctor.record.evidence import Evidence, HostShare
from jaxmagic.doctor.rules.host.host_lines import host_lines
from jaxmagic.records.call_stack import Frame


def at(line: int, samples: int, called: str = "") -> HostShare:
    frame = Frame(function="train", file="/home/me/train.py", line=line)
    return HostShare(line=frame, called=called, samples=samples, stack=(frame,))


#: Most of the host's time is in one call, a tenth on another line, and the rest has no line or too few samples.
SHARES = (
    at(5, 50, "gzip.compress"),
    at(5, 30, "gzip.compress"),
    at(9, 10),
    at(7, 4),
    HostShare(line=None, called="", samples=6),
)


@pytest.fixture
def idle(evidence: Any) -> Evidence:
    """Runs of 100 ms, in which the device is busy for 40 ms and no wait is known."""
    made: Evidence = evidence(host=SHARES)
    return made


def test_lines_with_most_samples_are_told_with_what_they_call(idle: Evidence) -> None:
    told = host_lines(idle, 0.0)
    assert told is not None
    lines = "80 % at /home/me/train.py:5 in gzip.compress, 10 % at /home/me/train.py:9"
    assert str(told) == f"Where the host was, by samples: {lines}."


def test_nothing_is_told_where_findings_or_the_device_take_most_or_samples_are_few(idle: Evidence) -> None:
    assert host_lines(idle, 29.0 * MS) is not None
    assert host_lines(idle, 31.0 * MS) is None
    assert idle.profile is not None
    assert idle.host_use is not None
    busy = replace(
        idle,
        profile=replace(idle.profile, device_uses=(use("CPU:0", 60 * MS),)),
        host_use=replace(idle.host_use, idle_ns=40 * MS),
    )
    assert host_lines(busy, 0.0) is None
    assert host_lines(replace(idle, host=(at(5, 19),)), 0.0) is None
    assert host_lines(replace(idle, host=(at(5, 20),)), 0.0) is not None
    assert host_lines(replace(idle, host=None), 0.0) is None
