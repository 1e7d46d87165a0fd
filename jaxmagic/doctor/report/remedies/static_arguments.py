"""Words what to pass for a static argument that is not hashable."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ...analysis.failures.expression import before_dot
from ..quoted import quoted

#: What can be hashed in place of each type.
_HASHABLE = {"list": "a tuple", "set": "a frozenset", "array": "a tuple of numbers"}
_HASHABLE |= dict.fromkeys(("dict", "OrderedDict"), "a tuple of pairs")


def _stays_static(argument: str, untraced: str, untraced_type: str, needed: str) -> str:
    """Begin a sentence with why an argument has to stay static, or when it need not."""
    name = quoted(argument) or "it"
    if untraced:
        why = f"{quoted(untraced)} ({printable(untraced_type)}) cannot be traced"
        return f"{name} has to stay static, because {why}: "
    if needed:
        return f"{name} has to stay static, because {quoted(needed)} needs a Python value: "
    return (
        f"If {name} holds nothing but arrays and numbers to compute with, leave it an ordinary argument. If it "
        "decides a size, a number of steps or a branch, "
    )


def _write_converted(
    argument: str,
    function: str,
    parts: str,
    types: str,
    more: int = 0,
    read_back: bool = False,
    frozen: str = "",
    untraced: str = "",
    untraced_type: str = "",
    needed: str = "",
) -> str:
    pairs = zip(parts.split("; "), types.split("; "), strict=False)
    ways = [
        f"{quoted(part)} as {_HASHABLE.get(type, 'a tuple')}"
        for part, type in pairs
        if type not in frozen.split(", ")
    ]
    them = "it" if len(ways) + more == 1 else "them"
    last = f"{more} more likewise" if more else ways.pop() if ways else ""
    passed = f"{', '.join(ways)} and {last}" if ways else last
    if frozen:
        made = f"declare {quoted(frozen)} with @dataclasses.dataclass(frozen=True), if nothing assigns to its fields"
        passed = f"{made}, and pass {passed}" if passed else made
    else:
        passed = f"pass {passed}"
    back = f" {quoted(function)} then makes of it what it reads." if read_back else ""
    return f"{_stays_static(argument, untraced, untraced_type, needed)}{passed}, if nothing changes {them}.{back}"


def _write_not_static(argument: str, text: str = "", size: str = "") -> str:
    one = f"int({printable(text) or '…'})"
    several = f"tuple({printable(before_dot(text)) or '…'}.tolist())"
    ways = {
        "one": f"a Python number, {one}",
        "axis": f"a tuple of numbers, {several}",
        "axes": "Python numbers, or a tuple of them",
    }
    unknown = f"a Python number, {one} if it has one element, or a tuple of numbers, {several} if it has one axis"
    return (
        f"If {quoted(argument) or 'it'} decides a size, a number of steps or a branch, pass "
        f"{ways.get(size, unknown)}. If it is data, do not declare it static: arrays are passed as ordinary "
        "arguments, which are traced."
    )


def _write_pairs(argument: str, function: str, untraced: str = "", untraced_type: str = "", needed: str = "") -> str:
    return (
        f"{_stays_static(argument, untraced, untraced_type, needed)}pass it as a tuple of pairs, of which "
        f"{quoted(function)} makes a dictionary again."
    )


def _write_hashable(argument: str, type: str, untraced: str = "", untraced_type: str = "", needed: str = "") -> str:
    if type != "dict":
        return f"Pass {quoted(argument) or 'it'} as a frozenset."
    return (
        f"{_stays_static(argument, untraced, untraced_type, needed)}pass it as a tuple of pairs, of which the "
        "function makes a dictionary again, or as a frozen dataclass. What it holds has to be hashable, too: a "
        "tuple in place of each list."
    )


def _write_parts(
    argument: str, part: str, type: str, untraced: str = "", untraced_type: str = "", needed: str = ""
) -> str:
    return (
        f"{_stays_static(argument, untraced, untraced_type, needed)}pass it as a tuple or a frozen dataclass in "
        f"which all is hashable: {quoted(part)} as {_HASHABLE.get(type, 'a tuple of pairs')}."
    )


def _write_array_apart(argument: str, array: str, more: bool = False) -> str:
    arrays, they_are, them = ("Arrays such as ", "they are", "them") if more else ("", "it is", "it")
    own = "as arguments of their own, which are" if more else "as an argument of its own, which is"
    return (
        f"{arrays}{quoted(array)} cannot be hashed, also not inside of a tuple or a frozen dataclass. If {they_are} "
        f"data, pass {them} {own} not static, and {quoted(argument)} without {them}."
    )


def _write_frozen(argument: str, type: str, part: str = "") -> str:
    unlike = f", which {quoted(part)} is not" if part else ""
    return (
        f"Make {quoted(type) or 'its class'} hashable: @dataclasses.dataclass(frozen=True) does that for a class "
        f"with hashable fields{unlike}; any other class, such as a dict of your own, needs __eq__ and __hash__. Or "
        f"leave {quoted(argument) or 'the argument'} an ordinary argument if it is a pytree."
    )


STATIC_REMEDIES: dict[str, Callable[..., str]] = {
    "write_not_static": _write_not_static,
    "write_filter_jit": lambda argument, function, jit: (
        f"Use {printable(jit)} in place of jax.jit for {quoted(function) or 'the function'}, without static "
        f"arguments. It traces the arrays in {quoted(argument)}, and makes static whatever is no array."
    ),
    "write_tuple": lambda argument: (
        f"Pass {quoted(argument) or 'it'} as a tuple, if its items are hashable and nothing changes it."
    ),
    "write_static_too": lambda argument: (
        f"Pass a Python value for {quoted(argument) or 'it'}: make it static in the function around it as well, or "
        "leave it out of what jax.vmap or jax.grad maps or differentiates. If it is data, do not declare it static."
    ),
    "write_pairs": _write_pairs,
    "write_hashable": _write_hashable,
    "write_converted": _write_converted,
    "write_array_apart": _write_array_apart,
    "write_parts": _write_parts,
    "write_frozen": _write_frozen,
}
