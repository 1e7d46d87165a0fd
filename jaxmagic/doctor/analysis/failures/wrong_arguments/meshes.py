"""Explains meshes that do not fit the devices, platforms without devices, and names of axes that are not bound."""

from __future__ import annotations

import math

from .....records.note import note
from ....record.failure import Failure
from ..expression import expression_of, spelled
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


def explain_axis_name(failure: Failure) -> Explained:
    """Explain a collective whose axis name no function around it has bound."""
    axis, failing = fact(failure, "axis"), expression_of(failure)
    called = "" if failing is None or failure.library is not None else failing.called or ""
    found = note("doctor.error_axis_name", axis=axis, function=called or fact(failure, "function"))
    return Explained(found, note("doctor.write_axis_name", axis=axis))


def explain_backend(failure: Failure) -> Explained:
    """Explain a platform that JAX has no devices of."""
    present = fact(failure, "present").replace("'", "")
    found = note("doctor.error_backend", backend=fact(failure, "backend"), present=present)
    return Explained(found, note("doctor.write_backend", jax=spelled(failure, "jax")))
