"""Several devices, which exchange data."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from . import planted
from .windows import image


@planted()
def three_collectives(slow: bool) -> Any:
    mesh = Mesh(np.array(jax.devices()), "d")
    shard_map = getattr(jax, "shard_map", None) or partial(__import__("jax.experimental.shard_map").shard_map)

    def local(x: Any) -> Any:
        y = x * 2
        if slow:
            y = jnp.sort(y, axis=1)  # planted
        whole = jax.lax.all_gather(y[:1, :10], "d")
        moved = jax.lax.ppermute(y[:1, :10], "d", [(0, 0)])
        return jax.lax.psum(y.sum() + whole.sum() + moved.sum(), "d")

    x = image(len(jax.devices()) * 60, 2000)
    return jax.jit(shard_map(local, mesh=mesh, in_specs=P("d"), out_specs=P())), (x,)
