"""Checks 1 to 8: the fence, waits and first runs, each with its figure and the one expected.

They run on a CPU as well, which shows that they run, and nothing else.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from time import perf_counter_ns as clock
from time import sleep
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from work import GIB, MS, Row, Work, accelerator, in_a_process, median, quartiles

import jaxmagic


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
    """Whether anything still runs behind the fence: a short program would have to wait for it.

    How long that takes where nothing runs is seen behind a wait by hand for the same work, of which all is held.
    """
    probe = jax.jit(lambda x: x + 1)
    small = jnp.zeros(8)
    unready = 0

    def mix(held: list[Any], keep: float) -> None:
        for _ in range(random.randint(1, 4)):
            made = work(random.choice((1, 5, 20)))
            if random.random() < keep:
                held.append(made)

    def probed(wait: Callable[[list[Any]], object], keep: float, rounds: int) -> list[float]:
        nonlocal unready
        found = []
        for _ in range(rounds):
            held: list[Any] = []
            thread = threading.Thread(target=mix, args=(held, keep))
            thread.start()
            mix(held, keep)
            thread.join()
            wait(held)
            start = clock()
            probe(small).block_until_ready()
            found.append(float(clock() - start))
            unready += sum(not each.is_ready() for each in held)
        return sorted(found)

    by_hand = probed(jax.block_until_ready, 1.0, work.times(500))
    behind = probed(lambda _: jaxmagic.fence(), 0.5, work.times(1500))
    most = by_hand[int(0.99 * len(by_hand))] + 0.1 * MS
    late = sum(each > most for each in behind)
    medians = f"{quartiles(behind)[1] / 1e3:.0f} µs, by hand {quartiles(by_hand)[1] / 1e3:.0f} µs"
    figure = f"{late} of {len(behind)} mixes went on, {unready} arrays were not ready; the probe took {medians}"
    yield Row("2. completeness", figure, "at most 1 % and 0", late <= len(behind) // 100 and not unready)


def dropped_transfer(work: Work) -> Iterator[Row]:
    """Whether a copy to the device that nobody holds is waited for (R9)."""
    host = np.ones(max(1, int(4 * GIB * work.scale / 4)), np.float32)
    device = accelerator()
    by_hand = median(lambda: jax.device_put(host, device).block_until_ready(), 3)
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
            jaxmagic.fence()
            found.append(float(clock() - start))
            sleep(pause * min(1.0, work.scale))
            with jaxmagic.stopwatch() as t:
                pass
            waits += bool(t.timing.wait_ns)
        low, middle, high = quartiles(found)
        when = f"4. idle, {pause:g} s after the last"
        fence = f"the fence takes {middle / 1e3:.0f} µs ({low / 1e3:.0f} to {high / 1e3:.0f})"
        yield Row(when, fence, "20 to 60 µs", middle <= 60_000)
        yield Row(when, f"a wait in {waits} of {rounds}", "in at most 2 %", waits <= 0.02 * rounds)


def truth(work: Work) -> Iterator[Row]:
    """The magic beside a wait by hand: for a result, and for a step, whose arrays only the fence can wait for."""
    for wanted in (0.2, 1.0, 10.0):
        products = work.products_for(wanted * MS)
        run, step = work.function(products), work.step(products)
        found, by_step, by_hand = [], [], []
        for _ in range(work.times(40)):
            with jaxmagic.stopwatch() as t:
                t.result = run(work.x)
            found.append(float(t.timing.wall_ns))
            with jaxmagic.stopwatch() as t:
                _next, _number = step(work.x)
            by_step.append(float(t.timing.wall_ns))
            start = clock()
            jax.block_until_ready(step(work.x))
            by_hand.append(float(clock() - start))
        for name, told_ns, hand_ns in (
            ("f(x)", quartiles(found)[1], work.by_hand_ns(products, 40)),
            ("p, l = step(p)", quartiles(by_step)[1], quartiles(by_hand)[1]),
        ):
            near = abs(told_ns - hand_ns) <= max(20_000, 0.01 * hand_ns)
            figure = f"{told_ns / MS:.3f} ms, by hand {hand_ns / MS:.3f} ms"
            yield Row(f"5. truth, {name}, about {wanted:g} ms", figure, "within 20 µs or 1 %", near)


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
    inside = t.timing.code_wait_ns or 0
    rest = t.timing.wait_ns - inside
    figure = f"waited {inside / MS:.2f} ms in the code and {rest / MS:.2f} ms after it, by hand {by_hand / MS:.2f} ms"
    expected = "in the code as long as by hand, after it below 0.2 ms"
    yield Row("7. float(y)", figure, expected, rest < 0.2 * MS and inside > 0.8 * by_hand)

    def callback(x: Any) -> Any:
        return jax.pure_callback(lambda y: np.asarray(y), jax.ShapeDtypeStruct((), x.dtype), run_inside(x)[0, 0])

    def run_inside(x: Any) -> Any:
        return jax.lax.fori_loop(0, work.times(250), lambda _, y: (y @ x).astype(x.dtype), x)

    called = jax.jit(callback).lower(work.x).compile()
    with jaxmagic.stopwatch() as t:
        t.result = called(work.x)
    parts = f"dispatch {t.timing.dispatch_ns / MS:.2f} ms, wait {t.timing.wait_ns / MS:.2f} ms"
    yield Row("7. pure_callback", parts, "together as long as the products", t.timing.wall_ns > 0.8 * by_hand)


_FIRST_RUNS = """
from time import perf_counter_ns as clock
import jax, jax.numpy as jnp
x = jnp.full(({side}, {side}), 1 / {side}, jnp.bfloat16).block_until_ready()
start = clock()
run = jax.jit(lambda x: jnp.linalg.norm(jnp.sin(x.astype("float32")) @ x.astype("float32"))).lower(x).compile()
took = [clock() - start]
for _ in range(10):
    start = clock()
    run(x).block_until_ready()
    took.append(clock() - start)
print(*(f"{{each / 1e6:.2f}}" for each in took))
"""

#: How a first run may differ: the environment variables, or flags for ``XLA_FLAGS``.
_STARTS = {
    "as set here": ({}, ""),
    "lazy loading": ({"CUDA_MODULE_LOADING": "LAZY"}, ""),
    "eager loading": ({"CUDA_MODULE_LOADING": "EAGER"}, ""),
    "autotuning off": ({}, "--xla_gpu_autotune_level=0"),
    "graphs off": ({}, "--xla_gpu_enable_command_buffer="),
}


def first_runs(work: Work) -> Iterator[Row]:
    """Loading of modules and the start of libraries lie in the first run, graphs in the second (R11)."""
    for name, (variables, flag) in _STARTS.items():
        flags = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()
        compiled, *runs = in_a_process(_FIRST_RUNS.format(side=work.side), variables | {"XLA_FLAGS": flags}).split()
        figure = f"compiled ahead of time in {compiled} ms; runs {', '.join(runs)} ms"
        yield Row(f"8. first runs, {name}", figure, "the first longer, the second with graphs, then alike")
