"""Declares the inputs that a statement reads, without the data of arrays, and how they differ between records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

#: Kinds of inputs. A ``"value"`` is text or a setting, an ``"object"`` also a container; what an ``"unknown"`` holds
#: was not read.
InputKind = Literal["array", "number", "value", "object", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A value that a statement reads: a variable, or what a variable or a function holds.

    Attributes:
        path: how the code reaches it: ``"x"``, ``"params['w']"``, or ``"f.rate"`` for a variable in the closure of
            ``f``. ``"…"`` stands for further inputs, which are not listed.
        kind: what it is.
        words: the type of an array, such as ``"f32[8,8]"``; the value of a number, or of text of up to 16 characters;
            what anything else is, such as ``"a dict of 2"``.
    """

    path: str
    kind: InputKind
    words: str


class InputChange(NamedTuple):
    """An input that differs between two records.

    Attributes:
        path: how the code reaches it; both names if it has another one.
        before: what it was in the earlier record, in words.
        now: what it is in the later one.
    """

    path: str
    before: str
    now: str
