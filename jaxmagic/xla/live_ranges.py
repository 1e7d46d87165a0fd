"""From when to when is each buffer of a program needed?

XLA writes down where a buffer lies, but on most backends not for how long. That follows from the schedule. Time is
the position in it, where what a ``while``, ``call`` or ``conditional`` runs stands before the instruction itself, and
a loop's condition before its body. A value is needed from the instruction that makes it to the last one that takes
it, wherever it went meanwhile: through tuples and their elements, into calls and loops and out of them. The rules are
those of XLA's ``HloDataflowAnalysis`` and ``HloLiveRange`` (https://github.com/openxla/xla).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .buffer_assignment import Location
from .hlo import HloInstruction, HloModule, ShapeIndex, Subshape

#: Instructions that hand on what they take and read nothing of it.
_HANDED_ON = frozenset({"tuple", "domain", "opt-barrier"})

#: Instructions whose result is, at the same place, what they take.
_SAME = frozenset({"bitcast", "domain", "opt-barrier", "add-dependency", "async-update"})

#: Instructions that hand their operand on as a part of their result, and which part that is.
_STARTS = {"copy-start": 1, "send": 0, "recv": 0, "all-gather-start": 0, "collective-permute-start": 0}

#: Instructions whose result is a part of what they take, and which part that is.
_DONES = {"copy-done": 0, "async-done": 1, "all-gather-done": 1, "collective-permute-done": 1, "recv-done": 0}

#: Instructions that hand values on in some way; all others only read what they take.
_HANDS_ON = frozenset(
    {*_HANDED_ON, *_SAME, *_STARTS, *_DONES, "get-tuple-element", "while", "conditional", "call", "async-start"}
)


#: Instructions that give what they take to the computations that they run, and read nothing of it afterwards.
_RUNS = frozenset({"while", "conditional", "call"})


class LiveRange(NamedTuple):
    """From which step of the schedule to which a value is needed, both included.

    Attributes:
        first: the step that makes it.
        last: the last one that needs it.
        returned_at: which part of the program's result it is; ``None`` if it is none.
    """

    first: int
    last: int
    returned_at: ShapeIndex | None = None


class Schedule(NamedTuple):
    """When each instruction runs.

    Attributes:
        steps: by the number of the instruction; those inside of fusions have none.
        spans: first and last step of each computation, with what it calls.
        order: the numbers of the instructions, by step.
    """

    steps: dict[int, int]
    spans: dict[int, LiveRange]
    order: list[int]


def flattened_schedule(module: HloModule) -> Schedule:
    """The schedule of all computations as one sequence, callees before their callers, each of them once.

    Raises:
        ValueError: there is none, or it names an instruction that is not there.
    """
    if not module.schedule.get(module.entry_computation_id):
        raise ValueError("the module has no schedule: it is not what a compiler left")
    if any(number not in module.instructions for order in module.schedule.values() for number in order):
        raise ValueError("the module's schedule names an instruction that is not there")
    table = Schedule({}, {}, [])
    _run(module, module.entry_computation_id, table, {module.entry_computation_id})
    return table


def _run(module: HloModule, number: int, table: Schedule, met: set[int]) -> None:
    first = len(table.order)
    for instruction in module.schedule.get(number, ()):  # what is inside of a fusion has none
        for called in _in_order(module, module.instructions[instruction]):
            if called not in met:
                met.add(called)
                _run(module, called, table, met)
        table.steps[instruction] = len(table.order)
        table.order.append(instruction)
    if len(table.order) > first:
        table.spans[number] = LiveRange(first, len(table.order) - 1)


def _in_order(module: HloModule, instruction: HloInstruction) -> list[int]:
    """The computations that an instruction runs; a loop's condition, which ends in a truth value, comes first."""
    called = [each for each in instruction.called_computation_ids if each in module.computations]
    if instruction.opcode == "while":
        called.sort(key=lambda each: not _is_condition(module, each))
    return called


