"""Keeps a function that is defined and jitted again from being compiled again."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ....records.note import note
from ....runtime.around import attributes, is_a, is_exactly, member
from ...record.finding import RuleFinding
from ...rules.rewriting.rewritten import moved_out
from . import pasted_code
from .function_copies import module_with, module_with_at
from .remedy import Change, NotTried, names_given
from .transfer import seen_variables
from .tried_code import TriedCode
from .user_functions import is_users_function

#: At most this many functions are kept: more than that are different functions, and hold what they have captured.
_MOST_KEPT = 64

#: Functions inside functions are compared down to this depth.
_DEEPEST = 8

#: Values that are the same if they are equal and of the same type; the text tells 0.0 from -0.0.
_PLAIN = bool, int, float, complex, str, bytes, types.NoneType


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the recommended code in its place, which makes the function once.

    A definition that stands in the examined code itself is made before all runs of it, as in an earlier cell. Where
    there is no code, or where it cannot be put there, ``jax.jit`` returns the same function for the same source,
    captured values and options. The same holds for the library's function that the user's code calls to jit, such as
    ``eqx.filter_jit``.
    """
    facts = finding.found.facts
    if facts.get("cause", "new function") != "new function" or facts.get("objects"):
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    with suppress(NotTried):
        change = pasted_code.propose(finding, code, moved_out)
        return change if change.code is None else change._replace(notes=(note("doctor.pasted_before"),))
    return _remembering(finding, code)


def _remembering(finding: RuleFinding, code: TriedCode) -> Change:
    import jax

    memo = _Memo()
    seen = {"jax": jax, **seen_variables(code.read())}
    remembered = memo.of(jax.jit)
    replacements: dict[int, Any] = {id(jax.jit): remembered, id(jax): module_with(jax, jit=remembered)}
    for name in names_given(finding):
        root, *path = name.split(".")
        maker = _maker(seen.get(root), path)
        if maker is None or maker is jax.jit:
            continue
        if path:
            whole = replacements.get(id(seen[root]), seen[root])
            replacements[id(seen[root])] = module_with_at(whole, path, memo.of(maker))
        else:
            replacements[id(maker)] = memo.of(maker)
    return Change(
        replacements,
        met=lambda: memo.called,
        used=lambda: memo.hits > 0,
        found=lambda: note("doctor.made_once", functions=memo.alike),
    )


def _maker(value: Any, path: list[str]) -> Any:
    """Return a library's function in a module, or by itself; ``None`` for anything else, and for the user's own."""
    for name in path:
        if not is_a(value, types.ModuleType):
            return None
        value = getattr(value, name, None)
    return value if callable(value) and not is_users_function(value) else None


class _Memo:
    """A cache of jitted functions, by function and options.

    Attributes:
        called: whether anything was jitted at all.
        hits: how often a function was there already.
    """

    def __init__(self) -> None:
        self.called, self.hits = False, 0
        self._made: dict[Any, Any] = {}
        self._of_source: dict[Any, set[Any]] = {}

    @property
    def alike(self) -> int:
        """How many functions with the same source and options were made, which differ in what they captured."""
        return max(map(len, self._of_source.values()), default=0)

    def of(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Stand in for ``jax.jit``, or a function that is called like it."""
        import jax

        is_jax = make is jax.jit

        def remembered(fun: Any = None, /, *args: Any, **options: Any) -> Any:
            if "fun" in options:
                fun = options.pop("fun")
            if fun is None:
                return functools.partial(remembered, *args, **options)
            self.called = True
            given = tuple((name, identity(value)) for name, value in sorted(options.items()))
            key = id(make), identity(fun), identity(args), given
            self._of_source.setdefault((id(make), _source(fun), key[2:]), set()).add(key)
            if key in self._made:
                self.hits += 1
            else:
                if len(self._made) >= _MOST_KEPT:
                    self._made.clear()
                kept = fun, args, options  # the key has their ids
                self._made[key] = make(_apart(fun) if is_jax else fun, *args, **options), kept
            return self._made[key][0]

        return remembered


def _apart(function: Any) -> Any:
    """Return another function that does the same, for a method.

    JAX finds programs by equality, and each method that is read from an object equals the one that is kept: code
    without the remedy would find its program.
    """
    if not is_exactly(function, types.MethodType):
        return function

    @functools.wraps(function)
    def apart(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return apart


def identity(value: Any, depth: int = 0) -> Any:
    """Return a key that is equal for objects that do the same: for functions, their code and what they captured.

    >>> made = [lambda x: x + n for n in (1, 2, 1) for n in [n]]
    >>> [identity(make(n)) == identity(make(1)) for n in (1, 2) for make in [lambda n: lambda x: x + n]]
    [True, False]
    """
    if is_exactly(value, *_PLAIN):
        return type(value).__name__, repr(value)
    if depth < _DEEPEST:
        if is_exactly(value, tuple):
            return "tuple", tuple(identity(each, depth + 1) for each in value)
        if is_exactly(value, dict):
            return "dict", tuple((identity(name), identity(each, depth + 1)) for name, each in value.items())
        if is_exactly(value, functools.partial):
            keywords = tuple((name, identity(each, depth + 1)) for name, each in sorted(value.keywords.items()))
            return "partial", identity(value.func, depth + 1), identity(value.args, depth + 1), keywords
        if is_exactly(value, types.MethodType):
            return "method", identity(value.__func__, depth + 1), id(value.__self__)
        if _is_fixed(value):
            fields = ((name, identity(each, depth + 1)) for name, each in sorted((attributes(value) or {}).items()))
            return "fields", id(type(value)), tuple(fields)
        if is_exactly(value, types.FunctionType):
            return "function", id(value.__globals__), value.__code__, *_captured(value, depth)
    return "object", id(value)


def _source(function: Any) -> Any:
    """Return the code of a function, also of one in a partial or a method; the object itself for anything else."""
    while is_exactly(function, functools.partial, types.MethodType):
        function = function.func if is_exactly(function, functools.partial) else function.__func__
    return function.__code__ if is_exactly(function, types.FunctionType) else id(function)


def _is_fixed(value: Any) -> bool:
    """Return whether a value is an object of a frozen dataclass, or of one that is a pytree, as in equinox."""
    import jax

    parameters = member(type(value), "__dataclass_params__")
    if parameters is None or attributes(value) is None:
        return False
    return bool(getattr(parameters, "frozen", False)) or not jax.tree_util.all_leaves([value])


def _captured(function: types.FunctionType, depth: int) -> tuple[Any, ...]:
    cells: list[Any] = []
    for cell in function.__closure__ or ():
        try:
            cells.append(identity(cell.cell_contents, depth + 1))
        except ValueError:  # an empty cell
            cells.append(("empty", id(cell)))
    keywords = tuple((name, identity(each, depth + 1)) for name, each in (function.__kwdefaults__ or {}).items())
    return tuple(cells), identity(function.__defaults__, depth + 1), keywords
