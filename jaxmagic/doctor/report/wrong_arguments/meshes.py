"""Words meshes, partition specs and declared results that do not fit, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from .... import units
from ..quoted import quoted
from .shardings import automatic


def _devices(shape: str, needed: int, given: int, passed: bool) -> str:
    there = f"it gets {given}" if passed else f"there {'is' if given == 1 else 'are'} {given}"
    return f"A mesh of shape {shape} has {units.count(needed, 'device')}, but {there}."


def _spec_rank(specs: str, spec: str, length: int, rank: int, argument: str) -> str:
    what = f"the argument {quoted(argument)}" if argument else "the result" if specs == "out_specs" else "the array"
    axes = "no axis" if not rank else "1 axis" if rank == 1 else f"{rank} axes"
    entries = "1 entry" if length == 1 else f"{length} entries"
    return f"The spec {quoted(spec)} has {entries}, but {what} has {axes}."


def _spec_division(spec: str, argument: str, axis: int, size: int, parts: int) -> str:
    what = f"the argument {quoted(argument)}" if argument else "the array"
    return (
        f"The spec {quoted(spec)} splits axis {axis} of {what} into {parts} equal parts, but its size is {size}, "
        f"which {parts} does not divide."
    )


def _write_replication(mesh: str, jax: str) -> str:
    names = ", ".join(f'"{quoted(each)}"' for each in mesh.split(", "))
    axes = f"({names})" if "," in names else names
    return (
        f"Combine the parts in the function, as with {jax}.lax.psum(x, {axes}) or pmean; or, if each device's "
        f"part is to be kept, name the axis in out_specs, such as P({names}), which joins them: each part "
        f"needs an axis "
        "for that. check_vma=False only switches the check off: the result is then that of one device."
    )


def _callback_result(aspect: str, declared: str, returned: str, number: int, here: bool) -> str:
    who = "the Python function of a callback"
    who = f"T{who[1:]}" if here else f"In the program that this line runs or waits for, {who}"
    if not aspect:
        are = "is" if declared == "1" else "are"
        return f"{who} returns {units.count(int(returned), 'array')}, but {declared} {are} declared."
    which = f", as result {number}" if number else ""
    return f"{who} returns {aspect} {returned}{which}, but {declared} is declared."


def _write_callback_result(aspect: str, declared: str, returned: str) -> str:
    if aspect == "shape":
        return (
            f"Let the function return an array of shape {declared}; or declare what it returns, "
            f"jax.ShapeDtypeStruct({returned}, dtype)."
        )
    if aspect == "dtype":
        return (
            f"Convert the result in the function, np.asarray(result, np.{declared}); or declare what it returns, "
            f"jax.ShapeDtypeStruct(shape, np.{returned})."
        )
    return (
        "The function has to return a pytree of arrays like the declared one: a tuple of two arrays for a tuple of "
        "two jax.ShapeDtypeStruct, and a single array for a single one."
    )


def _backend(backend: str, present: str) -> str:
    there = f": its platforms are {quoted(present)}" if present else ""
    return f"JAX has no backend {quoted(backend)} in this process{there}."


def _platforms(backend: str, allowed: str, variable: int) -> str:
    name = "gpu" if backend in ("gpu", "cuda", "rocm") else backend
    plugin = f" A {name.upper()} also needs its plugin beside jaxlib." if name in ("gpu", "tpu") else ""
    set_by = f"The environment variable JAX_PLATFORMS={quoted(allowed)}" if variable else "The option jax_platforms"
    value = "" if variable else f", which is {quoted(allowed)},"
    change = "Remove it" if variable else "Leave it out"
    added = (
        f"JAX_PLATFORMS={quoted(backend)},{quoted(allowed)}" if variable else f'"{quoted(backend)},{quoted(allowed)}"'
    )
    return (
        f"{set_by}{value} lets JAX use no other platform. {change}, or add the platform ({added}), in a new "
        f"process before JAX is first used.{plugin}"
    )


#: How one leaf of a pytree gets another sharding than the others.
_OF_LEAVES = " A pytree of shardings or specs, in the containers of the arrays, gives each leaf its own."


def _no_mesh(function: str, option: str) -> str:
    if not function:
        return "The call needs a mesh, but gets none, and none is set."
    given = f" in {quoted(option)}=" if option.startswith(("in_", "out_")) else ""
    return (
        f"{quoted(function)} gets a partition spec{given}, which says along which axes of a mesh an array is split, "
        "but no mesh is set."
    )


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
    "write_specs": lambda: (
        "in_specs needs one spec for each argument, out_specs one for each result, in the same containers; a single "
        "spec counts for all of them."
    ),
    "error_spec_rank": _spec_rank,
    "write_spec_rank": lambda spec, leaf=False: (
        "A spec has at most one entry per axis: the name of an axis of the mesh, or None for an axis that stays "
        "whole."
        f"{f' Here, {quoted(spec)} means the same.' if spec else ''}{_OF_LEAVES if leaf else ''}"
    ),
    "write_scalar_spec": lambda jax: (
        f"A scalar cannot be split. If it is the same on all devices, as after {jax}.lax.psum, write P(); to keep "
        "one value per device, return x[None], whose parts are joined."
    ),
    "error_spec_division": _spec_division,
    "write_spec_division": lambda size, padded, leaf=False: (
        f"Pad the axis to {padded} and mask the rest where the result depends on it; or split it over an axis of the "
        f"mesh whose size divides {size}; or leave it whole, with None in its place in the spec."
        f"{_OF_LEAVES if leaf else ''}"
    ),
    "error_spec_repeated": lambda spec, axis: (
        f"The spec {quoted(spec)} names the axis {quoted(axis)} more than once."
    ),
    "write_spec_repeated": lambda axis: (
        f"Split one axis of the array along {quoted(axis)}, and write None or another name for its other axes."
    ),
    "error_explicit_specs": lambda spec, given, type: (
        f"in_specs says {quoted(spec)}, but an argument of type {quoted(type)} has the sharding {quoted(given)}. The "
        "mesh has explicit axes, along which shard_map takes arrays only as they are sharded."
    ),
    "write_explicit_specs": lambda jax, spec: (
        f"Shard it before the call: {jax}.device_put(x, {jax}.sharding.NamedSharding(mesh, {quoted(spec)})). Or make "
        f"the mesh with axes along which shard_map shards its arguments: {jax}.make_mesh(shape, names, "
        f"axis_types=({jax}.sharding.AxisType.Auto,) * len(names))."
    ),
    "error_explicit_constraint": lambda: (
        "The mesh has explicit axes, along which with_sharding_constraint changes no sharding."
    ),
    "write_reshard": lambda jax: (
        f"{jax}.sharding.reshard(x, sharding) does. On a mesh of automatic axes, which {jax}.make_mesh makes with "
        f"axis_types=({jax}.sharding.AxisType.Auto,) * len(names), with_sharding_constraint works."
    ),
    "error_devices_apart": lambda first, other: (
        f"The computation gets one array on the devices {quoted(first)}, and another one on {quoted(other)}."
    ),
    "write_one_place": lambda jax: (
        f"Put one of them where the other one is: {jax}.device_put(b, a.sharding). An array that device_put placed "
        "stays there, while others, as those of jax.numpy, follow it."
    ),
    "error_no_mesh": _no_mesh,
    "write_mesh_of_spec": lambda jax: (
        f"Pass a sharding in place of the spec, {jax}.sharding.NamedSharding(mesh, spec), with mesh = "
        f"{jax}.sharding.Mesh({jax}.devices(), names). A jitted function can also be called with the spec below "
        f"`with {jax}.set_mesh(mesh):`."
    ),
    "write_mesh": lambda jax: (
        f"Pass mesh=mesh, or call it below `with {jax}.set_mesh(mesh):`. {jax}.make_mesh(shape, names) makes one."
    ),
    "error_spec_axis": lambda axis, axes, specs: (
        f"{quoted(specs) or 'The spec'} names the axis {quoted(axis)}, but the "
        f"{'axes of the mesh are' if ',' in axes else 'only axis of the mesh is'} {quoted(axes)}."
    ),
    "error_spec_no_mesh": lambda axis: f"A spec names the axis {quoted(axis)}, but no mesh is set here.",
    "write_automatic": lambda jax: (
        "Some functions of JAX cannot compute with an array that is split along explicit axes of a mesh."
        f"{automatic(jax)} Elsewhere, call it inside `with {jax}.set_mesh(mesh):`."
    ),
    "write_spec_axis": lambda axis, axes: (
        f"Write {'one of these names' if ',' in axes else quoted(axes)} in the spec, or name an axis so where the "
        f'mesh is made: jax.make_mesh(shape, ("{quoted(axis)}",)).'
    ),
    "error_spec_replication": lambda spec, mesh: (
        f"The spec {quoted(spec)} in out_specs says that all devices along {quoted(mesh)} have the same result, but "
        "shard_map cannot tell that they have: it may depend on each device's own part of an argument."
    ),
    "write_spec_replication": _write_replication,
    "error_callback_vmap": lambda given, here: (
        f"pure_callback has no {'option' if given == 'vectorized' else 'vmap_method'} {quoted(given)}."
        if given
        else f"JAX maps {'this callback' if here else 'a callback that this line leads to'}, but vmap_method= does "
        "not say how its Python function takes a batch."
    ),
    "write_callback_vmap": lambda: (
        'vmap_method="sequential" calls the function once per element, which works for any function. '
        '"broadcast_all" calls it once with all arguments stacked: for functions that compute each element apart, as '
        "those of NumPy do."
    ),
    "error_callback_ordered": lambda: "An ordered callback is mapped, but vmap has no order of elements.",
    "write_callback_ordered": lambda jax: (
        f"Leave out ordered=True; or loop over the elements with {jax}.lax.map, which calls it for one at a time."
    ),
    "error_callback_gradient": lambda here: (
        f"JAX differentiates {'this callback' if here else 'a callback that this line leads to'}, but knows no "
        "derivative of its Python function."
    ),
    "write_callback_gradient": lambda function, jax: (
        f"Put @{jax}.custom_jvp above {quoted(function) or 'the function that calls it'}, and define the derivative: "
        f"@{quoted(function) or 'f'}.defjvp above a function of (primals, tangents) that returns (result, tangent of "
        f"the result). If no gradient has to flow, pass {jax}.lax.stop_gradient(x) to the callback."
    ),
    "error_callback": lambda function, error, location: (
        "In the program that this line runs or waits for, the Python function of a callback"
        f"{f', {quoted(function)},' if function else ''} raised {quoted(error)}"
        f"{f' at {location}' if location else ''}."
    ),
    "write_callback": lambda function, assigns=False: (
        (
            "A callback gets arrays of JAX, which cannot be assigned to: begin with a copy of NumPy, b = np.array(b)."
            if assigns
            else "Correct the function. A callback gets arrays of JAX, and not of NumPy."
        )
        + f" To debug it, call {quoted(function) or 'it'} with such arrays outside of the traced function."
    ),
    "error_callback_result": _callback_result,
    "write_callback_result": _write_callback_result,
    "write_mesh_axes": lambda jax: (
        f"Give one name per axis. {jax}.make_mesh(shape, names) arranges the devices in a shape."
    ),
    "error_axis_name": lambda axis, function: (
        f"{quoted(function) or 'The line'} uses the axis name {quoted(axis)}, but no function around it has bound "
        "this name."
    ),
    "write_axis_name": lambda axis: (
        f'Call it in a function that is mapped with this name, jax.vmap(f, axis_name="{quoted(axis)}"), or that '
        "jax.shard_map runs over a mesh with an axis of this name."
    ),
    "error_backend": _backend,
    "write_platforms": _platforms,
    "write_backend": lambda jax: (
        f"{jax}.devices() lists the devices that JAX found. A GPU or TPU needs its plugin beside jaxlib, such as "
        "that of jax[cuda13] or jax[tpu], and a process that was started after its installation."
    ),
}
