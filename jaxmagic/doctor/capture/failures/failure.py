"""Reads an exception and its traceback into facts, which hold no frame and no array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

from ....errors import message_of
from ....records.call_stack import is_users
from ....records.cell_names import text_of
from ....runtime.around import of_type
from ...analysis.failures import messages
from ...analysis.failures.differences import differences
from ...analysis.failures.origin import FIRST_TRIES, OF_TRACED, OF_TRANSFORMED
from ...analysis.failures.out_of_memory import shortage
from ...analysis.failures.wrong_arguments.all import WRONG_ARGUMENTS
from ...record.failing_code import Traced
from ...record.failure import Failure
from ...record.library_use import Selector
from ...record.out_of_memory import ANY_CALL, OutOfMemory
from .buffers import Donors
from .calls import called_name, functions_called, jax_twin
from .captured import deleted_by
from .entries import Entry, beyond, displaying, entries_of, first_of_jax, library_in
from .held import largest_alive, shared_in
from .holder import holder_at, holder_of, source_of
from .jit_calls.jit_call import jit_call
from .libraries.applied import OF_COLLECTIONS, applied
from .libraries.batches import module_in
from .libraries.jax_functions import is_jitted_itself, selector_of_jax
from .libraries.selectors import selector_of
from .lookups import elements_of, in_comprehension, is_dictionary, keys_of, lookup_of
from .memory.out_of_memory import Limits, look_at_memory
from .modules import lacking_in, module_names
from .named_causes import named_causes
from .operands import (
    default_float,
    home_of,
    index_parts,
    is_outer,
    is_percent,
    names_in,
    operands_of,
    passed_arrays,
    passed_values,
    stored_in,
)
from .recognize import Recognized, recognize, transformed_at
from .statement import Place, definition, optional_in
from .traced.assigned import body_of, computed_of, read_by
from .traced.carried import OF_INDEX, carried_index, mapped_list
from .traced.decided import decision_of
from .traced.first_nan import first_nan
from .traced.leaked import Around, calls_around, ended_in, has_leaked, is_nested, is_vmap, leaked_in, used, vmapped_in
from .traced.stores import stores_outside
from .traced.unchecked import checked_in_block
from .traced.values import (
    beginning,
    common_origin,
    handed,
    meant,
    named,
    values_in,
    values_of,
    with_closure,
    with_leaked,
)
from .wrong_calls.compared_trees import compared_trees, passed_by_caller
from .wrong_calls.odeint import OF_TIME, time_as_state

#: The kinds of errors whose messages do not say which function was being traced, or not always.
_OF_ONE_VALUE = "mask", "shape", "number", "format", "scalar index", "repeated", "truncated"

#: The kinds of errors that are not explained by a leaked value among the operands: the message says what failed.
_NEVER_OF_LEAKS = "leak", "memory", "nan", "deleted", "donated twice"

#: Functions that Python makes for comprehensions.
_COMPREHENSIONS = "<dictcomp>", "<genexpr>", "<listcomp>", "<setcomp>"


def read_failure(error: BaseException, limits: Limits | None = None) -> Failure | None:
    """Return what is known about an exception that JAX raised; ``None`` if it is no such exception.

    Args:
        error: the exception.
        limits: the limits of what is compiled if memory ran out; usual ones if left out.
    """
    recognized = recognize(error)
    if recognized is None:
        return None
    entries = entries_of(recognized)
    try:
        return _read(recognized, entries, limits or Limits())
    finally:
        entries.clear()  # an exception in here would otherwise keep the user's frames alive


def _read(recognized: Recognized, entries: Sequence[Entry], limits: Limits) -> Failure:
    text = message_of(recognized.error)
    kind = recognized.kind
    traced = messages.traced(text)
    users = [each for each in entries if is_users(each.where)]
    shown = displaying(entries) if kind == "memory" and not users else None
    if shown is not None:
        users = entries = [shown]  # the calls of IPython and JAX that displayed it tell nothing
    facts = Failure(
        kind=kind,
        error=of_type("__name__", type(recognized.error)),
        behind=None if recognized.behind is None else of_type("__name__", type(recognized.behind)),
        stack=tuple(each.where for each in users),
        type=messages.value_type(text),
        detail=messages.detail(kind, text),
        traced=traced,
        differences=differences(text) if kind in ("carry", "branches", "pytree") else (),
        said=(
            *recognized.said.items(),
            *(transformed_at(recognized.error) if kind in OF_TRANSFORMED else ()),
            *([("checked", "1"), ("holder", messages.holder(text))] if text.startswith("Leaked trace ") else ()),
            *([("linen", "1")] if kind == "leak" and messages.is_of_linen(text) else ()),
            *([("traced by", "jax")] if kind == "numpy" and messages.is_traced_by_jax(text) else ()),
            *([("returned", messages.not_finite(text))] if kind == "nan" else ()),
            *(zip(("branch", "other branch"), messages.branches(text), strict=True) if kind == "branches" else ()),
        ),
    )
    if not users:
        memory = OutOfMemory(shortage=shortage(text), unknown="outside", unknown_call=ANY_CALL)
        return replace(facts, memory=memory if kind == "memory" else None)
    found = _with_code(facts, users, entries, text)
    if found.kind in FIRST_TRIES:
        found = _with_function_of_jax(found, messages.traced_of_jax(text), users[-1])
    if found.kind in OF_INDEX:
        found = replace(found, said=(*found.said, *carried_index(users)))
    if found.kind == "listed":
        found = replace(found, said=(*found.said, *mapped_list(users)))
    if found.kind in WRONG_ARGUMENTS:
        found = _with_operands(found, users, beyond(entries, users[-1]))
    if found.kind in OF_COLLECTIONS:
        found = replace(found, said=(*found.said, *applied(users, dict(found.said).get("collection", ""))))
    if found.kind in OF_TIME:
        callers = [each.frame for each in entries if each is not users[-1]]
        swapped = time_as_state(users[-1].place, users[-1].frame, callers)
        found = replace(found, said=(*found.said, *swapped.items()))
    if kind == "pytree" and found.differences:
        called = [each.frame for each in beyond(entries, users[-1])]
        path = found.differences[0].path if "at key path" in text else None
        trees = compared_trees(users[-1].place, users[-1].frame, called, path)
        trees |= passed_by_caller([(each.place, each.frame) for each in reversed(users)])
        return replace(found, said=(*found.said, *trees.items(), ("placed", "" if path is None else "1")))
    if kind == "nan":
        infinite = dict(found.said)["returned"] == "inf"
        frames, beyond_users = ([each.frame for each in part] for part in (entries, beyond(entries, users[-1])))
        outer = users[0] if users[0].frame.f_code.co_name == "<module>" else users[-2:][0]
        caller = outer.place.text if len(users) > 1 else None
        said = (*found.said, *([] if caller is None else [("caller", caller)]), *checked_in_block(infinite))
        return replace(found, said=said, not_finite=first_nan(frames, beyond_users, infinite=infinite))
    if kind != "memory":
        return found
    place = users[-1].place if shown is None else users[-1].place._replace(node=None)  # the wait failed, not the call
    return replace(found, memory=look_at_memory(text, place, users[-1].frame, limits))


def _with_operands(facts: Failure, users: Sequence[Entry], calls: Sequence[Entry]) -> Failure:
    """Add the operands of the failing expression, and the module of a library that it calls or passes."""
    last = users[-1]
    place, frame = _place(facts, last), last.frame
    library = library_in(calls)
    inner, innermost = None if library is None else library.frame, calls[-1].frame if calls else None
    facts = replace(facts, module=module_in(facts, place, frame, inner, innermost, users[:-1]))
    called = first_of_jax(calls if library is None else calls[calls.index(library) :])
    if facts.kind in ("update", "attribute", "in place"):
        facts = replace(facts, outer=is_outer(place, frame))
    if facts.kind == "update":
        said = (*facts.said, *source_of(place, frame))
        return replace(facts, operands=index_parts(place, frame), holder=holder_of(place, frame), said=said)
    if facts.kind in ("at element", "at use"):
        facts = replace(facts, holder=holder_at(place, frame))
        if facts.library is None:
            return replace(facts, operands=names_in(place.statement, frame))
    if facts.kind in ("format", "float bound"):
        return replace(facts, operands=names_in(place.statement, frame))
    more = named_causes(facts, place, frame, [each.frame for each in calls])
    facts = replace(facts, said=(*facts.said, *more))
    if facts.kind in ("layer input", "groups", "image axes", "features", "scalar index"):  # not what __index__ gets
        return replace(facts, operands=operands_of(place, frame, None))
    if facts.library is not None:
        return replace(facts, operands=() if called is None else passed_arrays(called))
    return replace(facts, operands=operands_of(place, frame, called))


def _with_code(facts: Failure, users: Sequence[Entry], entries: Sequence[Entry], text: str) -> Failure:
    """Add what the code and the variables of the failing line tell."""
    last, place = users[-1], _place(facts, users[-1])
    code, library = _home(users).frame.f_code, library_in(beyond(entries, last))
    if facts.kind == "number" and is_percent(place.node, last.frame):
        facts = replace(facts, kind="format")
    if facts.traced is None and facts.kind in _OF_ONE_VALUE:
        facts = replace(facts, traced=common_origin(meant(facts, place, last.frame)))
    around = calls_around([each.frame for each in entries])
    passed = passed_values(place, last.frame, first_of_jax(beyond(entries, last)))
    leaks = facts.kind in OF_TRACED and has_leaked(facts.traced, place, last.frame, around)
    if facts.kind not in _NEVER_OF_LEAKS and (leaks or ended_in(passed, around)):
        facts = replace(facts, kind="leak", detail=None, said=())
    if facts.kind == "leak" and len(users) > 1:
        facts = with_closure(facts, last, users[-2])
    if facts.kind == "leak":
        facts = with_leaked(facts, leaked_in(used(place), last.frame, around, passed), text, last)
    if facts.kind == "nan":
        facts = replace(facts, said=(*facts.said, ("called", called_name(place, last.frame, ("jax",)) or "")))
    if facts.kind in ("index", "hash", "number"):
        node = lookup_of(place) if facts.kind == "number" else place.node
        kept = elements_of(node, last.frame), keys_of(node, last.frame), is_dictionary(node, last.frame)
        facts = replace(facts, said=(*facts.said, *zip(("elements", "keys", "dictionary"), kept, strict=True)))
    if facts.kind in ("numpy", "number"):
        facts = replace(facts, said=(*facts.said, ("stored", stored_in(place, last.frame))))
    if facts.kind in ("numpy", "number") and stores_outside(place, last.frame, facts.traced):
        facts = replace(facts, said=(*facts.said, ("outlives", "1")))
    if facts.kind == "attribute":
        facts = replace(facts, said=(*facts.said, ("lacking", lacking_in(place.statement, place.node, last.frame))))
    if facts.kind == "bool":
        known = names_in(place.whole, last.frame)
        facts = replace(facts, said=(*facts.said, ("floats", default_float())), operands=known)
    if facts.kind in ("bool", "truth"):
        optional = ", ".join(optional_in(definition(place.tree, code.co_name, code.co_firstlineno)))
        facts = replace(facts, said=(*facts.said, ("optional", optional)))
    if facts.kind == "numpy":
        called = functions_called(place.statement, last.frame)
        twin = jax_twin(called_name(place, last.frame))
        facts = replace(facts, said=(*facts.said, *called.items(), ("twin", twin)))
    home = _home(users)
    values = values_in(place.whole, last.frame)
    if facts.kind == "leak":
        values = values_of(leaked_in(place.whole, last.frame, around, passed))
    if home is not last and facts.kind in FIRST_TRIES:
        names = {each.name for each in values}
        values = (*values, *(each for each in values_in(place.whole, home.frame) if each.name not in names))
    begun = beginning(facts.traced, users)
    if facts.traced is not None and begun is not None:
        facts = replace(facts, traced=named(facts.traced, users[begun].frame))
    call = None
    if facts.kind in ("static", "not array"):
        call = jit_call(last, entries[-1].frame)
    elif begun:
        caller = users[begun - 1]
        call = jit_call(caller, entries[-1].frame, users[begun].frame.f_code)
    lines = text_of(last.where.file)
    is_shown = 0 < last.where.line <= len(lines) and not place.outdated
    running = [each.frame.f_code for each in users]
    deleted, donors = deleted_by(users, beyond(entries, last)) if facts.kind == "deleted" else ((), Donors())
    shared = shared_in(place.node, last.frame) if facts.kind == "donated twice" else []
    alive = largest_alive(last.frame.f_globals) if facts.kind == "memory" else ()
    return replace(
        facts,
        source=lines[last.where.line - 1].strip() if is_shown else None,
        said=(*facts.said, ("outdated", last.where.file)) if place.outdated else facts.said,
        statement=place.text,
        node=place.position,
        operation=place.operation,
        library=None if library is None else library.where,
        values=values,
        call=call,
        own=begun is not None and users[begun] is home,
        parameters=code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
        vmapped=vmapped_in(last.frame),
        mapped=any(map(is_vmap, around.frames)),
        nested=None if begun is None else is_nested(users[begun].frame),
        handed=tuple(handed(users, begun)),
        detail=", ".join([*deleted, *shared]) or _named(facts, place, last.frame),
        donated_by=donors.calls,
        donated_before=donors.before,
        donated_names=donors.names,
        kept=donors.kept,
        decides=decision_of(place, last.frame, running) if facts.kind in ("bool", "numpy") else None,
        selector=_selector(facts, users, entries, around),
        names=module_names(last.frame),
        alive=tuple(name for name, _ in alive),
        alive_bytes=tuple(size for _, size in alive),
        computed_of=computed_of(place, code) if facts.kind in FIRST_TRIES else (),
        read_by=read_by(place, code) if facts.kind in FIRST_TRIES else (),
        body=body_of(place, code) if facts.kind in FIRST_TRIES else (),
    )


def _place(facts: Failure, last: Entry) -> Place:
    """Return the place at which the user's code failed."""
    return in_comprehension(last.place, facts.kind, dict(facts.said).get("function", ""))