def _is_condition(module: HloModule, computation: int) -> bool:
    root = module.instructions.get(module.root_ids[computation])
    return root is not None and root.shape == "pred[]"


def live_ranges(module: HloModule, made_at: Iterable[Location], table: Schedule) -> dict[Location, LiveRange]:
    """Tell how long the value is needed that is made at each of these places.

    Args:
        module: the scheduled module.
        made_at: where a value of its own is made: everywhere else there are values that were made elsewhere.
        table: when each instruction runs.

    Returns:
        Those that are made by an instruction that has a place in the schedule.
    """
    flow = _Flow(module, frozenset(made_at), table)
    return {place: flow.lifetime(place) for place in flow.made_at if place.instruction_id in table.steps}


def defined_parts(instruction: HloInstruction) -> Iterator[Subshape]:
    """The parts of its result that an instruction makes itself: the others are values that it hands on."""
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


def alias_groups(module: HloModule, made_at: Iterable[Location], table: Schedule) -> list[set[Location]]:
    """Values that XLA has to keep in one place, each group by where its values are made.

    What a loop begins with, what each turn leaves and what the loop returns are one buffer, and so are the results
    of all branches of a ``conditional``. The rules are those of XLA's ``HloAliasAnalysis``.

    Returns:
        Every value in one group; most are alone.
    """
    flow = _Flow(module, frozenset(made_at), table)
    group_of: dict[Location, set[Location]] = {}
    for value in flow.made_at:
        group = {value}
        for place in flow.walk(value) if value.instruction_id in table.steps else ():
            if flow.joins(place) and place in group_of:
                group |= group_of[place]
            if flow.joins(place):
                group.add(place)
        group_of.update(dict.fromkeys(group, group))
    groups = {id(group): group & flow.made_at for group in group_of.values()}
    return [group for group in groups.values() if group]


