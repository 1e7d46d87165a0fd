"""Damaged recordings: each is told with its damage, or refused with a sentence that names the file."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings import space, trace

import jaxmagic
from jaxmagic.errors import NotMeasured
from jaxmagic.profiling.capture.xspace import parsed
from jaxmagic.report.to_html import to_html

DAY_PS = 24 * 60 * 60 * 10**12
GEMM = trace("gpu_mi300_gemm").read_bytes()


def read(data: bytes, folder: Path) -> jaxmagic.Profile:
    file = folder / "host.xplane.pb"
    file.write_bytes(data)
    return jaxmagic.read_profile(file)


def of(*events: tuple[int, int], start_ns: int = 0) -> dict[str, Any]:
    """A stream of a GPU with events of an offset and a duration."""
    lines = {"Stream #1": [("kernel", offset, duration, []) for offset, duration in events]}
    return {"name": "/device:GPU:0", "lines": lines, "start_ns": start_ns}


def told(profile: jaxmagic.Profile) -> str:
    return " ".join(str(profile).split())


@pytest.mark.parametrize("start_ns", [0, 5 * 10**9, 1_790_000_000_000_000_000])
@pytest.mark.parametrize(
    "wrong",
    [(50, DAY_PS + 1), (50, 2**62), (2**62, 50), (2**62, 2**63 - 1), (2**63 - 1, 2**63 - 1), (2**64 - 2**62, 5)],
)
def test_an_event_of_more_than_a_day_is_dropped_and_that_is_told(
    wrong: tuple[int, int], start_ns: int, tmp_path: Path
) -> None:
    whole = read(space(of((10_000, 20_000), (40_000, 5_000), start_ns=start_ns)), tmp_path)
    assert whole.notes == ()
    profile = read(space(of((10_000, 20_000), wrong, (40_000, 5_000), start_ns=start_ns)), tmp_path)
    assert (profile.device_uses, profile.operation_times) == (whole.device_uses, whole.operation_times)
    assert profile.device_ns == 25
    assert "damaged: 1 event more than a day away from the rest was dropped (GPU:0 Stream #1)." in told(profile)


def test_an_event_of_nearly_a_day_is_kept(tmp_path: Path) -> None:
    profile = read(space(of((DAY_PS, DAY_PS))), tmp_path)
    assert (profile.device_ns, profile.notes) == (DAY_PS // 1000, ())


@pytest.mark.parametrize("base", [0, 1_790_000_000_000_000_000])
@pytest.mark.parametrize("start_ns", [2**63 - 1, 10**17, -(10**17), -(2**63)])
def test_a_line_that_begins_at_no_time_is_dropped_and_that_is_told(start_ns: int, base: int, tmp_path: Path) -> None:
    message = parsed(GEMM)
    for plane in message.planes:
        for line in plane.lines:
            line.start_ns += base
    device = next(plane for plane in message.planes if plane.name == b"/device:GPU:0")
    whole = read(message.SerializeToString(), tmp_path)
    device.lines[-1].start_ns = start_ns
    profile = read(message.SerializeToString(), tmp_path)
    dropped = len(device.lines[-1].events)
    assert 0 < profile.device_ns <= whole.device_ns
    assert f"damaged: {dropped} event" in told(profile)
    assert f"dropped (GPU:0 {device.lines[-1].name.decode()})." in told(profile)
    assert whole.notes == jaxmagic.read_profile(trace("gpu_mi300_gemm")).notes


def test_where_all_is_dropped_it_is_said_why_nothing_is_there(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match=r"host.xplane.pb is empty.*damaged: 1 event more than a day away"):
        read(space(of((2**62, 5))), tmp_path)


def _flip(data: bytearray, chosen: random.Random) -> None:
    data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)


def _cut(data: bytearray, chosen: random.Random) -> None:
    del data[chosen.randrange(len(data)) :]


def _take_out(data: bytearray, chosen: random.Random) -> None:
    at = chosen.randrange(len(data))
    del data[at : at + chosen.randrange(1, 300)]


def _largest(data: bytearray, chosen: random.Random) -> None:
    at = chosen.randrange(len(data) - 10)
    data[at : at + 10] = b"\xff" * 9 + b"\x01"


@pytest.mark.parametrize("damage", [_flip, _cut, _take_out, _largest])
@pytest.mark.parametrize("name", ["jax-0.8.0", "jax-0.12.0", "gpu_mi300_gemm"])
def test_whatever_is_damaged_it_is_told_or_refused(
    name: str, damage: Callable[[bytearray, random.Random], None], tmp_path: Path
) -> None:
    chosen, whole = random.Random(name), trace(name).read_bytes()
    for _ in range(12):
        data = bytearray(whole)
        damage(data, chosen)
        refused = ""
        try:
            profile = read(bytes(data), tmp_path)
        except NotMeasured as error:
            refused = str(error)
        assert "host.xplane.pb" in refused or (str(profile) and to_html(profile))