def _home(users: Sequence[Entry]) -> Entry:
    """Return the innermost call of a function that is no comprehension: its own call is on the stack, if any."""
    calls = [each for each in users if each.frame.f_code.co_name not in _COMPREHENSIONS]
    return calls[-1] if calls else users[-1]


def _with_function_of_jax(facts: Failure, traced: Traced | None, last: Entry) -> Failure:
    """Add which Python value the user passes to a function of JAX that is jitted itself."""
    if not is_jitted_itself(traced, last.place, last.frame):
        return facts
    selector = selector_of_jax(traced, last.place, last.frame)
    return replace(facts, said=(*facts.said, ("jitted itself", "1")), selector=selector)


def _selector(facts: Failure, users: Sequence[Entry], entries: Sequence[Entry], around: Around) -> Selector | None:
    """Return the Python value that was traced and failed, in the user's code or in a library that it calls."""
    if facts.kind not in FIRST_TRIES:
        return None
    failed = [each for each in entries if not messages.is_jax_file(each.where.file)][-1]
    callers = [(each.place, each.frame) for each in users]
    return selector_of(facts.traced, (failed.place, failed.frame), callers, around.frames)


def _named(facts: Failure, place: Place, frame: FrameType) -> str | None:
    """Return the function of NumPy or SciPy that is called, or the module of a jitted function."""
    if facts.kind == "numpy":
        return called_name(place, frame)
    return home_of(place, frame) if facts.kind == "not array" else facts.detail
