"""Saved records as JSON documents, with one field changed: what somebody else's file may hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

#: The place of a value: keys and indices, from the document inwards.
Place = tuple[str | int, ...]


def fields_of(document: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    """Every field of the record with its value; of lists of records, those of the first that has it.

    A sweep's comparisons are left out: a comparison is a kind of record of its own, and a sweep takes long to draw.
    """
    seen = set()
    for place, value in _values(document["record"], ("record",)):
        field = tuple(key if isinstance(key, str) else 0 for key in place)
        if field not in seen and "comparison" not in field:
            seen.add(field)
            yield place, value


def _values(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, dict):
        inside: Any = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    else:
        yield place, value
        return
    for key, each in inside:
        yield from _values(each, (*place, key))


def with_value(document: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """The same document with another value at one place."""
    changed: dict[str, Any] = json.loads(json.dumps(document))
    inside: Any = changed
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return changed
