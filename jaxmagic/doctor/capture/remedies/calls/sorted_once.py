"""Sorts an argument once per run, and passes the result to what else a jitted function computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .....records.note import note
from .....runtime.tracing import inner_jaxprs, is_array
from ....record.finding import RuleFinding
from ..remedy import Change, NotTried
from ..tried_code import TriedCode
from ..user_functions import jitted_functions


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose to divide the function: what sorts the argument runs once for each array in a run, the rest always."""
    name = finding.found.facts.get("function")
    functions = {id(each): each for each in jitted_functions(code.read()) if _name(each) == name}
    if finding.applies_to is None or len(functions) != 1:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    (function,) = functions.values()
    divided = _Divided(function, finding.applies_to)
    about = note("doctor.sorted_once", argument=finding.applies_to, function=_name(function))
    return Change(
        {id(function): divided.call},
        context=divided.run,
        met=lambda: divided.called,
        used=lambda: divided.hits > 0,
        notes=(about,),
    )


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", ""))


class _Parts(NamedTuple):
    """A function, divided.

    Attributes:
        place: the place of the argument among all arrays of a call.
        sort: computes from it the results of the sorts.
        rest: computes the function's result from all arrays of a call and the results of the sorts.
        tree: the structure of the function's result.
    """

    place: int
    sort: Callable[[Any], list[Any]]
    rest: Callable[..., list[Any]]
    tree: Any


class _Divided:
    """A jitted function, divided so that what sorts an argument runs once for each array in a run.

    Attributes:
        called: whether it has been called.
        hits: how often an array had been sorted before.
    """

    def __init__(self, function: Any, argument: str) -> None:
        self.called = False
        self.hits = 0
        self._function = function
        self._argument = argument
        self._parts: dict[Any, _Parts] = {}
        self._sorted: dict[int, tuple[Any, list[Any]]] = {}

    @contextmanager
    def run(self) -> Iterator[None]:
        """Keep what was sorted until the run ends."""
        try:
            yield
        finally:
            self._sorted.clear()

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, without what sorts the argument if that array has been sorted in this run."""
        import jax

        self.called = True
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        arrays, tree = jax.tree.flatten((bound.args, bound.kwargs))
        on_one_device = all(is_array(each) and len(each.devices()) == 1 for each in arrays)
        if not on_one_device or not is_array(bound.arguments.get(self._argument)):
            raise self._unclear()
        form = tree, *map(jax.typeof, arrays)
        if form not in self._parts:
            self._parts[form] = self._divide(bound)
        parts = self._parts[form]
        array = arrays[parts.place]
        if id(array) in self._sorted:
            self.hits += 1
        else:
            self._sorted[id(array)] = array, parts.sort(array)  # keeps what the key has the id of
        return jax.tree.unflatten(parts.tree, parts.rest(*arrays, *self._sorted[id(array)][1]))

    def _divide(self, bound: inspect.BoundArguments) -> _Parts:
        import jax

        traced = self._function.trace(*bound.args, **bound.kwargs)
        bound.arguments[self._argument] = marked = object()
        place = jax.tree.leaves((bound.args, bound.kwargs)).index(marked)
        consts, jaxpr = traced.jaxpr.consts, traced.jaxpr.jaxpr
        before = _computed_from(jaxpr.invars[place], jaxpr)
        sorts = [each for each in before if _sorts(each)]
        if not sorts or any(each.donated for each in jax.tree.leaves(traced.args_info)):
            raise self._unclear()
        others = [each for each in jaxpr.eqns if not any(each is one for one in sorts)]
        needed = _variables([*jaxpr.outvars, *(one for each in others for one in each.invars)])
        results = [each for equation in sorts for each in equation.outvars if each in needed]
        sort = jaxpr.replace(invars=[jaxpr.invars[place]], eqns=before, outvars=results)
        rest = jaxpr.replace(invars=[*jaxpr.invars, *results], eqns=others)
        return _Parts(
            place,
            jax.jit(lambda array: jax.core.eval_jaxpr(sort, consts, array)),
            jax.jit(lambda *arrays: jax.core.eval_jaxpr(rest, consts, *arrays)),
            jax.tree.structure(traced.out_info),
        )

    def _unclear(self) -> NotTried:
        return NotTried(note("doctor.sort_unclear", argument=self._argument, function=_name(self._function)))


def _computed_from(variable: Any, jaxpr: Any) -> list[Any]:
    """Return the equations of a jaxpr whose results depend on one of its inputs alone, or on none."""
    known = {variable, *jaxpr.constvars}
    found = []
    for each in jaxpr.eqns:
        if _variables(each.invars) <= known and not each.effects:
            found.append(each)
            known.update(each.outvars)
    return found


def _variables(atoms: Iterable[Any]) -> set[Any]:
    """Return the variables among what equations read; literals are no variables, and some have no hash."""
    return {each for each in atoms if not hasattr(each, "val")}


def _sorts(equation: Any) -> bool:
    """Return whether an equation is a sort, or has one inside."""
    inside = (each for jaxpr in inner_jaxprs(equation) for each in getattr(jaxpr, "jaxpr", jaxpr).eqns)
    return str(equation.primitive) == "sort" or any(map(_sorts, inside))
