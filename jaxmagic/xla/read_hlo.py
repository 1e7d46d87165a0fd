"""Reads a compiled module as it lies in a recording, for what a profile needs of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .costs.flops import flops_of, shape_without_workspace
from .hlo import HloInstruction, Module
from .hlo_proto import read, shape_of, text
from .lines.stacks import Stacks
from .shardings import groups_of, sharded


def read_module(data: bytes) -> Module:
    """The module in a serialized ``HloProto``.

    Raises:
        google.protobuf.message.DecodeError: it is none.
    """
    module = read("HloProto", data).module
    messages = {each.id: each for computation in module.computations for each in computation.instructions}
    reader = _Reader(module.frames, messages)
    instructions = {number: reader.instruction(each) for number, each in messages.items()}
    computations = {each.id: tuple(one.id for one in each.instructions) for each in module.computations}
    named = {each.name: number for number, each in instructions.items()}
    entry_ = next((each for each in module.computations if each.id == module.entry), None)
    inputs, outputs = ((), ()) if entry_ is None else sharded(module, entry_)
    return Module(text(module.name), instructions, computations, named, inputs, outputs)


#: How XLA writes how often a loop runs, where it knows.
_TRIPS = re.compile(rb'"known_trip_count":\s*\{"n":\s*"(\d{1,18})"')


def _trips(message: Any) -> int:
    found = _TRIPS.search(message.backend_config)
    return int(found[1]) if found else 0


def _is_one_kernel(message: Any) -> bool:
    """Tell whether XLA for the CPU compiles a call as a whole."""
    return any(each.key == b"xla_cpu_small_call" and each.value == b"true" for each in message.attributes.entries)


class _Reader:
    """Reads instructions. What many of them have in common, texts, shapes and stacks, is made once."""

    def __init__(self, frames: Any, messages: Mapping[int, Any]) -> None:
        self._messages = messages
        self._stacks = Stacks(frames)
        self._shapes: dict[bytes, tuple[str, int, int]] = {}

    def instruction(self, message: Any) -> HloInstruction:
        opcode = text(message.opcode)
        shape, elements, size_bytes = self._shape(message)
        return HloInstruction(
            name=text(message.name),
            opcode=opcode,
            shape=shape,
            elements=elements,
            size_bytes=size_bytes,
            operands=tuple(message.operands),
            called=tuple(message.called),
            target=text(message.target),
            flops=flops_of(message, self._shapes_of(message.operands)),
            groups=groups_of(message),
            op_name=text(message.metadata.op_name),
            stack=self._stacks.of(message.metadata),
            parameter=message.parameter,
            one_kernel=_is_one_kernel(message),
            relayout=opcode == "copy" and self._is_relayout(message),
            trips=_trips(message) if opcode == "while" else 0,
        )

    def _is_relayout(self, message: Any) -> bool:
        (taken,) = self._shapes_of(message.operands) or [message.shape]
        return list(taken.layout.order) != list(message.shape.layout.order)

    def _shapes_of(self, numbers: Iterable[int]) -> list[Any]:
        found = (self._messages.get(number) for number in numbers)
        return [each.shape for each in found if each is not None]

    def _shape(self, message: Any) -> tuple[str, int, int]:
        """Return the result shape without workspace, its elements and its bytes."""
        shape = shape_without_workspace(message)
        key = shape.SerializeToString()
        if key not in self._shapes:
            self._shapes[key] = shape_of(shape)
        return self._shapes[key]
