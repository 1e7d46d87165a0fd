"""Count how often operations of the CPU ran, where XLA records several events for one execution of an operation.

A sort, for example, copies each of its operands and then sorts: each of these steps is an event with the name of the
sort. An operation of the entry computation runs once per execution of the program. All operations of another
computation, such as the body of a loop, run equally often, and the one with the fewest events shows how often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ....xla.hlo import HloModule
from ...record.recording import EventMetadata, ProgramKey
from ..attribution import Ints

#: A computation of a program.
_Computation = tuple[ProgramKey, int]


def runs_of_cpu(
    events: Ints, executions: Ints, kinds: Sequence[EventMetadata], modules: Mapping[ProgramKey, HloModule]
) -> dict[int, int]:
    """Count the executions of each operation, by kind of event; kinds of which that is not known are left out.

    Args:
        events: the kind of each event of a device.
        executions: for each event the number of the execution of a program that it is part of, or 0.
        kinds: the metadata of all kinds.
        modules: the programs, as far as they are known.
    """
    _, execution = np.unique(executions, return_inverse=True)
    pairs, counts = np.unique(execution * len(kinds) + events, return_counts=True)
    execution, kind = np.divmod(pairs, len(kinds))
    unknown = set(np.unique(events[executions == 0]).tolist())
    found: dict[int, int] = {}
    group = np.full(len(kinds), -1)
    groups: dict[_Computation, int] = {}
    homes: dict[ProgramKey, Mapping[str, int]] = {}
    once: dict[ProgramKey, set[int]] = {}
    for number in np.unique(kind).tolist():
        program = kinds[number].program
        module = None if program is None else modules.get(program)
        if program is None or module is None or number in unknown:
            continue
        if program not in homes:
            homes[program], once[program] = _homes(module), _once(module)
        home = homes[program].get(str(kinds[number].stats.get("hlo_op")))
        if home is None:
            continue
        group[number] = groups.setdefault((program, home), len(groups))
        if home in once[program]:
            found[number] = int((kind == number).sum())
    mine = group[kind] >= 0
    execution, kind, counts = execution[mine], kind[mine], counts[mine]
    _, place = np.unique(execution * max(len(groups), 1) + group[kind], return_inverse=True)
    least = np.full(len(counts), np.iinfo(np.int64).max)
    np.minimum.at(least, place, counts)
    times = counts // least[place]
    for number in np.flatnonzero(group >= 0).tolist():
        if number not in found:
            here = kind == number
            most = least[place[here]]
            usual = np.sort(times[here][most == most.max()])  # of an execution that was cut off less was recorded
            parts = int(usual[(len(usual) - 1) // 2])
            found[number] = int((-(-counts[here] // parts)).sum())
    return found


def _homes(module: HloModule) -> dict[str, int]:
    """Return the computation that each instruction is in, by the name of the instruction."""
    return {module.instructions[each].name: home for home, members in module.computations.items() for each in members}


def _once(module: HloModule) -> set[int]:
    """Return the computations that run once per execution: the entry, and what it calls in one place alone."""
    callers = Counter(called for each in module.instructions.values() for called in each.called_computation_ids)
    found, queue = set(), [module.entry_computation_id]
    while queue:
        one = queue.pop()
        if one in found:
            continue
        found.add(one)
        for number in module.computations.get(one, ()):
            instruction = module.instructions[number]
            if instruction.opcode == "call":
                queue += [each for each in instruction.called_computation_ids if callers[each] == 1]
    return found
