"""Recognizes an exception that JAX raised, without importing anything or running code of the user's classes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from ....errors import message_of
from ....runtime.around import of_type
from ....runtime.jax_errors import met_a_deleted_array, ran_out_of_memory
from ...analysis.failures.messages import LONGEST, kind_of
from ...record.failure import Kind
from .statement import operation


@dataclass(frozen=True, slots=True)
class Recognized:
    """An exception that can be explained.

    Attributes:
        error: the exception.
        kind: its kind.
        behind: the exception that it led to, if that is another one.
    """

    error: BaseException
    kind: Kind
    behind: BaseException | None


def recognize(error: BaseException) -> Recognized | None:
    """Return the exception that is to be explained: `error`, or one that it was raised from; ``None`` without one."""
    if "jax" not in sys.modules:
        return None
    for each in _chain(error):
        kind = _kind(each)
        if kind is not None:
            return Recognized(each, kind, None if each is error else error)
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an exception and those behind it, as a traceback shows them; a circle ends."""
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        yield here
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)


def is_from_jax(error: BaseException) -> bool:
    """Return whether JAX evidently raised an exception: by its class, or by the file of its innermost call.

    JAX may have removed its own calls from the traceback.
    """
    traceback = error.__traceback__
    inside = traceback is not None and is_jax_file(innermost(traceback).tb_frame.f_code.co_filename)
    return inside or _is_jax_module(of_type("__module__", type(error)))


def _kind(error: BaseException) -> Kind | None:
    types = [kind for kind in of_type("__mro__", type(error)) if kind is not object]
    known = [of_type("__name__", kind) for kind in types if _is_jax_module(of_type("__module__", kind))]
    builtin = of_type("__module__", types[0]) == "builtins"
    if not known and not builtin:  # the text of other types is made by their own code
        return None
    if builtin and error.__traceback__ is None:  # nothing shows that JAX raised it
        return None
    if was_raised_by_a_statement(error.__traceback__):
        return None
    if ran_out_of_memory(error):
        return "memory" if known else None
    if met_a_deleted_array(error):
        return "deleted"
    return kind_of(known or [of_type("__name__", types[0])], message_of(error)[:LONGEST])


def _is_jax_module(name: object) -> bool:
    return type(name) is str and name.partition(".")[0] in ("jax", "jaxlib")


def is_jax_file(file: str) -> bool:
    """Return whether a file is part of JAX."""
    path = file.replace("\\", "/")
    return "/jax/_src/" in path or "/jaxlib/" in path or "/site-packages/jax/" in path


def innermost(traceback: TracebackType) -> TracebackType:
    """Return the last entry of a traceback."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def was_raised_by_a_statement(traceback: TracebackType | None) -> bool:
    """Return whether a ``raise`` outside of JAX raised an exception, so that its text is not JAX's."""
    if traceback is None:
        return False
    last = innermost(traceback)
    code = last.tb_frame.f_code
    return not is_jax_file(code.co_filename) and operation(code, last.tb_lasti) == "RAISE_VARARGS"
