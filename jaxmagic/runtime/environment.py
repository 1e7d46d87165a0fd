"""Probe the versions, devices and settings under which a measurement is true."""

from __future__ import annotations

import functools
import os
import platform
import sys
from typing import NamedTuple

from ..records.environment import Environment
from . import private_api


def probe() -> Environment:
    """Return the current environment without starting a backend; if none was started, device fields are ``None``."""
    import jax

    fixed = _fixed()
    config = jax.config
    started = private_api.backends_started() is not False
    devices = jax.devices() if started else []
    ipython = sys.modules.get("IPython")
    return Environment(
        jaxmagic=fixed.jaxmagic,
        jax=jax.__version__,
        jaxlib=fixed.jaxlib,
        python=fixed.python,
        ipython=getattr(ipython, "__version__", None),
        platform=fixed.platform,
        cpu_count=fixed.cpu_count,
        backend=jax.default_backend() if started else None,
        device_kinds=tuple(dict.fromkeys(device.device_kind for device in devices)),
        device_count=len(devices) if started else None,
        local_device_count=jax.local_device_count() if started else None,
        process_count=jax.process_count() if started else None,
        x64=bool(config.jax_enable_x64),
        matmul_precision=_text(config.jax_default_matmul_precision),
        xla_flags=os.environ.get("XLA_FLAGS"),
        cpu_async_dispatch=private_api.cpu_async_dispatch(),
        cache_directory=_text(config.jax_compilation_cache_dir),
    )


class _Fixed(NamedTuple):
    jaxmagic: str
    jaxlib: str
    python: str
    platform: str
    cpu_count: int | None


@functools.cache
def _fixed() -> _Fixed:
    """Return the fields that cannot change within a process and are slow to find out."""
    import jaxlib

    from ..version import __version__

    return _Fixed(
        jaxmagic=__version__,
        jaxlib=jaxlib.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        cpu_count=os.cpu_count(),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
