"""Jits a function when it is first called, with the arguments static that cannot be traced."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from importlib import import_module
from typing import Any

import numpy as np

from .....errors import briefly
from .....records.call_stack import Frame, owner
from .....records.note import Note, note
from .....runtime.around import is_a
from .....runtime.functions import is_jitted
from ....rules.rule import source_at
from ...frames import known
from ...inputs import library_in
from ..remedy import NotTried

#: Where an object is in memory, as the text of a program has it for functions.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

_NUMBERS = bool, int, float, complex

#: A static argument with more values than this in the trial would compile too many programs.
_MOST_PROGRAMS = 4

#: The jit of each library under its usual name.
_JITS = {"": "jax.jit", "equinox": "eqx.filter_jit", "nnx": "nnx.jit"}


class Jitted:
    """A function, jitted when it is first called.

    Its static arguments are the ones that are given, by their names, or else those that cannot be traced; then the
    jit is that of the library whose modules it gets.

    Args:
        function: the function.
        static: its static arguments.
        library: the library whose jit compiles it; empty for JAX.

    Attributes:
        called: whether it has been called.
        function: the function.
        library: the library whose jit compiles it; empty for JAX.
        static: the names of the arguments that are static.
        traces: how often JAX has called the function, to trace it.
    """

    def __init__(
        self, function: Callable[..., Any], static: tuple[str, ...] | None = None, library: str = ""
    ) -> None:
        self.called = False
        self.function = function
        self.static: tuple[str, ...] = ()
        self._declared = static
        self.library = library
        self.traces = 0
        self._jitted: Callable[..., Any] | None = None
        self._places: dict[str, Any] = {}
        self._values: set[tuple[Any, ...]] = set()

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the jitted function."""
        if self._jitted is None:
            self._jitted = self._choose(args, kwargs)
            self.called = True
        if self.static and self._declared is None:
            self._refuse_many_programs(args, kwargs)
        return self._jitted(*args, **kwargs)

    def _refuse_many_programs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuse a static argument that has many values, each of which compiles a program."""
        positional = (args[each] for each in self._places.get("static_argnums", ()) if each < len(args))
        named = (kwargs.get(each) for each in self._places.get("static_argnames", ()))
        self._values.add((*positional, *named))
        if len(self._values) > _MOST_PROGRAMS:
            given = zip(self.static, zip(*self._values, strict=True), strict=False)
            varying = ", ".join(name for name, values in given if len({*values}) > 1)
            raise NotTried(note("doctor.jit_of_values", name=self.function.__name__, arguments=varying))

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_jitted(self.function):
            return self.function
        if not self.library and self._declared is None:
            self.library = library_in((*args, *kwargs.values())) or ""
        problem: Exception | None = None
        for options in self._options(args, kwargs):
            jit = partial(_jit_of(self.library), **options)
            try:
                traced = [_traced(self.library, jit, self._fresh(), args, kwargs) for _ in range(2)]
            except Exception as error:
                problem = problem or error
            else:
                if not _alike(*traced):
                    raise NotTried(note("doctor.jit_freezes", name=self.function.__name__))
                if not getattr(traced[0], "jaxpr", traced[0]).invars:
                    raise NotTried(note("doctor.jit_of_constants", name=self.function.__name__))
                self.static, self._places = _names(self.function, **options), options
                return jit(self._fresh())
        if problem is None:
            raise NotTried(note("doctor.not_tried_argument", name=self.function.__name__))
        raise NotTried(_failure(self.function.__name__, problem, _JITS[self.library]))

    def _fresh(self) -> Any:
        """Return the function as another object: JAX keeps traces by function, and not the user's own."""

        @wraps(self.function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.traces += 1
            return self.function(*args, **kwargs)

        return counted

    def _options(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the options of jit to try, in turn; none where an argument can neither be traced nor be static."""
        if self._declared is not None:
            yield {"static_argnames": self._declared} if self._declared else {}
            return
        if self.library == "equinox":  # its jit makes static what is no array
            yield {}
            return
        for is_traced in (_is_arrays_or_numbers, has_arrays_only):
            numbers = [number for number, each in enumerate(args) if not (is_traced(each) or library_in(each))]
            names = [name for name, each in kwargs.items() if not (is_traced(each) or library_in(each))]
            if all(map(_is_hashable, [*(args[each] for each in numbers), *(kwargs[each] for each in names)])):
                yield {"static_argnums": numbers, "static_argnames": names}


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except Exception:  # a class may raise anything
        return False
    return True


def _names(function: Any, static_argnums: Sequence[int] = (), static_argnames: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of static arguments; a position without a name is left out."""
    code = getattr(function, "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount]
    return (*(names[each] for each in static_argnums if each < len(names)), *static_argnames)


def _jit_of(library: str) -> Any:
    """Return the jit of a library whose modules the function gets, or else JAX's."""
    if library == "equinox":
        return import_module("equinox").filter_jit
    return import_module("flax.nnx" if library else "jax").jit


def _traced(library: str, jit: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the jaxpr of a function, as the jit of a library makes it."""
    if library == "equinox":
        return import_module("equinox").filter_make_jaxpr(function)(*args, **kwargs)[0]
    traced = jit(function).trace(*args, **kwargs)
    return getattr(traced, "traced", traced).jaxpr  # nnx wraps it


def _failure(name: str, error: Exception, jit: str) -> Note:
    """Say that a function cannot be traced by a jit, and at which line of the user's."""
    line = _line_of(error)
    return note(
        "doctor.cannot_be_jitted",
        name=name,
        jit=jit,
        error=briefly(error),
        source=source_at(line) or "",
        line="" if line is None else line.location,
    )


def _line_of(error: Exception) -> Frame | None:
    """Return the user's innermost line on the traceback of an error."""
    steps = traceback.walk_tb(error.__traceback__)
    frames = [Frame(function=each.f_code.co_name, file=each.f_code.co_filename, line=at) for each, at in steps]
    return known(owner(tuple(frames)))


def _alike(one: Any, other: Any) -> bool:
    """Return whether two traces of a function have the same operations and constants."""
    texts = [_ADDRESS.sub("", str(each.jaxpr)) for each in (one, other)]
    pairs = zip(one.consts, other.consts, strict=False)
    return texts[0] == texts[1] and all(_equal(*pair) for pair in pairs)


def _equal(one: Any, other: Any) -> bool:
    """Return whether two constants are equal; ``True`` if they cannot be compared, as keys of ``jax.random``."""
    try:
        return np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True)
    except TypeError:
        return True


def _is_arrays_or_numbers(value: Any) -> bool:
    return _has_only(value, _NUMBERS)


def has_arrays_only(value: Any) -> bool:
    """Return whether a pytree has arrays as its leaves, and nothing else."""
    return _has_only(value, ())


def _has_only(value: Any, numbers: tuple[type, ...]) -> bool:
    import jax

    kinds = (jax.Array, np.ndarray, np.generic)
    return all(isinstance(each, kinds) or is_a(each, numbers) for each in jax.tree.leaves(value))
