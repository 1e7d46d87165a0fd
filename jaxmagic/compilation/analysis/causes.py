"""Explain why a function compiled, in one line of cause and one line of remedy.

There are three sources: the call on the stack, earlier calls of the same function that were measured in this session,
and the explanation that JAX logs. A cause that none of them reveals is ``unknown``; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..record.compilation import Cause
from ..record.events import Call, Miss
from . import jax_explanations
from .call_diff import (
    differences,
    distance,
    holds_the_same_in_others,
    most_alike,
    new_objects,
    placement_difference,
)
from .call_memory import Memory
from .held import changes, new_function
from .operations import operation_cause
from .remedies import as_measured, cause, combined
from .static_values import own_equality, shown

#: The distance from a call that no other call can be nearer than.
_ONE_DIFFERENCE = 1, 1

#: At whose line a function is called that was traced inside another one.
_INSIDE = "<inside>", None

#: Kinds of causes besides which, or because of which, a static argument is re-created.
_PER_OBJECT = "new function", "static value"


def find_cause(call: Call | None, miss: Miss | None, *, traced: bool, memory: Memory) -> Cause:
    """Find why a function or an eager operation compiled.

    Args:
        call: the call that led to the compilation, if it was found on the stack.
        miss: JAX's explanation, if it gave one.
        traced: whether the function was traced; if not, JAX knew its types already.
        memory: earlier calls, to which `call` is added.
    """
    why = _find(call, "" if miss is None else miss.text, traced, memory)
    if call is not None:
        if why.kind in _PER_OBJECT and not call.internal:
            why = replace(why, new_objects=new_objects(call, memory.of_source(call)))
        memory.remember(call)
    return why


def pass_over(inside: Sequence[Miss], memory: Memory) -> None:
    """Note functions that were traced inside another one, which JAX may take for earlier versions of the other."""
    for miss in inside:
        if jax_explanations.never_seen(miss.text):
            memory.call_sites[jax_explanations.call_site(miss.text)] = _INSIDE


def _find(call: Call | None, text: str, traced: bool, memory: Memory) -> Cause:
    if call is None:
        return _from_explanation(text, None, memory) or _unknown()
    if call.internal:
        return operation_cause(call, memory.recall(call))
    if call.ahead_of_time:
        if call.while_tracing:
            return cause("ahead of time", "traced by .lower(), .trace() or jax.eval_shape")
        return cause("ahead of time", "compiled ahead of time, with .lower().compile()")
    if why := _forgotten(call, text, memory):
        return why
    earlier = memory.recall(call)
    if call.transformed:
        return _of_transformed(call, earlier, text, memory)
    return _of_call(call, earlier, text, memory) if traced or text else _placement(call, earlier)


def _of_call(call: Call, earlier: Sequence[Call], text: str, memory: Memory) -> Cause:
    alike = _of_this_block(call, most_alike(call, earlier), earlier, memory)
    differing = [] if alike is None else differences(call, alike)
    if alike is not None and differing:
        how_far = _how_far(call, alike, differing)
        unseen = None if call.wrapped else jax_explanations.nearer(text, call, how_far)
        if unseen:
            return unseen
        setting = next(iter(jax_explanations.contexts(text)), None)
        if setting is not None and _only_jax_knows(setting, call, alike, differing):
            differing = [setting, *differing]
        return _beside(alike, differing, memory, nearest=_is_nearest(text, call, how_far))
    if call.wrapped:
        return _of_wrapped(call, text, earlier, memory)
    explained = _from_explanation(text, call, memory)
    same_settings = alike is not None and alike.context == call.context
    if same_settings and explained is not None and explained.kind in _OF_TYPES:
        return _lost()  # JAX compares with another call than the one that was like this
    if alike is not None and (explained is None or explained.kind == "static value"):
        explained = _own_equality(call, alike, reported_by_jax=explained is not None) or explained
    if explained:
        return explained
    return _unknown(call) if text or earlier else _not_explained(call, memory)


def _of_this_block(call: Call, alike: Call | None, earlier: Sequence[Call], memory: Memory) -> Call | None:
    """Prefer a call of the block that is measured to one of before that held the same in re-created functions.

    To create them once would not do if the block calls with several such values.
    """
    if alike is None or memory.is_new(alike) or not holds_the_same_in_others(call, alike):
        return alike
    new = [each for each in earlier if memory.is_new(each) and distance(call, each) == distance(call, alike)]
    return most_alike(call, new) or alike


def _how_far(call: Call, alike: Call, differing: Sequence[Cause]) -> tuple[int, int]:
    """Return in how many places two calls differ, where another structure is one as for JAX, and in how much."""
    places, amount = distance(call, alike)
    hidden = alike.context != call.context and all(each.kind != "context" for each in differing)
    return min(places, len(differing) + hidden), amount


def _only_jax_knows(setting: Cause, call: Call, alike: Call, differing: Sequence[Cause]) -> bool:
    """Return whether a setting that JAX names also differs from the measured call, which does not show it."""
    observed = any(each.kind == "context" for each in differing) or setting.argument in call.settings
    return setting.now is not None and not observed and alike.context != call.context


def _is_nearest(text: str, call: Call, how_far: tuple[int, int]) -> bool:
    """Return whether no call that was not measured is nearer than one that was."""
    if how_far == _ONE_DIFFERENCE:
        return True
    stated = jax_explanations.stated_distance(text)
    return jax_explanations.read(text, call) is not None and (stated is None or stated[0] >= how_far[0])


def _beside(alike: Call, differing: Sequence[Cause], memory: Memory, *, nearest: bool) -> Cause:
    """Combine the differences from an earlier call, unless a nearer one may not have been measured.

    A remedy for these differences may then be more than is needed, or something else.

    Args:
        alike: the earlier call.
        differing: the differences.
        memory: tells whether the earlier call was made in the block that is measured.
        nearest: whether no call can be nearer.
    """
    if memory.is_new(alike):
        return combined(differing)
    combination = combined(
        [as_measured(each) if each.kind == "static value" or not nearest else each for each in differing]
    )
    return combination if nearest else replace(combination, remedy=None)


def _forgotten(call: Call, text: str, memory: Memory) -> Cause | None:
    """Explain the first call since JAX forgot a function: no difference from an earlier call is its cause."""
    if call.wrapped or call.transformed or not jax_explanations.never_seen(text, call):
        return None
    forgotten = memory.forget(call)
    if not forgotten:
        return None
    alike = most_alike(call, [each for each in forgotten if each.transformation == call.transformation])
    if alike is not None and not differences(call, alike):
        return _lost()
    return Cause(
        kind="cleared caches", reason="first call since the function left JAX's caches (jax.clear_caches()?)"
    )


#: What the difference from a call may be that JAX remembers.
_OF_TYPES = "shape", "dtype", "weak type"


def _lost() -> Cause:
    return Cause(kind="cleared caches", reason="compiled before, but no longer in JAX's caches (jax.clear_caches()?)")


def _own_equality(call: Call, alike: Call, *, reported_by_jax: bool) -> Cause | None:
    """Explain calls with no other difference than a static value whose class has an ``__eq__`` of its own."""
    for name, text in call.static_args.items():
        if name in alike.static_args:
            held, before = (each.static_contents.get(name, {}) for each in (call, alike))
            if why := own_equality(name, text, held, before, reported_by_jax=reported_by_jax):
                return why
    return None


def _new_function(call: Call, memory: Memory) -> Cause | None:
    """Explain a new function object of a source that was compiled before, and what else differs from its calls.

    Defining the function once avoids a compilation only if it was called like this before, with the same options.
    """
    earlier = memory.of_source(call)
    if not earlier:
        return None
    fewest = min(len(changes(call.held, each.held)) for each in earlier)
    nearest = [each for each in earlier if len(changes(call.held, each.held)) == fewest]
    if fewest == 0 and not any(map(memory.is_new, nearest)):  # to define it once would not do for several values
        nearest = list(filter(memory.is_new, earlier)) or nearest
    alike = most_alike(call, [each for each in nearest if each.transformation == call.transformation])
    remade = new_function(call.held, (alike or nearest[-1]).held)
    differing = [] if alike is None else differences(call, alike)
    options = [each for each in differing if each.kind == "options"]
    return combined([*options, remade, *(each for each in differing if each not in options)])


def _of_wrapped(call: Call, text: str, earlier: Sequence[Call], memory: Memory) -> Cause:
    """Explain a call through a library's own jitted function, which many of the user's functions may share."""
    if earlier:
        return _unknown(call)
    return _not_explained(call, memory, never_seen=jax_explanations.never_seen(text))


def _not_explained(call: Call, memory: Memory, *, never_seen: bool = False) -> Cause:
    """Explain the first measured call of a function without JAX's help; ``jax.jit(jnp.sum)`` is never explained."""
    if why := _new_function(call, memory):
        return why
    if call.function_id is None or call.call_signature is None:  # its calls are not remembered
        return _unknown(call)
    known = "" if never_seen else ", as far as calls were measured"
    return Cause(kind="first call", reason=f"first call{known}")


