"""Compiles variants of a jitted function that may need less memory. The function is traced, and no program runs."""

from __future__ import annotations

import inspect
import types
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from .....runtime.functions import donated_arguments
from .....xla.hlo import HloModule
from ....analysis.donating.rebinding import replaced_arguments
from ....analysis.scan_residuals import BACKWARD, scan_residuals
from ....record.out_of_memory import Smaller, SmallerBy, Uncheckpointed
from ..function_copies import FunctionCopies
from ..user_functions import functions_seen, is_users_function
from .calls import Call, abstract, need_with
from .split_batch import KnownBatch, in_parts, over_devices

#: Two ways to compile the same program may differ by this share.
_ALIKE = 0.02

#: At most this many functions are checkpointed, one after the other.
_MOST_FUNCTIONS = 4


def smaller_variants(
    call: Call,
    donated: Sequence[str],
    replaced: Collection[str],
    module: HloModule | None,
    batch: KnownBatch | None,
) -> Iterator[Smaller | None]:
    """Yield variants of a call as they are compiled, first those that compute the same; ``None`` for each failure.

    Args:
        call: a call of the function that was jitted. Its arguments may be deleted.
        donated: the parameters that are donated already.
        replaced: the parameters whose arguments are not used after the call.
        module: the instructions of the program; ``None`` if they are unknown.
        batch: the batch of the function; ``None`` if it is unknown.
    """
    more = tuple(each for each in replaced if each not in donated)
    every = (*donated, *more)
    if more:
        need = _need(call, every)
        yield None if need is None else Smaller(by=("donate",), donated=more, need_bytes=need)
    best: tuple[int, Call, str] | None = None
    for function in _recomputable(call.function, module):
        changed = call._replace(function=_checkpointed(call.function, function))
        need = _need(changed, donated)
        if need is not None and (best is None or need < best[0]):
            best = need, changed, function.__name__
        names = (function.__name__,)
        yield None if need is None else Smaller(by=("checkpoint",), checkpointed=names, need_bytes=need)
    if best is not None and more:
        need = _need(best[1], every)
        both: tuple[SmallerBy, ...] = ("donate", "checkpoint")
        yield None if need is None else Smaller(by=both, donated=more, checkpointed=(best[2],), need_bytes=need)
    if batch is not None:
        yield from in_parts(call, tuple(donated), batch)
        yield over_devices(call, tuple(donated), batch)
    narrow = {name: _narrow(value) for name, value in call.arguments.items()}
    if any(_differ(narrow[name], value) for name, value in call.arguments.items()):
        need = _need(call._replace(arguments=narrow), donated)
        yield None if need is None else Smaller(by=("bfloat16",), need_bytes=need)


def are_alike(one_bytes: int, other_bytes: int) -> bool:
    """Return whether two programs may be the same, compiled in two ways."""
    return abs(one_bytes - other_bytes) <= _ALIKE * other_bytes


def donated_parameters(call: Call) -> tuple[str, ...]:
    """Return the parameters that a jitted function donates."""
    numbers, names = donated_arguments(call.function) or ((), ())
    parameters = list(inspect.signature(call.function).parameters)
    every = [*(parameters[each] for each in numbers if -len(parameters) <= each < len(parameters)), *names]
    return tuple(dict.fromkeys(each for each in every if each in call.arguments))


def replaced_parameters(
    source: str, functions: Collection[str], call: Call, statement: str | None = None
) -> tuple[str, ...]:
    """Return the parameters whose arguments the code replaces by the result, and does not use elsewhere.

    Arrays that are in the arguments twice cannot be donated.

    Args:
        source: the code.
        functions: the names of the function that is called.
        call: the call.
        statement: the statement with the call; any if this is left out.
    """
    import jax

    parameters = list(inspect.signature(call.function).parameters)
    for each in replaced_arguments(source, functions):
        if statement in (None, each.text):
            names = [parameters[number] for number in each.positions if number < len(parameters)]
            names = [name for name in (*names, *each.keywords) if name in call.arguments]
            times = Counter(map(id, jax.tree.leaves(dict(call.arguments))))
            return tuple(
                name for name in names if all(times[id(leaf)] == 1 for leaf in jax.tree.leaves(call.arguments[name]))
            )
    return ()


def _need(call: Call, donated: Sequence[str]) -> int | None:
    """Return the bytes that a variant needs; ``None`` if it cannot be traced or compiled."""
    try:
        return need_with(call, tuple(donated))
    except Exception:  # such as a static argument that cannot be checkpointed, or a carry that changes its type
        return None


def uncheckpointed(own: Any, module: HloModule | None) -> Uncheckpointed:
    """Return why no variant recomputes a function in the backward pass; empty if one does, or if that is unknown."""
    if module is None or _recomputable(own, module):
        return ""
    return "inside" if _is_differentiated(module) else "no gradient"


def _is_differentiated(module: HloModule) -> bool:
    return any(BACKWARD in each.op_name for each in module.instructions.values())


def _recomputable(own: Any, module: HloModule | None) -> list[types.FunctionType]:
    """Return the user's functions that a backward pass could compute again, bodies of loops first."""
    if module is None or not _is_differentiated(module):
        return []
    called = {name for kept in scan_residuals(module) for name in kept.called}
    seen = (each for each in functions_seen(own) if each is not own and is_users_function(each))
    named = [each for each in seen if each.__name__.isidentifier()]
    named.sort(key=lambda each: each.__name__ not in called)
    return named[:_MOST_FUNCTIONS]


def _checkpointed(own: Any, function: types.FunctionType) -> Any:
    import jax

    return FunctionCopies({id(function): jax.checkpoint(function)}).of(own)


def _narrow(value: Any) -> Any:
    """Return a pytree with bfloat16 in place of float32, of types and shapes."""
    import jax
    import jax.numpy as jnp

    def narrow(leaf: Any) -> Any:
        if isinstance(leaf, jax.ShapeDtypeStruct) and leaf.dtype == jnp.float32:
            return jax.ShapeDtypeStruct(leaf.shape, jnp.bfloat16, sharding=leaf.sharding)
        return leaf

    return jax.tree.map(narrow, abstract(value))


def _differ(narrow: Any, value: Any) -> bool:
    import jax

    before, after = jax.tree.leaves(abstract(value)), jax.tree.leaves(narrow)
    return any(getattr(a, "dtype", None) != getattr(b, "dtype", None) for a, b in zip(before, after, strict=True))
