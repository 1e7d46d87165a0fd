"""Explains meshes that do not fit the devices."""

from __future__ import annotations

import math

from .....records.note import note
from ....record.failure import Failure
from ..expression import spelled
from .explained import Explained
from .operands import fact, shapes_in, written


def explain_devices(failure: Failure) -> Explained:
    """Explain a mesh of another size than there are devices."""
    shape, given = shapes_in(fact(failure, "shape"))[0], int(fact(failure, "given"))
    needed = math.prod(shape)
    passed = given != int(fact(failure, "present") or given) or any(
        each.keyword == "devices" for each in failure.operands
    )
    found = note("doctor.error_devices", shape=written(shape), needed=needed, given=given, passed=passed)
    if given > needed:
        return Explained(found, note("doctor.write_fewer_devices", jax=spelled(failure, "jax"), needed=needed))
    if passed or fact(failure, "platform") != "cpu":
        return Explained(found, note("doctor.write_smaller_mesh", given=given))
    code = f'{spelled(failure, "jax")}.config.update("jax_num_cpu_devices", {needed})'
    return Explained(found, note("doctor.write_virtual_devices", given=given, needed=needed), code)


def explain_mesh_axes(failure: Failure) -> Explained:
    """Explain a mesh with another number of names than axes."""
    found = note("doctor.error_mesh_axes", axes=int(fact(failure, "axes")), names=int(fact(failure, "names")))
    return Explained(found, note("doctor.write_mesh_axes", jax=spelled(failure, "jax")))