def _of_transformed(call: Call, earlier: Sequence[Call], text: str, memory: Memory) -> Cause:
    """Compare part of a transformation with earlier calls under the same transformation."""
    alike = most_alike(call, earlier)
    if alike is not None and (differing := differences(call, alike)):
        return _beside(alike, differing, memory, nearest=distance(call, alike) == _ONE_DIFFERENCE)
    if jax_explanations.never_seen(text):
        _never_seen(text, call, memory)  # so that the next call from the same line is compared with this one
    if call.transformation:
        return cause("transformation", f"part of {call.transformation}, around {call.name}")
    return cause("transformation", f"part of a transformation, such as jax.grad or jax.vmap, around {call.name}")


def _from_explanation(text: str, call: Call | None, memory: Memory) -> Cause | None:
    if jax_explanations.never_seen(text):
        return _never_seen(text, call, memory)
    return jax_explanations.read(text, call)


def _never_seen(text: str, call: Call | None, memory: Memory) -> Cause:
    site = jax_explanations.call_site(text)
    here = ("", None) if call is None else (call.name, call.source_id)
    seen_here = memory.call_sites.pop(site, None)
    memory.call_sites[site] = here
    if call is not None and (why := _new_function(call, memory)):
        return why
    # JAX gives the hint for the line of the call, even if two different functions are called from it.
    if jax_explanations.hints_at_new_function(text) and seen_here in (None, here):
        reason = "a new function object, called from the same line as an earlier one"
        advice = "define and jit the function once, if it is the same function with the same closure"
        return Cause(kind="new function", reason=reason, remedy=advice)
    return Cause(kind="first call", reason="first call")


def _placement(call: Call, earlier: Sequence[Call]) -> Cause:
    """Explain a compilation without tracing: JAX knew types, static arguments and pytrees; placement may differ."""
    if why := placement_difference(call, earlier):
        return why
    alike = most_alike(call, earlier)
    differing = [] if alike is None else differences(call, alike)
    if differing and all(each.kind in ("options", "context") for each in differing):
        return combined(differing)
    where = next((leaf.placement for leaf in call.leaves.values() if leaf.placement), None)
    return Cause(
        kind="unknown",
        reason="traced before with the same types: compiled on its own for the first time, or with a different "
        + f"device, sharding, commitment or jax.jit options than before{f' (now {where})' if where else ''}",
    )


def _unknown(call: Call | None = None) -> Cause:
    values = "" if call is None else ", ".join(f"{name}={shown(each)}" for name, each in call.static_args.items())
    return Cause(kind="unknown", reason="JAX gave no reason" + (f"; static arguments: {values}" if values else ""))
