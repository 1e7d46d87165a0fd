"""Names the dtypes of types as JAX writes them in short, and compares them."""

from __future__ import annotations

import re

#: The names of dtypes, by JAX's short ones without their bits.
_LONG = {"bool": "bool", "bf": "bfloat", "f": "float", "i": "int", "u": "uint", "c": "complex"}


def wider_dtype(first: str, other: str) -> str:
    """Return the dtype, of two types, that loses less if both become it; empty if numbers cannot become one of them.

    >>> wider_dtype("i32[]", "f32[]"), wider_dtype("f32[2]", "bool[2]"), wider_dtype("bf16[]", "f32[]")
    ('float32', 'float32', 'float32')
    >>> wider_dtype("key<fry>[]", "f32[]")
    ''
    """
    dtypes = dtype_of(first), dtype_of(other)
    return max(dtypes, key=_rank) if all(dtypes) else ""


def _rank(dtype: str) -> tuple[int, int]:
    """Order dtypes: numbers with a fraction after integers, and wider ones after narrower ones."""
    kind = dtype.rstrip("0123456789")
    return ("bool", "uint", "int", "bfloat", "float", "complex").index(kind), int(dtype[len(kind) :] or 0)


def dtype_of(type: str) -> str:
    """Return the name of the dtype of a short type; empty if it has none that a number could be converted to.

    >>> dtype_of("bf16[2]"), dtype_of("bool[]"), dtype_of("key<fry>[]")
    ('bfloat16', 'bool', '')
    """
    match = re.match(r"(bool|bf|f|i|u|c)(\d*)\[", type)
    return "" if match is None else f"{_LONG[match[1]]}{match[2]}"
