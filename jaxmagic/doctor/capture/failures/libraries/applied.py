"""Finds the call of ``apply()`` through which a module of flax.linen got its variables, and who holds the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .....runtime.around import is_exactly, variables_of
from ..entries import Entry

#: The kinds of errors about the collections that ``apply()`` gets.
OF_COLLECTIONS = "variables", "immutable"

#: Methods that apply a module, and the attribute of a training state that does.
_APPLY = "apply", "apply_fn"


#: Names for the updated collections, of which the first is taken that the code does not have.
_UPDATED = "updated", "updates", "new_state"


def applied(users: Sequence[Entry], collection: str) -> Iterator[tuple[str, str]]:
    """Iterate over what is known of the innermost call of ``apply()`` among the user's calls.

    Args:
        users: the user's calls, the innermost last.
        collection: the collection that is missing, or that would be updated.
    """
    for each in reversed(users):
        place = each.place
        node = place.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _APPLY:
            yield from (("applied", ast.unparse(node)), ("applied at", each.where.location))
            if isinstance(place.statement, ast.Assign) and place.statement.value is node:
                yield "assigned", ", ".join(ast.unparse(target) for target in place.statement.targets)
            names = {**each.frame.f_globals, **variables_of(each.frame)}
            yield "held", _held(names, collection)
            yield "free", next((name for name in _UPDATED if name not in names), "")
            return


def _held(names: Mapping[str, Any], collection: str) -> str:
    """Return an expression with the collection: a variable of that name, or the only dictionary with it."""
    if is_exactly(names.get(collection), dict):
        return collection
    found = [
        name for name, value in names.items() if is_exactly(value, dict) and {"params", collection} <= value.keys()
    ]
    return f"{found[0]}[{collection!r}]" if len(found) == 1 else ""
