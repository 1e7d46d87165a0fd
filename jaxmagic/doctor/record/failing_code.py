"""Declares what is known about the code that failed: what was traced, called, passed and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...records.call_stack import Frame

#: Decisions of a traced condition that no function of JAX can make, since JAX traces both branches.
Decision = Literal[
    "recursion",  # whether a function that is running is called again
    "raise",  # whether an error is raised
    "break",  # whether a loop of Python ends
    "continue",  # whether the rest of a step of such a loop is skipped
    "return",  # whether a function returns within such a loop
    "print",  # whether a line is printed
    "container",  # which elements a list, a set or a dictionary has, or a generator yields
    "value",  # whether a result is a text or None
]

#: What holds the array into which the failing line assigns.
Holder = Literal[
    "open",  # a variable, a list, a dictionary, or an attribute that can be assigned
    "dataclass",  # a field of a frozen dataclass
    "equinox",  # a field of a module of Equinox
    "namedtuple",  # a field of a named tuple
    "property",  # a property without a setter
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The innermost function that was being traced.

    Attributes:
        function: its name.
        file: the file in which it is defined, as Python names it.
        line: the line on which its definition begins, with its decorators.
        transform: why it was traced, in JAX's word: ``"jit"``, ``"scan"``, ``"while_cond"``.
        arguments: those on which the value depends, as JAX names them: ``"params['w']"``. Empty if none are known.
        unnamed: on how many others it depends, of which JAX does not know the names.
    """

    function: str
    file: str
    line: int
    transform: str
    arguments: tuple[str, ...] = ()
    unnamed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A name in the failing statement that holds a traced value.

    Attributes:
        name: the name.
        type: its type, such as ``"f32[3]"``.
        origin: the function whose tracing made it, and on which of its arguments it depends; ``None`` if unknown.
    """

    name: str
    type: str
    origin: Traced | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """An argument of a call.

    Attributes:
        name: the name of the parameter.
        text: the argument as it is written at the call.
        type: the name of its Python type; ``None`` if that cannot be told without evaluating code.
        flat: whether it is a list, a tuple or a set of hashable values, or a dictionary of such values by text;
            ``None`` if unknown.
        varies: whether it reads the variable of a loop around the call.
        position: the position of the parameter; ``None`` if it has none.
        unhashable: the parts of it that cannot be hashed, such as ``cfg[0]``, with their types; none if unknown.
        hashable: the argument with what can be hashed in place of them; empty if that is unknown.
        restored: statements with which the function makes of `hashable` what it reads; none if it can read that.
        untraced: the first part of an unhashable argument that ``jit`` cannot trace, such as ``cfg['kind']``, and its
            type; empty without any.
        needed: an expression of the function that needs an unhashable argument as a Python value, if one is found.
        shape: the shape of an array; ``None`` if unknown.
        jit: the jit of the library of which it is a module, as in ``"eqx.filter_jit"``; empty for other arguments.
    """

    name: str
    text: str
    type: str | None = None
    flat: bool | None = None
    varies: bool = False
    position: int | None = None
    unhashable: tuple[tuple[str, str], ...] = ()
    hashable: str = ""
    restored: tuple[str, ...] = ()
    untraced: tuple[str, str] = ("", "")
    needed: str = ""
    shape: tuple[int, ...] | None = None
    jit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JitCall:
    """A call of a jitted function in the user's code.

    Attributes:
        function: the function as it is written at the call.
        frame: the line of the call.
        arguments: its arguments, as far as it is known which parameter each is passed to.
        static: the names of the parameters that are static.
        unjitted: the same call without jit, which runs; ``None`` if there is no such call.
        decorator: the decorator that jits the function, such as ``"jax.jit"``, if it is nothing but that.
        jit: the code that jits the function: a decorator, an assignment, or the call itself, as in ``jax.jit(f)(x)``;
            empty if unknown.
        unfit: names that the function assigns to, or uses as arrays, which no static argument can be.
        options: which of the options ``static_argnums`` and ``static_argnames`` jit gets; ``None`` if unknown.
        left: what holds traced values after the call, such as ``"net.state"``.
        changed: the attributes of parameters that the function changes, such as ``"self.step"``.
        returning: a function that gets the attributes of ``self`` and returns the new ones, and its call.
    """

    function: str
    frame: Frame
    arguments: tuple[Passed, ...] = ()
    static: tuple[str, ...] = ()
    unjitted: str | None = None
    decorator: str | None = None
    jit: str = ""
    unfit: tuple[str, ...] = ()
    options: tuple[str, ...] | None = None
    left: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    returning: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """The path of an argument to a traced function, from a caller that was being traced as well.

    Attributes:
        parameter: the parameter.
        text: what was passed, as it is written at the call.
        location: the line of the call, such as ``"cell 3:9"``.
        origin: the function whose tracing made this value, and on which of its arguments it depends.
    """

    parameter: str
    text: str
    location: str
    origin: Traced


@dataclass(frozen=True, slots=True, kw_only=True)
class Escape:
    """A line that may have stored a traced value where it outlives its function.

    Attributes:
        location: the line, such as ``"cell 3:9"``.
        text: the statement.
        name: what it stores into, such as ``"cache"`` or ``"self.cache"``.
        read: what is stored, such as ``"self.cache['x']"``, if the function reads it before, as the next step of a
            loop would; empty otherwise.
        fills: whether the line runs only where nothing was stored yet, as in a cache.
    """

    location: str
    text: str
    name: str
    read: str = ""
    fills: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A statement that kept an array under another name, which a call donated later.

    Attributes:
        statement: the statement, or its first line.
        location: its line, such as ``"cell 3:9"``.
        name: what it keeps, as it is written: ``"state"`` in ``best = state``.
        is_array: whether that is the array itself, rather than a container or a pytree with it.
    """

    statement: str
    location: str
    name: str
    is_array: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A leaf or a node at which two pytrees differ.

    Attributes:
        path: the leaf, such as ``"c['b'][1]"``, or empty.
        expected: the type at the beginning of a loop, or in the first branch.
        got: the type at the end of the loop, or in the other branch.
        aspect: ``"shapes"``, ``"dtypes"``, ``"shapes and dtypes"``, ``"structure"``, ``"metadata"``, or JAX's words.
    """

    path: str
    expected: str
    got: str
    aspect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """An operand or argument in the failing expression.

    Attributes:
        text: the operand as it is written; empty if a library passes it.
        type: ``"f32[3,4]"`` for an array, the name of its class for another value; ``None`` if unknown.
        keyword: the keyword with which it is passed, if any.
        string: its value if it is a short string.
        items: the items, if it is a list or a tuple.
    """

    text: str
    type: str | None = None
    keyword: str | None = None
    string: str | None = None
    items: tuple[Operand, ...] = ()

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of an array or of a number; ``None`` for another value.

        >>> Operand(text="x", type="f32[3,4]").shape, Operand(text="2", type="int").shape
        ((3, 4), ())
        """
        if self.type in ("int", "float", "bool", "complex"):
            return ()
        sizes = (self.type or "").partition("[")[2].removesuffix("]").split(",")
        if not (self.type or "").endswith("]") or not all(each.isdecimal() for each in sizes if each):
            return None
        return tuple(int(each) for each in sizes if each)
