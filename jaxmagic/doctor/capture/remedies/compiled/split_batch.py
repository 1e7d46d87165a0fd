"""Splits the batch of a jitted function: into parts that follow one another, or over devices."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .....runtime.around import enclosed
from .....runtime.private_api import local_devices
from .....xla.hlo import HloModule
from ....analysis.batch_temporaries import batch_of
from ....record.out_of_memory import Smaller
from ....rules.rewriting.microbatches import GradientCall, gradient_in, in_microbatches, returns_mean
from .calls import Call, abstract, need_with

#: The batch is taken in no more parts.
_MOST_PARTS = 8


class KnownBatch(NamedTuple):
    """The batch of a function that computes a gradient.

    Attributes:
        gradient: the statement that computes it.
        examples: the number of examples.
    """

    gradient: GradientCall
    examples: int


def batch_in(own: Any, module: HloModule | None) -> KnownBatch | None:
    """Return the batch of a function; ``None`` if its source and its program do not show which arguments it is."""
    if module is None or type(own) is not types.FunctionType or own.__defaults__ or own.__kwdefaults__:
        return None
    gradient = gradient_in(own.__code__.co_filename, own.__code__.co_firstlineno, own.__name__)
    batch = None if gradient is None else batch_of(module, gradient.differentiated, gradient.batch)
    return None if gradient is None or batch is None else KnownBatch(gradient, batch.examples)


def in_parts(call: Call, donated: tuple[str, ...], batch: KnownBatch) -> Iterator[Smaller | None]:
    """Yield variants that take the batch in 2, 4 and 8 parts, one after the other; ``None`` for each failure.

    Args:
        call: a call of the function that was jitted.
        donated: the parameters that are donated.
        batch: its batch.
    """
    mean = returns_mean(batch.gradient)
    parts = 2
    while parts <= _MOST_PARTS and batch.examples % parts == 0:
        code = in_microbatches(batch.gradient, parts)
        need = None if code is None else _need(call._replace(function=defined_beside(call.function, code)), donated)
        yield (
            None
            if need is None
            else Smaller(
                by=("microbatch",),
                batch=batch.gradient.batch,
                parts=parts,
                mean="" if mean else batch.gradient.loss,
                code=code if mean else None,
                need_bytes=need,
            )
        )
        parts *= 2


def over_devices(call: Call, donated: tuple[str, ...], batch: KnownBatch) -> Smaller | None:
    """Return the variant whose batch is sharded over as many devices as divide it; ``None`` if there are none."""
    import jax

    devices = devices_of(call)
    count = next((each for each in range(len(devices), 1, -1) if batch.examples % each == 0), None)
    if count is None:
        return None
    mesh = jax.sharding.Mesh(np.array(devices[:count]), ("batch",))
    sharded = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    replicated = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    arguments = {
        name: _placed(value, sharded if name in batch.gradient.batch else replicated)
        for name, value in call.arguments.items()
    }
    need = _need(call._replace(arguments=arguments), donated)
    return None if need is None else Smaller(by=("shard",), batch=batch.gradient.batch, parts=count, need_bytes=need)


def devices_of(call: Call) -> list[Any]:
    """Return the devices of the kind on which the arguments lie; empty if they lie on several already."""
    import jax

    arrays = (each for each in jax.tree.leaves(call.arguments) if isinstance(each, jax.Array))
    lie_on = {device for each in arrays for device in each.sharding.device_set}
    first = lie_on.pop() if lie_on else jax.local_devices()[0]
    others = [each for each in local_devices() if each.platform == first.platform and each != first]
    return [] if lie_on else [first, *others]


def defined_beside(own: types.FunctionType, code: str) -> Any:
    """Return the function that some code defines, which sees the variables of another function.

    Its decorators and annotations are left out. The code has to begin with it, and it may have no defaults.
    """
    definition = ast.parse(code).body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list, definition.returns = [], None
    for each in ast.walk(definition.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    namespace = {**own.__globals__, **enclosed(own)}
    module = ast.Module(body=[definition], type_ignores=[])
    exec(compile(module, "<jaxmagic: a remedy>", "exec"), namespace)
    return namespace[definition.name]


def _placed(value: Any, sharding: Any) -> Any:
    """Return a pytree with types and shapes in place of its arrays, which have this sharding."""
    import jax

    def placed(leaf: Any) -> Any:
        is_array = isinstance(leaf, jax.ShapeDtypeStruct)
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding) if is_array else leaf

    return jax.tree.map(placed, abstract(value))


def _need(call: Call, donated: tuple[str, ...]) -> int | None:
    """Return the bytes that a variant needs on a device; ``None`` if it cannot be traced or compiled."""
    try:
        return need_with(call, donated)
    except Exception:  # such as a function of several devices inside that has a mesh of its own
        return None
