"""Advises NumPy for a function that turns one item after the other into arrays of JAX, which a batch then joins."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.evidence import Evidence
from ...rewriting.meanings import path_at, paths_in
from ...rewriting.syntax import last_name, loaded
from ..functions.inside_function import is_in
from ..syntax import Function, around, assigned, comprehension_around, function_around, loop_around

_CONVERTERS = frozenset({"jax.numpy.array", "jax.numpy.asarray", "jax.device_put"})

#: Functions of JAX that make one array of several.
_JOINING = frozenset(f"jax.numpy.{each}" for each in ("array", "asarray", "concatenate", "stack", "vstack"))

#: What prepares an item and has the same name in NumPy, besides operators: functions, and methods of arrays.
_PREPARING = frozenset(f"jax.numpy.{each}" for each in (
    "array", "asarray", "clip", "expand_dims", "flip", "float32", "int32", "moveaxis", "ravel", "reshape", "squeeze",
    "transpose",
))  # fmt: skip
_METHODS = frozenset({"astype", "copy", "ravel", "reshape", "squeeze", "transpose"})

#: Functions and methods of Python that pass on or keep the items that they get.
_PASSING = frozenset({"append", "list", "reversed", "tuple", "zip"})


def converted_items(line: Frame | None, evidence: Evidence) -> Note | None:
    """Return the advice for the function around a line, if it only prepares an item of NumPy that JAX then joins.

    ``None`` if it computes what NumPy should not, reads arrays of JAX, or is called elsewhere than in one loop.
    """
    function = None if line is None else function_around(line)
    if line is None or function is None:
        return None
    site = _called_at(function, line.file, evidence)
    paths = paths_in(function, line.file, evidence.names)
    owners = [*_converted(function, paths)]
    if site is None or not owners or not all(_is_of_numpy(each, evidence) for each in owners):
        return None
    if not _prepares(function, paths) or _reads_arrays(function, evidence):
        return None
    joined = _joined_at(site, function.name, evidence)
    if joined is None:
        return None
    first = min(each.lineno for each in owners)
    return note(
        "doctor.converted_items",
        function=function.name,
        line=replace(line, line=first).location,
        joined=joined.location,
        array=ast.unparse(owners[0]),
    )


def _called_at(function: Function, file: str, evidence: Evidence) -> Frame | None:
    """Return the only line that calls a function, if that is in a loop or a comprehension."""
    stacks = [*(each.called_from for each in evidence.programs or () if each.eager)]
    stacks += [each.loading or each.stack for each in evidence.host or ()]
    found = {
        after
        for stack in stacks
        for each, after in pairwise(stack)
        if is_in(each, function, file) and not is_in(after, function, file)
    }
    site = found.pop() if len(found) == 1 else None
    return site if site is not None and (comprehension_around(site) or loop_around(site)) else None


def _converted(function: Function, paths: Mapping[str, str]) -> Iterator[ast.expr]:
    """Yield ``self.images`` for ``jnp.asarray(self.images[i])``."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=called, args=[ast.Subscript(value=owner), *_]):
                if path_at(called, paths) in _CONVERTERS:
                    yield owner


def _is_of_numpy(owner: ast.expr, evidence: Evidence) -> bool:
    """Return whether all arrays that may be behind a name or an attribute are NumPy's, and there are some."""
    name = ast.unparse(owner).rpartition(".")[2]
    found = {each.kind for each in evidence.inputs if each.path.rpartition(".")[2] == name}
    return found == {"numpy array"}


def _prepares(function: Function, paths: Mapping[str, str]) -> bool:
    """Return whether a function calls nothing but what NumPy does as well, and as fast for a single item."""
    nodes = [*ast.walk(function)]
    if any(isinstance(each, ast.MatMult) for each in nodes):
        return False
    return all(_is_preparing(each.func, paths) for each in nodes if isinstance(each, ast.Call))


def _is_preparing(called: ast.expr, paths: Mapping[str, str]) -> bool:
    path = path_at(called, paths)
    if path in _PREPARING | _CONVERTERS or path.startswith("numpy."):
        return True
    if isinstance(called, ast.Name):
        return called.id not in paths and hasattr(builtins, called.id)
    return isinstance(called, ast.Attribute) and called.attr in _METHODS


def _reads_arrays(function: Function, evidence: Evidence) -> bool:
    """Return whether a function may read an array that is on the device already."""
    attributes = {each.attr for each in ast.walk(function) if isinstance(each, ast.Attribute)}
    names = attributes | loaded([function])
    arrays = (each.path for each in evidence.inputs if each.kind == "jax array")
    return any(names & {*re.findall(r"\w+", each)} for each in arrays)


def _joined_at(site: Frame, function: str, evidence: Evidence) -> Frame | None:
    """Return the line that makes one array of what a function returns at a line of a loop, or of parts of that."""
    scope, statement = function_around(site), around(site)[-1]
    if scope is None or not isinstance(statement, ast.stmt) or hasattr(statement, "body"):
        return None
    paths = paths_in(scope, site.file, evidence.names)
    items, begins = set[str](), statement.lineno
    following = (each for each in ast.walk(scope) if isinstance(each, ast.stmt) and each.lineno >= begins)
    for each in sorted(following, key=lambda each: each.lineno):
        if hasattr(each, "body") or not (each is statement or loaded([each]) & items):
            continue
        calls = [node for node in ast.walk(each) if isinstance(node, ast.Call)]
        joining = [node for node in calls if path_at(node.func, paths) in _JOINING]
        if joining:
            return replace(site, line=joining[0].lineno)
        if all(last_name(node.func) in _PASSING | {function, "range", "len"} for node in calls):
            items |= assigned(each) | _appended(each)
    return None


def _appended(statement: ast.stmt) -> set[str]:
    """Return the list to which a statement appends something."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=into), attr="append"))):
            return {into}
    return set()
