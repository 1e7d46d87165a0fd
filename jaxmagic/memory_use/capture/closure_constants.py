"""Names the arrays that a function captured and that became constants of its program.

The function's jaxpr has the captured arrays themselves. It does not show which constant of the program is which
array, because XLA folds, splits and merges constants. So a constant gets the name of an array only if it has the same
elements; other constants have no name.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...records.code_names import code_objects
from ...runtime import executed_programs
from ...xla.hlo import HloModule
from ...xla.literals import LEAST_BYTES, is_copy
from .holders import Holders, find_holders

#: Most wrappers around a function that are unwrapped.
_DEEPEST = 20

#: Time limits of the search for names: in the variables of a function, and in the whole session.
_NEAR_S = 0.1
_FAR_S = 0.5


class Captured(NamedTuple):
    """The arrays that a function captured, as weak references.

    Attributes:
        function: the function, which has names for them.
        arrays: the arrays that are constants of its program.
        lifted: the arrays that JAX has hoisted to arguments, by parameter number.
        near: the function's names for `arrays` and `lifted`, empty where it has none; ``None`` if nobody has looked.
    """

    function: Callable[[], Any]
    arrays: tuple[Callable[[], Any], ...]
    lifted: dict[int, Callable[[], Any]]
    near: tuple[str, ...] | None = None

    @property
    def references(self) -> tuple[Callable[[], Any], ...]:
        """Both `arrays` and `lifted`."""
        return (*self.arrays, *self.lifted.values())


class Named(NamedTuple):
    """Captured arrays with names.

    Attributes:
        arrays: the constants, each with its name.
        lifted: the names of hoisted arguments, by parameter number.
    """

    arrays: Sequence[tuple[Any, str]]
    lifted: dict[int, str]


#: Stands for the captured arrays of a program whose origin is unknown.
NOTHING = Captured(lambda: None, (), {})


def captured(origin: executed_programs.Origin | None) -> Captured:
    """Return the arrays that the function of a program captured; none if this version of JAX does not show them."""
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


def named_by_function(capture: Captured) -> Captured:
    """Look for the function's names of the arrays while the function is alive."""
    names = _near(capture, _alive(capture))
    return capture._replace(near=tuple(names.get(id(each()), "") for each in capture.references))


def name_all(captures: Iterable[Captured], namespace: dict[str, Any] | None) -> list[Named]:
    """Name the captured arrays of several programs by the functions' variables, or else by those of the session.

    Args:
        captures: the captured arrays of each program.
        namespace: the names of the session; ``None`` to search in the functions only.
    """
    programs = [(each, _alive(each)) for each in captures]
    near = [_near(each, arrays) for each, arrays in programs]
    rest = [
        array for (_, arrays), known in zip(programs, near, strict=True) for array in arrays if id(array) not in known
    ]
    far = _shortest(find_holders(rest, namespace, limit_s=_FAR_S)) if rest and namespace is not None else {}
    return [_with_names(each, far | known) for (each, _), known in zip(programs, near, strict=True)]


def _alive(capture: Captured) -> list[Any]:
    return [array for array in (reference() for reference in capture.references) if array is not None]


def _near(capture: Captured, arrays: list[Any]) -> dict[int, str]:
    """Return the function's names for its captured arrays."""
    if not arrays:
        return {}
    if capture.near is not None:
        return {id(each()): name for each, name in zip(capture.references, capture.near, strict=True) if name}
    with suppress(Exception):  # a callable that is not a Python function after all
        return _shortest(find_holders(arrays, _variables_of(capture.function()), limit_s=_NEAR_S, everywhere=False))
    return {}


def _shortest(holders: Holders) -> dict[int, str]:
    return {address: paths[0] for address, paths in holders.names.items() if paths}


def _with_names(capture: Captured, names: dict[int, str]) -> Named:
    arrays = [(array, names[id(array)]) for each in capture.arrays if id(array := each()) in names]
    lifted = {number: names[id(array)] for number, each in capture.lifted.items() if id(array := each()) in names}
    return Named(arrays, lifted)


def _variables_of(function: Any) -> dict[str, Any]:
    """Return the variables that a function uses besides its arguments, by its names for them."""
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
        else:  # a callable object
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
    for name in chain.from_iterable(code.co_names for code in code_objects(function.__code__)):
        if dict.__contains__(function.__globals__, name):
            yield name, dict.__getitem__(function.__globals__, name)


def names_in(module: HloModule, named: Named) -> dict[int, tuple[str, ...]]:
    """Name the instructions of a program that hold captured arrays."""
    names: dict[int, tuple[str, ...]] = {}
    elements = [(host, name) for array, name in named.arrays if (host := _elements(array)) is not None]
    elements += [(host.T, f"{name}.T") for host, name in elements if host.ndim == 2]  # XLA folds transposes
    for number, literal in module.literals.items():
        names[number] = tuple(dict.fromkeys(name for host, name in elements if is_copy(literal, host)))
    for number in module.computations.get(module.entry_computation_id, ()):
        instruction = module.instructions[number]
        if instruction.opcode == "parameter" and instruction.parameter_number in named.lifted:
            names[number] = (named.lifted[instruction.parameter_number],)
    return names


def _elements(array: Any) -> Any:
    """Return the elements of a NumPy or JAX array on the host; ``None`` if they are not available."""
    with suppress(Exception):  # deleted meanwhile, or on several devices
        return executed_programs.host_copy(array) if hasattr(array, "sharding") else np.asarray(array)
    return None
