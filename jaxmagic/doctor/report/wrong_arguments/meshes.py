"""Words meshes that do not fit the devices, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from .... import units


def _devices(shape: str, needed: int, given: int, passed: bool) -> str:
    there = f"it gets {given}" if passed else f"there {'is' if given == 1 else 'are'} {given}"
    return f"A mesh of shape {shape} has {units.count(needed, 'device')}, but {there}."


MESH_NOTES: dict[str, Callable[..., str]] = {
    "error_devices": _devices,
    "write_fewer_devices": lambda jax, needed: (
        f"Pass as many devices as the mesh has, such as devices={jax}.devices()[:{needed}]."
    ),
    "write_smaller_mesh": lambda given: f"Make a mesh whose sizes multiply to {given}, or pass more devices.",
    "write_virtual_devices": lambda given, needed: (
        f"JAX runs on the CPU here. Make a mesh whose sizes multiply to {given}; or, to try the code out, let the "
        f"CPU count as {needed} devices, which share its cores. That works in a new process only, before JAX "
        "computes anything. The environment variable "
        f"XLA_FLAGS=--xla_force_host_platform_device_count={needed} does the same."
    ),
    "error_mesh_axes": lambda axes, names: (
        f"The array of devices has {axes} {'axis' if axes == 1 else 'axes'}, but the mesh gets "
        f"{units.count(names, 'name')}."
    ),
    "write_mesh_axes": lambda jax: (
        f"Give one name per axis. {jax}.make_mesh(shape, names) arranges the devices in a shape."
    ),
}
