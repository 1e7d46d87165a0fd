"""Reads an exception and its traceback into facts, which hold no frame and no array."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import FrameType, TracebackType
from typing import NamedTuple

from ....errors import message_of
from ....records.call_stack import Frame, is_users
from ....records.cell_names import known_as, text_of
from ....runtime.around import of_type
from ....runtime.tracing import origin_of, type_of
from ...analysis.failures import messages
from ...analysis.failures.differences import differences
from ...analysis.failures.expression import MOST_VALUES
from ...analysis.failures.origin import FIRST_TRIES, OF_TRACED
from ...analysis.failures.wrong_arguments.all import WRONG_ARGUMENTS
from ...record.failure import Failure, Handed, Traced, Value
from ...record.library_use import Selector
from .buffers import Donors, deleted_in, donors_of
from .calls import called_name, jit_call, value_of
from .decided import code_of, decision_of
from .escapes import escapes_of
from .held import largest_alive
from .holder import holder_of
from .leaked import Around, calls_around, has_leaked, is_nested, is_vmapped, leaked_in, tracers_in, used
from .libraries.batches import module_in
from .libraries.library_calls import innermost_library_call
from .libraries.selectors import selector_of
from .modules import module_names
from .operands import (
    allowed_platforms,
    default_devices,
    home_of,
    index_parts,
    is_outer,
    is_percent,
    names_in,
    operands_of,
    passed_arrays,
)
from .out_of_memory import Limits, look_at_memory
from .recognize import Recognized, recognize, transformed_at
from .statement import Place, place_of


class Entry(NamedTuple):
    """One entry of a traceback."""

    frame: FrameType
    where: Frame
    offset: int

    @property
    def place(self) -> Place:
        """The statement and the expression at which it stopped."""
        return place_of(self.frame.f_code, self.offset)


def read_failure(error: BaseException, limits: Limits | None = None) -> Failure | None:
    """Return what is known about an exception that JAX raised; ``None`` if it is no such exception.

    Args:
        error: the exception.
        limits: the limits of what is compiled if memory ran out; usual ones if left out.
    """
    recognized = recognize(error)
    if recognized is None:
        return None
    entries = _entries_of(recognized)
    try:
        return _read(recognized, entries, limits or Limits())
    finally:
        entries.clear()  # an exception in here would otherwise keep the user's frames alive


def users_entries(error: BaseException) -> list[Entry]:
    """Return the user's entries of the traceback of an exception that JAX raised, the innermost last."""
    recognized = recognize(error)
    return [] if recognized is None else [each for each in _entries_of(recognized) if is_users(each.where)]


def _entries_of(recognized: Recognized) -> list[Entry]:
    entries = [*_entries(recognized.error.__traceback__)]
    if recognized.behind is not None and not any(is_users(each.where) for each in entries):
        entries = [*_entries(recognized.behind.__traceback__)]
    return entries


def _entries(traceback: TracebackType | None) -> Iterator[Entry]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        name = known_as(code.co_filename)
        where = Frame(
            function=code.co_name,
            file=code.co_filename,
            line=traceback.tb_lineno or 0,
            cell=None if name == code.co_filename else name,
        )
        yield Entry(traceback.tb_frame, where, traceback.tb_lasti)
        traceback = traceback.tb_next


def _read(recognized: Recognized, entries: Sequence[Entry], limits: Limits) -> Failure:
    text = message_of(recognized.error)
    kind = recognized.kind
    traced = messages.traced(text)
    users = [each for each in entries if is_users(each.where)]
    facts = Failure(
        kind=kind,
        error=of_type("__name__", type(recognized.error)),
        behind=None if recognized.behind is None else of_type("__name__", type(recognized.behind)),
        stack=tuple(each.where for each in users),
        type=messages.value_type(text),
        detail=messages.detail(kind, text),
        traced=traced,
        differences=differences(text) if kind in ("carry", "branches", "pytree") else (),
        said=tuple(recognized.said.items()) if kind != "nan" else transformed_at(recognized.error),
    )
    if not users:
        return facts
    found = _with_code(facts, users, entries)
    if found.kind in WRONG_ARGUMENTS:
        found = _with_operands(found, users[-1], _beyond(entries, users[-1]))
    if kind != "memory":
        return found
    return replace(found, memory=look_at_memory(text, users[-1].place, users[-1].frame, limits))


