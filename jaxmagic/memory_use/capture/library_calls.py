"""Names the library function that allocated memory, for each stack of a heap profile."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ...records.call_stack import Frame, Stack, owner
from ...records.code_names import qualified_name
from ...records.inside import inside, library_module
from ...records.public_names import public_name
from ...runtime.private_api import is_registered_internal
from ..record.heap import HeapProfile


def with_inside(profile: HeapProfile) -> HeapProfile:
    """Fill in ``inside`` of each sample, from its complete stack.

    Calls in files that a library has registered with JAX as its internals, such as ``flax.linen.Module``, are ignored
    if a line of the user called them: JAX also leaves them out of the calls of an operation.
    """
    named = cache(_named)
    is_internal = cache(lambda file: library_module(file) is not None and is_registered_internal(file))

    def called(stack: Stack) -> str | None:
        own = owner(stack) is not None
        return inside(tuple(named(each) for each in stack if not (own and is_internal(each.file))))

    functions = {stack: called(stack) for stack in {each.stack for each in profile.samples}}
    return replace(profile, samples=tuple(replace(each, inside=functions[each.stack]) for each in profile.samples))


def _named(frame: Frame) -> Frame:
    """Add the qualified and the public name to a call of a library; calls of the user and of JAX stay as they are."""
    if library_module(frame.file) is None:
        return frame
    function = qualified_name(frame.file, frame.function, frame.line)
    if function is None:
        return frame
    return replace(frame, function=function, library=public_name(frame.file, function))
