"""Reads partition specs and sharded types in messages, and writes specs as code does."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

#: A partition spec, and one that JAX writes as a tuple.
SPEC = r"P(?:artitionSpec)?\((?:[^()]|\([^()]*\))*\)"
TUPLE = r"\((?:[^()]|\([^()]*\))*\)"

#: A type with its sharding, such as ``f32[4@x,8]``.
TYPE = r"\w+\[[^\]]*\]"

#: The size of an axis in such a type, and the axes of the mesh that split it.
_SIZE = r"(-?\d+)(?:@(\([^)]*\)|\w+))?"


def short(spec: str) -> str:
    """Write a partition spec as it is usually imported.

    >>> short("PartitionSpec('data',)"), short("('x', None)")
    ("P('data')", "P('x', None)")
    """
    return f"P({', '.join(entries(spec))})"


def entries(spec: str) -> list[str]:
    """Return the entries of a spec, as code."""
    node = ast.parse(spec, mode="eval").body
    found = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
    return [ast.unparse(each) for each in found]


def axes_of(type: str) -> tuple[tuple[int, str], ...]:
    """Return the size and the entry of the partition spec for each axis of a type.

    >>> axes_of("f32[4@x,8,6@(x,y)]")
    ((4, "'x'"), (8, 'None'), (6, "('x', 'y')"))
    """
    sizes = re.findall(_SIZE, type.partition("[")[2])
    return tuple((int(size), _entry(re.findall(r"\w+", names))) for size, names in sizes)


def _entry(names: Sequence[str]) -> str:
    if len(names) < 2:
        return repr(names[0]) if names else "None"
    return f"({', '.join(map(repr, names))})"
