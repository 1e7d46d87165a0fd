"""Finds the operations that wait for others: the users of their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from ...xla.hlo import HloModule
from ..record.recording import EventMetadata, ProgramKey, StatValue

#: An operation of a program on a device, which several kinds of events may share.
_Key = tuple[ProgramKey | None, str, StatValue | None]


def dependents(
    kinds: Sequence[EventMetadata], modules: Mapping[ProgramKey, HloModule], wanted: Iterable[int]
) -> dict[int, tuple[int, ...]]:
    """Return, for each wanted kind, the kinds of events that begin only after it on the same device.

    These are the operations that use its result, directly or through operations without events, such as tuples; and
    the operation itself, because it ends before its next execution. An operation may have several kinds of events.

    Args:
        kinds: metadata of the events of the trace.
        modules: the compiled modules; without one, only the operation itself is known.
        wanted: numbers of kinds.
    """
    by_key: dict[_Key, list[int]] = {}
    for number, kind in enumerate(kinds):
        if "hlo_op" in kind.stats:
            by_key.setdefault(_key(kind, _name(kind)), []).append(number)
    recorded: dict[ProgramKey | None, set[str]] = {}
    for program, name, _ in by_key:
        recorded.setdefault(program, set()).add(name)
    users = {key: _users(module) for key, module in modules.items()}
    waiting = {}
    for number in wanted:
        kind = kinds[number]
        names = {_name(kind)}
        if kind.program is not None and kind.program in modules:
            module = modules[kind.program]
            names |= _waiting(module, users[kind.program], _name(kind), recorded[kind.program])
        waiting[number] = tuple(each for name in names for each in by_key.get(_key(kind, name), ()))
    return waiting


def _key(kind: EventMetadata, name: str) -> _Key:
    return kind.program, name, kind.stats.get("device_ordinal")


def _name(kind: EventMetadata) -> str:
    return str(kind.stats["hlo_op"])


def _users(module: HloModule) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for number, instruction in module.instructions.items():
        for operand in instruction.operand_ids:
            users.setdefault(operand, []).append(number)
    return users


def _waiting(module: HloModule, users: Mapping[int, Sequence[int]], name: str, recorded: Set[str]) -> set[str]:
    """Return the names of the nearest users that have events."""
    todo = list(users.get(module.instruction_ids.get(name, -1), ()))
    seen, names = set(todo), set[str]()
    while todo:
        number = todo.pop()
        instruction = module.instructions[number]
        if instruction.name in recorded:
            names.add(instruction.name)
            continue
        new = [each for each in users.get(number, ()) if each not in seen]
        seen.update(new)
        todo += new
    return names
