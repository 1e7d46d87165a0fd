"""Explains meshes and partition specs that do not fit, platforms without devices, and axis names without a mesh."""

from __future__ import annotations

import ast
import math
import re

from .....records.note import note
from ....record.failure import Failure
from ..expression import Expression, call, expression_of, spelled
from .explained import SHAPE, Explained, Rule
from .operands import fact, shapes_in, written
from .partition_specs import SPEC, entries, short

#: JAX's names for the platforms of GPUs.
_GPUS = "gpu", "cuda", "rocm"


#: A longer text of an argument is not shown.
_LONGEST = 40


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
    specs, spec = fact(failure, "specs"), short(fact(failure, "spec"))
    rank = int(fact(failure, "rank"))
    length = int(fact(failure, "length") or len(entries(spec)))
    found = note(
        "doctor.error_spec_rank",
        specs=specs,
        spec=spec,
        length=length,
        rank=rank,
        argument=_argument(failure),
    )
    if specs == "out_specs" and not rank:
        return Explained(found, note("doctor.write_scalar_spec", jax=spelled(failure, "jax")))
    given = entries(spec)
    shorter = [] if any(each != "None" for each in given[rank:]) else given[:rank]
    return Explained(
        found,
        note("doctor.write_spec_rank", spec=f"P({', '.join(shorter)})" if shorter else "", leaf=_is_leaf(failure)),
    )


