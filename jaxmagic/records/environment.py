"""The versions, devices and settings under which a record was measured."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .exportable import Exportable

#: Fields that may differ without making times incomparable, because they do not affect the computation.
_MAY_DIFFER = frozenset({"jaxmagic", "ipython", "cache_directory"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Exportable):
    """Versions, devices and settings at the end of a measurement.

    Unknown fields are ``None``, such as the device fields if no backend had been started yet.

    Attributes:
        jaxmagic: version of this package.
        jax: version of JAX.
        jaxlib: version of jaxlib.
        python: version of Python.
        ipython: version of IPython, ``None`` outside of it.
        platform: operating system and machine, as ``platform.platform()``.
        cpu_count: logical processors.
        backend: JAX's default backend (``cpu``, ``gpu``, ``tpu``).
        device_kinds: the kinds of the default backend's devices, each once.
        device_count: devices of the default backend over all processes.
        local_device_count: devices of the default backend in this process.
        process_count: JAX processes.
        x64: whether 64-bit types are enabled.
        matmul_precision: ``jax_default_matmul_precision``.
        xla_flags: the environment variable ``XLA_FLAGS``.
        cpu_async_dispatch: whether the CPU backend dispatches asynchronously.
        cache_directory: directory of the persistent compilation cache.
    """

    jaxmagic: str
    jax: str
    jaxlib: str
    python: str
    ipython: str | None
    platform: str
    cpu_count: int | None
    backend: str | None
    device_kinds: tuple[str, ...]
    device_count: int | None
    local_device_count: int | None
    process_count: int | None
    x64: bool
    matmul_precision: str | None
    xla_flags: str | None
    cpu_async_dispatch: bool | None
    cache_directory: str | None


def differing(one: Environment, other: Environment) -> dict[str, tuple[object, object]]:
    """Return the fields in which two environments differ and that may affect times, with both values."""
    return {
        each.name: (getattr(one, each.name), getattr(other, each.name))
        for each in fields(Environment)
        if each.name not in _MAY_DIFFER and getattr(one, each.name) != getattr(other, each.name)
    }
