"""What JAX said while it compiled, before anybody has made sense of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .compilation import CacheAnswer, Stage


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of a call's arguments, without its data.

    Attributes:
        type: its element type and shape as JAX writes them, ``f32[8,8]``.
        placement: where it lies, in the words of its sharding; ``None`` for what is no array yet.
        weak: it has a weak type, as Python's numbers do.
        traced: it is a tracer.
        number: it is one of Python's numbers, and no array.
    """

    type: str
    placement: str | None
    weak: bool = False
    traced: bool = False
    number: bool = False


#: What can be done about a value that differs depends on this.
HeldKind = Literal[
    "number",  # an argument can take its place
    "array",  # and of this one, too
    "function",
    "value",  # text, a class, a setting of a library's object
    "object",  # an object or container: what it holds follows
    "unknown",  # it cannot be compared
]


#: Stands for values that were not looked at.
CUT = "…"


@dataclass(frozen=True, slots=True)
class Held:
    """One value that a function or a static argument holds, without its data.

    Attributes:
        kind: what it is.
        words: the value in words, ``"2.0"``, or its type, ``"f32[8]"`` or ``"a Model"``.
        token: equal for two values that are the same; ``None`` if that cannot be told.
        form: equal for two numbers or arrays that one compiled program could take as its argument.
    """

    kind: HeldKind
    words: str
    token: int | None
    form: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call of a jitted function that led to a compilation, without its data.

    Attributes:
        name: the function's name.
        location: ``file:line`` of its definition.
        internal: it belongs to JAX itself: an eager operation.
        wrapped: a library jits a function of its own around it, and JAX's explanation is about that one.
        outer: the function that was being traced meanwhile; ``None`` if none was, or it has no name.
        while_tracing: whether a function was being traced meanwhile; or `ahead_of_time`, this one, and not compiled.
        function_id: a number for the function object; of no other object, however long ago it was.
        source_id: equal for two function objects that were made from the same source.
        parameters: the names of its parameters, in order.
        leaves: its array arguments by path (``x``, ``params['w']``).
        statics: its static arguments by name, in words.
        static_functions: those that are functions: what they were made from, and where that is defined.
        static_contents: what each static argument holds, by path.
        held: what the function closes over, takes by default or names as a global, by path (``w``, ``cfg.rate``).
        options: what ``jax.jit`` was told, as far as programs differ by it, in words.
        containers: the containers of each argument by name, as far as it has any: ``"dict[list[*], *]"``.
        passed: how many arguments were passed by position, and the names of those passed by keyword; ``None``
            where arguments were not looked at.
        names: of the arguments that were passed, also of those that hold nothing.
        context: a number that is another one under another configuration or mesh; ``None`` if unknown.
        settings: the settings that programs depend on, by name.
        transformed: it was evaluated as a part of ``jax.grad``, ``jax.vmap`` or the like.
        transformation: of which one, in words: ``"jax.vmap"``; ``""`` if unknown.
        ahead_of_time: it was reached through ``.lower()`` or ``.compile()``.
    """

    name: str
    location: str | None = None
    internal: bool = False
    wrapped: bool = False
    outer: str | None = None
    while_tracing: bool = False
    function_id: int | None = None
    source_id: int | None = None
    parameters: tuple[str, ...] = ()
    leaves: Mapping[str, Leaf] = field(default_factory=dict)
    statics: Mapping[str, str] = field(default_factory=dict)
    static_functions: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    static_contents: Mapping[str, Mapping[str, Held]] = field(default_factory=dict)
    held: Mapping[str, Held] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    containers: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[int, tuple[str, ...]] | None = None
    names: tuple[str, ...] = ()
    context: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    transformed: bool = False
    transformation: str = ""
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