class _Flow:
    """Where values go.

    Most of them are made, read by some instructions, and gone. For those the last step that reads them is enough, and
    it is noted in passing; only instructions that hand values on are remembered one by one.
    """

    def __init__(self, module: HloModule, made_at: frozenset[Location], table: Schedule) -> None:
        self.made_at = made_at
        self._module = module
        self._table = table
        self._read_last: dict[int, int] = {}
        self._handed_to: dict[int, list[tuple[int, int]]] = {}
        self._root_of: dict[int, int] = {}
        self._callers: dict[int, list[int]] = defaultdict(list)
        self._parameters: dict[tuple[int, int], int] = {}
        self._home: dict[int, int] = {}
        self._conditions: set[int] = set()
        for number in table.spans:
            self._root_of[module.root_ids[number]] = number
        for step, number in enumerate(table.order):
            self._add(step, number, module.instructions[number])
        for number in table.spans:
            self._add_parameters(number)

    def _add(self, step: int, number: int, instruction: HloInstruction) -> None:
        if instruction.opcode not in _HANDS_ON:
            for operand in instruction.operand_ids:
                self._read_last[operand] = step  # later steps come later
            return
        for position, operand in enumerate(instruction.operand_ids):
            self._handed_to.setdefault(operand, []).append((number, position))
        for called in instruction.called_computation_ids:
            self._callers[called].append(number)
        if instruction.opcode == "while":
            self._conditions.update(self._condition(instruction.called_computation_ids))

    def _add_parameters(self, computation: int) -> None:
        for number in self._module.schedule[computation]:
            instruction = self._module.instructions[number]
            if instruction.opcode == "parameter":
                self._parameters[computation, instruction.parameter_number] = number
                self._home[number] = computation

    def _condition(self, called: tuple[int, ...]) -> list[int]:
        """The one of a loop's two computations that ends in a truth value and not in the loop's state."""
        return [each for each in called if each in self._table.spans and _is_condition(self._module, each)]

    def lifetime(self, made_at: Location) -> LiveRange:
        """From where it is made to the last step that needs it, wherever it has gone."""
        number = made_at.instruction_id
        first = self._table.steps[number]
        if number in self._home:
            first = self._table.spans[self._home[number]].first
        elif number not in self._handed_to and number not in self._root_of:
            return LiveRange(first, self._read_last.get(number, first))
        last, returned_at = first, None
        for place in self.walk(made_at):
            if place != made_at and place in self.made_at:
                continue
            last = max(last, *self._needed(place))
            if self._root_of.get(place.instruction_id) == self._module.entry_computation_id:
                returned_at = place.shape_index
        return LiveRange(first, last, returned_at)

    def walk(self, made_at: Location) -> Iterator[Location]:
        """The places a value comes to, and those where another value is made of it, at which it ends."""
        met, pending = {made_at}, [made_at]
        while pending:
            place = pending.pop()
            yield place
            if place != made_at and place in self.made_at:
                continue
            for further in self._goes_to(place):
                if further not in met:
                    met.add(further)
                    pending.append(further)

    def joins(self, place: Location) -> bool:
        """Tell whether different values can come to a place: into the state of a loop, or out of several branches."""
        if self._module.instructions[place.instruction_id].opcode == "conditional":
            return True
        home = self._home.get(place.instruction_id)
        return home is not None and home != self._module.entry_computation_id

    def _needed(self, place: Location) -> Iterator[int]:
        """Steps that need the value at a place; at least its own."""
        number = place.instruction_id
        own = self._table.steps.get(number, 0)
        yield own
        yield self._read_last.get(number, own)
        if number in self._root_of:  # what a computation ends in is its caller's
            yield self._table.spans[self._root_of[number]].last
        elif self._home.get(number) in self._conditions:  # the state of a loop outlives the look at its condition
            yield self._table.spans[self._home[number]].last
        for user, position in self._handed_to.get(number, ()):
            opcode = self._module.instructions[user].opcode
            if opcode not in _HANDED_ON and not (opcode == "get-tuple-element" and place.shape_index):
                yield self._read_by(user, position)

    def _read_by(self, user: int, position: int) -> int:
        """The last step at which an instruction itself needs an operand; what it runs may need it for longer."""
        instruction = self._module.instructions[user]
        called = instruction.called_computation_ids
        if instruction.opcode == "conditional" and position:
            called = called[position - 1 : position]  # a branch has its own operand
        starts = [self._table.spans[each].first for each in called if each in self._table.spans]
        # A loop has a state of its own as soon as it has begun, in the place of this one; a call and a branch read
        # nothing, what they run does (``HloOrdering::UsesBeforeValueDefinition``).
        return min(starts) if starts and instruction.opcode in _RUNS else self._table.steps[user]

    def _goes_to(self, place: Location) -> Iterator[Location]:
        """Places that stand for the same value."""
        number, index = place
        for user, position in self._handed_to.get(number, ()):
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
                yield from self._into(instruction.called_computation_ids, 0, index)
            elif opcode == "conditional":
                branch = instruction.called_computation_ids[position - 1 : position] if position else ()
                yield from self._into(branch, 0, index)
            elif opcode in ("call", "async-start"):
                yield from self._into(instruction.called_computation_ids, position, index)
                if opcode == "async-start":
                    yield Location(user, (0, position, *index))
        for caller in self._callers.get(self._root_of.get(number, -1), ()):
            instruction = self._module.instructions[caller]
            if instruction.opcode == "while" and self._root_of[number] not in self._conditions:
                yield from self._into(instruction.called_computation_ids, 0, index)  # the next time round
                yield Location(caller, index)
            elif instruction.opcode in ("call", "conditional"):
                yield Location(caller, index)
            elif instruction.opcode == "async-start":
                yield Location(caller, (1, *index))

    def _into(self, called: Iterable[int], parameter: int, index: ShapeIndex) -> Iterator[Location]:
        for each in called:
            if (each, parameter) in self._parameters:
                yield Location(self._parameters[each, parameter], index)
