"""Copies the items of NumPy arrays, or of lists of them, to the device once, before the code runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .....records.note import note
from .....runtime.copies import unguarded
from ....record.finding import RuleFinding
from ....rules.rewriting.rewritten import Pasted, moved_out
from .. import pasted_code
from ..remedy import Change, NotTried
from ..transfer import MOST_BYTES, is_on_host, seen_variables
from ..tried_code import TriedCode


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the recommended lists of JAX arrays in place of what the code reads, and its loop without copies."""
    import jax

    if finding.code is None:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    seen = seen_variables(code.read())
    body = ast.parse(finding.code).body
    assigned = dict(_assigned(body, seen))
    statement = body[len(assigned) :]
    if not assigned or len(statement) > 1:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    size = sum(each.nbytes for name in assigned for each in jax.tree.leaves(seen[name]) if is_on_host(each))
    if size > MOST_BYTES:
        raise NotTried(note("doctor.not_tried_size", size_bytes=size))
    names = {**seen, "jax": jax}
    made = {id(seen[name]): unguarded(_value, value, names) for name, value in assigned.items()}
    put = note("doctor.put", names=", ".join(assigned))
    new = Pasted(statement=statement) if statement else moved_out(finding.code)._replace(beside=(), whole=None)
    if not new.statement and not new.first:
        return Change(made, notes=(put,))
    pasted = pasted_code.propose(finding, code, lambda _: new)
    return pasted._replace(replacements={**pasted.replacements, **made}, notes=(put, *pasted.notes))


def _assigned(body: list[ast.stmt], seen: dict[str, Any]) -> Iterator[tuple[str, ast.expr]]:
    """Yield what the recommended code assigns before the examined code: variables that this reads."""
    for each in body:
        match each:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.ListComp(generators=[ast.comprehension(iter=ast.Name(id=source))])
                | ast.Call(args=[ast.Name(id=source) | ast.Call(args=[ast.Name(id=source)])]) as value,
            ) if name == source and name in seen:
                yield name, value
            case _:
                return


def _value(expression: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.fix_missing_locations(ast.Expression(expression)), "<jaxmagic: a remedy>", "eval"), names)
