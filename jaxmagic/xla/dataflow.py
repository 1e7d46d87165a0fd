"""Follows values through a module: which instructions take a result and which ones gave it, in and out of fusions."""

from __future__ import annotations

from collections.abc import Iterable

from .hlo import HloInstruction, HloModule

#: How deep fusions in fusions are followed; broken modules go round in circles.
_DEEPEST = 5


class Dataflow:
    """The edges of a module's graph. A fusion is looked through: what counts are the instructions in it.

    Args:
        module: whose instructions, by their numbers there.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._users: dict[int, list[int]] = {}
        self._home: dict[int, int] = {}
        self._position: dict[int, int] = {}
        self._callers: dict[int, list[int]] = {}
        for number, instruction in module.instructions.items():
            for operand in dict.fromkeys(instruction.operand_ids):
                self._users.setdefault(operand, []).append(number)
            for computation in dict.fromkeys(instruction.called_computation_ids):
                self._callers.setdefault(computation, []).append(number)
        for computation, numbers in module.computations.items():
            self._home.update(dict.fromkeys(numbers, computation))
            self._position.update({number: at for at, number in enumerate(numbers)})

    def users(self, number: int, depth: int = 0) -> list[int]:
        """The instructions that take the result of this one."""
        found: list[int] = []
        for user in self._users.get(number, ()):
            found += self._inside(user, number) or [user]
        fusion = None if found else self._fusion(number)
        return found if fusion is None or depth > _DEEPEST else self.users(fusion, depth + 1)

    def operands(self, number: int, depth: int = 0) -> list[int]:
        """The instructions whose results this one takes; of a fusion those that give its own result."""
        instruction = self._module.instructions.get(number)
        if instruction is None or depth > _DEEPEST:
            return []
        if instruction.opcode == "fusion":
            inside = self._numbers(instruction)
            taken = {operand for each in inside for operand in self._module.instructions[each].operand_ids}
            return [each for each in inside if each not in taken] or list(instruction.operand_ids)
        if instruction.opcode == "parameter":
            fusion = self._fusion(number)
            given = () if fusion is None else self._module.instructions[fusion].operand_ids
            return list(given[instruction.parameter_number : instruction.parameter_number + 1])
        return list(instruction.operand_ids)

    def position(self, number: int, depth: int = 0) -> int:
        """Return where an instruction, or its fusion, stands in its computation: operands come first."""
        fusion = self._fusion(number)
        if fusion is None or depth > _DEEPEST:
            return self._position.get(number, -1)
        return self.position(fusion, depth + 1)

    def callers(self, computation: int) -> list[int]:
        """The instructions that run a computation."""
        return self._callers.get(computation, [])

    def caller(self, number: int) -> int | None:
        """The one instruction that runs the computation that this one is in; ``None`` if there is not one."""
        found = self._callers.get(self._home.get(number, -1), [])
        return found[0] if len(found) == 1 else None

    def runner(self, number: int, depth: int = 0) -> int:
        """Return the loop, branch or call that runs an instruction, also one in a fusion; -1 if there is none."""
        fusion = self._fusion(number)
        if fusion is not None and depth <= _DEEPEST:
            return self.runner(fusion, depth + 1)
        found = self.caller(number)
        return -1 if found is None or found == fusion else found

    def _fusion(self, number: int) -> int | None:
        found = self.caller(number)
        return found if found is not None and self._module.instructions[found].opcode == "fusion" else None

    def _numbers(self, fusion: HloInstruction) -> list[int]:
        called: Iterable[int] = fusion.called_computation_ids
        return [each for computation in called for each in self._module.computations.get(computation, ())]

    def _inside(self, user: int, number: int) -> list[int]:
        """The instructions of a fusion that take an operand of it."""
        fusion = self._module.instructions[user]
        if fusion.opcode != "fusion":
            return []
        at = {place for place, operand in enumerate(fusion.operand_ids) if operand == number}
        parameters = (each for each in self._numbers(fusion) if self._module.instructions[each].opcode == "parameter")
        mine = (each for each in parameters if self._module.instructions[each].parameter_number in at)
        return [taker for parameter in mine for taker in self._users.get(parameter, ())]
