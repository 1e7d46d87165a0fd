"""Decides whether a program could write a result into the memory of an argument without copying the argument.

Donating does not spare memory if the argument is still needed when the result is computed: XLA then copies it first.
The conditions are those of XLA's ``HloDataflowAnalysis::CanShareOperandBufferWithUser``, as far as they are simple.
"""

from __future__ import annotations

from ...xla.buffer_assignment import Location
from ...xla.hlo import HloInstruction, HloModule
from ...xla.live_ranges import LiveRange, defined_parts, live_ranges
from ...xla.schedule import flattened_schedule

#: Instructions that compute each element of the result from the element of the operand at the same place.
# fmt: off
_ELEMENTWISE = frozenset({
    "abs", "add", "and", "bitcast", "ceil", "clamp", "compare", "convert", "copy", "cosine", "divide",
    "exponential", "exponential-minus-one", "floor", "is-finite", "log", "log-plus-one", "logistic", "maximum",
    "minimum", "multiply", "negate", "not", "or", "parameter", "power", "remainder", "round-nearest-even",
    "round-nearest-afz", "rsqrt", "select", "sign", "sine", "sqrt", "cbrt", "subtract", "tan", "tanh", "erf",
    "xor",
})
# fmt: on

#: Instructions that run a computation like a fusion.
_INLINED = frozenset({"fusion", "call", "map"})

#: The deepest nesting of computations that is followed.
_DEEPEST = 4


class Overwriting:
    """Knows which results a program could write over which parameters.

    Args:
        module: the scheduled module.

    Raises:
        ValueError: the module has no schedule.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        schedule = flattened_schedule(module)
        places = [
            Location(number, part.shape_index)
            for number in schedule.order
            for part in defined_parts(module.instructions[number])
        ]
        self._parameters: dict[int, tuple[int, LiveRange]] = {}
        self._results: dict[int, tuple[Location, LiveRange]] = {}
        entry = set(module.computations[module.entry_computation_id])
        for place, life in live_ranges(module, places, schedule).items():
            instruction = module.instructions[place.instruction_id]
            if instruction.opcode == "parameter" and place.instruction_id in entry and not place.shape_index:
                self._parameters[instruction.parameter_number] = place.instruction_id, life
            elif life.returned_at is not None and instruction.opcode != "tuple":
                self._results[(*life.returned_at, 0)[0]] = place, life

    def can(self, parameter: int, result: int) -> bool:
        """Return whether a result could be written over a parameter; False if that is not certain."""
        if parameter not in self._parameters or result not in self._results:
            return False
        number, read = self._parameters[parameter]
        place, written = self._results[result]
        if read.returned_at is not None:
            return False
        if read.last < written.first:
            return True
        return read.last == written.first and self._in_place(place.instruction_id, number, 0)

    def _in_place(self, user: int, operand: int, depth: int) -> bool:
        """Return whether an instruction can write its result over an operand that it reads."""
        instruction = self._module.instructions[user]
        if instruction.opcode in _INLINED and depth < _DEEPEST and instruction.called_computation_ids:
            computation = instruction.called_computation_ids[0]
            numbers = self._module.computations.get(computation, ())
            passed = {place for place, each in enumerate(instruction.operand_ids) if each == operand}
            inside = [
                each
                for each in numbers
                if self._module.instructions[each].opcode == "parameter"
                and self._module.instructions[each].parameter_number in passed
            ]
            return all(self._stays_in_place(each, numbers, depth + 1) for each in inside)
        if instruction.opcode == "dynamic-update-slice":
            return instruction.operand_ids[:1] == (operand,) and operand not in instruction.operand_ids[1:]
        return _is_elementwise(instruction, self._module.instructions[operand])

    def _stays_in_place(self, value: int, numbers: tuple[int, ...], depth: int) -> bool:
        """Return whether everything in a computation that depends on a value keeps its elements in their places."""
        changed = {value}
        for number in numbers:
            taken = changed & set(self._module.instructions[number].operand_ids)
            if taken:
                if not all(self._in_place(number, each, depth) for each in taken):
                    return False
                changed.add(number)
        return True


def _is_elementwise(instruction: HloInstruction, operand: HloInstruction) -> bool:
    if instruction.opcode == "tuple":
        return True
    return instruction.opcode in _ELEMENTWISE and instruction.elements == operand.elements
