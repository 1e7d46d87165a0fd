"""Why did it compile? From JAX's explanation and the call itself to one line of cause and one of remedy.

Three witnesses are heard, in this order: the explanation that JAX logs (two layouts: 0.8, and 0.10 to 0.12), the
call as it stood on the stack, and earlier calls of the same function that were measured in this session. What
none of them says is ``unknown``; nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..model.compilation import Cause, CauseKind
from ..model.spans import Call, Miss

#: Functions whose last calls are remembered in a session.
_MOST_FUNCTIONS = 1000

_REMEDIES: dict[CauseKind, str] = {
    "shape": "pad to a few fixed shapes, or expect one compilation a shape",
    "dtype": "pass the same dtype in every call, with .astype()",
    "weak type": "pass an array in every call, with jnp.asarray(value, dtype)",
    "static value": "every value of a static argument is a program of its own; pass it as an array if it varies",
    "pytree": "pass the same arguments, containers and keys in every call",
    "new function": "define and jit the function once, outside the loop or the cell that runs again",
    "placement": "place the arguments once, with jax.device_put(x, sharding)",
    "context": "set configuration and mesh once, before the first call",
    "transformation": "jit the whole, from outside: jax.jit(jax.grad(f))",
    "eager": "wrap the computation in jax.jit",
}


@dataclass(slots=True)
class Memory:
    """Earlier calls of a session, without their data: what a new call is compared with."""

    last_call: dict[tuple[str, str | None], Call] = field(default_factory=dict)
    sources: set[tuple[str, int]] = field(default_factory=set)
    call_sites: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    def remember(self, call: Call) -> None:
        """Add a call; the oldest function is forgotten when there are too many."""
        self.last_call.pop((call.name, call.location), None)
        self.last_call[call.name, call.location] = call
        if call.source_id is not None:
            self.sources.add((call.name, call.source_id))
        if len(self.last_call) > _MOST_FUNCTIONS:
            del self.last_call[next(iter(self.last_call))]
        if len(self.call_sites) > _MOST_FUNCTIONS:
            del self.call_sites[next(iter(self.call_sites))]


def find_cause(function: str, call: Call | None, miss: Miss | None, *, traced: bool, memory: Memory) -> Cause:
    """The cause of one compilation of `function`.

    Args:
        function: its name.
        call: the call that led to it, where it could be seen.
        miss: JAX's explanation, where there was one.
        traced: whether the function was traced; if not, JAX knew its types already.
        memory: earlier calls; this one is added.
    """
    before = memory.last_call.get((call.name, call.location)) if call else None
    cause = _find(function, call, miss, before, traced, memory)
    if call is not None and not (call.internal or call.transformed or call.ahead_of_time):
        memory.remember(call)
    return cause


def _find(
    function: str, call: Call | None, miss: Miss | None, before: Call | None, traced: bool, memory: Memory
) -> Cause:
    if miss is not None:
        return _from_explanation(function, miss.text, call, before, memory)
    if call is None:
        return _unknown()
    if call.internal:
        return _cause("eager", "an operation outside jax.jit")
    if call.ahead_of_time:
        return Cause(kind="ahead of time", reason="compiled ahead of time, with .lower().compile()")
    if call.transformed:
        return _cause("transformation", f"a part of a transformation, such as jax.grad, around {function}")
    if not traced:
        return _placement(call, before)
    return _differing_static(call, before) or _unknown()


def _from_explanation(function: str, text: str, call: Call | None, before: Call | None, memory: Memory) -> Cause:
    if "never seen function" in text:
        return _never_seen(function, text, call, memory)
    for reader in (_types, _static, _pytree, _argument_count, _context):
        if cause := reader(text, call):
            return cause
    return _differing_static(call, before) or _unknown()


def _never_seen(function: str, text: str, call: Call | None, memory: Memory) -> Cause:
    site = text.partition("TRACING CACHE MISS at ")[2].partition("\n")[0].split(" costing ")[0].rstrip(":")
    here = (function, call.location if call else None)
    seen_here = memory.call_sites.get(site)
    memory.call_sites[site] = here
    if call is not None and call.source_id is not None and (function, call.source_id) in memory.sources:
        return _cause("new function", "the same source again, as a new function object")
    # JAX's hint is about the line of the call: two different functions called from it get the hint as well.
    before = memory.last_call.get(here)
    another = before is not None and call is not None and before.source_id != call.source_id
    if "on the same line" in text and seen_here in (None, here) and not another:
        return _cause("new function", "a new function object, called from a line that called one before")
    return Cause(kind="first call", reason="first call")


_TYPE = re.compile(
    r"(?P<dtype>[\w<>]+)\[(?P<shape>[^\]]*)\](?P<sharding>\(.*?\))?(?:\{weak_type=(?P<weak>True|False)\})?$"
)
_DIFFERENCE = re.compile(r"\* at (?P<path>.+?), now (?P<now>.+?) and before (?P<before>.+?)(?:https?://\S+)?$", re.M)


def _types(text: str, call: Call | None) -> Cause | None:
    if "different input types" not in text:
        return None
    causes = [
        _type_difference(found["path"], found["now"], found["before"])
        for found in _DIFFERENCE.finditer(_closest(text.partition("different input types")[2]))
    ]
    if not causes:
        return None
    first = causes[0]
    if len(causes) == 1:
        return first
    others = ", ".join(cause.argument or "?" for cause in causes[1:4]) + (", …" if len(causes) > 4 else "")
    return Cause(
        kind=first.kind,
        reason=f"{first.reason}; other types also at {others}",
        remedy=first.remedy,
        argument=first.argument,
        now=first.now,
        before=first.before,
    )


def _closest(explanation: str) -> str:
    """JAX 0.8 compares with several earlier calls where they are equally close: the first is enough."""
    return explanation.partition("* key with ")[0]


def _type_difference(argument: str, now_text: str, before_text: str) -> Cause:
    now, before = _TYPE.match(now_text), _TYPE.match(before_text)
    if now is None or before is None:
        return _difference("dtype", f"argument {argument} has another type", argument, now_text, before_text)
    now_words, before_words = (f"{found['dtype']}[{found['shape']}]" for found in (now, before))
    if now["shape"] != before["shape"]:
        if now["weak"] == "True":
            now_words += " (a Python number)"
        if before["weak"] == "True":
            before_words += " (a Python number)"
        return _difference("shape", f"argument {argument} has another shape", argument, now_words, before_words)
    if now["dtype"] != before["dtype"]:
        return _difference("dtype", f"argument {argument} has another dtype", argument, now_words, before_words)
    if now["weak"] != before["weak"]:
        kinds = {"True": "a Python number (weak type)", "False": "an array", None: "an array"}
        return _difference(
            "weak type",
            f"argument {argument} is another kind of {now_words}",
            argument,
            kinds[now["weak"]],
            kinds[before["weak"]],
        )
    return _difference("placement", f"argument {argument} is sharded in another way", argument, now_text, before_text)


_STATIC_KWARGS = re.compile(r"different value of static kwargs:\s+now \{(?P<now>.*)\} and before \{(?P<before>.*)\}")
_STATIC_ARGS = re.compile(r"different value of static args:\s+now (?P<now>.*) and before (?P<before>.*)")
_STATIC_NODE = re.compile(
    r"at input path (?P<path>\S+), now .*?Static\(val=(?P<now>.*?)\)"
    r" and before .*?Static\(val=(?P<before>.*?)\)(?:,|$)",
    re.M,
)


def _static(text: str, call: Call | None) -> Cause | None:
    if found := _STATIC_NODE.search(text):
        return _static_cause(_argument(found["path"], call), found["now"], found["before"])
    if found := _STATIC_KWARGS.search(text):
        now, before = (dict(_pairs(found[side])) for side in ("now", "before"))
        for name in now:
            if name in before and now[name] != before[name]:
                return _static_cause(name, now[name], before[name])
        return _difference(
            "pytree",
            "static arguments passed by position or by keyword in another way",
            None,
            f"by keyword {{{found['now']}}}",
            f"{{{found['before']}}}",
        )
    if found := _STATIC_ARGS.search(text):
        names = list(call.statics) if call else []
        return _static_cause(names[0] if len(names) == 1 else None, found["now"], found["before"])
    return None


def _pairs(text: str) -> list[tuple[str, str]]:
    """``n: 2, mode: 'fast'`` as pairs; a comma inside a value stays with it."""
    parts = re.split(r"(?:^|, )(?=\w+: )", text)
    return [(name, value) for part in parts if part for name, _, value in [part.partition(": ")]]


def _static_cause(name: str | None, now: str, before: str) -> Cause:
    what = f"static argument {name} has another value" if name else "a static argument has another value"
    return _difference("static value", what, name, now, before)


def _differing_static(call: Call | None, before: Call | None) -> Cause | None:
    """JAX 0.12 says no more than "explanation unavailable" about static arguments: compare with the last call."""
    if call is None or not call.statics:
        return None
    if before is not None:
        for name, value in call.statics.items():
            if name in before.statics and before.statics[name] != value:
                return _static_cause(name, value, before.statics[name])
    words = ", ".join(f"{name}={value}" for name, value in call.statics.items())
    return _cause("static value", f"not compiled before with these static arguments: {words}")


def _pytree(text: str, call: Call | None) -> Cause | None:
    if "different input pytree" not in text:
        return None
    found = _DIFFERENCE.search(text)
    if found is None:
        return _cause("pytree", "the arguments are nested in another way")
    argument = _argument(found["path"].removeprefix("input path "), call)
    before, _, explanation = found["before"].partition(", so ")
    now, before = (_short_node(node) for node in (found["now"], before))
    keys = re.search(r"symmetric difference of key sets (\{.*?\})", explanation)
    extra = f"; keys in only one of them: {keys[1]}" if keys else ""
    what = {"[0]": "another number of positional arguments", "[1]": "other keyword arguments"}.get(
        argument, f"argument {argument} is nested in another way"
    )
    cause = _difference("pytree", what, argument, now, before)
    return Cause(
        kind="pytree",
        reason=cause.reason + extra,
        remedy=cause.remedy,
        argument=argument,
        now=now,
        before=before,
    )


def _short_node(node: str) -> str:
    """``<class 'dict'> with 2 children`` to ``dict with 2 children``."""
    return re.sub(r"<class '(?:[\w.]*\.)?(\w+)'>", r"\1", node)


def _argument(path: str, call: Call | None) -> str:
    """``[0][1]['w']``, a path into ``(args, kwargs)``, or ``args[1]['w']``, in the function's own names."""
    found = re.match(r"(?:\[0\]|args)\[(\d+)\](.*)", path)
    if found:
        position = int(found[1])
        names = call.parameters if call else ()
        return (names[position] if position < len(names) else f"number {position}") + found[2]
    found = re.match(r"(?:\[1\]|kwargs)\['(\w+)'\](.*)", path)
    return found[1] + found[2] if found else path