def explain_spec_division(failure: Failure) -> Explained:
    """Explain an axis that the devices along an axis of a mesh cannot share evenly."""
    size, parts = int(fact(failure, "size")), int(fact(failure, "parts"))
    found = note(
        "doctor.error_spec_division",
        spec=short(fact(failure, "spec")),
        argument=_argument(failure),
        axis=int(fact(failure, "axis")),
        size=size,
        parts=parts,
    )
    return Explained(
        found, note("doctor.write_spec_division", size=size, padded=-(-size // parts) * parts, leaf=_is_leaf(failure))
    )


def _argument(failure: Failure) -> str:
    """Return what a spec does not fit, as JAX names it; in a call of ``device_put``, the only array of its shape."""
    if path := fact(failure, "parameter") or fact(failure, "path"):
        return path + fact(failure, "inside")
    failing = expression_of(failure)
    if failing is None or not (failing.called or "").endswith("device_put"):
        return ""
    shape = shapes_in(fact(failure, "type"))[:1] or ([()] if fact(failure, "rank") == "0" else [])
    operands = (part for each in failure.operands for part in (each, *each.items))
    alike = [each.text for each in operands if [each.shape] == shape and len(each.text) <= _LONGEST]
    return alike[0] if len(alike) == 1 else ""


def _is_leaf(failure: Failure) -> bool:
    """Return whether a part of an argument is known not to fit."""
    return not (_argument(failure) or "array").isidentifier()


def explain_spec_repeated(failure: Failure) -> Explained:
    """Explain a partition spec that names an axis of the mesh twice, or a result that would have such a spec."""
    axis, failing = fact(failure, "axis"), expression_of(failure)
    if failing is not None and _computes(failure, failing):
        result = note("doctor.error_sharded_twice", function=failing.called or "", spec=short(fact(failure, "spec")))
        return Explained(result, note("doctor.write_sharded_alike", jax=spelled(failure, "jax")))
    found = note("doctor.error_spec_repeated", spec=short(fact(failure, "spec")), axis=axis)
    return Explained(found, note("doctor.write_spec_repeated", axis=axis))


def _computes(failure: Failure, failing: Expression) -> bool:
    """Return whether the failing expression computes with arrays, rather than says how to split one."""
    modules = spelled(failure, "jax.numpy"), spelled(failure, "jax.lax")
    return isinstance(failing.node, ast.BinOp) or (failing.called or "").partition(".")[0] in modules


def explain_explicit_specs(failure: Failure) -> Explained:
    """Explain an argument that is sharded otherwise than ``in_specs`` says, on a mesh with explicit axes."""
    spec, given = short(fact(failure, "spec")), short(fact(failure, "given"))
    found = note("doctor.error_explicit_specs", spec=spec, given=given, type=fact(failure, "type"))
    return Explained(found, note("doctor.write_explicit_specs", jax=spelled(failure, "jax"), spec=spec))


def explain_explicit_constraint(failure: Failure) -> Explained:
    """Explain ``with_sharding_constraint`` on a mesh with explicit axes."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    node = None if failing is None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.Call) and (failing.called or "").endswith("_constraint"):
        node.func = ast.parse(f"{jax}.sharding.reshard", mode="eval").body
        code = failing.with_node(node)
    return Explained(note("doctor.error_explicit_constraint"), note("doctor.write_reshard", jax=jax), code)


def explain_no_mesh(failure: Failure) -> Explained:
    """Explain a call that needs a mesh, and gets none, also for a partition spec."""
    function, jax = fact(failure, "function"), spelled(failure, "jax")
    found = note("doctor.error_no_mesh", function=function, option=fact(failure, "option"))
    return Explained(
        found, note("doctor.write_mesh_of_spec", jax=jax) if function else note("doctor.write_mesh", jax=jax)
    )


def explain_devices_apart(failure: Failure) -> Explained:
    """Explain arrays that were put on different devices, and meet in one computation."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    node = None if failing is None or failure.library is not None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name | ast.Attribute):
        right = call(f"{jax}.device_put", node.right, ast.Attribute(node.left, "sharding", ast.Load()))
        code = failing.with_node(ast.BinOp(left=node.left, op=node.op, right=right))
    found = note("doctor.error_devices_apart", first=fact(failure, "first"), other=fact(failure, "other"))
    return Explained(found, note("doctor.write_one_place", jax=jax), code)


def explain_spec_axis(failure: Failure) -> Explained:
    """Explain a partition spec with a name that is no axis of the mesh."""
    axis, axes = fact(failure, "axis"), ", ".join(re.findall(r"[^\s,']+", fact(failure, "axes")))
    if not axes:
        return Explained(
            note("doctor.error_spec_no_mesh", axis=axis), note("doctor.write_automatic", jax=spelled(failure, "jax"))
        )
    found = note("doctor.error_spec_axis", axis=axis, axes=axes, specs=fact(failure, "specs"))
    return Explained(found, note("doctor.write_spec_axis", axis=axis, axes=axes))


def explain_spec_replication(failure: Failure) -> Explained:
    """Explain a result that is not evidently the same on all devices."""
    mesh = ", ".join(re.findall(r"'([^']+)'", fact(failure, "mesh")))
    found = note("doctor.error_spec_replication", spec=short(fact(failure, "spec")), mesh=mesh)
    return Explained(found, note("doctor.write_spec_replication", mesh=mesh, jax=spelled(failure, "jax")))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "devices", explain_devices,
        r"Number of devices (?P<given>\d+) must (?:be >=|equal) the product of mesh_shape "
        rf"(?P<shape>{SHAPE})"),
    Rule("ValueError", "mesh axes", explain_mesh_axes,
        r"Mesh requires the ndim of its first argument .* but got devices\.ndim == (?P<axes>\d+) and "
        r"len\(axis_names\) == (?P<names>\d+)"),
    Rule("NameError", "axis name", explain_axis_name,
        r"(?:Found an )?unbound axis name: (?P<axis>.+?)(?:\. To fix this, please call (?P<function>\w+) under.*)?$"),
    Rule("RuntimeError", "backend", explain_backend,
        r"Unknown backend:? '?(?P<backend>\w+)'?(?: requested)?[\s\S]*?(?:Platforms present are: |Available "
        r"backends are \[)(?P<present>[\w', ]*)"),
    Rule("ValueError", "spec rank", explain_spec_rank,
        r"shard_map applied to the function '[^']*' was given an (?P<specs>in_specs|out_specs) entry which is too "
        rf"long[\s\S]*?\n\n(?:\* )?\w+_specs\S* is (?P<spec>{SPEC}) which has length (?P<length>\d+), but "
        r"(?:the passed )?(?:args\[\d+\](?P<inside>[^\s,]*))?[^\n]*?"
        r"(?:parameter '(?P<parameter>\w+)',)? has "
        r"shape (?P<type>\w+\[[\d,]*\]), which has rank (?P<rank>\d+)"),
    Rule("ValueError", "spec rank", explain_spec_rank,
        rf"(?:.* )?Sharding NamedSharding\(.*?spec=(?P<spec>{SPEC}).*\) is only valid for values of rank at least "
        r"(?P<length>\d+), but was applied to a value of rank (?P<rank>\d+)"),
    Rule("ValueError", "spec division", explain_spec_division,
        r"shard_map applied to the function '[^']*' was given argument arrays with axis sizes that are not evenly "
        r"divisible[\s\S]*?\n\n(?:\* )?(?:the passed )?(?:args\[\d+\](?P<inside>[^\s,]*))?[^\n]*? of shape "
        r"(?P<type>\w+\[[\d,]*\])[^\n]*?"
        r"(?:parameter '(?P<parameter>\w+)',)? corresponds to "
        rf"(?P<specs>in_specs)\S* of value (?P<spec>{SPEC}), which maps array axis (?P<axis>\d+) \(of size "
        r"(?P<size>\d+)\) to mesh (?:axis|axes) (?P<mesh>.+?) \(of (?:total )?size (?P<parts>\d+)\)"),
    Rule("ValueError|IndivisibleError", "spec division", explain_spec_division,
        rf"(?:One of \w+ arguments with pytree key path (?P<path>\S+) )?"
        rf".*?NamedSharding\(.*?spec=(?P<spec>{SPEC}).*?implies that (?:array axis|the global size of its "
        r"dimension) (?P<axis>\d+) (?:is partitioned|should be divisible by) (?P<parts>\d+)(?: times)?, but "
        rf"(?:the dimension size|it) is (?:equal to )?(?P<size>\d+) \(full shape: (?P<type>{SHAPE})"),
    Rule("ValueError", "spec division", explain_spec_division,
        r"Sharding spec (?P<spec>\([^()]*\)) implies that array axis (?P<axis>\d+) is partitioned (?P<parts>\d+) "
        rf"times, but does not evenly divide the dimension size (?P<size>\d+)\. Got shape: (?P<type>{SHAPE})"),
    Rule("ValueError", "spec rank", explain_spec_rank,
        r"Length of sharding\.spec \((?P<length>\d+)\) must be equal to aval's ndim \((?P<rank>\d+)\)\. Got "
        rf"sharding\.spec (?P<spec>{SPEC})"),
    Rule("AssertionError", "spec rank", explain_spec_rank,
        rf"\((?P<rank>\d+), (?P<spec>{SPEC})\)$"),
    Rule("DuplicateSpecError", "spec repeated", explain_spec_repeated,
        rf"A single NamedSharding spec specification .* but (?P<spec>{SPEC}) has duplicate entries for "
        r"`(?P<axis>.+)`"),
    Rule("ValueError", "explicit specs", explain_explicit_specs,
        rf"in_specs passed to shard_map: (?P<spec>{SPEC}) does not match the specs of the input: (?P<given>{SPEC}) "
        r"for arg: (?P<type>\w+\[[\d,]*\])"),
    Rule("ValueError", "explicit constraint", explain_explicit_constraint,
        r"The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes"),
    Rule("AssertionError", "explicit constraint", explain_explicit_constraint,
        r"`with_sharding_constraint` acts as an assert when all axes of mesh are of type `Explicit`"),
    Rule("ValueError", "devices apart", explain_devices_apart,
        r"Received incompatible devices for jitted computation\. Got .*?device ids (?P<first>\[.*?\]) .*?"
        r"device ids (?P<other>\[.*?\]) "),
    Rule("ValueError", "no mesh", explain_no_mesh,
        r"The context mesh cannot be empty"),
    Rule("RuntimeError", "no mesh", explain_no_mesh,
        r"(?P<function>\w+) requires a non-empty mesh in context if you are passing `PartitionSpec`s to "
        r"(?P<option>\w+)"),
    Rule("ValueError", "no mesh", explain_no_mesh,
        r"Please set a mesh via `jax\.set_mesh` if a PartitionSpec is passed to (?P<function>device_put)"),
    Rule("ValueError", "spec axis", explain_spec_axis,
        r"shard_map (?P<specs>in_specs|out_specs) argument must refer to an axis marked as manual "
        r"\((?:frozenset\()?\{(?P<axes>[^}]*)\}\)?\), but:\s+\w+_specs\S* refers to '(?P<axis>[^']+)'"),
    Rule("ValueError", "spec axis", explain_spec_axis,
        rf"Resource axis: (?P<axis>\S+) of (?P<spec>{SPEC}) is not found in mesh: \((?P<axes>[^)]*)\)"),
    Rule("ValueError", "spec replication", explain_spec_replication,
        r"shard_map applied to the function '[^']*' was given out_specs which require replication which can't be "
        rf"statically inferred[\s\S]*?\n\nout_specs\S* is (?P<spec>{SPEC}) which implies that the corresponding "
        r"output value is replicated across mesh (?:axis|axes) (?P<mesh>.+?), but"),
    Rule("RuntimeError", "backend", explain_backend,
        r"Backend '(?P<backend>\w+)' failed to initialize"),
)
# fmt: on
