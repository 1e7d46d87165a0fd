"""Recognizes an exception that JAX raised, without importing anything or running code of the user's classes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType

from ....errors import message_of
from ....records.call_stack import Frame, is_users
from ....records.cell_names import known_as, text_of
from ....runtime.around import of_type
from ....runtime.jax_errors import met_a_deleted_array, ran_out_of_memory
from ....runtime.tracing import is_tracer, tracer_names
from ....tracebacks import calls_in
from ...analysis.failures.messages import LONGEST, is_jax_file, kind_of
from ...analysis.failures.wrong_arguments.all import read
from ...record.failure_kind import Kind
from .called import called_by_jax
from .libraries.mapped_modules import mapped_module
from .modules import about_attribute, about_missing
from .statement import operation
from .wrong_calls.elements import assigned_at
from .wrong_calls.layers import frozen_field
from .wrong_calls.misused import misused
from .wrong_calls.trees import arithmetic_of_trees

#: Kinds of which the message is flax's own, or NumPy's in a function of flax.
# fmt: off
_OF_LIBRARIES = (
    "layer input", "groups", "image axes", "unbound", "submodule", "name in use",
    "frozen module", "variables", "nested variables", "immutable",
    "module key", "unset", "trace level", "container", "frozen", "dropout", "optimizer", "nnx optimizer",
    "loss dtype", "example rank",
)
# fmt: on

#: Libraries whose messages are explained.
_LIBRARIES = "/flax/", "/equinox/", "/optax/"


#: Kinds of which NumPy says the same in the same words.
_IN_NUMPYS_WORDS = "truth", "iterated", "overflow", "unsized"

#: How what JAX lacks is looked up.
_LOOKED_UP: dict[Kind, Callable[[dict[str, str]], dict[str, str] | None]] = {
    "missing name": about_missing,
    "missing module": about_missing,
    "attribute": about_attribute,
}


@dataclass(frozen=True, slots=True)
class Recognized:
    """An exception that can be explained.

    Attributes:
        error: the exception.
        kind: its kind.
        said: the facts in its message, for a kind that ``wrong_arguments`` explains.
        behind: the exception that it led to, if that is another one.
    """

    error: BaseException
    kind: Kind
    said: dict[str, str]
    behind: BaseException | None


def recognize(error: BaseException) -> Recognized | None:
    """Return the exception that is to be explained: `error`, or one that it was raised from; ``None`` without one."""
    if "jax" not in sys.modules:
        return None
    for each in _chain(error):
        known = _kind(each)
        if known is not None:
            return Recognized(each, *known, None if each is error else error)
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


def _kind(error: BaseException) -> tuple[Kind, dict[str, str]] | None:
    """Return the kind of an exception, and the facts in its message."""
    types = [kind for kind in of_type("__mro__", type(error)) if kind is not object]
    known = [of_type("__name__", kind) for kind in types if _is_jax_module(of_type("__module__", kind))]
    builtin = of_type("__module__", types[0]) == "builtins"
    of_flax = of_type("__module__", types[0]) == "flax.errors"
    field = frozen_field(error)
    if field is not None:
        return "frozen", field
    if not known and not builtin and not of_flax:  # the text of other types is made by their own code
        return None
    if builtin and error.__traceback__ is None:  # nothing shows that JAX raised it
        return None
    if was_raised_by_a_statement(error.__traceback__):
        return _of_library(error)
    if ran_out_of_memory(error):
        return ("memory", {}) if known else None
    if met_a_deleted_array(error):
        return "deleted", {}
    names, text = known or [of_type("__name__", types[0])], message_of(error)[:LONGEST]
    kind = assigned_at(error.__traceback__, text) or kind_of(names, text)
    if kind is not None:
        return kind, {}
    mapped = mapped_module(error.__traceback__, text)
    if mapped is not None:
        return "module leaves", mapped
    wrong = misused(error.__traceback__, names[0], text) or read(names, text)
    if wrong is None or wrong[1].get("tracer", "") not in ("", *tracer_names()):
        return None
    if wrong[0] in _OF_LIBRARIES and not of_flax and not _is_in_library(error):  # JAX may have left flax's calls out
        return None
    if wrong[0] in _LOOKED_UP:
        known_name = _LOOKED_UP[wrong[0]](wrong[1])
        return None if known_name is None else (wrong[0], {**wrong[1], **known_name})
    if wrong[0] == "tree arithmetic":
        trees = arithmetic_of_trees(error.__traceback__)
        return None if trees is None else ("tree arithmetic", trees)
    if wrong[0] == "signature":
        called = called_by_jax(error.__traceback__, wrong[1]["function"])
        return None if called is None else ("signature", {**wrong[1], **called})
    if wrong[0] == "hash" and is_from_jax(error) and wrong[1]["type"] in tracer_names():  # as jnp.tile() does
        return "number", {}
    if wrong[0] == "hash" and (is_from_jax(error) or wrong[1]["type"] not in {"ArrayImpl", *tracer_names()}):
        return None
    if wrong[0] in _IN_NUMPYS_WORDS and not (is_from_jax(error) or _has_traced(error)):
        return None
    return wrong


def _of_library(error: BaseException) -> tuple[Kind, dict[str, str]] | None:
    """Return the kind of an exception that a statement of a library raised, if it is explained."""
    wrong = read([of_type("__name__", type(error))], message_of(error)[:LONGEST])
    return wrong if wrong is not None and wrong[0] in _OF_LIBRARIES and _is_in_library(error) else None


def _is_in_library(error: BaseException) -> bool:
    traceback = error.__traceback__
    return traceback is not None and any(
        each in innermost(traceback).tb_frame.f_code.co_filename.replace("\\", "/") for each in _LIBRARIES
    )


def _has_traced(error: BaseException) -> bool:
    """Return whether the innermost call has traced values among its variables, so that JAX may have left its own."""
    frame = None if error.__traceback__ is None else innermost(error.__traceback__).tb_frame
    return frame is not None and any(map(is_tracer, list(frame.f_locals.values())))


def transformed_at(error: BaseException) -> tuple[tuple[str, str], ...]:
    """Return the user's line with the operation of which a transformation made the failing one, if JAX names it."""
    cause = error.__cause__
    if cause is None or of_type("__name__", type(cause)) != "JaxStackTraceBeforeTransformation":
        return ()
    users = []
    for entry in calls_in(cause.__traceback__):
        code = entry.tb_frame.f_code
        name = known_as(code.co_filename)
        cell = None if name == code.co_filename else name
        frame = Frame(function=code.co_name, file=code.co_filename, line=entry.tb_lineno or 0, cell=cell)
        if is_users(frame):
            users.append(frame)
    if not users:
        return ()
    lines, line = text_of(users[-1].file), users[-1].line
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return ("location", users[-1].location), ("code", text)


def _is_jax_module(name: object) -> bool:
    return type(name) is str and name.partition(".")[0] in ("jax", "jaxlib")


def innermost(traceback: TracebackType) -> TracebackType:
    """Return the last entry of a traceback."""
    return calls_in(traceback)[-1]


def was_raised_by_a_statement(traceback: TracebackType | None) -> bool:
    """Return whether a ``raise`` outside of JAX raised an exception, so that its text is not JAX's."""
    if traceback is None:
        return False
    entries = calls_in(traceback)
    while len(entries) > 1 and _is_opt_einsum(entries[-1]):  # jnp.einsum() lets it check the shapes
        entries.pop()
    code = entries[-1].tb_frame.f_code
    return not is_jax_file(code.co_filename) and operation(code, entries[-1].tb_lasti) == "RAISE_VARARGS"


def _is_opt_einsum(entry: TracebackType) -> bool:
    return "/opt_einsum/" in entry.tb_frame.f_code.co_filename.replace("\\", "/")