def _argument_count(text: str, call: Call | None) -> Cause | None:
    found = re.search(
        r"different number of args and kwargs.*?now (?P<now>.*?)\n\s*before (?P<before>[^\n]*)", text, re.S
    )
    if not found:
        return None
    return _difference(
        "pytree", "passed by position or by keyword in another way", None, found["now"], found["before"]
    )


def _context(text: str, call: Call | None) -> Cause | None:
    if "tracing context" not in text.lower():
        return None
    found = re.search(r"\* (?P<name>\S+) differs: now (?P<now>.*) and before (?P<before>.*)", text)
    if found:
        name, now, before = found["name"], found["now"], found["before"]
        what = "the mesh is another one" if "mesh" in name else f"the setting {name} has another value"
        return _difference("context", what, name, now, before)
    found = re.search(r"\[\d+\]: now (?P<now>.*?) and before (?P<before>[^\n,]*)", text)
    if found:
        return _difference("context", "a setting or the mesh has another value", None, found["now"], found["before"])
    return _cause("context", "another configuration or mesh")


def _placement(call: Call, before: Call | None) -> Cause:
    """JAX did not trace, so it knew types, statics and nesting: what differs may be where the arguments lie."""
    if before is not None:
        for path, leaf in call.leaves.items():
            earlier = before.leaves.get(path)
            if earlier is not None and leaf.placement and earlier.placement:
                now, old = leaf.placement, earlier.placement
                if now != old:
                    return _difference("placement", f"argument {path} lies elsewhere", path, now, old)
    where = next((leaf.placement for leaf in call.leaves.values() if leaf.placement), None)
    return Cause(
        kind="unknown",
        reason="traced before with the same types: compiled by itself for the first time, or for another "
        + f"device, sharding or commitment than earlier{f' (now {where})' if where else ''}",
    )


def _difference(kind: CauseKind, what: str, argument: str | None, now: str, before: str) -> Cause:
    return Cause(
        kind=kind,
        reason=f"{what}: {now} now, {before} before",
        remedy=_REMEDIES.get(kind),
        argument=argument,
        now=now,
        before=before,
    )


def _cause(kind: CauseKind, reason: str) -> Cause:
    return Cause(kind=kind, reason=reason, remedy=_REMEDIES.get(kind))


def _unknown() -> Cause:
    return Cause(kind="unknown", reason="JAX gave no reason")
