"""One of two JAX processes with two devices each, which measure what runs on all four.

Both write a line for each measurement. They take different times between calls, so that they would choose different
numbers of calls.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["TQDM_DISABLE"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jaxmagic


def tell(what: str, measure: Callable[[], str]) -> None:
    """Write what comes of a measurement."""
    try:
        found = measure()
    except jaxmagic.JaxMagicError as error:
        found = "refused" if "several JAX processes" in str(error) else f"{type(error).__name__}: {error}"
    print(f"> {what}: {found}", flush=True)


def main(port: str, number: int) -> None:
    """Join the other process, and measure."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=number)
    everywhere = NamedSharding(Mesh(np.array(jax.devices()), ("i",)), PartitionSpec("i"))
    x = jax.make_array_from_callback((8,), everywhere, lambda index: np.arange(8.0)[index])
    assert not x.is_fully_addressable
    total = jax.jit(lambda x: jnp.sum(x * 2))

    def f(x: Any) -> float:
        time.sleep(0.002 * number)  # one process is slower
        return float(total(x))

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "jaxmagic")
    shell.user_ns |= {"f": f, "x": x}

    def magic(line: str) -> str:
        name, _, rest = line.partition(" ")
        return "a record" if shell.run_line_magic(name, f"-q -o {rest}") else "nothing"

    def counted() -> str:
        record = shell.run_line_magic("jaxtimeit", "-q -o -n 2 -r 7 f(x)")
        return f"{len(record.latency.samples_ns)} samples of {record.latency.evaluations} calls"

    def profiled() -> str:
        assert jaxmagic.profile(f, x, n=3).runs == 3
        return "a record"

    tell("benchmark", lambda: str(jaxmagic.benchmark(f, x, budget_s=0.2)))
    tell("compare", lambda: str(jaxmagic.compare({"f": f, "total": total}, x, budget_s=0.2)))
    tell("sweep", lambda: str(jaxmagic.sweep({"f": f}, lambda n: (x,), n=[1, 2], budget_s=0.2)))
    tell("jaxtimeit", lambda: magic("jaxtimeit f(x)"))
    tell("fresh processes", lambda: str(jaxmagic.benchmark(lambda: 1, processes=2)))
    tell("jaxtimeit -n 2 -r 7", counted)
    tell("jaxtime", lambda: magic("jaxtime f(x)"))
    tell("jaxmem", lambda: magic("jaxmem f(x)"))
    tell("profile of 3 runs", profiled)
    local = jnp.arange(8.0)
    tell("a local result", lambda: "measured" if jaxmagic.benchmark(jnp.sum, local, budget_s=0.1) else "")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
