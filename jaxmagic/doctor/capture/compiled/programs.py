"""Observes which programs run, and describes them as rules need them."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from types import CodeType
from typing import Any, NamedTuple

from ....memory_use.capture.closure_constants import NOTHING, Captured, Named, captured, name_all, named_by_function
from ....memory_use.capture.executables import described
from ....memory_use.record.memory_profile import Executable
from ....records.call_stack import Frame, is_users
from ....runtime import executed_programs
from ....runtime.gc_pause import held_back
from ....runtime.tracing import EquationKey, count_equations, is_array
from ....xla.hlo import HloModule
from ....xla.lines.callers import with_own_callers
from ....xla.read_hlo import read_module
from ...record.program import CapturedArray, EquationCount, Program, StaleAttribute
from ..frames import known
from ..host_lines import lines_of, outwards, place_of
from .callers import SeenCaller, caller_of, described_caller
from .constant_work import constant_work
from .equal_programs import kinds_of_programs
from .modules_at_call import ModulesAtCall, modules_at_call
from .outer_variables import static_only
from .partial_sorts import partial_sorts
from .placements import Passed, described_placements, passed_arrays
from .products import products_of
from .repetition import described_lines, repeated_places, traced_code
from .static_objects import SeenObject, changed, objects_of
from .uneven_shards import uneven_shards

#: The most programs whose instructions are read.
_MOST_READ = 30


class _Seen(NamedTuple):
    """A program as it was seen to run; it is described after the code has ended, so as not to slow it down.

    Attributes:
        captured: the arrays that its function captured.
        jaxpr: its jaxpr; ``None`` if unknown.
        code: the code of its function; ``None`` if unknown.
        donated: the numbers of the parameters that the call donates.
        called_at: the user's line that ran it first; ``None`` if there is none on the stack.
        called_from: the user's lines from that one outwards.
        passed: the larger arrays that it took, if it runs on several devices.
        transformed: the code of the jitted function that was transformed outside of ``jit``; ``None`` if none was.
        modules: the library of modules through which this line ran it; ``None`` if there is none.
        caller: the function of this line; ``None`` if it is in none, or passed no large arrays.
        objects: the user's objects whose attributes are constants of it, until the run has ended.
        stale: the attributes of these that have changed by then.
        function: a weak reference to its function; ``None`` if unknown.
        freed: whether the function, and with it the program, was gone when the run had ended.
        result: the structure of what its function returns; ``None`` if unknown.
        static_only: the outer variables of its function that cannot be traced, with what they are.
    """

    captured: Captured
    jaxpr: Any = None
    code: CodeType | None = None
    donated: tuple[int, ...] = ()
    from_host: tuple[int, ...] = ()
    called_at: Frame | None = None
    called_from: tuple[Frame, ...] = ()
    passed: tuple[Passed, ...] = ()
    transformed: CodeType | None = None
    modules: ModulesAtCall | None = None
    caller: SeenCaller | None = None
    objects: tuple[SeenObject, ...] = ()
    stale: tuple[StaleAttribute, ...] = ()
    function: Callable[[], Any] | None = None
    freed: bool = False
    result: Any = None
    static_only: tuple[tuple[str, str], ...] = ()


def watch() -> executed_programs.watch:
    """Observe the programs of a block, their jaxprs, and the arrays that their functions captured."""
    return executed_programs.watch(_seen)


def run_ended(observed: executed_programs.ObservedPrograms) -> None:
    """Note, when the run has ended, which attributes have changed, and which functions and arrays are alive."""
    seen: dict[int, _Seen] = observed.captured
    _note_changed(seen)  # lets go of the objects
    for each in [about.caller for about in seen.values()]:
        if each is not None:
            each.note_lasting()
    _note_freed(seen)


def _note_freed(seen: dict[int, _Seen]) -> None:
    """Note which of the functions that captured large arrays are gone, after looking for their names of these."""
    capturing = {program: about for program, about in seen.items() if about.captured.references}
    for program, about in capturing.items():
        seen[program] = about._replace(captured=named_by_function(about.captured))
    if capturing:
        gc.collect()  # a jitted function is part of a cycle
    for program, about in capturing.items():
        freed = about.function is not None and about.function() is None
        seen[program] = seen[program]._replace(freed=freed)


def _note_changed(seen: dict[int, _Seen]) -> None:
    """Note which attributes of objects have changed since they were built into programs, and let go of the objects.

    Of several programs of one function and object, the last one was compiled with the newest values: it counts.
    """
    last = {each.key: program for program, about in seen.items() for each in about.objects}
    for program, about in seen.items():
        objects = [each for each in about.objects if last[each.key] == program]
        seen[program] = about._replace(objects=(), stale=tuple(chain.from_iterable(map(changed, objects))))


def _seen(origin: executed_programs.Origin | None) -> _Seen:
    if origin is None:
        return _Seen(NOTHING)
    return _Seen(
        captured=captured(origin),
        jaxpr=origin.jaxpr,
        code=_code(origin.function),
        donated=origin.donated,
        from_host=tuple(number for number, each in enumerate(origin.arguments) if not is_array(each)),
        called_at=place_of(outwards(sys._getframe(1)))[0],
        called_from=lines_of(outwards(sys._getframe(1))),
        passed=passed_arrays(origin.passed),
        transformed=_code(origin.transformed),
        modules=modules_at_call(sys._getframe(1)),
        caller=caller_of(sys._getframe(1), origin.function, origin.arguments),
        objects=objects_of(origin),
        function=_weakly(origin.function),
        result=origin.result,
        static_only=static_only(_innermost(origin.function)),
    )


def _weakly(function: Any) -> Callable[[], Any] | None:
    with suppress(TypeError):
        return None if function is None else weakref.ref(function)
    return None


def _code(function: Any) -> CodeType | None:
    code = getattr(_innermost(function), "__code__", None)
    return code if type(code) is CodeType else None


def _innermost(function: Any) -> Any:
    """Return the function inside wrappers and partials."""
    for _ in range(20):
        inner = None
        with suppress(Exception):
            inner = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if inner is None:
            return function
        function = inner
    return function


def programs_of(
    observed: executed_programs.ObservedPrograms, namespace: dict[str, Any] | None
) -> tuple[Program, ...] | None:
    """Describe the programs that ran, those that need most memory first; ``None`` if they could not be observed.

    Args:
        observed: the programs.
        namespace: the variables of the session, to name arrays.
    """
    if observed.ran is None:
        return None
    seen: dict[int, _Seen] = observed.captured
    constants = {key: each.captured for key, each in seen.items()}
    transformed = {each.transformed for each in seen.values() if each.transformed is not None}
    ran = described(replace(observed, captured=constants), namespace=namespace)
    kinds = kinds_of_programs({key: (each.code, each.jaxpr, each.result) for key, each in seen.items()})
    named = name_all([constants.get(id(program), NOTHING) for program, _ in ran], namespace)
    return tuple(
        replace(
            _described(about, executable, _module(program) if number < _MOST_READ else None, names, transformed),
            placements=described_placements(about.passed, namespace or {}),
            caller=None if about.caller is None else described_caller(about.caller, namespace or {}),
            kind=kinds.get(id(program)),
        )
        for number, ((program, executable), names) in enumerate(zip(ran, named, strict=True))
        if executable.ran and (about := seen.get(id(program))) is not None
    )


def _described(
    about: _Seen, executable: Executable, module: HloModule | None, names: Named, codes: Collection[CodeType]
) -> Program:
    jaxpr, code = about.jaxpr, about.code
    place = _place(code)
    transformed = _place(about.transformed)
    traced = code or about.transformed or (None if jaxpr is None else traced_code(jaxpr, codes))
    traced_at = _place(traced)
    return Program(
        executable=executable,
        module=module,
        function=None if code is None else code.co_name,
        location=place.location if place is not None and is_users(place) else None,
        arguments=() if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
        equations=None if jaxpr is None else _equations(count_equations(jaxpr)),
        captured=_arrays(about.captured, {id(array): name for array, name in names.arrays}, names.lifted),
        stale=about.stale,
        eager=_is_operation(executable.name, traced, codes),
        repeated_lines=None if jaxpr is None or traced is None else described_lines(repeated_places(jaxpr, traced)),
        donated=about.donated,
        from_host=about.from_host,
        called_at=known(about.called_at),
        called_from=tuple(filter(None, map(known, about.called_from))),
        uneven=() if jaxpr is None else uneven_shards(jaxpr),
        partial_sorts=() if jaxpr is None else partial_sorts(jaxpr),
        constant_work=() if jaxpr is None else constant_work(jaxpr),
        products=None if jaxpr is None else products_of(jaxpr),
        transformed=None if transformed is None else transformed.function,
        transformed_at=traced_at.location if code is None and traced_at is not None and is_users(traced_at) else None,
        library=None if about.modules is None else about.modules.library,
        modules=() if about.modules is None else about.modules.names,
        freed=about.freed,
        static_only=about.static_only,
    )


def _is_operation(name: str, traced: CodeType | None, transformed: Collection[CodeType]) -> bool:
    """Return whether a program is an operation of JAX, also the backward pass of one, which has no code of its own.

    Where nothing tells what was traced, as for a backward pass without equations, it is by the name of the program.

    Args:
        name: the name of the program.
        traced: the code that was traced; ``None`` if unknown.
        transformed: the codes of all functions that were transformed.
    """
    named = [each for each in transformed if each.co_name == name.removeprefix("jit_")]
    places = [_place(each) for each in (named if traced is None else [traced])]
    return bool(places) and all(each is not None and _is_jaxs(each) for each in places)


def _place(code: CodeType | None) -> Frame | None:
    """Return where some code is defined."""
    if code is None:
        return None
    return known(Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno))


def _is_jaxs(place: Frame) -> bool:
    return "/jax/" in place.file.replace("\\", "/")


def _module(program: Any) -> HloModule | None:
    with suppress(Exception), held_back():
        return with_own_callers(read_module(program.hlo_modules()[0].as_serialized_hlo_module_proto()))
    return None


def _equations(counted: Mapping[EquationKey, int] | None) -> tuple[EquationCount, ...] | None:
    if counted is None:
        return None
    return tuple(
        EquationCount(
            primitive=key.primitive,
            line=None if key.line is None else _line(*key.line),
            count=count,
            inside_loop=key.inside_loop,
            dtype=key.dtype,
            inside_call=key.inside_call,
        )
        for key, count in counted.items()
    )


def _line(function: str, file: str, line: int) -> Frame | None:
    return known(Frame(function=function, file=file, line=line))


def _arrays(captured: Captured, names: Mapping[int, str], lifted: Mapping[int, str]) -> tuple[CapturedArray, ...]:
    references: list[tuple[Callable[[], Any], int | None]] = [(each, None) for each in captured.arrays]
    references += [(each, number) for number, each in captured.lifted.items()]
    found = []
    for reference, number in references:
        array = reference()
        if array is None:
            continue
        name = names.get(id(array)) if number is None else lifted.get(number)
        sizes = ",".join(map(str, array.shape))
        found.append(
            CapturedArray(
                type=f"{array.dtype}[{sizes}]",
                size_bytes=int(array.nbytes),
                names=() if name is None else (name,),
                on_device=hasattr(type(array), "sharding"),
            )
        )
    return tuple(sorted(found, key=lambda each: -each.size_bytes))
