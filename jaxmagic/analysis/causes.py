"""Why did it compile? From the call, earlier calls and JAX's explanation to one line of cause and one of remedy.

Three witnesses are heard: the call as it stood on the stack, earlier calls of the same function that were measured
in this session, and the explanation that JAX logs. What none of them says is ``unknown``; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model.compilation import Cause
from ..model.spans import Call, Miss
from . import explanations
from .calls import differences, most_alike, placement_difference
from .remedies import cause, combined

#: Functions of a session that are remembered, and calls of each.
_MOST_FUNCTIONS = 1000
_MOST_CALLS = 8


@dataclass(slots=True)
class Memory:
    """Earlier calls of a session, without their data: what a new call is compared with.

    Attributes:
        calls: the last calls of each function object that compiled something, oldest first.
        sources: names and sources of the functions.
        call_sites: which function JAX saw last on a line.
    """

    calls: dict[int, list[Call]] = field(default_factory=dict)
    sources: dict[tuple[str, int], None] = field(default_factory=dict)
    call_sites: dict[str, tuple[str, int | None]] = field(default_factory=dict)

    def earlier(self, call: Call) -> list[Call]:
        """Calls of the same function object."""
        return [] if call.function_id is None else self.calls.get(call.function_id, [])

    def remember(self, call: Call) -> None:
        """Add a call; what was not used for the longest time is forgotten when there is too much."""
        if call.function_id is not None:
            calls = self.calls.pop(call.function_id, [])
            self.calls[call.function_id] = [*calls, call][-_MOST_CALLS:]
        if call.source_id is not None:
            self.sources[call.name, call.source_id] = None
        _forget_oldest(self.calls)
        _forget_oldest(self.sources)
        _forget_oldest(self.call_sites)


def _forget_oldest(known: dict[Any, Any]) -> None:
    if len(known) > _MOST_FUNCTIONS:
        del known[next(iter(known))]


def find_cause(function: str, call: Call | None, miss: Miss | None, *, traced: bool, memory: Memory) -> Cause:
    """The cause of one compilation of `function`.

    Args:
        function: its name.
        call: the call that led to it, where it could be seen.
        miss: JAX's explanation, where there was one.
        traced: whether the function was traced; if not, JAX knew its types already.
        memory: earlier calls; this one is added.
    """
    text = miss.text if miss is not None else ""
    if call is None:
        return _from_explanation(text, None, memory) or _unknown()
    if call.internal:
        return cause("eager", "an operation outside jax.jit")
    if call.ahead_of_time:
        return cause("ahead of time", "compiled ahead of time, with .lower().compile()")
    if call.transformed:
        return _from_explanation(text, call, memory) or cause(
            "transformation", f"a part of a transformation, such as jax.grad or jax.vmap, around {function}"
        )
    earlier = memory.earlier(call)
    found = _of_call(call, earlier, text, memory) if traced or text else _placement(call, earlier)
    memory.remember(call)
    return found


def _of_call(call: Call, earlier: Sequence[Call], text: str, memory: Memory) -> Cause:
    alike = most_alike(call, earlier)
    differing = [] if alike is None else differences(call, alike)
    setting = explanations.context(text)
    named = setting is not None and setting.now is not None
    if setting is not None and named and (alike is None or alike.context != call.context):
        return combined([*differing, setting] if _follows_from_x64(setting, differing) else [setting, *differing])
    if differing:
        return combined(differing)
    if alike is not None and explanations.never_seen(text):
        return Cause(kind="first call", reason="compiled before, but gone from JAX's caches (jax.clear_caches()?)")
    return _from_explanation(text, call, memory) or _unknown(call)


def _follows_from_x64(setting: Cause, differing: Sequence[Cause]) -> bool:
    """With 64 bits enabled an argument may have become a float64: that is the more useful thing to hear."""
    return setting.argument == "jax_enable_x64" and any(each.kind == "dtype" for each in differing)


def _from_explanation(text: str, call: Call | None, memory: Memory) -> Cause | None:
    if explanations.never_seen(text):
        return _never_seen(text, call, memory)
    return explanations.read(text, call)


def _never_seen(text: str, call: Call | None, memory: Memory) -> Cause:
    site = explanations.call_site(text)
    here = ("", None) if call is None else (call.name, call.source_id)
    seen_here = memory.call_sites.pop(site, None)
    memory.call_sites[site] = here
    if call is not None and (call.name, call.source_id) in memory.sources:
        return cause("new function", "the same source again, as a new function object")
    # JAX's hint is about the line of the call: two different functions called from it get the hint as well.
    if explanations.hints_at_new_function(text) and seen_here in (None, here):
        return cause("new function", "a new function object, called from a line that called one before")
    return Cause(kind="first call", reason="first call")


def _placement(call: Call, earlier: Sequence[Call]) -> Cause:
    """JAX did not trace, so it knew types, statics and nesting: what differs may be where the arguments lie."""
    if found := placement_difference(call, earlier):
        return found
    where = next((leaf.placement for leaf in call.leaves.values() if leaf.placement), None)
    return Cause(
        kind="unknown",
        reason="traced before with the same types: compiled by itself for the first time, or for another "
        + f"device, sharding, commitment or options of jax.jit than earlier{f' (now {where})' if where else ''}",
    )


def _unknown(call: Call | None = None) -> Cause:
    statics = "" if call is None else ", ".join(f"{name}={value}" for name, value in call.statics.items())
    return Cause(kind="unknown", reason="JAX gave no reason" + (f"; static arguments: {statics}" if statics else ""))
