"""JAX's compilation events as they were observed, before they are grouped and explained."""

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
        placement: its sharding, in words; ``None`` if it is not yet an array on a device.
        weak: whether it has a weak type, as Python numbers do.
        traced: whether it is a tracer.
        number: whether it is a Python number rather than an array.
        numpy_scalar: whether it is a scalar of NumPy, for which JAX compiles as for an array.
        mesh: the axes of the mesh that is part of its type, as JAX writes them, ``({Explicit: ('d',)})``, if any.
    """

    type: str
    placement: str | None
    weak: bool = False
    traced: bool = False
    number: bool = False
    numpy_scalar: bool = False
    mesh: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One container in a call's arguments.

    Attributes:
        kind: the name of its class; ``"None"`` for ``None``, which JAX counts as a container without elements.
        count: the number of its elements, which may be containers.
        names: the keys or fields of its elements, if it has any: ``"'w'"`` or ``"step"``.
    """

    kind: str
    count: int
    names: tuple[str, ...] = ()


#: The kinds of values that a function or a static argument holds; they determine the remedy if a value differs.
HeldKind = Literal[
    "number",  # could be an argument
    "array",  # could be an argument
    "function",
    "value",  # text, a class, a setting of a library's object
    "object",  # an object or container; the values that it holds follow
    "unknown",  # cannot be compared
]


#: What a static argument is that calls a function without being one.
WrapperKind = Literal["partial", "method", "object"]

#: Stands for values that were not read.
CUT = "…"


@dataclass(frozen=True, slots=True)
class Held:
    """One value that a function or a static argument holds, without its data.

    Attributes:
        kind: the kind of value.
        words: the value in words, ``"2.0"``, or its type, ``"f32[8]"`` or ``"a Model"``.
        token: a number that is the same for equal values; ``None`` if they cannot be compared.
        form: a number that is the same for numbers or arrays that one compiled program could take as its argument.
        read: whether the jitted function reads it; true if that is unknown.
    """

    kind: HeldKind
    words: str
    token: int | None
    form: int | None = None
    read: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call of a jitted function that led to a compilation, without its data.

    Attributes:
        name: the function's name.
        location: ``file:line`` of its definition.
        internal: whether the function belongs to JAX itself, so that this is an eager operation.
        wrapped: whether a library jits a function of its own around it, which JAX's explanation is then about.
        outer: the function that was being traced at the time; ``None`` if there was none, or it has no name.
        while_tracing: whether a function was being traced at the time; if `ahead_of_time`, whether this function was
            traced only, and not compiled.
        jit_disabled: whether this is an eager operation that ran under ``jax_disable_jit``.
        function_id: a number for the function object, never used for another object in this process.
        source_id: a number that is the same for function objects made from the same source.
        parameters: the names of its parameters, in order.
        leaves: its array arguments by path (``x``, ``params['w']``).
        static_args: its static arguments by name, in words.
        static_functions: the static arguments that are functions: a number for their source, and where it is defined.
        static_wrappers: those of them that are no functions but call one: their kind, and the name of their class.
        static_contents: the values that each static argument holds, by path.
        held: the closure, default and global values that the function uses, by path (``w``, ``cfg.rate``).
        options: the options of ``jax.jit`` that programs depend on, in words.
        containers: the container types of each argument that has any: ``"dict[list[*], *]"``.
        nodes: these containers by path, an outer one before those in it; not all of them if there are hundreds.
        call_signature: the number of arguments passed by position, and the names of those passed by keyword; ``None``
            if the arguments were not read.
        names: the names of all arguments that were passed, including those without leaves.
        context: a number that identifies configuration and mesh; ``None`` if unknown.
        settings: the settings that programs depend on, by name.
        transformed: whether it was evaluated as part of a transformation such as ``jax.grad`` or ``jax.vmap``.
        transformation: the transformation, in words: ``"jax.vmap"``; ``""`` if unknown.
        ahead_of_time: whether it was reached through ``.lower()`` or ``.compile()``.
    """

    name: str
    location: str | None = None
    internal: bool = False
    wrapped: bool = False
    outer: str | None = None
    while_tracing: bool = False
    jit_disabled: bool = False
    function_id: int | None = None
    source_id: int | None = None
    parameters: tuple[str, ...] = ()
    leaves: Mapping[str, Leaf] = field(default_factory=dict)
    static_args: Mapping[str, str] = field(default_factory=dict)
    static_functions: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    static_wrappers: Mapping[str, tuple[WrapperKind, str]] = field(default_factory=dict)
    static_contents: Mapping[str, Mapping[str, Held]] = field(default_factory=dict)
    held: Mapping[str, Held] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    containers: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    call_signature: tuple[int, tuple[str, ...]] | None = None
    names: tuple[str, ...] = ()
    context: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    transformed: bool = False
    transformation: str = ""
    ahead_of_time: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One stage of a compilation, as JAX reported it at its end.

    Attributes:
        call: the call that led to it, if it was found.
        called_at: ``file:line`` of the user's code that was running.
    """

    stage: Stage
    function: str
    start_ns: int
    end_ns: int
    thread: int
    thread_name: str
    cache: CacheAnswer | None = None
    saved_ns: int | None = None
    call: Call | None = None
    called_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """JAX's explanation of one miss of its tracing cache."""

    text: str
    thread: int
    at_ns: int
