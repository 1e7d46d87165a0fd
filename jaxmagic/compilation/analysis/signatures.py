"""Compare which arguments two calls pass by position, and which by keyword: JAX compiles for each way."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ..record.compilation import Cause
from ..record.events import Call
from .remedies import difference

#: The number of arguments by position, and the names of those by keyword.
_Signature = tuple[int, tuple[str, ...]]

#: The keys that only one of two dicts has, in JAX's words.
KEYS = re.compile(r"symmetric difference of key sets:? (\{.*?\})")

#: The keys of a dict where as many others were before.
_METADATA = re.compile(r"with pytree metadata (\([^)]*\))")

#: How a call passes its arguments, as JAX 0.8 writes it.
_PASSED = re.compile(r"(\d+) args and kwargs with keys \[(.*)\]")

_ONE_WAY = "pass each argument by position in every call, or by keyword in every call"


def signature_differences(now: Call, before: Call) -> list[Cause]:
    """List that two calls pass other arguments, or pass them in another way, as one cause."""
    if now.call_signature == before.call_signature:
        return []
    here, there = _in_words(now), _in_words(before)
    cause = difference("pytree", "the arguments are passed differently", None, here, there)
    return [replace(cause, remedy=_ONE_WAY) if now.parameters and _passed(now) == _passed(before) else cause]


def is_passed_otherwise(now: Call, before: Call) -> bool:
    """Return whether an argument is passed by position in one of two calls, and by keyword in the other."""
    (here, keywords), (there, other_keywords) = now.call_signature or (0, ()), before.call_signature or (0, ())
    return bool({*now.parameters[:here]} & {*other_keywords} or {*before.parameters[:there]} & {*keywords})


def _passed(call: Call) -> set[str]:
    """Return the parameters for which a call passes an argument."""
    by_position, by_keyword = call.call_signature or (0, ())
    return {*call.parameters[:by_position], *by_keyword}


def _in_words(call: Call) -> str:
    by_position, by_keyword = call.call_signature or (0, ())
    parts = [f"{by_position} by position"] if by_position or not by_keyword else []
    return ", ".join(parts + [f"{name}=…" for name in by_keyword])


def of_nests(call: Call | None, nests: Iterable[tuple[str, str]]) -> Cause | None:
    """Describe how a call and an earlier one pass their arguments, from JAX's explanation.

    Args:
        call: the call.
        nests: the paths that differ in the nested arguments of both calls, and what JAX says about each.
    """
    if call is None or call.call_signature is None:
        return None
    earlier = _earlier_signature(call, nests)
    return None if earlier is None else _compared(call, earlier)


def of_counts(call: Call | None, now: str, before: str) -> Cause | None:
    """Describe how two calls pass their arguments, each as JAX 0.8 writes it."""
    found = [_PASSED.fullmatch(each.strip()) for each in (now, before)]
    here, there = ((int(each[1]), tuple(re.findall(r"'(\w+)'", each[2]))) if each else None for each in found)
    if here is None or there is None:
        return None
    return _compared(replace(call or Call(name=""), call_signature=here), there)


def _compared(call: Call, earlier: _Signature) -> Cause | None:
    return next(iter(signature_differences(call, replace(call, call_signature=earlier))), None)


def _earlier_signature(call: Call, nests: Iterable[tuple[str, str]]) -> _Signature | None:
    """Derive how the earlier call passed its arguments, from how this one does and from how JAX says they differ."""
    by_position, by_keyword = call.call_signature or (0, ())
    for path, text in nests:
        if path in ("[0]", "args"):
            lengths = [int(each) for each in re.findall(r"tuple of length (\d+)", text)]
            if len(lengths) != 2 or lengths[0] != by_position:
                return None
            by_position = lengths[1]
        elif path in ("[1]", "kwargs"):
            names = _earlier_keywords(text, by_keyword)
            if names is None:
                return None
            by_keyword = names
    return by_position, by_keyword


def _earlier_keywords(text: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the keywords of the earlier call, if those of this one are `names`; ``None`` if JAX does not tell."""
    keys = [re.findall(r"'(\w+)'", each) for each in _METADATA.findall(text)]
    if len(keys) == 2 and sorted(keys[0]) == sorted(names):
        return tuple(sorted(keys[1]))
    counts = [int(each) for each in re.findall(r"with (\d+) child", text)]
    differing = KEYS.search(text)
    other = () if differing is None else re.findall(r"'(\w+)'", differing[1])
    earlier = tuple(sorted({*names} ^ {*other})) if counts[1:] != [0] else ()
    return earlier if counts == [len(names), len(earlier)] else None
