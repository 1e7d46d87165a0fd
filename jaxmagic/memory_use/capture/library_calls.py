"""Names the library function that put something into memory, for each stack of a heap profile."""

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
    """Return the profile with ``inside`` of each sample, from its whole stack.

    Calls in files that a library has registered with JAX as its internals, such as ``flax.linen.Module``, do not
    count where a line of the user's called them: JAX leaves them out of the calls of an operation, too.
    """
    named = cache(_named)

    def called(stack: Stack) -> str | None:
        own = owner(stack) is not None
        kept = (
            each for each in stack if not (own and library_module(each.file) and is_registered_internal(each.file))
        )
        return inside(tuple(map(named, kept)))

    found = {stack: called(stack) for stack in {each.stack for each in profile.samples}}
    return replace(profile, samples=tuple(replace(each, inside=found[each.stack]) for each in profile.samples))


def _named(frame: Frame) -> Frame:
    """The same call with its qualified name and the public one; code of the user's and of JAX stays as it is."""
    if library_module(frame.file) is None:
        return frame
    function = qualified_name(frame.file, frame.function, frame.line)
    if function is None:
        return frame
    return replace(frame, function=function, library=public_name(frame.file, function))
