"""Arrays that a function got from around it and that were built into its program, by their names.

Which arrays these are, the trace of the function tells, and it has the very objects. Which constant of the program is
which of them does not follow from that: XLA folds, splits and joins constants. So a constant has the name of an array
only where it has the array's own numbers; for the rest there is no name.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...runtime import executed_programs
from ...xla.hlo import HloModule
from ...xla.literals import LEAST_BYTES, is_copy
from .holders import Holders, find_holders

#: Wrappers around a function that are looked through.
_DEEPEST = 20

#: How long to look for names: in what a function sees, and in all of the session.
_NEAR_S = 0.1
_FAR_S = 0.5


class Captured(NamedTuple):
    """What a function got from around it; keeps none of it alive.

    Attributes:
        function: that gives names to it.
        arrays: that are constants of its program.
        lifted: those that JAX hands over as arguments, by the number of the parameter.
    """

    function: Callable[[], Any]
    arrays: tuple[Callable[[], Any], ...]
    lifted: dict[int, Callable[[], Any]]


class Named(NamedTuple):
    """The same with names.

    Attributes:
        arrays: with a name each.
        lifted: names, by the number of the parameter.
    """

    arrays: Sequence[tuple[Any, str]]
    lifted: dict[int, str]


#: Of a program about which nothing is known.
NOTHING = Captured(lambda: None, (), {})


def captured(origin: executed_programs.Origin | None) -> Captured:
    """Return what is remembered of the origin of a program; nothing where this JAX does not tell."""
    if origin is None:
        return NOTHING
    with suppress(Exception):
        constants = map(executed_programs.numpy_of, executed_programs.constants(origin.jaxpr))
        arrays = {id(each): each for each in constants if _is_large(each)}
        lifted = {parameter: executed_programs.numpy_of(each) for parameter, each in origin.lifted.items()}
        return Captured(
            _weakly(origin.function),
            tuple(map(_weakly, arrays.values())),
            {parameter: _weakly(each) for parameter, each in lifted.items() if _is_large(each)},
        )
    return NOTHING


def _is_large(array: Any) -> bool:
    return bool(getattr(array, "nbytes", 0) >= LEAST_BYTES)


def _weakly(each: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(each)
    except TypeError:
        return lambda: None


def name_all(found: Iterable[Captured], namespace: dict[str, Any] | None) -> list[Named]:
    """Names for what each of some programs has got: as its function calls it, or else how the session does.

    Args:
        found: of each program.
        namespace: the names of the session; ``None`` where only the functions are to be asked.
    """
    programs = [(each, _alive(each)) for each in found]
    near = [_near(each, arrays) if arrays else {} for each, arrays in programs]
    rest = [
        array for (_, arrays), known in zip(programs, near, strict=True) for array in arrays if id(array) not in known
    ]
    far = _shortest(find_holders(rest, namespace, limit_s=_FAR_S)) if rest and namespace is not None else {}
    return [_with_names(each, far | known) for (each, _), known in zip(programs, near, strict=True)]


def _alive(found: Captured) -> list[Any]:
    return [array for array in (one() for one in (*found.arrays, *found.lifted.values())) if array is not None]


def _near(found: Captured, arrays: list[Any]) -> dict[int, str]:
    """The names that its function has for them."""
    with suppress(Exception):  # a function that is none of Python's own after all
        return _shortest(find_holders(arrays, _seen_by(found.function()), limit_s=_NEAR_S, everywhere=False))
    return {}


def _shortest(found: Holders) -> dict[int, str]:
    return {address: paths[0] for address, paths in found.names.items() if paths}


def _with_names(found: Captured, names: dict[int, str]) -> Named:
    arrays = [(array, names[id(array)]) for one in found.arrays if id(array := one()) in names]
    lifted = {number: names[id(array)] for number, one in found.lifted.items() if id(array := one()) in names}
    return Named(arrays, lifted)


def _seen_by(function: Any) -> dict[str, Any]:
    """The variables that a function sees without getting them as arguments, by the names that it has for them."""
    seen: dict[str, Any] = {}
    for _ in range(_DEEPEST):
        kind = type(function)
        if kind is types.FunctionType:
            for name, value in _around(function):
                seen.setdefault(name, value)
            function = dict.get(function.__dict__, "__wrapped__")
        elif kind is types.MethodType:
            seen.setdefault("self", function.__self__)
            function = function.__func__
        elif kind is functools.partial:
            names = function.func.__code__.co_varnames if type(function.func) is types.FunctionType else ()
            seen.update(zip(names, function.args, strict=False))
            seen.update(function.keywords)
            function = function.func
        else:  # an object that can be called
            if function is not None:
                seen.setdefault("self", function)
            break
    return seen


def _around(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # an empty cell
            yield name, cell.cell_contents
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    yield from zip(names[len(names) - len(defaults) :], defaults, strict=False)
    yield from (function.__kwdefaults__ or {}).items()
    for name in _names_in(function.__code__):
        if dict.__contains__(function.__globals__, name):
            yield name, dict.__getitem__(function.__globals__, name)


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Names of globals in a function's code, and in that of functions which it makes; attributes are among them."""
    yield from code.co_names
    for each in code.co_consts:
        if type(each) is types.CodeType:
            yield from _names_in(each)


def names_in(module: HloModule, named: Named) -> dict[int, tuple[str, ...]]:
    """Names for the instructions of a program that are what was captured."""
    found: dict[int, tuple[str, ...]] = {}
    numbers = [(host, name) for array, name in named.arrays if (host := _numbers(array)) is not None]
    numbers += [(host.T, f"{name}.T") for host, name in numbers if host.ndim == 2]  # which XLA works out in advance
    for number, literal in module.literals.items():
        found[number] = tuple(dict.fromkeys(name for host, name in numbers if is_copy(literal, host)))
    for number in module.computations.get(module.entry_computation_id, ()):
        instruction = module.instructions[number]
        if instruction.opcode == "parameter" and instruction.parameter_number in named.lifted:
            found[number] = (named.lifted[instruction.parameter_number],)
    return found


def _numbers(array: Any) -> Any:
    """Return the numbers of a NumPy array or of a JAX array, where they are at hand."""
    with suppress(Exception):  # deleted meanwhile, or over several devices
        return executed_programs.host_copy(array) if hasattr(array, "sharding") else np.asarray(array)
    return None
