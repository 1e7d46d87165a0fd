"""Attributes instructions to source lines, including instructions that XLA added without a line.

XLA expands and pads operations and adds iotas and copies, mostly without metadata. Each of these instructions is
attributed to the operation that it was made for, which is the first of:

1. the operation in its own metadata, or in the metadata of the computation that it combines elements with;
2. the operation whose constants it takes, such as the initial value of a sum;
3. the users of its result, also through other instructions without a line, in equal shares;
4. the nearest operation whose result it takes;
5. the loop or call that runs it.

A convolution without metadata was asked for by a line as well (``lost_products.py``), and a product may have the
metadata of what transposes it on another line (``transposed_products.py``).

An instruction with the name of a JAX operation but no line was not added by XLA: JAX lost the line, as it does for
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
from .lost_products import lost_products
from .transposed_products import transposed_products

#: The origin of an operation: its call stack and the path of the JAX operation.
Place = tuple[Stack, str]

#: The share of each place in an instruction's time; the shares add up to 1, or there are none.
Shares = Mapping[Place, float]

#: How many instructions are searched for one with a line.
_MOST_SEEN = 200

#: Instructions that return values without taking any.
_LITERAL = ("constant", "iota")

#: Instructions that are looked through, from an instruction to a constant that it takes.
_SAME_VALUES = ("parameter", "broadcast", "bitcast", "reshape")


class Origins:
    """The places that the instructions of a module come from.

    Args:
        module: the module.
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
        self._lost = {**lost_products(module, self._flow), **transposed_products(module, self._flow)}

    def number(self, instruction: HloInstruction) -> int | None:
        """Return the id of an instruction of the module."""
        return self._numbers.get(id(instruction))

    @property
    def flow(self) -> Dataflow:
        """The module's def-use graph."""
        return self._flow

    def shares(self, instruction: HloInstruction) -> Shares:
        """Return the shares of the places that an instruction comes from in its time.

        A fusion is divided by the estimated work of its instructions, each with a place of its own. So is a loop that
        XLA has compiled into one kernel.
        """
        if instruction.opcode == "fusion" or instruction.one_kernel:
            parts = parts_of_kernel if instruction.one_kernel else parts_of
            divided = self._divided(parts(self._module, instruction))
            if divided:
                return divided
        return self._of(instruction)

    def _divided(self, parts: Iterable[tuple[HloInstruction, float]]) -> Shares:
        """Return shares by the work of the parts; none if they do no work, or if no part that does has a line."""
        costs: dict[Place, float] = {}
        for inner, share in parts:
            cost = share * work(self._module, inner)
            for place, part in self._of(inner).items() if cost else ():
                costs[place] = costs.get(place, 0.0) + cost * part
        return _normal(costs) if any(stack for stack, _ in costs) else {}

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
        """Return the place in an instruction's metadata, or in the metadata of its computation or its constants."""
        if number is not None and number in self._lost:
            return self._lost[number]
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
        """Return the place of the constants in the same expansion if it is unique; otherwise only the name."""
        members = [] if number is None else self._members.get(self._region(number), [])
        constants = (self._begins_with(each) for each in members)
        places = {each.stack[-1]: (each.stack, each.op_name) for each in constants if each is not None}
        return {next(iter(places.values())) if len(places) == 1 else ((), instruction.op_name): 1.0}

    def _lost_its_line(self, instruction: HloInstruction) -> bool:
        """Return whether it belongs to a JAX function that was inlined: its path begins with that function."""
        name = instruction.op_name
        return bool(name) and "/" not in name and name not in self._arguments

    def _combines_by(self, instruction: HloInstruction) -> HloInstruction | None:
        """Return an instruction with a line in the computation that it calls, unless others call the same one."""
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
        """Return an operand that is a constant made for this instruction.

        XLA merges equal constants into the one of the first operation, and copies it into fusions. Its line says
        nothing about the other operations.
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
        """Return the first position among the connected instructions without a line, such as one expansion."""
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
                operand = None if at is None else self._module.instructions.get(at)
                if at is None or operand is None or operand.opcode not in _SAME_VALUES or operand.stack:
                    break
                at = next(iter(self._flow.operands(at)), None)
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
        """Return the places of the users of its result, in equal shares."""
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
        """Return the place of the nearest operand, direct or indirect, that has one."""
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
        """Return the place of the nearest caller, direct or indirect, that has one."""
        at, seen = self._flow.caller(number), set[int]()
        while at is not None and at not in seen:
            seen.add(at)
            known = self._known(self._module.instructions[at], at)
            if known:
                return known
            at = self._flow.caller(at)
        return {}


def _normal(shares: Mapping[Place, float]) -> Shares:
    """Scale the shares so that they add up to 1."""
    total = sum(shares.values())
    return {place: share / total for place, share in shares.items()} if total else {}
