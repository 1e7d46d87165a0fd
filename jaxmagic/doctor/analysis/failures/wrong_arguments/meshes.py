"""Explains meshes and partition specs that do not fit, platforms without devices, and axis names without a mesh."""

from __future__ import annotations

import ast
import math
import re

from .....records.note import note
from ....record.failure import Failure
from ..expression import expression_of, spelled
from .explained import Explained
from .operands import fact, shapes_in, written

#: JAX's names for the platforms of GPUs.
_GPUS = "gpu", "cuda", "rocm"


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
    backend, allowed = fact(failure, "backend"), fact(failure, "allowed")
    found = note("doctor.error_backend", backend=backend, present=present)
    family = _GPUS if backend in _GPUS else (backend,)
    if allowed and not any(each.strip() in family for each in allowed.split(",")):
        restricted = note(
            "doctor.write_platforms", backend=backend, allowed=allowed, variable=int(bool(fact(failure, "variable")))
        )
        return Explained(found, restricted)
    return Explained(found, note("doctor.write_backend", jax=spelled(failure, "jax")))


def explain_spec_rank(failure: Failure) -> Explained:
    """Explain a partition spec with more entries than the array has axes."""
    specs, spec = fact(failure, "specs"), _short(fact(failure, "spec"))
    length, rank = int(fact(failure, "length")), int(fact(failure, "rank"))
    found = note(
        "doctor.error_spec_rank",
        specs=specs,
        spec=spec,
        length=length,
        rank=rank,
        argument=fact(failure, "parameter"),
    )
    if specs == "out_specs" and not rank:
        return Explained(found, note("doctor.write_scalar_spec", jax=spelled(failure, "jax")))
    entries = _entries(spec)
    shorter = [] if any(each != "None" for each in entries[rank:]) else entries[:rank]
    return Explained(found, note("doctor.write_spec_rank", spec=f"P({', '.join(shorter)})" if shorter else ""))


def explain_spec_division(failure: Failure) -> Explained:
    """Explain an axis that the devices along an axis of a mesh cannot share evenly."""
    size, parts = int(fact(failure, "size")), int(fact(failure, "parts"))
    found = note(
        "doctor.error_spec_division",
        spec=_short(fact(failure, "spec")),
        argument=fact(failure, "parameter"),
        axis=int(fact(failure, "axis")),
        size=size,
        parts=parts,
    )
    return Explained(found, note("doctor.write_spec_division", size=size, padded=-(-size // parts) * parts))


def explain_spec_axis(failure: Failure) -> Explained:
    """Explain a partition spec with a name that is no axis of the mesh."""
    axis, axes = fact(failure, "axis"), ", ".join(re.findall(r"[^\s,']+", fact(failure, "axes")))
    found = note("doctor.error_spec_axis", axis=axis, axes=axes, specs=fact(failure, "specs"))
    return Explained(found, note("doctor.write_spec_axis", axis=axis, axes=axes))


def explain_spec_replication(failure: Failure) -> Explained:
    """Explain a result that is not evidently the same on all devices."""
    mesh = ", ".join(re.findall(r"'([^']+)'", fact(failure, "mesh")))
    found = note("doctor.error_spec_replication", spec=_short(fact(failure, "spec")), mesh=mesh)
    return Explained(found, note("doctor.write_spec_replication", mesh=mesh, jax=spelled(failure, "jax")))


def _short(spec: str) -> str:
    """Write a partition spec as it is usually imported.

    >>> _short("PartitionSpec('data',)")
    "P('data')"
    """
    return f"P({', '.join(_entries(spec))})"


def _entries(spec: str) -> list[str]:
    call = ast.parse(spec, mode="eval").body
    return [ast.unparse(each) for each in call.args] if isinstance(call, ast.Call) else []
