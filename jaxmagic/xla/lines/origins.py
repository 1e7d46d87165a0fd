"""Which lines an instruction was made for, where XLA has added it and it has no line of its own.

XLA expands operations, pads them, brings iotas and copies for them, and tells for few of these instructions where
they come from. Each belongs to the operation that it was made for:

1. the one that its own metadata tells, or that of the function it combines numbers with;
2. the one whose constants it takes, such as the initial value of a sum;
3. those that take its result, also by way of others without a line; it is divided where they lie in several lines;
4. the nearest one whose result it takes;
5. the loop or call that runs it.

What has the name of an operation of JAX's and no line was not added by XLA: JAX lost the line, as it does for
cumulative sums. Its neighbours say nothing about it, so it keeps its name and has no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...records.call_stack import Stack
from ..costs.cost_analysis import work
from ..costs.kernel_parts import parts_of_kernel
from ..costs.operand_utilization import parts_of
from ..dataflow import Dataflow
from ..hlo import HloInstruction, HloModule

#: Where an operation comes from: the calls that wrote it, and the path of JAX's operation.
Place = tuple[Stack, str]

#: For each place, its share of an instruction's time; the shares add up to 1, or there are none.
Shares = Mapping[Place, float]

#: How many instructions without a line are looked through for one that has one.
_MOST_SEEN = 200

#: Instructions that give values of their own, and take none that vary.
_LITERAL = ("constant", "iota")


class Origins:
    """The places that the instructions of a module come from.

    Args:
        module: it.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._flow = Dataflow(module)
        self._numbers = {id(instruction): number for number, instruction in module.instructions.items()}
        self._found: dict[int, Shares] = {}
        self._regions: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._literals: dict[tuple[Stack, str, str], list[int]] = {}
        for number, each in module.instructions.items():
            if each.opcode in _LITERAL:
                self._literals.setdefault((each.stack, each.op_name, each.shape), []).append(number)
        self._arguments = {each.name for each in module.inputs}

    def number(self, instruction: HloInstruction) -> int | None:
        """Return the number of an instruction of the module."""
        return self._numbers.get(id(instruction))

    @property
    def flow(self) -> Dataflow:
        """Which instructions take which results."""
        return self._flow

    def shares(self, instruction: HloInstruction) -> Shares:
        """Tell how the time of an instruction is divided among the places that it comes from.

        A fusion is divided by the work of its instructions, each of which belongs to its own place, and so is a loop
        that XLA has compiled into one kernel.
        """
        if instruction.opcode == "fusion" or instruction.one_kernel:
            parts = parts_of_kernel if instruction.one_kernel else parts_of
            divided = self._divided(parts(self._module, instruction))
            if divided:
                return divided
        return self._of(instruction)

    def _divided(self, parts: Iterable[tuple[HloInstruction, float]]) -> Shares:
        """By the work of the parts; none where nothing is computed, or nothing of that has a line."""
        found: dict[Place, float] = {}
        for inner, share in parts:
            cost = share * work(self._module, inner)
            for place, part in self._of(inner).items() if cost else ():
                found[place] = found.get(place, 0.0) + cost * part
        return _normal(found) if any(stack for stack, _ in found) else {}

    def _of(self, instruction: HloInstruction) -> Shares:
        number = self._numbers.get(id(instruction))
        if number is not None and number in self._found:
            return self._found[number]
        found = self._known(instruction, number) or self._by_neighbours(instruction, number)
        if not found and instruction.op_name:
            found = {((), instruction.op_name): 1.0}
        if number is not None:
            self._found[number] = found
        return found

    def _known(self, instruction: HloInstruction, number: int | None) -> Shares:
        """Return what its metadata tells, and that of what is its own: a function, or constants."""
        if instruction.stack:
            return {(instruction.stack, instruction.op_name): 1.0}
        if instruction.traced_for:
            return {((), instruction.op_name): 1.0}
        if instruction.opcode in ("parameter", *_LITERAL):
            return {}
        written = self._combines_by(instruction) or self._begins_with(number)
        if written is not None:
            return {(written.stack, written.op_name): 1.0}
        return self._of_expansion(instruction, number) if self._lost_its_line(instruction) else {}

    def _of_expansion(self, instruction: HloInstruction, number: int | None) -> Shares:
        """The line that the constants of others tell, which are of the same expansion; or none, but its name."""
        mine = [] if number is None else self._members.get(self._region(number), [])
        told = (self._begins_with(each) for each in mine)
        found = {each.stack[-1]: (each.stack, each.op_name) for each in told if each is not None}
        return {next(iter(found.values())) if len(found) == 1 else ((), instruction.op_name): 1.0}

    def _lost_its_line(self, instruction: HloInstruction) -> bool:
        """Tell whether it is JAX's, of a function that has been put in where it was called: its path begins there."""
        name = instruction.op_name
        return bool(name) and "/" not in name and name not in self._arguments

    def _combines_by(self, instruction: HloInstruction) -> HloInstruction | None:
        """An instruction of the function that it calls, unless operations of other lines call the same one."""
        if instruction.opcode == "fusion":
            return None
        for computation in instruction.called_computation_ids:
            callers = [self._module.instructions[each] for each in self._flow.callers(computation)]
            inside = (self._module.instructions[each] for each in self._module.computations.get(computation, ()))
            found = next(
                (each for each in inside if each.stack and each.opcode not in ("parameter", *_LITERAL)), None
            )
            if found is not None and len(callers) <= 1:
                return found
        return None

    def _begins_with(self, number: int | None) -> HloInstruction | None:
        """A constant that it takes and that was made for it.

        XLA makes one of equal constants, that of the operation that comes first, and copies of that one for
        fusions. It tells nothing about the others.
        """
        taken = self._flow.operands(number) if number is not None else ()
        for operand in dict.fromkeys(self._through_parameters(taken)):
            found = self._module.instructions.get(operand)
            if found is None or number is None or found.opcode not in _LITERAL or not found.stack:
                continue
            copies = self._literals[found.stack, found.op_name, found.shape]
            users = [user for each in copies for user in self._flow.users(each)]
            lines = {stack[-1:] for each in users if (stack := self._module.instructions[each].stack)}
            regions = [self._region(each) for each in users if not self._module.instructions[each].stack]
            if lines <= {found.stack[-1:]} and (lines or self._region(number) == min(regions, default=-1)):
                return found
        return None

    def _region(self, number: int) -> int:
        """The instructions without a line that hang together, as those of one expansion: the first one's place."""
        if number not in self._regions:
            todo, seen = [number], set[int]()
            while todo and len(seen) < _MOST_SEEN:
                at = todo.pop()
                instruction = self._module.instructions.get(at)
                if at in seen or instruction is None or instruction.stack or instruction.opcode in _LITERAL:
                    continue
                seen.add(at)
                todo += self._flow.users(at)
                todo += self._flow.operands(at)
            first = min((self._flow.position(each) for each in seen), default=-1)
            self._regions.update(dict.fromkeys(seen, first))
            self._members[first] = sorted(seen)
        return self._regions.get(number, -1)

    def _through_parameters(self, numbers: Iterable[int]) -> Iterable[int]:
        for number in numbers:
            at: int | None = number
            for _ in range(_MOST_SEEN):
                each = None if at is None else self._module.instructions.get(at)
                if each is None or each.opcode not in ("parameter", "broadcast", "bitcast", "reshape") or each.stack:
                    break
                at = next(iter(self._flow.operands(at)), None) if at is not None else None
            if at is not None:
                yield at

    def _by_neighbours(self, instruction: HloInstruction, number: int | None) -> Shares:
        if number is None:
            return self._nearest(instruction.operand_ids)
        takers = self._reached(number)
        if takers:
            return takers
        return self._nearest(self._flow.operands(number)) or self._by_caller(number)

    def _reached(self, number: int) -> Shares:
        """Those that take its result, each as much as the others."""
        todo, seen = list(self._flow.users(number)), {number}
        found: dict[Place, float] = {}
        while todo and len(seen) < _MOST_SEEN:
            at = todo.pop(0)
            if at in seen:
                continue
            seen.add(at)
            known = self._known(self._module.instructions[at], at)
            for place, share in known.items():
                found[place] = found.get(place, 0.0) + share
            if not known:
                todo += self._flow.users(at)
        return _normal(found)

    def _nearest(self, operands: Iterable[int]) -> Shares:
        """The nearest of its operands, and of theirs, that has a line."""
        todo, seen = list(operands), set[int]()
        while todo and len(seen) < _MOST_SEEN:
            at = todo.pop(0)
            instruction = self._module.instructions.get(at)
            if instruction is None or at in seen:
                continue
            seen.add(at)
            known = {} if instruction.opcode in _LITERAL else self._known(instruction, at)
            if known:
                return known
            todo += self._flow.operands(at)
        return {}

    def _by_caller(self, number: int) -> Shares:
        """Return what runs the computation that it is in, and what runs that."""
        at, seen = self._flow.caller(number), set[int]()
        while at is not None and at not in seen:
            seen.add(at)
            known = self._known(self._module.instructions[at], at)
            if known:
                return known
            at = self._flow.caller(at)
        return {}


def _normal(shares: Mapping[Place, float]) -> Shares:
    """The same shares, adding up to 1."""
    total = sum(shares.values())
    return {place: share / total for place, share in shares.items()} if total else {}
