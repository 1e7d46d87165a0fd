"""Flattens the schedules of a program's computations: when each instruction runs.

Time is the position in the flattened schedule, in which the computations of a ``while``, ``call`` or ``conditional``
come before the instruction itself, and a loop's condition before its body, as in XLA's ``HloLiveRange``.
"""

from __future__ import annotations

from typing import NamedTuple

from .hlo import HloInstruction, HloModule


class Span(NamedTuple):
    """The first and the last step of a computation."""

    first: int
    last: int


class Schedule(NamedTuple):
    """The flattened schedule: when each instruction runs.

    Attributes:
        steps: the step of each instruction, by id; instructions in fusions have none.
        spans: the first and last step of each computation, including the computations that it calls.
        order: the ids of the instructions, by step.
    """

    steps: dict[int, int]
    spans: dict[int, Span]
    order: list[int]


def flattened_schedule(module: HloModule) -> Schedule:
    """Flatten the schedules of all computations into one sequence: callees before callers, each computation once.

    Raises:
        ValueError: the module has no schedule, or its schedule refers to an unknown instruction.
    """
    if not module.schedule.get(module.entry_computation_id):
        raise ValueError("the module has no schedule: expected the output of a compiler")
    if any(number not in module.instructions for order in module.schedule.values() for number in order):
        raise ValueError("the module's schedule refers to an unknown instruction")
    schedule = Schedule({}, {}, [])
    _append(module, module.entry_computation_id, schedule, {module.entry_computation_id})
    return schedule


def _append(module: HloModule, computation: int, schedule: Schedule, seen: set[int]) -> None:
    first = len(schedule.order)
    for number in module.schedule.get(computation, ()):  # computations of fusions have no schedule
        for called in _called_in_order(module, module.instructions[number]):
            if called not in seen:
                seen.add(called)
                _append(module, called, schedule, seen)
        schedule.steps[number] = len(schedule.order)
        schedule.order.append(number)
    if len(schedule.order) > first:
        schedule.spans[computation] = Span(first, len(schedule.order) - 1)


def _called_in_order(module: HloModule, instruction: HloInstruction) -> list[int]:
    """Return the computations that an instruction runs; the condition of a loop comes first."""
    called = [each for each in instruction.called_computation_ids if each in module.computations]
    if instruction.opcode == "while":
        called.sort(key=lambda each: not is_condition(module, each))
    return called


def is_condition(module: HloModule, computation: int) -> bool:
    """Return whether a computation of a loop is its condition, which returns a truth value, and not its body."""
    root = module.instructions.get(module.root_ids[computation])
    return root is not None and root.shape == "pred[]"
