"""Places an array once as a program takes it, before the code runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ....records.note import note
from ....runtime.copies import unguarded
from ....runtime.tracing import is_array
from ...record.finding import RuleFinding
from .remedy import Change, NotTried, calls_in_advice, first_arguments
from .transfer import MOST_BYTES, is_on_host, seen_variables
from .tried_code import TriedCode

#: The attributes that the advice reads.
_ATTRIBUTES = "sharding", "mesh"


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the array as it is after the assignment that the finding recommends."""
    import jax

    calls = calls_in_advice(finding, "device_put")
    names = first_arguments(calls)
    seen = seen_variables(code.read())
    array: Any = seen.get(names[0]) if len(names) == 1 else None
    if finding.found.kind not in ("doctor.moved", "doctor.put_again") or not (is_array(array) or is_on_host(array)):
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    if array.nbytes > MOST_BYTES:
        raise NotTried(note("doctor.not_tried_size", size_bytes=array.nbytes))
    places = [*calls[0].args[1:], *(each.value for each in calls[0].keywords)]
    shardings = [_sharding(each, {**code.variables, **seen}) for each in places]
    if len(shardings) > 1 or None in shardings:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    placed = unguarded(jax.device_put, array, *shardings)
    return Change({id(array): placed}, notes=(note("doctor.placed", names=names[0]),))


def _sharding(written: ast.expr, variables: Mapping[str, Any]) -> Any:
    """Return the sharding that an expression of the advice stands for; ``None`` if that is unknown."""
    import jax

    match written:
        case ast.Call(args=[mesh, ast.Call(args=entries)]):
            found = _value(mesh, variables)
            spec = jax.sharding.PartitionSpec(*map(ast.literal_eval, entries))
            return None if found is None else jax.sharding.NamedSharding(found, spec)
    return _value(written, variables)


def _value(written: ast.expr, variables: Mapping[str, Any]) -> Any:
    """Return the value of a variable, or its sharding or mesh."""
    match written:
        case ast.Name(id=name):
            return variables.get(name)
        case ast.Attribute(value=inner, attr=attribute) if attribute in _ATTRIBUTES:
            return getattr(_value(inner, variables), attribute, None)
    return None