def _beyond(entries: Sequence[Entry], last: Entry) -> Sequence[Entry]:
    """Return the calls that a line of the user's led to."""
    return entries[[each is last for each in entries].index(True) + 1 :]


def _first_of_jax(entries: Sequence[Entry]) -> FrameType | None:
    """Return the frame of JAX's function that the failing line called, directly or through a library."""
    return next((each.frame for each in entries if messages.is_jax_file(each.where.file)), None)


def _with_operands(facts: Failure, last: Entry, beyond: Sequence[Entry]) -> Failure:
    """Add the operands of the failing expression, and the module of a library that it calls or passes."""
    place, frame = last.place, last.frame
    library = _library(beyond)
    inner, innermost = None if library is None else library.frame, beyond[-1].frame if beyond else None
    facts = replace(facts, module=module_in(facts, place, frame, inner, innermost))
    called = _first_of_jax(beyond if library is None else beyond[beyond.index(library) :])
    if facts.kind == "update":
        outer, holder = is_outer(place, frame), holder_of(place, frame)
        return replace(facts, operands=index_parts(place, frame), outer=outer, holder=holder)
    if facts.kind == "format":
        return replace(facts, operands=names_in(place.statement, frame))
    if facts.kind == "devices":
        platform, number = default_devices()
        facts = replace(facts, said=(*facts.said, ("platform", platform), ("present", str(number))))
    if facts.kind == "backend":
        allowed, variable = allowed_platforms()
        facts = replace(facts, said=(*facts.said, ("allowed", allowed), ("variable", "1" if variable else "")))
    if facts.kind in ("layer input", "groups", "image axes", "features"):
        return replace(facts, operands=operands_of(place, frame, None))
    if facts.library is not None:
        return replace(facts, operands=() if called is None else passed_arrays(called))
    return replace(facts, operands=operands_of(place, frame, called))


def _library(entries: Sequence[Entry]) -> Entry | None:
    """Return the innermost call in a library among those that the failing line led to."""
    found = innermost_library_call([each.where.file for each in entries])
    return None if found is None else entries[found]


def _with_code(facts: Failure, users: Sequence[Entry], entries: Sequence[Entry]) -> Failure:
    """Add what the code and the variables of the failing line tell."""
    last, place = users[-1], users[-1].place
    code, library = last.frame.f_code, _library(_beyond(entries, last))
    if facts.kind == "number" and is_percent(place.node):
        facts = replace(facts, kind="format")
    if facts.traced is None and facts.kind in ("mask", "shape", "number", "format"):
        facts = replace(facts, traced=_common(_meant(facts, place, last.frame)))
    around = calls_around([each.frame for each in entries])
    if facts.kind in OF_TRACED and has_leaked(facts.traced, place, last.frame, around):
        facts = replace(facts, kind="leak", detail=None)
    if facts.kind == "leak":
        facts = _of_leak(facts, used(place), last.frame, around)
    values = tuple(_values(place.whole, last.frame, around if facts.kind == "leak" else None))
    begun = _beginning(facts.traced, users)
    call = None
    if facts.kind in ("static", "not array"):
        call = jit_call(place, last.frame, last.where)
    elif begun:
        caller = users[begun - 1]
        call = jit_call(caller.place, caller.frame, caller.where, users[begun].frame.f_code)
    lines = text_of(last.where.file)
    running = [each.frame.f_code for each in users]
    deleted = deleted_in(place, last.frame) if facts.kind == "deleted" else ()
    donors = donors_of(deleted, last.frame, last.where, place) if deleted else Donors()
    alive = largest_alive(last.frame.f_globals) if facts.kind == "memory" else ()
    return replace(
        facts,
        source=lines[last.where.line - 1].strip() if 0 < last.where.line <= len(lines) else None,
        statement=place.text,
        node=place.position,
        operation=place.operation,
        library=None if library is None else library.where,
        values=values,
        call=call,
        own=begun is not None and users[begun] is last,
        parameters=code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
        vmapped=any(is_vmapped(value) for value in last.frame.f_locals.values()),
        nested=None if begun is None else is_nested(users[begun].frame),
        handed=tuple(_handed(users, begun)),
        escapes=escapes_of(facts.traced, facts.detail) if facts.kind == "leak" else (),
        detail=", ".join(deleted) or _named(facts, place, last.frame),
        donated_by=donors.calls,
        donated_before=donors.before,
        decides=decision_of(place, last.frame, running) if facts.kind == "bool" else None,
        selector=_selector(facts, users, entries, around),
        names=module_names(last.frame),
        alive=tuple(name for name, _ in alive),
        alive_bytes=tuple(size for _, size in alive),
    )


