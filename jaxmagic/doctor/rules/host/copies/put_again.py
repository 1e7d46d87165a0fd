"""Finds lines with ``jax.device_put`` that copy the same array to the same devices again and again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ....record.placement import DevicePut, Placement
from ...rewriting.list_items import parts_given
from ...rewriting.syntax import last_name, loaded, parameters, stored
from ...rule import source_at
from ..functions.used_in_loop import loops_of
from ..host_time import HostTime, matters, putting_ns
from ..syntax import around, assigned, function_around, own_nodes
from .converted_again import converted_before
from .donated_copies import may_be_donated

#: Less is no finding.
_LEAST_BYTES = 2**20

#: The most names of arrays that are listed.
_MOST_NAMES = 3


def put_again_from_host(evidence: Evidence, rule: str, time: HostTime) -> Iterator[RuleFinding]:
    """Find lines that copy the same arrays of NumPy to the same place several times per run, if that takes time.

    Args:
        evidence: the observations of the runs.
        rule: the name of the rule.
        time: the time of the host.
    """
    all_bytes = sum(each.count * each.moved_bytes for each in evidence.device_puts)
    seen = sum(each.count for each in evidence.device_puts)
    for finding, puts in _put_again(evidence, rule, on_host=True):
        again = sum((each.count - 1) * each.moved_bytes for each in puts) / all_bytes
        cost_ns = putting_ns(time, seen, all_bytes) * again
        if matters(cost_ns, evidence):
            yield replace(finding, cost_ns=cost_ns, basis="estimated")


def put_again(evidence: Evidence, rule: str) -> Iterator[RuleFinding]:
    """Find lines that move the same arrays between devices to the same place several times per run."""
    for finding, _ in _put_again(evidence, rule, on_host=False):
        yield finding


def _put_again(evidence: Evidence, rule: str, *, on_host: bool) -> Iterator[tuple[RuleFinding, list[DevicePut]]]:
    """Find lines that move the same arrays to the same place several times per run.

    One placement cannot replace copies to several places, nor copies that a program donates and so deletes.
    """
    by_line: dict[Frame, list[DevicePut]] = {}
    for each in evidence.device_puts:
        if each.line is not None and each.count > 1 and each.on_host == on_host and each.same_values:
            by_line.setdefault(each.line, []).append(each)
    for line, puts in by_line.items():
        if sum((each.count - 1) * each.moved_bytes for each in puts) < _LEAST_BYTES:
            continue
        if any(each.places > 1 or may_be_donated(each.type, evidence) for each in puts):
            continue
        call = _device_put_at(line)
        names = [each.type if each.placement is None else each.placement.path for each in puts]
        read = loaded([call.args[0]]) if call is not None else {re.split(r"\W", each)[0] for each in names}
        if read & _assigned_by_loops(line):
            whole = None if call is None or not on_host else parts_given(line, call.args[:1])[0]
            if whole is not None:
                yield _of_parts(whole, rule, line, puts), puts
            continue
        arrays = ast.unparse(call.args[0]) if call is not None else ", ".join(names[:_MOST_NAMES])
        placement = puts[0].placement if len(puts) == 1 else None
        code = None if placement is None else _before_code(placement, call, line, evidence)
        finding = RuleFinding(
            rule=rule,
            found=note(
                "doctor.put_again",
                array=arrays,
                count=max(each.count for each in puts),
                moved_bytes=sum(each.moved_bytes for each in puts),
                arrays=len(puts),
            ),
            line=line.location,
            source=source_at(line),
            evidence=() if placement is None else (_put_from(placement),),
            remedy=note("doctor.put_again_remedy", array=arrays),
            code=code or (_before_loop(call, line, evidence) if len(puts) == 1 else None),
        )
        yield finding, puts


def _of_parts(whole: str, rule: str, line: Frame, puts: list[DevicePut]) -> RuleFinding:
    """Return the finding about an array of NumPy whose parts a loop copies in turn, as ``for b in x``."""
    size_bytes = sum(each.moved_bytes for each in puts)
    return RuleFinding(
        rule=rule,
        found=note(
            "doctor.put_again",
            array=f"{whole}[*]",
            count=max(each.count for each in puts),
            moved_bytes=size_bytes,
            arrays=len(puts),
        ),
        line=line.location,
        source=source_at(line),
        remedy=note("doctor.transfer_all", names=f"{whole}[*]", size_bytes=size_bytes),
    )


def assignment(path: str, sharding: str | None) -> str | None:
    """Return the assignment that distributes an array; ``None`` if it cannot be written."""
    code = f"{path} = jax.device_put({path}, {sharding})"
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return None
    return None if sharding is None else code


def exist_before(code: str, placement: Placement, evidence: Evidence) -> bool:
    """Return whether all names of some advice exist before the code under diagnosis, which assigns none of them.

    It reads them, or they lead to the mesh or the sharding after the runs. Only the name of a function that is called
    is known, if anything; its arguments are what it reads.
    """
    inputs = {each.path for each in evidence.inputs if not each.deleted}
    roots = inputs | {re.split(r"\W", each)[0] for each in inputs} | {"jax"}
    is_name = evidence.code is None or re.fullmatch(r"[\w.<>]+", evidence.code) is not None
    if not is_name:
        roots |= {re.split(r"\W", each)[0] for each in (placement.mesh, placement.sharding) if each is not None}
    tree = ast.Module([], []) if is_name else _parsed(evidence.code or "")
    return tree is not None and loaded([ast.parse(code)]) <= roots - stored([tree])


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError):
        return None


def _put_from(placement: Placement) -> Note:
    return note(
        "doctor.put_again_from",
        type=placement.type,
        lies_on=placement.lies_on,
        devices=placement.devices,
        spec=placement.spec or "",
        known=int(placement.spec is not None),
    )


def _device_put_at(line: Frame) -> ast.Call | None:
    """Return the only call of ``device_put`` in the statement of a line, unless a lambda is given its array."""
    statement = around(line)[-1:]
    calls = [each for node in statement for each in ast.walk(node) if isinstance(each, ast.Call) and each.args]
    found = [each for each in calls if last_name(each.func) == "device_put"]
    lambdas = [each for node in statement for each in ast.walk(node) if isinstance(each, ast.Lambda)]
    if len(found) != 1 or any(parameters(each) & loaded(found) and _has(each, found[0]) for each in lambdas):
        return None
    return found[0]


def _has(node: ast.AST, call: ast.Call) -> bool:
    return any(each is call for each in ast.walk(node))


def _assigned_by_loops(line: Frame) -> set[str]:
    return {name for each in loops_of(line) for name in assigned(each)}


def _before_code(placement: Placement, call: ast.Call | None, line: Frame, evidence: Evidence) -> str | None:
    """Return the assignment of a plain variable in front of the code, if all its names exist there."""
    name = placement.path
    is_whole = call is not None and len(call.args) == 1 and ast.unparse(call.args[0]) == name
    code = f"{name} = {ast.unparse(call)}" if is_whole and call else assignment(name, placement.sharding)
    if code is None or not placement.path.isidentifier() or not exist_before(code, placement, evidence):
        return None
    function = function_around(line)
    if function is None:
        return code
    is_global = line.cell is None and placement.path in loaded([function]) - parameters(function)
    return None if is_global or loaded([ast.parse(code)]) & assigned(function) else code


def _before_loop(call: ast.Call | None, line: Frame, evidence: Evidence) -> str | None:
    """Return the same call in front of the loop, if the array is a variable of this scope and its names exist.

    Up to JAX 0.9, ``jnp.asarray`` copies an array as ``device_put`` does, of which ``None`` is given then.
    """
    if call is None:
        return converted_before(line, evidence, same_values=True)
    loops, given = loops_of(line), call.args[0]
    if not loops or not isinstance(given, ast.Name) or loaded([call]) & _assigned_by_loops(line):
        return None
    nodes, function = around(line), function_around(line)
    first = min(each.lineno for each in loops if isinstance(each, ast.stmt | ast.expr))
    before = [each for each in own_nodes(function or nodes[0]) if isinstance(each, ast.Name) and each.lineno < first]
    known = {each.id for each in before if isinstance(each.ctx, ast.Store)}
    known |= {each.path for each in evidence.inputs} if function is None else parameters(function)
    return f"{given.id} = {ast.unparse(call)}  # before the loop" if given.id in known else None
