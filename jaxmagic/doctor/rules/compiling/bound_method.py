"""Advises on a method that is jitted anew in each call: ``jax.jit(self.forward)`` makes a new function each time."""

from __future__ import annotations

import ast

from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Evidence
from ..host.functions.functions_run import definition
from ..rewriting.hoisting import Made
from ..rewriting.syntax import file_of
from .recompilations import Group


def method_remedy(group: Group, made: Made, evidence: Evidence) -> Note | None:
    """Return the advice to pass what a method reads of its object; ``None`` if no method of a variable is jitted.

    Args:
        group: the programs of the method.
        made: where it is jitted.
        evidence: the observations of the runs.
    """
    owner, dot, method = made.made.partition(".")
    if not dot or method != group.function or made.captured != (owner,):
        return None
    read = _read(group, owner, evidence)
    return None if read is None else note("doctor.recompile_method", method=made.made, names=", ".join(read))


def _read(group: Group, owner: str, evidence: Evidence) -> list[str] | None:
    """Return the attributes that a method reads, as ``"self.w"``; empty if it does more with its object."""
    place = file_of(group.location, evidence)
    frame = None if place is None else Frame(function=group.function, file=place[0], line=place[1])
    found = None if frame is None else definition(frame)
    own = [] if found is None else [*found[0].args.posonlyargs, *found[0].args.args][:1]
    if found is None or not own:
        return None
    nodes = [*ast.walk(found[0])]
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    uses = [each for each in nodes if isinstance(each, ast.Name) and each.id == own[0].arg]
    read = [
        each
        for each in nodes
        if isinstance(each, ast.Attribute) and each.value in uses and isinstance(each.ctx, ast.Load)
    ]
    plain = len(read) == len(uses) and not any(id(each) in called for each in read)
    ordered = sorted(read, key=lambda each: (each.lineno, each.col_offset))
    return list(dict.fromkeys(f"{owner}.{each.attr}" for each in ordered)) if plain else []
