"""Allocated memory over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fabricate.profiling import fabricated
from recordings import recording_of, trace

import jaxmagic
from jaxmagic.profiling.analysis.devices.allocators import allocator_uses
from jaxmagic.profiling.charts.memory import memory_chart
from jaxmagic.profiling.record.allocators import AllocatorUse
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine

KINDS = (
    EventMetadata("MemoryAllocation", {"allocator_name": "GPU_0_bfc"}),
    EventMetadata("MemoryDeallocation", {"allocator_name": "GPU_0_bfc"}),
    EventMetadata("PjitFunction(step)", {}),
    EventMetadata("other", {"allocator_name": "GPU_0_bfc"}),
)


def of(*events: tuple[int, int, int, int]) -> Trace:
    """Events are given by kind, start, end, and allocated bytes."""
    kinds, start, end, held = np.array(events, np.int64).T
    return Trace(
        (TraceLine("python", None, "host", kinds, start * 1000, end * 1000, held_bytes=held),), KINDS, {}, {}
    )


def test_what_is_held_is_told_over_time_with_its_peak_and_what_was_dispatched() -> None:
    made = of((0, 5, 5, 100), (2, 10, 30, 0), (0, 20, 20, 900), (1, 25, 25, 300), (3, 26, 27, 5000), (0, 40, 40, 400))
    (found,) = allocator_uses(made, 5000)
    assert (found.allocator, found.peak_bytes, found.peak_ns, found.program) == ("GPU_0_bfc", 900, 15, "step")
    assert (found.time_ns, found.held_bytes) == ((0, 15, 20, 35), (100, 900, 300, 400))


def test_what_was_held_before_the_first_operation_is_what_it_begins_with() -> None:
    made = of((0, 5, 5, 700), (0, 10, 10, 100), (0, 20, 20, 300))
    (found,) = allocator_uses(made, 15_000)
    assert (found.time_ns, found.held_bytes, found.peak_bytes, found.peak_ns) == ((0, 5), (100, 300), 300, 5)


def test_of_very_many_times_the_peak_and_the_last_are_kept() -> None:
    held = np.random.default_rng(0).integers(1, 1000, 5000)
    held[3777] = 10**6
    made = of(*((0, at, at, int(each)) for at, each in enumerate(held)))
    (found,) = allocator_uses(made, 0)
    assert found.peak_bytes == max(found.held_bytes) == 10**6
    assert len(found.time_ns) <= 400
    assert (found.time_ns[-1], found.held_bytes[-1]) == (4999, held[-1])
    assert all(held[at] == each for at, each in zip(found.time_ns, found.held_bytes, strict=True))


@pytest.mark.parametrize(
    ("name", "peak", "program"),
    [("gpu_gfx950_te_attention", 663_228_416, "loss_fn"), ("gpu_mi300_8dev_conv", 1_732_169_984, "forward_3d_conv")],
)
def test_real_recordings_have_a_curve_and_a_sentence(name: str, peak: int, program: str) -> None:
    profile = jaxmagic.read_profile(trace(name))
    assert (profile.allocator_uses[0].peak_bytes, profile.allocator_uses[0].program) == (peak, program)
    frame = profile.to_frame("memory")
    assert frame["held_bytes"].max() == peak
    assert f"while {program} was dispatched." in " ".join(str(profile).split())
    profile.figure("memory")
    chart = memory_chart(profile)
    assert chart is not None
    assert chart.note == "follows dispatch, not execution"


def test_each_device_of_a_tpu_has_a_curve_of_its_own() -> None:
    """Its events have no allocator_name but index_on_host; the expected peaks are the largest ``bytes_allocated``."""
    profile = jaxmagic.read_profile(trace("tpu_v6e_4dev_inference"))
    peaks = {each.allocator: each.peak_bytes for each in profile.allocator_uses}
    assert peaks == {"TPU:0": 16_106_341_504} | dict.fromkeys(("TPU:1", "TPU:2", "TPU:3"), 10_737_555_584)
    assert set(profile.to_frame("memory")["allocator"]) == set(peaks)
    assert "10.0 GiB to 15.0 GiB on each of 4 devices" in " ".join(str(profile).split())


@pytest.mark.parametrize(
    ("facts", "devices", "name"),
    [
        ({"index_on_host": 1}, ("a TPU:0", "a TPU:1", "b TPU:1", "a TPU:11"), "a TPU:1"),
        ({"index_on_host": 1}, (), "a device:1"),
        ({"index_on_host": 1}, ("a TPU:1", "a GPU:1"), "a device:1"),
        ({"device_ordinal": 0}, ("a TPU:0",), "a TPU:0"),
        ({"allocator_name": "GPU_0_bfc", "index_on_host": 1}, ("a TPU:1",), "a GPU_0_bfc"),
        ({"allocator_name": ""}, ("a TPU:1",), "a unnamed"),
    ],
)
def test_an_allocator_always_has_a_name(facts: dict[str, int | str], devices: tuple[str, ...], name: str) -> None:
    kinds = (EventMetadata("MemoryAllocation", facts, "a"),)
    made = replace(of((0, 5, 5, 100)), kinds=kinds, devices={each: {} for each in devices})
    assert [each.allocator for each in allocator_uses(made, 0)] == [name]


def test_memory_of_devices_is_told_whatever_the_host_is_called() -> None:
    made = AllocatorUse(
        allocator="host-a GPU_0_bfc", peak_bytes=2**30, peak_ns=0, program="f", time_ns=(0,), held_bytes=(2**30,)
    )
    told = str(replace(fabricated(), allocator_uses=(made,)))
    assert "1.00 GiB (host-a GPU_0_bfc), while f was dispatched." in " ".join(told.split())


def test_events_of_an_allocator_are_few_kinds() -> None:
    """Their statistics differ from event to event, so each would be a kind of its own."""
    recording = recording_of("gpu_mi300_gemm")
    assert sum("Memory" in each.name for each in recording.kinds) < 12


def test_without_allocators_nothing_is_said_or_drawn() -> None:
    assert allocator_uses(Trace((), (), {}, {}), 0) == ()
    assert "allocated memory" not in str(fabricated())
    with pytest.raises(ValueError, match="no allocator"):
        replace(fabricated()).figure("memory")
