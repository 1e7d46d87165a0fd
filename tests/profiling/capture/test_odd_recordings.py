"""Traces that no profiler writes: whatever they contain, a record is made, shown, saved and loaded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import jaxmagic
from jaxmagic.profiling.analysis.devices.command_buffers import with_ops_of_graphs
from jaxmagic.profiling.analysis.devices.driver_calls import with_calls_of_copies
from jaxmagic.profiling.analysis.summarize import summarize
from jaxmagic.profiling.capture.make_record import make_profile
from jaxmagic.profiling.record.recording import EventMetadata, Role, Trace, TraceLine
from jaxmagic.report.to_html import to_html

NAMES = (
    "void ns::k<1>(x)", "__amd_rocclr_copyBuffer.kd", "loop_add_fusion_1", "MemcpyH2D", "CopyDeviceToDevice",
    "MemoryAllocation", "MemoryDeallocation", "%copy-start.4 = (f32[2])", "train", "$a.py:3 __next__",
    "PjitFunction(f)", "jit_f(12)", "cuLaunchKernel", "ncclAllReduce", "", "<<>>((", "_ZN3", "jaxmagic: cut",
)  # fmt: skip
FACTS = (
    "hlo_op", "hlo_module", "program_id", "kernel_details", "memcpy_details", "allocator_name", "step_num", "size",
    "hlo_category", "bytes_accessed", "flops", "shape_with_layout", "api", "source_stack", "device_ordinal",
)  # fmt: skip
SAID = (
    "device_vendor", "core_count", "memory_size", "clock_rate", "compute_cap_major", "memory_bandwidth",
    "peak_teraflops_per_second", "device_type_string",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    "command_buffer", "dot.1", "jit_f", 1, -5, 2**62, b"\xff", 3.5, "grid:1,1 block: regs:99999999999999999999",
    "kind:Unknown size:5 dest:1", "kind:H2D size:99999999999999999999999", "", "copy-start", "a.py:3:4\nb",
    "AMD", 304,
)  # fmt: skip
FRAMES = ("operations", "kernels", "devices", "transfers", "steps", "memory", "timeline", "collectives", "lines")


def odd(chosen: random.Random) -> Trace:
    def numbers(count: int, low: int, high: int) -> Any:
        return np.array([chosen.randint(low, high) for _ in range(count)], np.int64)

    def stats(names: tuple[str, ...], most: int) -> dict[str, Any]:
        return {chosen.choice(names): chosen.choice(VALUES) for _ in range(chosen.randint(0, most))}

    kinds = tuple(
        EventMetadata(chosen.choice(NAMES), stats(FACTS, 6), chosen.choice(("", "", "host")))
        for _ in range(chosen.randint(1, 14))
    )
    tracks = []
    for _ in range(chosen.randint(0, 6)):
        count = chosen.randint(1, 12)
        start = np.sort(numbers(count, 0, 10**6))
        tracks.append(
            TraceLine(
                name=chosen.choice(("Stream #1", "XLA Ops", "python", "pool")),
                device=chosen.choice((None, "GPU:0", "GPU:1", "TPU:0")),
                role=chosen.choice(get_args(Role)),
                kinds=numbers(count, 0, len(kinds) - 1),
                start_ps=start,
                end_ps=start + numbers(count, 0, 10**5),
                launches=chosen.choice((None, numbers(count, -1, 3))),
                held_bytes=chosen.choice((None, numbers(count, 0, 10**9))),
                graph_nodes=chosen.choice((None, numbers(count, 0, 3))),
            )
        )
    devices = {name: stats(SAID, 4) for name in ("GPU:0", "GPU:1", "another")}
    return Trace(tuple(tracks), kinds, devices, {})


@pytest.mark.parametrize("seed", range(4))
def test_an_odd_recording_is_a_record_like_others(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    for number in range(25):
        recording = with_ops_of_graphs(with_calls_of_copies(odd(chosen)))
        profile = make_profile(summarize(recording), recording, here=False)
        assert str(profile)
        assert to_html(profile)
        for name in FRAMES:
            profile.to_frame(name)
        file = tmp_path / f"{number}.json"
        jaxmagic.save(profile, file)
        assert jaxmagic.load(file) == profile, number
