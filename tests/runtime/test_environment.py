"""The versions, devices and settings under which a record was measured."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import jax
import pytest

import jaxmagic
from jaxmagic.runtime.environment import probe


def test_it_is_this_environment(x: Any) -> None:
    found = probe()
    assert found.jax == jax.__version__
    assert found.jaxmagic == jaxmagic.__version__
    assert found.backend == jax.default_backend()
    assert found.device_count == jax.device_count()
    assert found.device_kinds == (jax.devices()[0].device_kind,)
    assert found.x64 is jax.config.jax_enable_x64
    assert found.cache_directory is None


def test_settings_of_the_moment_are_on_it() -> None:
    with jax.default_matmul_precision("highest"):
        assert probe().matmul_precision == "highest"


@pytest.mark.slow
def test_probing_starts_no_backend_and_says_nothing_about_devices() -> None:
    program = (
        "from jaxmagic.runtime.environment import probe; found = probe()\n"
        "assert (found.backend, found.device_count, found.device_kinds) == (None, None, ())\n"
        "from jax._src import xla_bridge; assert not xla_bridge.backends_are_initialized()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
def test_code_that_starts_jax_itself_is_measured_and_says_what_was_not() -> None:
    program = (
        "import jaxmagic\n"
        "with jaxmagic.stopwatch() as watch:\n"
        "    import jax\n"
        "    jax.config.update('jax_num_cpu_devices', 2)\n"
        "    watch.result = jax.numpy.ones(3) + 1\n"
        "timing = watch.timing\n"
        "assert jax.device_count() == 2\n"
        "assert timing.unreached_ns is None\n"
        "assert 'for discarded results is unknown' in str(timing)\n"
        "assert timing.compile_ns > 0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=_without_flags())


@pytest.mark.clock
@pytest.mark.slow
@pytest.mark.parametrize("last", ["y = work(x)", "work(x)", "watch.result = work(x)"])
def test_work_of_code_that_starts_jax_itself_is_waited_for(last: str) -> None:
    program = (
        "import time, jax, jaxmagic\n"
        "jax.config.update('jax_platforms', 'cpu')\n"
        "with jaxmagic.stopwatch() as watch:\n"
        "    x = jax.numpy.ones((512, 512))\n"
        "    work = jax.jit(lambda x: jax.lax.fori_loop(0, 100, lambda i, y: jax.numpy.tanh(y @ x), x))\n"
        f"    {last}\n"
        "times = []\n"
        "for _ in range(3):\n"
        "    start = time.perf_counter_ns()\n"
        "    jax.block_until_ready(work(x))\n"
        "    times.append(time.perf_counter_ns() - start)\n"
        "print(watch.timing.wait_ns, min(times))\n"
        "assert watch.timing.wait_ns > min(times) / 20\n"  # what nobody waits for takes microseconds
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=_without_flags())


def _without_flags() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
