"""Collects what cannot stay as it is in code that is to be jitted: facts for the advice to do so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from .....records.call_stack import Frame
from ....record.evidence import Evidence, HostWait
from ...host.decisions import decides
from ...host.syntax import Function, Loop, called_as, calls_of, own_nodes
from ..changing_values import changed_only
from ..syntax import free_names, last_name, loaded
from .obstacles import Obstacle, obstacles

#: Methods and functions that read values, besides those of Python that have underscores.
_READS = "device_get", "item", "tolist"

#: Methods that collect results, which a loop of JAX returns.
_COLLECTS = frozenset({"append", "extend"})

Caveats = dict[str, int | str]


def caveats(found: Sequence[Obstacle], waits: Iterable[HostWait]) -> Caveats:
    """Return facts about obstacles and about waits of the user's code.

    Args:
        found: the obstacles.
        waits: the waits in the code that is to be jitted.
    """
    own = [each for each in waits if each.line is not None]
    decided = any(each.line is not None and decides(each.line, each.function) for each in own)
    reads = any(each.function.startswith("__") or each.function in _READS for each in own)
    first = {each.kind: each for each in reversed(found)}
    sized = "mask" in first or "size" in first  # these wait as well
    facts: Caveats = {kind: each.text for kind, each in first.items()}
    facts |= {"argument": first["size"].argument} if "size" in first else {}
    return facts | {"decides": int(decided), "reads": int(reads and not decided and not sized)}


def jitted_calls(function: Function, line: Frame, evidence: Evidence) -> list[ast.Call]:
    """Return the calls of the user's jitted functions in a function, by name, or by the line that ran the program.

    Args:
        function: the function.
        line: a line in it.
        evidence: the programs, and the lines that ran them first.
    """
    programs = [each for each in evidence.programs or () if each.called_at is not None]
    own = [each for each in programs if each.location and not each.eager]
    named = [call for each in own for call in calls_of(called_as(each.name, [each], evidence), function, line)]
    lines = {each.called_at for each in own} - {each.called_at for each in programs if each.eager}
    numbers = {each.line for each in lines if each is not None and each.file == line.file}
    return [*named, *(each for each in ast.walk(function) if isinstance(each, ast.Call) and each.lineno in numbers)]


def to_pass(
    changing: set[str], part: ast.AST, functions: Sequence[tuple[Function, str]], jitted: Iterable[ast.Call] = ()
) -> Caveats:
    """Return a fact about the changing variables that the code to jit reads; none if it reads none of them.

    Args:
        changing: the variables from outside that change.
        part: the code to jit, or around it.
        functions: the user's functions that it may run, each after one that calls it.
        jitted: the calls in it that are jitted on their own, and stay outside with what they get.
    """
    apart = {id(node) for each in jitted for node in ast.walk(each)}
    names = loaded(each for each in ast.walk(part) if isinstance(each, ast.Name) and id(each) not in apart)
    for function, _ in functions:
        names |= free_names(function) if function.name in names else set()
    effects = {name: call for each, _ in functions for name, call in _calls_for_effect(each)}
    only = changed_only(functions) & effects.keys()
    read, changed = changing & names - only, changing & names & only
    once: Caveats = {"once": ", ".join(effects[each] for each in sorted(changed))} if changed else {}
    return once | ({"changes": ", ".join(sorted(read))} if read else {})


def _calls_for_effect(function: Function) -> Iterator[tuple[str, str]]:
    """Yield the variables of which a function calls a method for its effect, with the method."""
    for node in ast.walk(function):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)) as method)):
                yield name, ast.unparse(method)


def caveats_of_loop(loop: Loop, line: Frame, function: str, evidence: Evidence) -> Caveats:
    """Return facts about the body of a loop that calls a jitted function, for the advice to jit all of it.

    Args:
        loop: the loop.
        line: the line in it that calls the function.
        function: the name of the function.
        evidence: the waits of the run.
    """
    last = loop.end_lineno or loop.lineno
    waits = [
        each
        for each in evidence.waits or ()
        if each.line is not None and each.line.file == line.file and loop.lineno <= each.line.line <= last
    ]
    facts = caveats(obstacles([(loop, line.file)], evidence.names), waits)
    effect = next((_effect(each, function, line) for each in own_nodes(loop) if _effect(each, function, line)), "")
    return facts if "once" in facts or not effect else facts | {"once": effect}


def _effect(node: ast.AST, function: str, line: Frame) -> str:
    """Return what a statement calls for its effect alone; empty if it does not, or collects results."""
    match node:
        case ast.Expr(value=ast.Call(func=called) as call) if not calls_of(function, call, line):
            owner = ast.unparse(called).split(".")[0]
            name = last_name(called) or ""
            is_read = name in _READS or name.startswith("block_until")
            return "" if is_read or owner in ("jax", "jnp") or name in _COLLECTS else ast.unparse(called)
    return ""
