"""Finds how the function that runs a program holds the arrays it passes, and whether anything else holds them."""

from __future__ import annotations

import time
import weakref
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import FrameType
from typing import Any, NamedTuple

from ....memory_use.capture.array_survey import alive, share, survey
from ....memory_use.capture.holders import find_holders
from ....records.call_stack import Frame, is_users
from ....runtime.around import attribute, is_of_function, of_type, variables_of
from ....runtime.clock import now_ns
from ....runtime.tracing import is_array
from ...record.jitted_names import JittedName
from ...record.program import Caller, PassedArray
from ..inputs import JITTED
from ..jitted import described
from ..remedies.user_functions import global_names

#: Programs that take fewer bytes, or more arrays, are left out.
_LEAST_BYTES = 2**20
_MOST_ARRAYS = 2000

#: The longest search for the variables that lead to arrays, and the longest wait for arrays to be computed.
_SEARCH_S = 0.1
_WAIT_NS = 2 * 10**9


#: The paths to arrays, by the ids of these; ``None`` if they are unknown.
_Paths = dict[int, list[str]] | None


class _Seen(NamedTuple):
    """An array that was passed, as :class:`PassedArray` describes it later."""

    parameter: int
    array: weakref.ref[Any]
    paths: tuple[str, ...] | None
    outer_paths: tuple[str, ...] | None
    shares_memory: bool


class SeenCaller(NamedTuple):
    """The names that a function has for a jitted one, and the arrays that it passed.

    Attributes:
        jitted: the names.
        arrays: the arrays.
        lasting: those of them that were alive when the run had ended; a later run may replace what held them.
    """

    jitted: tuple[JittedName, ...]
    arrays: tuple[_Seen, ...]
    lasting: set[int]

    def note_lasting(self) -> None:
        """Note which arrays are alive: the run has ended."""
        self.lasting.update(number for number, each in enumerate(self.arrays) if each.array() is not None)


def caller_of(frame: FrameType | None, function: Any, arguments: Sequence[Any]) -> SeenCaller | None:
    """Look at the user's innermost function on a stack, and at the arrays that it passes to a jitted function.

    ``None`` if the stack has none, or if the arrays are small.

    Args:
        frame: the innermost frame.
        function: the function that is jitted.
        arguments: what its program gets.
    """
    arrays = {number: each for number, each in enumerate(arguments) if is_array(each)}
    size_bytes = sum(each.nbytes for each in arrays.values())
    if function is None or size_bytes < _LEAST_BYTES or len(arrays) > _MOST_ARRAYS:
        return None
    frames = list(_functions_running(frame))
    if not frames:
        return None
    jitted = tuple(_names_of(function, frames[0], variables_of(frames[0])))
    if not jitted:
        return None
    own, *outer = [_paths(arrays.values(), each) for each in frames]
    shared = _shared(arrays.values())
    return SeenCaller(
        jitted,
        tuple(
            _Seen(number, weakref.ref(array), *_found(array, own, outer), id(array) in shared)
            for number, array in arrays.items()
        ),
        set(),
    )


def _functions_running(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the user's functions on a stack, innermost first, up to a cell or the top of a file."""
    while frame is not None:
        code = frame.f_code
        if is_users(Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno)):
            if not is_of_function(frame):
                return
            yield frame
        frame = frame.f_back


def _paths(arrays: Collection[Any], frame: FrameType) -> _Paths:
    """Return how the variables of a function lead to arrays, by their ids; ``None`` if the search took too long."""
    found = find_holders(arrays, variables_of(frame), limit_s=_SEARCH_S, everywhere=False)
    return found.names if found.complete else None


def _found(array: Any, own: _Paths, outer: Sequence[_Paths]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return how the innermost function leads to an array, and how those around it do."""
    around = [None if each is None else each.get(id(array), []) for each in outer]
    known = [each for each in around if each is not None]
    return (
        None if own is None else tuple(own.get(id(array), ())),
        tuple(chain(*known)) if len(known) == len(around) else None,
    )


def _names_of(function: Any, frame: FrameType, variables: Mapping[str, Any]) -> Iterator[JittedName]:
    """Yield the names that a function which runs has for another one that is jitted.

    How that was made is known of globals, and from decorators: an assignment to anything else is left out.
    """
    names, known = list(global_names(frame.f_code)), frame.f_globals
    seen = {name: known[name] for name in names if name in known} | dict(variables)
    held = ((f"{variable}.{name}", attribute(value, name)) for variable, value in variables.items() for name in names)
    for name, value in chain(seen.items(), held):
        if of_type("__name__", type(value)) != JITTED or value.__wrapped__ is not function:
            continue
        found = described(name, value)
        if found is not None:
            is_global = known.get(name) is value and known.get(found.function) is function
            yield found if is_global or found.declared.lstrip().startswith("@") else replace(found, declared="")


def _shared(arrays: Collection[Any]) -> set[int]:
    """Return the arrays, by their ids, that are passed twice, or whose memory another array has; or may have."""
    counts = Counter(map(id, arrays))
    given_up_at = now_ns() + _WAIT_NS
    while not all(each.is_ready() for each in arrays) and now_ns() < given_up_at:
        time.sleep(0.001)  # the addresses of others are unknown
    others = [each for each in alive() if id(each) not in counts]
    facts = share(survey([*others, *arrays]), {id(each) for each in others})
    found = {id(each.array) for each in facts if each.shared} & set(counts)
    return (
        found
        | {each for each, count in counts.items() if count > 1}
        | {id(each) for each in arrays if not each.is_ready()}
    )


def described_caller(caller: SeenCaller, namespace: Mapping[str, Any]) -> Caller:
    """Describe a caller, and what holds the arrays that it passed, once the code has ended."""
    arrays = [each.array() for each in caller.arrays]
    lasting = [each for each in arrays if each is not None]
    names = find_holders(lasting, dict(namespace)).names if lasting else {}
    return Caller(
        jitted=caller.jitted,
        arrays=tuple(
            PassedArray(
                parameter=seen.parameter,
                paths=seen.paths,
                outer_paths=seen.outer_paths,
                shares_memory=seen.shares_memory,
                alive=array is not None or number in caller.lasting,
                names=() if array is None else tuple(names.get(id(array), ())),
            )
            for number, (seen, array) in enumerate(zip(caller.arrays, arrays, strict=True))
        ),
    )
