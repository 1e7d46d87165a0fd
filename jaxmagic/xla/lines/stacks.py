"""Reads the call stacks of instructions from a compiled module's table of stack frames."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...records.call_stack import Frame, Stack
from ...records.cell_names import known_as
from ...records.public_names import public_name
from ..hlo_proto import entry, text


class Stacks:
    """The call stacks of a module; instructions with the same stack share one object.

    Args:
        frames: the module's ``StackFrameIndex``.
    """

    def __init__(self, frames: Any) -> None:
        self._cell = cache(_cell)
        self._library = cache(public_name)
        files, functions = frames.file_names, frames.function_names
        self._calls = [
            self._call(
                entry(files, each.file_name_id) or b"", entry(functions, each.function_name_id) or b"", each.line
            )
            for each in frames.file_locations
        ]
        self._frames = [(each.file_location_id, each.parent_frame_id) for each in frames.stack_frames]
        self._stacks: dict[int, Stack] = {}

    def of(self, metadata: Any) -> Stack:
        """Return the stack in an instruction's ``OpMetadata``; older compilers record only the innermost line."""
        number = metadata.stack_frame_id
        if number and number not in self._stacks:
            self._stacks[number] = self._calls_of(number)
        if found := self._stacks.get(number):
            return found
        return (self._call(metadata.source_file, b"", metadata.source_line),) if metadata.source_file else ()

    def unused(self) -> tuple[Stack, ...]:
        """Return the stacks that :meth:`of` has not returned and no other continues."""
        known = {*self._stacks, *(parent for _, parent in self._frames)}
        found = (self._calls_of(number) for number in range(1, len(self._frames) + 1) if number not in known)
        return tuple(filter(None, found))

    def _calls_of(self, number: int) -> Stack:
        calls: list[Frame] = []
        seen = set()
        while 0 < number <= len(self._frames) and number not in seen:  # a malformed table may contain a cycle
            seen.add(number)
            location, number = self._frames[number - 1]
            call = entry(self._calls, location)
            if call is not None:
                calls.append(call)
        return tuple(reversed(calls))

    def _call(self, file: bytes, function: bytes, line: int) -> Frame:
        path, name = text(file), text(function)
        return Frame(function=name, file=path, line=line, cell=self._cell(path), library=self._library(path, name))


def _cell(file: str) -> str | None:
    known = known_as(file)
    return None if known == file else known
