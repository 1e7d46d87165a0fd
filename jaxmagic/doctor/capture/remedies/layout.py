"""Transposes arguments once, before the code runs, and passes them to a jitted function that transposes them back.

XLA cancels the transpose inside with the one that it would insert itself, so the function needs no other change.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from typing import Any

from ....records.note import note
from ...record.finding import RuleFinding
from .remedy import Change, NotTried, calls_in_advice, names_given
from .transfer import MOST_BYTES, seen_variables
from .tried_code import TriedCode
from .user_functions import jitted_functions

#: The order of axes of arguments, by the names of the parameters.
_Orders = dict[str, tuple[int, ...]]


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose to transpose the arguments as the finding says."""
    import jax

    orders = _orders(finding)
    read = code.read()
    functions = {id(each): each for each in jitted_functions(read) if names_given(finding) == [_name(each)]}
    if not orders or len(functions) != 1:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    (function,) = functions.values()
    held = [each for each in jax.tree.leaves(seen_variables(read)) if isinstance(each, jax.Array)]
    transposed = _Transposed(function, orders, held)
    about = note("doctor.transposed", names=", ".join(orders), function=_name(function))
    return Change({id(function): transposed.call}, met=lambda: transposed.called, notes=(about,))


def _orders(finding: RuleFinding) -> _Orders:
    """Return the orders in the code that the finding recommends."""
    found: _Orders = {}
    for each in calls_in_advice(finding, "transpose"):
        match each.args:
            case [ast.Name(id=name), ast.Tuple() as order]:
                found[name] = ast.literal_eval(order)
    return found


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", ""))


class _Transposed:
    """A jitted function that is given some arguments in another order of axes.

    Attributes:
        called: whether it has been called.
    """

    def __init__(self, function: Any, orders: _Orders, held: list[Any]) -> None:
        self.called = False
        self._function = function
        self._orders = orders
        self._held = {id(each): each for each in held}
        self._made: dict[tuple[int, tuple[int, ...]], Any] = {}
        self._forms: dict[Any, tuple[Any, dict[int | str, tuple[str, tuple[int, ...]]]]] = {}

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with arguments that were transposed before."""
        self.called = True
        form = len(args), tuple(kwargs)
        if form not in self._forms:
            self._forms[form] = self._prepared(args, kwargs)
        jitted, places = self._forms[form]
        positional: list[Any] = list(args)
        for place, (name, order) in places.items():
            given: Any = positional if isinstance(place, int) else kwargs
            given[place] = self._transposed(given[place], name, order)
        return jitted(*positional, **kwargs)

    def _prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the jitted function for one form of call, and which of its arguments to transpose."""
        import jax
        import jax.numpy as jnp

        bound = inspect.signature(self._function).bind(*range(len(args)), **{name: name for name in kwargs}).arguments
        are_arrays = all(isinstance(each, jax.Array) for each in jax.tree.leaves((args, kwargs)))
        if not are_arrays or not self._orders.keys() <= bound.keys() or self._donates(args, kwargs):
            raise NotTried(note("doctor.transposed_unclear", function=_name(self._function)))
        places = {bound[name]: (name, order) for name, order in self._orders.items()}

        def back(*args: Any, **kwargs: Any) -> Any:
            positional: list[Any] = list(args)
            for place, (_, order) in places.items():
                given: Any = positional if isinstance(place, int) else kwargs
                given[place] = jnp.transpose(given[place], [order.index(axis) for axis in range(len(order))])
            return self._function(*positional, **kwargs)

        return jax.jit(back), places

    def _donates(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        import jax

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a donated buffer is not usable was said before
            lowered = self._function.lower(*args, **kwargs)
        return any(each.donated for each in jax.tree.leaves(lowered.args_info))

    def _transposed(self, array: Any, name: str, order: tuple[int, ...]) -> Any:
        """Return an array in another order of axes, which is made when it is first needed."""
        import jax.numpy as jnp

        key = id(array), order
        if key not in self._made:
            if id(array) not in self._held:
                raise NotTried(note("doctor.transposed_anew", name=name, function=_name(self._function)))
            size = array.nbytes + sum(each.nbytes for each in self._made.values())
            if size > MOST_BYTES:
                raise NotTried(note("doctor.not_tried_size", size_bytes=size))
            self._made[key] = jnp.transpose(array, order)
        return self._made[key]
