"""The earlier calls of a session, with which new ones are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..record.events import Call

#: The functions that are remembered in a session, and the calls of each.
_MOST_FUNCTIONS = 1000
_MOST_CALLS = 8


@dataclass(slots=True)
class Memory:
    """The earlier calls of a session, without their data, with which new calls are compared.

    Attributes:
        calls: the last calls of each function object and each eager operation that compiled something, oldest first.
        sources: the last calls of each function name and source, over all its function objects.
        call_sites: the function that JAX last saw called, by line.
        new: the calls of the block that is measured, by their ids.
    """

    calls: dict[tuple[object, ...], list[Call]] = field(default_factory=dict)
    sources: dict[tuple[str, int | None], list[Call]] = field(default_factory=dict)
    call_sites: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    new: dict[int, Call] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin a block: other calls may have been made since the last one, which nobody saw."""
        self.new.clear()

    def is_new(self, call: Call) -> bool:
        """Return whether a call was made in the block that is measured."""
        return id(call) in self.new

    def recall(self, call: Call) -> list[Call]:
        """Return the calls of the same eager operation, or of the same function under the same transformation."""
        return self.calls.get(_key(call), [])

    def of_source(self, call: Call) -> list[Call]:
        """Return the calls of all function objects with the same name and source."""
        return self.sources.get((call.name, call.source_id), [])

    def forget(self, call: Call) -> list[Call]:
        """Forget the calls of a function object that JAX has forgotten, and return them."""
        keys = [each for each in self.calls if each[0] == call.function_id] if call.function_id is not None else []
        return [each for key in keys for each in self.calls.pop(key)]

    def remember(self, call: Call) -> None:
        """Add a call; when there are too many, those not used for the longest time are forgotten."""
        self.new[id(call)] = call
        if call.call_signature is not None and (call.internal or call.function_id is not None):
            calls = self.calls.pop(_key(call), [])
            self.calls[_key(call)] = [*calls, call][-_MOST_CALLS:]
        if call.source_id is not None and not call.internal:
            calls = self.sources.pop((call.name, call.source_id), [])
            self.sources[call.name, call.source_id] = [*calls, call][-_MOST_CALLS:]
        _forget_oldest(self.calls)
        _forget_oldest(self.sources)
        _forget_oldest(self.call_sites)


def _key(call: Call) -> tuple[object, ...]:
    """Identify eager operations by name, since each set of parameters has a function object of its own."""
    if call.internal:
        return "operation", call.name, call.transformation
    return call.function_id, call.transformation


def _forget_oldest(known: dict[Any, Any]) -> None:
    if len(known) > _MOST_FUNCTIONS:
        del known[next(iter(known))]
