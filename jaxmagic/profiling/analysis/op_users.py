"""Which operations wait for which: what begins only when another one is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from ...xla.hlo import HloModule
from ..record.recording import EventMetadata, ProgramKey, StatValue

#: An operation of a program on a device: what several kinds of events may have in common.
_Key = tuple[ProgramKey | None, str, StatValue | None]


def dependents(
    kinds: Sequence[EventMetadata], modules: Mapping[ProgramKey, HloModule], wanted: Iterable[int]
) -> dict[int, tuple[int, ...]]:
    """The kinds of events that begin only after one of the wanted kinds, on the same device.

    These are the operations that take its result, also by way of what has no events, such as a tuple; and the
    operation itself, of which one run may be several events, and which is over before it runs again.

    Args:
        kinds: what was recorded.
        modules: the compiled modules; of a program without one only the operation itself is known.
        wanted: the numbers of the kinds that are asked for.
    """
    by_key: dict[_Key, list[int]] = {}
    for number, kind in enumerate(kinds):
        if "hlo_op" in kind.facts:
            by_key.setdefault(_key(kind, _name(kind)), []).append(number)
    recorded: dict[ProgramKey | None, set[str]] = {}
    for program, name, _ in by_key:
        recorded.setdefault(program, set()).add(name)
    users = {key: _users(module) for key, module in modules.items()}
    found = {}
    for number in wanted:
        kind = kinds[number]
        names = {_name(kind)}
        if kind.program is not None and kind.program in modules:
            module = modules[kind.program]
            names |= _waiting(module, users[kind.program], _name(kind), recorded[kind.program])
        found[number] = tuple(each for name in names for each in by_key.get(_key(kind, name), ()))
    return found


def _key(kind: EventMetadata, name: str) -> _Key:
    return kind.program, name, kind.facts.get("device_ordinal")


def _name(kind: EventMetadata) -> str:
    return str(kind.facts["hlo_op"])


def _users(module: HloModule) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, instruction in module.instructions.items():
        for each in instruction.operand_ids:
            found.setdefault(each, []).append(number)
    return found


def _waiting(module: HloModule, users: Mapping[int, Sequence[int]], name: str, recorded: Set[str]) -> set[str]:
    """The names of the nearest operations with events that take its result."""
    todo = list(users.get(module.instruction_ids.get(name, -1), ()))
    seen, found = set(todo), set[str]()
    while todo:
        number = todo.pop()
        instruction = module.instructions[number]
        if instruction.name in recorded:
            found.add(instruction.name)
            continue
        new = [each for each in users.get(number, ()) if each not in seen]
        seen.update(new)
        todo += new
    return found
