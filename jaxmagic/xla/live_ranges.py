"""Computes the live range of each buffer of a program from the program's schedule.

XLA records the offset of a buffer, but on most backends not its live range. A value is live from the instruction
that defines it to its last use, and is followed through tuples and their elements, and into and out of calls and
loops. The rules are those of XLA's ``HloDataflowAnalysis`` and ``HloLiveRange`` (https://github.com/openxla/xla).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .buffer_assignment import Location
from .hlo import HloInstruction, HloModule, ShapeIndex, Subshape
from .schedule import Schedule, is_condition

#: Instructions that forward their operands without reading them.
_FORWARD_UNREAD = frozenset({"tuple", "domain", "opt-barrier"})

#: Instructions whose result is their first operand, at the same index.
_SAME = frozenset({"bitcast", "domain", "opt-barrier", "add-dependency", "async-update"})

#: Instructions whose result contains their operand, and at which index.
_STARTS = {"copy-start": 1, "send": 0, "recv": 0, "all-gather-start": 0, "collective-permute-start": 0}

#: Instructions whose result is an element of their operand, and at which index.
_DONES = {"copy-done": 0, "async-done": 1, "all-gather-done": 1, "collective-permute-done": 1, "recv-done": 0}

#: Instructions that pass their operands to the computations that they run, and do not read them afterwards.
_RUNS = frozenset({"while", "conditional", "call"})

#: Instructions that forward values in some way; all others only read their operands.
_FORWARD = frozenset({*_FORWARD_UNREAD, *_SAME, *_STARTS, *_DONES, *_RUNS, "get-tuple-element", "async-start"})


class LiveRange(NamedTuple):
    """The steps of the schedule in which a value is live, both ends included.

    Attributes:
        first: the step that defines it.
        last: the last step that needs it.
        returned_at: its index in the program's result; ``None`` if it is not returned.
    """

    first: int
    last: int
    returned_at: ShapeIndex | None = None


def live_ranges(module: HloModule, definitions: Iterable[Location], schedule: Schedule) -> dict[Location, LiveRange]:
    """Return the live range of each value.

    Args:
        module: the scheduled module.
        definitions: where values are defined; all other locations hold values defined elsewhere.
        schedule: when each instruction runs.

    Returns:
        The live ranges of values defined by an instruction in the schedule.
    """
    flow = _Flow(module, frozenset(definitions), schedule)
    return {each: flow.live_range(each) for each in flow.definitions if each.instruction_id in schedule.steps}


def defined_parts(instruction: HloInstruction) -> Iterator[Subshape]:
    """Yield the parts of its result that an instruction defines; the other parts are forwarded values."""
    opcode, parts = instruction.opcode, instruction.subshapes
    if opcode in _DONES or opcode in _SAME or opcode in ("get-tuple-element", "while", "call"):
        return
    if opcode == "tuple":
        parts = parts[:1]
    elif opcode == "async-start":
        parts = tuple(part for part in parts if part.shape_index[:1] not in ((0,), (1,)))
    elif opcode in _STARTS:
        parts = tuple(part for part in parts if part.shape_index[:1] != (_STARTS[opcode],))
    yield from parts


def alias_groups(module: HloModule, definitions: Iterable[Location], schedule: Schedule) -> list[set[Location]]:
    """Group the values that XLA has to keep in the same buffer.

    The initial state of a loop, the state after each iteration and the loop's result share one buffer, and so do the
    results of all branches of a ``conditional``. The rules are those of XLA's ``HloAliasAnalysis``.

    Returns:
        Groups of definitions. Every value is in one group, most of them alone.
    """
    flow = _Flow(module, frozenset(definitions), schedule)
    group_of: dict[Location, set[Location]] = {}
    for value in flow.definitions:
        group = {value}
        for place in flow.locations(value) if value.instruction_id in schedule.steps else ():
            if flow.merges_values(place):
                group |= group_of.get(place, {place})
        group_of.update(dict.fromkeys(group, group))
    groups = {id(group): group & flow.definitions for group in group_of.values()}
    return [group for group in groups.values() if group]


class _Flow:
    """Follows values through a program.

    Most values are read by some instructions that forward nothing. The last step that reads them is then enough; only
    the instructions that forward a value are kept one by one.
    """

    def __init__(self, module: HloModule, definitions: frozenset[Location], schedule: Schedule) -> None:
        self.definitions = definitions
        self._module = module
        self._schedule = schedule
        self._last_read: dict[int, int] = {}
        self._forwarded_to: dict[int, list[tuple[int, int]]] = {}
        self._root_of: dict[int, int] = {}
        self._callers: dict[int, list[int]] = defaultdict(list)
        self._parameters: dict[tuple[int, int], int] = {}
        self._parameter_of: dict[int, int] = {}
        self._conditions: set[int] = set()
        for step, number in enumerate(schedule.order):
            self._add(step, number, module.instructions[number])
        for computation in schedule.spans:
            self._root_of[module.root_ids[computation]] = computation
            self._add_parameters(computation)

    def _add(self, step: int, number: int, instruction: HloInstruction) -> None:
        if instruction.opcode not in _FORWARD:
            self._last_read.update(dict.fromkeys(instruction.operand_ids, step))  # steps ascend
            return
        for position, operand in enumerate(instruction.operand_ids):
            self._forwarded_to.setdefault(operand, []).append((number, position))
        for called in instruction.called_computation_ids:
            self._callers[called].append(number)
        if instruction.opcode == "while":
            scheduled = self._schedule.spans.keys() & instruction.called_computation_ids
            self._conditions.update(called for called in scheduled if is_condition(self._module, called))

    def _add_parameters(self, computation: int) -> None:
        for number in self._module.schedule[computation]:
            instruction = self._module.instructions[number]
            if instruction.opcode == "parameter":
                self._parameters[computation, instruction.parameter_number] = number
                self._parameter_of[number] = computation

    def live_range(self, definition: Location) -> LiveRange:
        """Return the steps from a value's definition to its last use, at any of its locations."""
        number = definition.instruction_id
        first = self._schedule.steps[number]
        if number in self._parameter_of:
            first = self._schedule.spans[self._parameter_of[number]].first
        elif number not in self._forwarded_to and number not in self._root_of:
            return LiveRange(first, self._last_read.get(number, first))
        last, returned_at = first, None
        for place in self.locations(definition):
            if place != definition and place in self.definitions:
                continue
            last = max(last, *self._uses(place))
            if self._root_of.get(place.instruction_id) == self._module.entry_computation_id:
                returned_at = place.shape_index
        return LiveRange(first, last, returned_at)

    def locations(self, definition: Location) -> Iterator[Location]:
        """Yield the locations of a value, and those at its end, where another value is defined."""
        seen, pending = {definition}, [definition]
        while pending:
            place = pending.pop()
            yield place
            if place != definition and place in self.definitions:
                continue
            for following in self._following(place):
                if following not in seen:
                    seen.add(following)
                    pending.append(following)

    def merges_values(self, place: Location) -> bool:
        """Return whether a location can hold different values: the state of a loop, or the result of branches."""
        if self._module.instructions[place.instruction_id].opcode == "conditional":
            return True
        computation = self._parameter_of.get(place.instruction_id)
        return computation is not None and computation != self._module.entry_computation_id

    def _uses(self, place: Location) -> Iterator[int]:
        """Yield the steps that need the value at a location, beginning with the location's own."""
        number = place.instruction_id
        own = self._schedule.steps.get(number, 0)
        yield own
        yield self._last_read.get(number, own)
        if number in self._root_of:  # the result of a computation belongs to its caller
            yield self._schedule.spans[self._root_of[number]].last
        elif self._parameter_of.get(number) in self._conditions:  # the loop's state is live until its condition ends
            yield self._schedule.spans[self._parameter_of[number]].last
        for user, position in self._forwarded_to.get(number, ()):
            opcode = self._module.instructions[user].opcode
            if opcode not in _FORWARD_UNREAD and not (opcode == "get-tuple-element" and place.shape_index):
                yield self._read_by(user, position)

    def _read_by(self, user: int, position: int) -> int:
        """Return the last step at which an instruction itself needs an operand; its callees may need it longer."""
        instruction = self._module.instructions[user]
        called = instruction.called_computation_ids
        if instruction.opcode == "conditional" and position:
            called = called[position - 1 : position]  # each branch has an operand
        starts = [self._schedule.spans[each].first for each in called if each in self._schedule.spans]
        # From its first step on a loop has a state of its own, in the same buffer. Calls and branches read nothing
        # themselves; their computations do (``HloOrdering::UsesBeforeValueDefinition``).
        return min(starts) if starts and instruction.opcode in _RUNS else self._schedule.steps[user]

    def _following(self, place: Location) -> Iterator[Location]:
        """Yield the next locations of the same value."""
        number, index = place
        for user, position in self._forwarded_to.get(number, ()):
            instruction = self._module.instructions[user]
            opcode = instruction.opcode
            if opcode == "get-tuple-element":
                if index and index[0] == instruction.tuple_index:
                    yield Location(user, index[1:])
            elif opcode == "tuple":
                yield Location(user, (position, *index))
            elif opcode in _SAME and position == 0:
                yield Location(user, index)
            elif opcode in _STARTS:
                yield Location(user, (_STARTS[opcode], *index))
            elif opcode in _DONES:
                if index and index[0] == _DONES[opcode]:
                    yield Location(user, index[1:])
            elif opcode == "while":
                yield from self._in_parameter(instruction.called_computation_ids, 0, index)
            elif opcode == "conditional":
                branch = instruction.called_computation_ids[position - 1 : position] if position else ()
                yield from self._in_parameter(branch, 0, index)
            elif opcode in ("call", "async-start"):
                yield from self._in_parameter(instruction.called_computation_ids, position, index)
                if opcode == "async-start":
                    yield Location(user, (0, position, *index))
        for caller in self._callers.get(self._root_of.get(number, -1), ()):
            instruction = self._module.instructions[caller]
            if instruction.opcode == "while" and self._root_of[number] not in self._conditions:
                yield from self._in_parameter(instruction.called_computation_ids, 0, index)  # the next iteration
                yield Location(caller, index)
            elif instruction.opcode in ("call", "conditional"):
                yield Location(caller, index)
            elif instruction.opcode == "async-start":
                yield Location(caller, (1, *index))

    def _in_parameter(self, called: Iterable[int], parameter: int, index: ShapeIndex) -> Iterator[Location]:
        for computation in called:
            if (computation, parameter) in self._parameters:
                yield Location(self._parameters[computation, parameter], index)
