"""Finds the users and the operands of an instruction, in and out of fusions."""

from __future__ import annotations

from .costs.operand_utilization import instructions_of
from .hlo import HloModule

#: The deepest nesting of fusions that is followed; malformed modules may contain cycles.
_DEEPEST = 5


class Dataflow:
    """The def-use graph of a module, in which a fusion is replaced by the instructions in it.

    Args:
        module: the module; its instructions are given and returned by id.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._users: dict[int, list[int]] = {}
        self._computation_of: dict[int, int] = {}
        self._position: dict[int, int] = {}
        self._callers: dict[int, list[int]] = {}
        for number, instruction in module.instructions.items():
            for operand in dict.fromkeys(instruction.operand_ids):
                self._users.setdefault(operand, []).append(number)
            for computation in dict.fromkeys(instruction.called_computation_ids):
                self._callers.setdefault(computation, []).append(number)
        for computation, numbers in module.computations.items():
            self._computation_of.update(dict.fromkeys(numbers, computation))
            self._position.update({number: at for at, number in enumerate(numbers)})

    def users(self, number: int, depth: int = 0) -> list[int]:
        """Return the instructions that use the result of this one."""
        users: list[int] = []
        for user in self._users.get(number, ()):
            users += self._users_inside(user, number) or [user]
        fusion = None if users else self._fusion(number)
        return users if fusion is None or depth > _DEEPEST else self.users(fusion, depth + 1)

    def operands(self, number: int, depth: int = 0) -> list[int]:
        """Return the instructions whose results this one takes; for a fusion, those that compute its result."""
        instruction = self._module.instructions.get(number)
        if instruction is None or depth > _DEEPEST:
            return []
        if instruction.opcode == "fusion":
            inside = instructions_of(self._module, instruction)
            taken = {operand for each in inside.values() for operand in each.operand_ids}
            return [each for each in inside if each not in taken] or list(instruction.operand_ids)
        if instruction.opcode == "parameter":
            fusion = self._fusion(number)
            operands = () if fusion is None else self._module.instructions[fusion].operand_ids
            return list(operands[instruction.parameter_number : instruction.parameter_number + 1])
        return list(instruction.operand_ids)

    def position(self, number: int, depth: int = 0) -> int:
        """Return the position of an instruction, or of its fusion, in its computation: operands come first."""
        fusion = self._fusion(number)
        if fusion is None or depth > _DEEPEST:
            return self._position.get(number, -1)
        return self.position(fusion, depth + 1)

    def callers(self, computation: int) -> list[int]:
        """Return the instructions that run a computation."""
        return self._callers.get(computation, [])

    def caller(self, number: int) -> int | None:
        """Return the caller of the computation that contains an instruction; ``None`` unless it has just one."""
        callers = self.callers(self._computation_of.get(number, -1))
        return callers[0] if len(callers) == 1 else None

    def runner(self, number: int, depth: int = 0) -> int:
        """Return the loop, branch or call that runs an instruction, possibly inside a fusion; -1 if there is none."""
        fusion = self._fusion(number)
        if fusion is not None and depth <= _DEEPEST:
            return self.runner(fusion, depth + 1)
        caller = self.caller(number)
        return -1 if caller is None or caller == fusion else caller

    def _fusion(self, number: int) -> int | None:
        caller = self.caller(number)
        return caller if caller is not None and self._module.instructions[caller].opcode == "fusion" else None

    def _users_inside(self, user: int, number: int) -> list[int]:
        """Return the instructions inside a fusion that use one of its operands."""
        fusion = self._module.instructions[user]
        if fusion.opcode != "fusion":
            return []
        positions = {position for position, operand in enumerate(fusion.operand_ids) if operand == number}
        return [
            inner_user
            for inner, part in instructions_of(self._module, fusion).items()
            if part.opcode == "parameter" and part.parameter_number in positions
            for inner_user in self._users.get(inner, ())
        ]
