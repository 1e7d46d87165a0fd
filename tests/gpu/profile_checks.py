"""Checks 9, 10 and 13: command buffers, sums and overlap in profiles, whose recordings are kept.

They run on a CPU as well, which shows that they run, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.profiler import ProfileData
from work import GIB, MS, Row, Work, accelerator, in_a_process, median, memory_of

from jaxmagic.profiling.analysis.data_sheets import peak_of
from jaxmagic.profiling.capture.command_buffers import without_command_buffers


def graphs(work: Work) -> Iterator[Row]:
    """The share of kernel time that is an operation's, with command buffers and without (R8)."""

    @jax.jit
    def unfused(x: Any) -> Any:
        for _ in range(10):
            x = jnp.sort(x, axis=-1) + jnp.cumsum(x, axis=0) + (x @ x).astype(x.dtype)
        return x

    x = jnp.ones((work.side // 4, work.side // 4))
    for name, function, least in (("off", without_command_buffers(unfused, x), 0.95), ("on", unfused, 0.8)):
        profile = work.profile(f"graphs-{name}", function, x)
        total = sum(each.time_ns for each in profile.operation_times)
        known = sum(each.time_ns for each in profile.operation_times if each.source)
        share = known / max(total, 1)
        yield Row(
            f"9. graphs {name}", f"{share:.0%} of device time has a line", f"at least {least:.0%}", share >= least
        )
        yield from _contents(name, profile.kept)


def _contents(name: str, folder: str | None) -> Iterator[Row]:
    """What a recording has of its devices: lines with their events, and the statistics of these."""
    files = [] if folder is None else sorted(Path(folder).glob("*.xplane.pb"))
    planes = [plane for file in files for plane in ProfileData.from_file(str(file)).planes]
    for plane in (each for each in planes if each.name.startswith("/device:") and any(each.lines)):
        lines, statistics = [], set[str]()
        for line in plane.lines:
            events = list(line.events)
            lines.append(f"{line.name} ({len(events)})")
            statistics |= {key for event in events[:1000] for key, _ in event.stats if key is not None}
        figure = f"lines {', '.join(lines)}; statistics {', '.join(sorted(statistics))}"
        yield Row(f"9. graphs {name}, {plane.name}", figure, "to be known")


_FIRST_TRACE = """
import tempfile
from time import perf_counter_ns as clock
import jax
jax.devices()
with tempfile.TemporaryDirectory() as folder:
    start = clock()
    jax.profiler.start_trace(folder)
    print(f"{(clock() - start) / 1e6:.1f}")
    jax.profiler.stop_trace()
"""


def sums(work: Work) -> Iterator[Row]:
    """A loop of products: the device is busy but for launches, as long as by hand, and our fence is no row."""
    run = work.function(200)
    by_hand_ns = work.by_hand_ns(200)
    profile = work.profile("sums", run, work.x)
    use = profile.device_uses[0]
    busy, of_run = use.busy_ns / profile.recorded_ns, use.busy_ns / by_hand_ns
    figure = f"{busy:.1%} of the recording, {of_run:.1%} of a run by hand"
    yield Row(
        "10. busy",
        figure,
        "85 to 100 % of the recording, and no longer than the run",
        0.85 <= busy <= 1 and of_run <= 1.02,
    )
    ours = [each.name for each in profile.operation_times if "jaxmagic" in each.module]
    yield Row("10. our fence", f"{len(ours)} rows", "0 rows", not ours)
    products = [each for each in profile.operation_times if each.category == "matmul" and each.flops]
    rate = max((each.flops or 0) * each.count / max(each.total_ns, 1) * 1e9 for each in products) if products else 0.0
    peak = peak_of(use.peak_flops_by_type, "bf16") or use.peak_flops or float("nan")
    yield Row(
        "10. products",
        f"{rate / 1e12:.0f} TFLOP/s of {peak / 1e12:.0f}",
        "40 to 100 % of the peak",
        0.4 <= rate / peak <= 1,
    )
    told, taken = use.recorded_peak_bytes or float("nan"), use.peak_bytes or float("nan")
    figure = f"recording {told / 1e12:.2f} TB/s, taken {taken / 1e12:.2f} TB/s for {use.model or 'an unknown model'}"
    yield Row("10. bandwidth", figure, "the data sheet's")
    device = accelerator()
    host = np.ones(int(GIB * min(1.0, work.scale)) // 4, np.float32)
    pinned, on_device = memory_of(device, "pinned_host"), memory_of(device, "device")
    if pinned is None or on_device is None:
        yield Row("10. transfer of 1 GiB, pinned", "no pinned memory here", "20 to 60 GB/s")
    else:
        there = jax.device_put(host, pinned).block_until_ready()
        took = median(lambda: jax.device_put(there, on_device).block_until_ready(), 3)
        rate = host.nbytes / took
        yield Row("10. transfer of 1 GiB, pinned", f"{rate:.1f} GB/s", "20 to 60 GB/s", 20 <= rate <= 60)
    took = median(lambda: jax.device_put(host, device).block_until_ready(), 3)
    yield Row("10. transfer of 1 GiB, pageable", f"{host.nbytes / took:.1f} GB/s", "less than pinned")
    yield Row("10. first start_trace", f"{in_a_process(_FIRST_TRACE)} ms", "to be known")


def streams(work: Work) -> Iterator[Row]:
    """Copies beside computation: their time is told as hidden, and the union is no longer than the run."""
    host = np.ones(int(GIB * min(1.0, work.scale)) // 4, np.float32)
    run, device = work.function(200), accelerator()

    def both(x: Any) -> Any:
        y = run(x)
        z = jax.device_put(host, device)
        return y, z

    profile = work.profile("streams", both, work.x)
    use = profile.device_uses[0]
    figure = (
        f"copies {use.copy_ns / MS:.2f} ms, {use.exposed_copy_ns / MS:.2f} ms exposed, busy {use.busy_ns / MS:.2f} ms"
    )
    yield Row("13. streams", figure, "hidden in part", use.busy_ns <= profile.recorded_ns)
