"""Twelve checks of what cannot be known without an accelerator: each with its figure and the one expected.

They run on a CPU as well, which shows that they run, and nothing else.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter_ns as clock
from time import sleep
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from work import Row, Work, accelerator, quartiles

import jaxmagic
from jaxmagic.profiling.analysis.data_sheets import peak_of
from jaxmagic.profiling.capture.command_buffers import without_command_buffers

MS = 1e6
GIB = 2**30


def first_is_ready(work: Work) -> Iterator[Row]:
    """Whether an array that is there says so at once (R10)."""
    ready = 0
    rounds = work.times(200)
    for _ in range(rounds):
        a = work(50)
        (a + 1).block_until_ready()
        ready += a.is_ready()
    yield Row("1. first is_ready", f"true in {ready} of {rounds}", "at least 99 %", ready >= 0.99 * rounds)


def completeness(work: Work) -> Iterator[Row]:
    """Whether anything still runs behind the fence: a short program would have to wait for it."""
    rounds = work.times(1500)
    probe = jax.jit(lambda x: x + 1)
    small = jnp.zeros(8)
    usual = _median(lambda: probe(small).block_until_ready(), work.times(50))
    late = unready = 0

    def mix(held: list[Any]) -> None:
        for _ in range(random.randint(1, 4)):
            made = work(random.choice((1, 5, 20)))
            if random.random() < 0.5:
                held.append(made)

    for _ in range(rounds):
        held: list[Any] = []
        thread = threading.Thread(target=mix, args=(held,))
        thread.start()
        mix(held)
        thread.join()
        jaxmagic.fence()
        start = clock()
        probe(small).block_until_ready()
        late += clock() - start > usual + 0.1 * MS
        unready += sum(not each.is_ready() for each in held)
    figure = f"{late} of {rounds} mixes went on, {unready} arrays were not ready"
    yield Row("2. completeness", figure, "0 and 0", late <= rounds // 100 and not unready)


def dropped_transfer(work: Work) -> Iterator[Row]:
    """Whether a copy to the device that nobody holds is waited for (R9)."""
    host = np.ones(max(1, int(4 * GIB * work.scale / 4)), np.float32)
    device = accelerator()
    by_hand = _median(lambda: jax.device_put(host, device).block_until_ready(), 3)
    with jaxmagic.stopwatch() as t:
        jax.device_put(host, device)
    figure = f"{t.timing.wall_ns / MS:.2f} ms, by hand {by_hand / MS:.2f} ms"
    yield Row("3. dropped transfer", figure, "at least as long as by hand", t.timing.wall_ns >= 0.9 * by_hand)


def idle(work: Work) -> Iterator[Row]:
    """What the fence takes where nothing is to be waited for, and how often it then believes in work."""
    with jaxmagic.stopwatch():  # the first one makes the fence
        pass
    for pause in (0.0, 0.003, 0.1, 2.0):
        rounds = work.times(200 if pause < 1 else 20)
        found, waits = [], 0
        for _ in range(rounds):
            sleep(pause * min(1.0, work.scale))
            start = clock()
            with jaxmagic.stopwatch() as t:
                pass
            found.append(float(clock() - start))
            waits += bool(t.timing.wait_ns)
        low, middle, high = quartiles(found)
        figure = f"{middle / 1e3:.0f} µs ({low / 1e3:.0f} to {high / 1e3:.0f}), a wait in {waits} of {rounds}"
        yield Row(f"4. idle, {pause:g} s after the last", figure, "a wait in at most 2 %", waits <= 0.02 * rounds)


def truth(work: Work) -> Iterator[Row]:
    """The magic beside a wait by hand."""
    for wanted in (0.2, 1.0, 10.0):
        products = work.products_for(wanted * MS)
        by_hand = work.by_hand_ns(products, 40)
        run, found = work.function(products), []
        for _ in range(work.times(40)):
            with jaxmagic.stopwatch() as t:
                t.result = run(work.x)
            found.append(float(t.timing.wall_ns))
        told = quartiles(found)[1]
        near = abs(told - by_hand) <= max(20_000, 0.01 * by_hand)
        figure = f"{told / MS:.3f} ms, by hand {by_hand / MS:.3f} ms"
        yield Row(f"5. truth, about {wanted:g} ms", figure, "within 20 µs or 1 %", near)


def full_queue(work: Work) -> Iterator[Row]:
    """How much of a long queue is dispatch: the host waits where the queue is full."""
    run = work.function(50)
    with jaxmagic.stopwatch() as t:
        for _ in range(work.times(100)):
            y = run(work.x)
        t.result = y
    share = t.timing.dispatch_ns / t.timing.wall_ns
    yield Row("6. full queue", f"dispatch is {share:.0%} of the wall time", "about 68 %")


def host_reads(work: Work) -> Iterator[Row]:
    """Reading a value waits in the code, and nothing is left for the fence."""
    run = work.function(250)
    by_hand = work.by_hand_ns(250, 3)
    with jaxmagic.stopwatch() as t:
        float(run(work.x)[0, 0])
    figure = f"wait {t.timing.wait_ns / MS:.2f} ms of {t.timing.wall_ns / MS:.2f} ms"
    holds = t.timing.wait_ns < 0.2 * MS and t.timing.wall_ns > 0.8 * by_hand
    yield Row("7. float(y)", figure, "wait below 0.2 ms", holds)

    def callback(x: Any) -> Any:
        return jax.pure_callback(lambda y: np.asarray(y), jax.ShapeDtypeStruct((), x.dtype), run_inside(x)[0, 0])

    def run_inside(x: Any) -> Any:
        return jax.lax.fori_loop(0, work.times(250), lambda _, y: (y @ x).astype(x.dtype), x)

    called = jax.jit(callback).lower(work.x).compile()
    with jaxmagic.stopwatch() as t:
        t.result = called(work.x)
    parts = f"dispatch {t.timing.dispatch_ns / MS:.2f} ms, wait {t.timing.wait_ns / MS:.2f} ms"
    yield Row("7. pure_callback", parts, "together as long as the products", t.timing.wall_ns > 0.8 * by_hand)


def first_runs(work: Work) -> Iterator[Row]:
    """Loading of modules and the start of libraries lie in the first run, graphs in the second (R11)."""
    compiled = jax.jit(lambda x: jnp.linalg.norm(jnp.sin(x.astype(jnp.float32)) @ x.astype(jnp.float32)))
    compiled = compiled.lower(work.x).compile()
    found = []
    for _ in range(10):
        start = clock()
        compiled(work.x).block_until_ready()
        found.append((clock() - start) / MS)
    yield Row("8. first runs", ", ".join(f"{each:.2f}" for each in found) + " ms", "the first longer, then alike")


def graphs(work: Work) -> Iterator[Row]:
    """The share of kernel time that is an operation's, with command buffers and without (R8)."""

    @jax.jit
    def unfused(x: Any) -> Any:
        for _ in range(10):
            x = jnp.sort(x, axis=-1) + jnp.cumsum(x, axis=0) + (x @ x).astype(x.dtype)
        return x

    x = jnp.ones((work.side // 4, work.side // 4))
    for name, function, least in (("off", without_command_buffers(unfused, x), 0.95), ("on", unfused, 0.8)):
        profile = jaxmagic.profile(function, x)
        total = sum(each.time_ns for each in profile.operation_times)
        known = sum(each.time_ns for each in profile.operation_times if each.source)
        share = known / max(total, 1)
        yield Row(
            f"9. graphs {name}", f"{share:.0%} of device time has a line", f"at least {least:.0%}", share >= least
        )


def sums(work: Work) -> Iterator[Row]:
    """A run of products alone: the device is busy all the time, and our fence is no row."""
    profile = jaxmagic.profile(work.function(200), work.x)
    use = profile.device_uses[0]
    busy = use.busy_ns / profile.recorded_ns
    yield Row("10. busy", f"{busy:.1%} of the recording", "97 to 100 %", 0.97 <= busy <= 1)
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
    host = np.ones(int(GIB * min(1.0, work.scale)) // 4, np.float32)
    took = _median(lambda: jax.device_put(host, accelerator()).block_until_ready(), 3)
    yield Row("10. transfer of 1 GiB", f"{host.nbytes / took:.1f} GB/s", "20 to 60 GB/s")


def memory(work: Work) -> Iterator[Row]:
    """The map beside what XLA says, and the peak beside what the device says."""
    side = max(8, int((8 * GIB * work.scale / 4) ** 0.5))

    @jax.jit
    def hungry(x: Any) -> Any:
        return jnp.sum(jnp.sort(x[:, None] * x[None, :], axis=0))

    x = jnp.ones(side)
    program = jaxmagic.memory_requirement(hungry, x)
    by_xla = hungry.lower(x).compile().memory_analysis()
    told = program.temporary_bytes, program.argument_bytes, program.output_bytes
    wanted = by_xla.temp_size_in_bytes, by_xla.argument_size_in_bytes, by_xla.output_size_in_bytes
    yield Row("11. map", f"{told}", f"{wanted}", told == wanted)
    device = accelerator()
    stats = device.memory_stats() or {}
    if "peak_bytes_in_use" not in stats:
        yield Row("11. peak", "memory_stats() has no peak", "a peak")
        return
    hungry(x).block_until_ready()
    rose = device.memory_stats()["peak_bytes_in_use"] - stats["peak_bytes_in_use"]
    figure = f"rose by {rose / GIB:.2f} GiB for temporaries of {(program.temporary_bytes or 0) / GIB:.2f}"
    yield Row("11. peak", figure, "at most the temporaries and the output", rose <= (program.peak_bytes or 0) * 1.05)


_HOSTILE = """
import jax, jax.numpy as jnp, numpy as np, jaxmagic
if {full}:
    device = jax.devices()[0]
    held = []
    try:
        for size in (2**30, 2**26, 2**22, 2**16, 256):
            while len(held) < 100_000:
                held.append(jax.device_put(np.zeros(size, np.uint8), device).block_until_ready())
    except Exception:
        pass
if {mesh}:
    jax.set_mesh(jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,)))
with jaxmagic.stopwatch() as t:
    ran = 1 + 1
assert ran == 2
print("ran;", "; ".join(map(str, t.timing.notes)) or "no note")
"""


def hostile(work: Work) -> Iterator[Row]:
    """The code always runs, whatever the fence meets."""
    has_memory = accelerator().platform != "cpu"
    cases: dict[str, tuple[dict[str, str], bool, bool]] = {
        "allocator platform": ({"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}, False, False),
        "allocator cuda_async": ({"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"}, False, False),
        "no preallocation": ({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, False, False),
        "memory filled": ({"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.1"}, has_memory, False),
        "set_mesh first": ({}, False, hasattr(jax, "set_mesh")),
    }
    for name, (variables, full, mesh) in cases.items():
        program = _HOSTILE.format(full=full, mesh=mesh)
        done = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | variables, capture_output=True, text=True, timeout=120
        )
        said = done.stdout.strip() or (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        yield Row(f"12. {name}", said, "ran", done.returncode == 0)


def streams(work: Work) -> Iterator[Row]:
    """Copies beside computation: their time is told as hidden, and the union is no longer than the run."""
    host = np.ones(int(GIB * min(1.0, work.scale)) // 4, np.float32)
    run, device = work.function(200), accelerator()

    def both(x: Any) -> Any:
        y = run(x)
        z = jax.device_put(host, device)
        return y, z

    profile = jaxmagic.profile(both, work.x)
    use = profile.device_uses[0]
    figure = (
        f"copies {use.copy_ns / MS:.2f} ms, {use.exposed_copy_ns / MS:.2f} ms exposed, busy {use.busy_ns / MS:.2f} ms"
    )
    yield Row("13. streams", figure, "hidden in part", use.busy_ns <= profile.recorded_ns)


def _median(run: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(max(1, times)):
        start = clock()
        run()
        found.append(float(clock() - start))
    return quartiles(found)[1]


CHECKS: Mapping[str, Callable[[Work], Iterator[Row]]] = {
    "is_ready": first_is_ready,
    "completeness": completeness,
    "dropped": dropped_transfer,
    "idle": idle,
    "truth": truth,
    "queue": full_queue,
    "reads": host_reads,
    "first_runs": first_runs,
    "graphs": graphs,
    "sums": sums,
    "memory": memory,
    "hostile": hostile,
    "streams": streams,
}
