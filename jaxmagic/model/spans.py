"""What JAX said while it compiled, before anybody has made sense of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .compilation import CacheAnswer

Stage = Literal["tracing", "lowering", "compilation", "cache retrieval"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of a call's arguments, without its data."""

    type: str
    placement: str | None
    traced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call of a jitted function that led to a compilation, without its data.

    Attributes:
        name: the function's name.
        location: ``file:line`` of its definition.
        internal: it belongs to JAX itself: an eager operation.
        source_id: equal for two function objects that were made from the same source.
        parameters: the names of its parameters, in order.
        leaves: its array arguments by path (``x``, ``params['w']``).
        statics: its static arguments by name, in words.
        transformed: it was evaluated as a part of ``jax.grad``, ``jax.vmap`` or the like.
        ahead_of_time: it was reached through ``.lower()`` or ``.compile()``.
    """

    name: str
    location: str | None = None
    internal: bool = False
    source_id: int | None = None
    parameters: tuple[str, ...] = ()
    leaves: Mapping[str, Leaf]
    statics: Mapping[str, str]
    transformed: bool = False
    ahead_of_time: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One stage of one compilation, as JAX reported it when it ended."""

    stage: Stage
    function: str
    start_ns: int
    end_ns: int
    thread: int
    thread_name: str
    cache: CacheAnswer | None = None
    saved_ns: int | None = None
    call: Call | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """JAX's explanation of one miss of its tracing cache."""

    text: str
    thread: int
    at_ns: int
