"""Makes a recording that tests read, with whatever JAX there is: ``python train.py FOLDER``.

So that no path of somebody's machine is in it: ``exec(compile(source, "train.py", "exec"))``.
"""

from __future__ import annotations

import os
import sys
import time

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"


def layer(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w)


@jax.jit
def step(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.lax.fori_loop(0, 3, lambda _, c: layer(c, w), x).sum()


rows = NamedSharding(jax.make_mesh((2,), ("rows",)), PartitionSpec("rows"))
x, w = jax.device_put(jnp.ones((512, 400)), rows), jnp.ones((400, 400))
step(x, w).block_until_ready()
options = jax.profiler.ProfileOptions()
options.host_tracer_level, options.python_tracer_level = 2, 0
with jax.profiler.trace(sys.argv[1], profiler_options=options):
    step(x, w).block_until_ready()
    time.sleep(0.05)  # until the ends of the last operations are marked
