"""How much of its memory an instruction reads and writes at least: rows that are looked up, and not the whole table.

What is left as it is does not count either: an update of a slice is written where the operand lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.hlo import HloInstruction, Module

#: They read as much of their first operand as they give, and the others, which tell where, as a whole.
_LOOKS_UP = ("dynamic-slice", "gather", "slice")

#: They write as much as their update, the operand of this number, and leave the rest of the first one as it is.
_UPDATE = {"dynamic-update-slice": 1, "scatter": 2}

#: They take no memory of their own.
_SAME = ("bitcast", "reshape", "get-tuple-element")

#: How far fusions are looked into.
_DEEPEST = 20


def bytes_accessed(module: Module, instruction: HloInstruction) -> int | None:
    """How many bytes one run reads and writes at least, each once; ``None`` for loops and calls."""
    if instruction.opcode in ("while", "conditional", "call"):
        return None
    if instruction.opcode == "fusion":
        fusion = _Fusion(module, instruction)
        return fusion.read_bytes() + fusion.written_bytes()
    read = sum(_read_bytes(module, instruction, at) for at in range(len(instruction.operands)))
    return read + _written_bytes(module, instruction)


def payload_bytes(module: Module, instruction: HloInstruction) -> int:
    """What one device puts into an exchange or gets out of it, the larger of the two."""
    taken = sum(_size_bytes(module, each) for each in instruction.operands)
    if instruction.opcode.endswith("-start"):  # its result holds what it takes as well
        return max(taken, instruction.size_bytes - taken)
    return max(taken, instruction.size_bytes)


def _size_bytes(module: Module, number: int) -> int:
    found = module.instructions.get(number)
    return 0 if found is None else found.size_bytes


def _read_bytes(module: Module, instruction: HloInstruction, at: int, depth: int = 0) -> int:
    """How much of one of its operands it reads."""
    whole = _size_bytes(module, instruction.operands[at])
    if instruction.opcode == "fusion":
        return min(whole, _Fusion(module, instruction, depth + 1).read_of(at)) if depth < _DEEPEST else whole
    if at == 0 and instruction.opcode in _LOOKS_UP:
        return min(whole, instruction.size_bytes)
    return 0 if at == 0 and instruction.opcode in _UPDATE else whole


def _written_bytes(module: Module, instruction: HloInstruction) -> int:
    update = _UPDATE.get(instruction.opcode)
    if update is None or update >= len(instruction.operands):
        return instruction.size_bytes
    return min(instruction.size_bytes, _size_bytes(module, instruction.operands[update]))


class _Fusion:
    """The instructions of a fusion: what each of them is read by."""

    def __init__(self, module: Module, fusion: HloInstruction, depth: int = 0) -> None:
        self._module = module
        self._fusion = fusion
        self._depth = depth
        numbers = [each for computation in fusion.called for each in module.computations.get(computation, ())]
        self._inside = {number: module.instructions[number] for number in numbers}
        self._users = _users(self._inside)

    def read_bytes(self) -> int:
        return sum(
            min(_size_bytes(self._module, operand), self.read_of(at))
            for at, operand in enumerate(self._fusion.operands)
        )

    def read_of(self, at: int) -> int:
        """How much is read of one operand: by all that take it, directly or in another shape."""
        whole = _size_bytes(self._module, self._fusion.operands[at])
        parameters = [
            number for number, each in self._inside.items() if each.opcode == "parameter" and each.parameter == at
        ]
        return sum(self._read_through(each, whole) for each in parameters) if parameters else whole

    def written_bytes(self) -> int:
        whole = self._fusion.size_bytes
        results = [number for number in self._inside if number not in self._users]
        return min(whole, sum(map(self._written_by, results))) if results else whole

    def _read_through(self, number: int, whole: int) -> int:
        total = 0
        for user in self._users.get(number, ()):
            taking = self._inside[user]
            if taking.opcode in _SAME:
                total += self._read_through(user, whole)
            else:
                total += sum(
                    _read_bytes(self._module, taking, at, self._depth)
                    for at, operand in enumerate(taking.operands)
                    if operand == number
                )
        return min(total, whole) if number in self._users else whole

    def _written_by(self, number: int) -> int:
        """What it adds to memory: an update alone only where that goes into an operand, which is there already."""
        found = self._inside[number]
        if found.opcode == "tuple":
            return sum(self._written_by(each) for each in found.operands if each in self._inside)
        if found.opcode in _SAME and found.operands and found.operands[0] in self._inside:
            return min(found.size_bytes, self._written_by(found.operands[0]))
        if found.opcode in _UPDATE and found.operands and self._is_operand(found.operands[0]):
            return _written_bytes(self._module, found)
        return found.size_bytes

    def _is_operand(self, number: int) -> bool:
        found = self._inside.get(number)
        if found is None:
            return False
        if found.opcode in _SAME and found.operands:
            return self._is_operand(found.operands[0])
        return found.opcode == "parameter"


def _users(inside: Mapping[int, HloInstruction]) -> dict[int, Sequence[int]]:
    found: dict[int, list[int]] = {}
    for number, instruction in inside.items():
        for operand in dict.fromkeys(instruction.operands):
            found.setdefault(operand, []).append(number)
    return dict(found)