def _selector(facts: Failure, users: Sequence[Entry], entries: Sequence[Entry], around: Around) -> Selector | None:
    """Return the Python value that was traced and failed, in the user's code or in a library that it calls."""
    if facts.kind not in FIRST_TRIES:
        return None
    failed = [each for each in entries if not messages.is_jax_file(each.where.file)][-1]
    callers = [(each.place, each.frame) for each in users]
    return selector_of(facts.traced, (failed.place, failed.frame), callers, around.frames)


def _of_leak(facts: Failure, node: ast.AST | None, frame: FrameType, around: Around) -> Failure:
    """Add what the traced values in the failing expression tell of the function that made them."""
    values = tuple(_values(node, frame, around))
    types = {each.type for each in values}
    said = (messages.detail("leak", origin_of(each) or "") for _, each in leaked_in(node, frame, around))
    return replace(
        facts,
        traced=facts.traced or _common(values),
        type=facts.type or (next(iter(types)) if len(types) == 1 else None),
        detail=facts.detail or next(filter(None, said), None),
    )


def _meant(facts: Failure, place: Place, frame: FrameType) -> tuple[Value, ...]:
    """Return the traced values of which one is meant by the message: those in an index, a shape or a text."""
    if facts.kind == "format":
        found = tuple(_values(place.statement, frame))
    else:
        found = tuple(_values(place.node.slice if isinstance(place.node, ast.Subscript) else place.node, frame))
    if facts.kind in ("mask", "shape"):
        return found
    found = tuple(each for each in found if facts.type in (None, each.type))
    return found if len(found) == 1 else ()


def _named(facts: Failure, place: Place, frame: FrameType) -> str | None:
    """Return the function of NumPy or SciPy that is called, or the module of a jitted function."""
    if facts.kind == "numpy":
        return called_name(place, frame)
    return home_of(place, frame) if facts.kind == "not array" else facts.detail


def _beginning(traced: Traced | None, users: Sequence[Entry]) -> int | None:
    """Return which of the user's calls is that of the traced function, the innermost one if there are several."""
    if traced is None:
        return None
    known = (traced.function, traced.file, traced.line)
    codes = [each.frame.f_code for each in users]
    found = [
        place for place, code in enumerate(codes) if (code.co_name, code.co_filename, code.co_firstlineno) == known
    ]
    return found[-1] if found else None


def _common(values: Sequence[Value]) -> Traced | None:
    """Return the function that made all of some traced values, with the arguments on which they depend."""
    origins = [each.origin for each in values if each.origin is not None]
    if not origins or len(origins) < len(values) or len({(each.file, each.line) for each in origins}) > 1:
        return None
    arguments = tuple(dict.fromkeys(name for each in origins for name in each.arguments))
    return replace(origins[0], arguments=arguments)


def _values(node: ast.AST | None, frame: FrameType, leaked: Around | None = None) -> Iterator[Value]:
    """Iterate over the names and attributes in an expression that hold traced values, or those that have leaked."""
    found = dict(tracers_in(node, frame) if leaked is None else leaked_in(node, frame, leaked))
    for text, value in itertools.islice(found.items(), MOST_VALUES):
        said = origin_of(value)
        yield Value(
            name=text,
            type=messages.short_type(type_of(value) or "unknown"),
            origin=None if not said else messages.traced(said),
        )


def _handed(users: Sequence[Entry], begun: int | None) -> Iterator[Handed]:
    """Iterate over what callers that were being traced passed to the traced function."""
    if not begun:
        return
    for outer, inner in zip(reversed(users[:begun]), reversed(users[1 : begun + 1]), strict=True):
        node = outer.place.node
        if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
            return
        code = inner.frame.f_code
        if code_of(value_of(node.func, outer.frame)) is not code:
            return
        given = dict(zip(code.co_varnames[: code.co_argcount], node.args, strict=False))
        given |= {each.arg: each.value for each in node.keywords if each.arg}
        for parameter, passed in given.items():
            for value in _values(passed, outer.frame):
                if value.origin is not None and value.origin.arguments:
                    text = ast.unparse(passed)
                    yield Handed(parameter=parameter, text=text, location=outer.where.location, origin=value.origin)
                    break
