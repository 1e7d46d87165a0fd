"""Compiles the program that ran out of memory once more, and variants of it that need less. None of them runs."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

from .....memory_use.analysis.peak import peak_of
from .....memory_use.capture.executables import requirement
from .....memory_use.record.memory_profile import Executable
from .....runtime.clock import Clock, now_ns
from .....xla.hlo import HloModule
from .....xla.read_hlo import read_module
from ....analysis.failures.out_of_memory import shortage
from ....record.out_of_memory import (
    ANY_CALL,
    FailedProgram,
    HeldAtPeak,
    Incomplete,
    OutOfMemory,
    Shortage,
    Smaller,
    Unknown,
    Unsplit,
)
from ...remedies.compiled.calls import Call, need_with
from ...remedies.compiled.smaller import (
    are_alike,
    donated_parameters,
    replaced_parameters,
    smaller_variants,
    uncheckpointed,
)
from ...remedies.compiled.split_batch import KnownBatch, batch_in, devices_of
from ...remedies.user_functions import is_users_function
from ..calls import wrapped_function
from ..statement import Place
from .beside import bytes_beside
from .failed_call import failed_call
from .waited import as_arguments, calls_that_may_have_failed

#: Most lines of the peak.
_MOST_LINES = 5


class Limits(NamedTuple):
    """Limits of what is tried after memory ran out.

    Attributes:
        memory_bytes: the memory to try against; the device's own if this is ``None``.
        budget_ns: no compilation begins after this time.
        clock: the clock of the budget.
        stage: called with what is done.
    """

    memory_bytes: int | None = None
    budget_ns: int = 30_000_000_000
    clock: Clock = now_ns
    stage: Callable[[str], None] = lambda _: None


class _Unknown(Exception):
    """The program is unknown; the argument says why."""


def look_at_memory(text: str, place: Place, frame: FrameType, limits: Limits) -> OutOfMemory:
    """Return what the message says, and what is known about the program that the failing line calls.

    Args:
        text: the message.
        place: where the innermost frame of the user's code stopped.
        frame: that frame.
        limits: the limits of what is tried.
    """
    said = shortage(text)
    deadline_ns = limits.clock() + limits.budget_ns
    why: Unknown = "call"
    unknown = ""
    for called in calls_that_may_have_failed(place, frame):
        waited = called is not place
        try:
            return OutOfMemory(shortage=said, program=_program(called, frame, said, waited, limits, deadline_ns))
        except _Unknown as reason:
            unknown = unknown or as_arguments(called.node)
            if not waited:
                why = reason.args[0]
            elif why != "unexamined":
                why = "unexamined" if reason.args[0] == "call" else "waited"
    if why not in ("call", "unexamined") or not unknown:
        unknown = ANY_CALL if why == "waited" or place.node is None else ""
    return OutOfMemory(shortage=said, unknown=why, unknown_call=unknown)


def _program(
    place: Place, frame: FrameType, said: Shortage, waited: bool, limits: Limits, deadline_ns: int
) -> FailedProgram:
    try:
        called = failed_call(place, frame)
    except LookupError:
        raise _Unknown("call") from None
    assert isinstance(place.node, ast.Call)
    limits.stage("compiling the failed program")
    try:
        program, origin = called.compiled()
        executable = requirement(program, origin, frame.f_globals)
    except (Exception, KeyboardInterrupt):
        raise _Unknown("compile") from None
    need_bytes = executable.peak_bytes
    if need_bytes is None:
        raise _Unknown("sizes")
    if waited and not _asks_for(executable, said):
        raise _Unknown("waited")
    capacity_bytes = said.capacity_bytes if said.space == "hbm" else None
    given = limits.memory_bytes is not None
    beside = partial(
        bytes_beside, (called.args, called.kwargs, list(origin.lifted.values())), executable.constant_bytes or 0
    )
    variants: list[Smaller] = []
    failed = FailedProgram(
        function=ast.unparse(place.node.func),
        need_bytes=need_bytes,
        argument_bytes=executable.argument_bytes or 0,
        output_bytes=(executable.output_bytes or 0) - (executable.alias_bytes or 0),
        temporary_bytes=executable.temporary_bytes or 0,
        at_module_level=frame.f_code.co_name == "<module>",
        held=tuple(_held(executable, named=called.plain is not None)),
        others_bytes=beside(),
        limit_bytes=limits.memory_bytes if given else capacity_bytes or executable.limit_bytes,
        limit_given=given,
    )
    if (call := called.plain) is None:
        return replace(failed, incomplete="" if failed.fits() else "converted")
    module = _module(program)
    batch = batch_in(call.own, module)
    incomplete: Incomplete
    try:
        replaced = _replaced(place, frame, call)
        incomplete = _try_variants(failed, variants, call, replaced, module, batch, beside, limits, deadline_ns)
    except KeyboardInterrupt:
        incomplete = "interrupted"
    failed = replace(failed, variants=tuple(variants), incomplete=incomplete)
    tried = incomplete or failed.fits() or any(map(failed.fits, variants))
    without = "" if tried else uncheckpointed(wrapped_function(call.function), module)
    return replace(failed, unsplit=_unsplit(failed, call, batch), uncheckpointed=without)


def _asks_for(executable: Executable, said: Shortage) -> bool:
    """Return whether a program asks for as much as the message says, which has no more than two decimals."""
    asks_bytes = (executable.output_bytes or 0) + (executable.temporary_bytes or 0)
    return said.asked_bytes is not None and asks_bytes >= 0.99 * said.asked_bytes


def _try_variants(
    failed: FailedProgram,
    variants: list[Smaller],
    call: Call,
    replaced: Collection[str],
    module: HloModule | None,
    batch: KnownBatch | None,
    beside: Callable[..., int | None],
    limits: Limits,
    deadline_ns: int,
) -> Incomplete:
    """Compile variants until one fits; return why the rest was not tried."""
    if failed.fits():
        return ""
    own = wrapped_function(call.function)
    if not is_users_function(own):
        return "library"
    donated = donated_parameters(call)
    plain = call._replace(function=own)
    if limits.clock() >= deadline_ns:
        return "budget"
    limits.stage("compiling variants")
    try:
        again = need_with(plain, donated)
    except Exception:
        again = None
    if again is None or not are_alike(again, failed.need_bytes):
        return "differs"  # the function with other options than those of its jit is another program
    tried = smaller_variants(plain, donated, replaced, module, batch)
    while limits.clock() < deadline_ns:
        try:
            variant = next(tried)
        except StopIteration:
            return ""
        if variant is not None:
            if "shard" in variant.by:
                variant = replace(variant, others_bytes=beside(everywhere=True))
            variants.append(variant)
            if variant.need_bytes < failed.need_bytes and failed.fits(variant):
                return ""
    return "budget"


def _unsplit(failed: FailedProgram, call: Call, batch: KnownBatch | None) -> Unsplit:
    """Return why the batch was not split as well, if no variant fits."""
    if failed.incomplete or failed.fits() or any(failed.fits(each) for each in failed.variants):
        return ""
    if batch is None:
        return "unknown"
    return "one device" if len(devices_of(call)) == 1 else ""


def _replaced(place: Place, frame: FrameType, call: Call) -> tuple[str, ...]:
    """Return the parameters whose arguments the failing statement replaces, and nothing else in its file uses."""
    node, statement = place.node, place.statement
    if frame.f_code.co_name != "<module>" or not isinstance(node, ast.Call) or statement is None:
        return ()
    if not isinstance(node.func, ast.Name):
        return ()
    source = _around("".join(place.lines), statement)
    return replaced_parameters(source, {node.func.id}, call, ast.unparse(statement))


def _around(source: str, statement: ast.stmt) -> str:
    """Return the source without functions and classes that read no global that the statement names."""
    named = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
    tree = ast.parse(source)
    reading = {
        (table.get_name(), table.get_lineno())
        for table in symtable.symtable(source, "<failed>", "exec").get_children()
        if named & _globals_of(table)
    }
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    tree.body = [
        each
        for each in tree.body
        if not isinstance(each, kinds) or any((each.name, line) in reading for line in _lines_of(each))
    ]
    return ast.unparse(tree)


def _globals_of(table: symtable.SymbolTable) -> set[str]:
    own = {each.get_name() for each in table.get_symbols() if each.is_global()}
    return own.union(*map(_globals_of, table.get_children()))


def _lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[int]:
    """Return the line of a definition, and those of its decorators."""
    return [node.lineno, *(each.lineno for each in node.decorator_list)]


def _held(executable: Executable, *, named: bool) -> Iterator[HeldAtPeak]:
    """Yield what is live at the peak of a program by line, largest first, and arguments by their names.

    These are not known where a library converts the arguments.
    """
    peak = peak_of(executable)
    lines: dict[tuple[str | None, str], list[tuple[int, str]]] = {}
    for allocation, buffer in () if peak is None else peak.live:
        if allocation.kind == "argument" and named:
            name = " or ".join(buffer.captured) or buffer.op_name
            lines.setdefault((None, name), []).append((buffer.size_bytes, name))
        elif allocation.kind != "argument" and buffer.source is not None:
            lines.setdefault((buffer.source, ""), []).append((buffer.size_bytes, buffer.shape))
    sums = [(sum(size for size, _ in each), line, each[0][1]) for (line, _), each in lines.items()]
    for size, line, name in sorted(sums, key=lambda each: -each[0])[:_MOST_LINES]:
        if name:
            yield HeldAtPeak(line=line, name=name, size_bytes=size)


def _module(program: Any) -> HloModule | None:
    try:
        return read_module(program.hlo_modules()[0].as_serialized_hlo_module_proto())
    except Exception:
        return None
