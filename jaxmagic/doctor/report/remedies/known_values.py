"""Words what to write where a number has to be known during tracing, and what is static."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted
from .static_arguments import STATIC_REMEDIES


def _write_static_part(argument: str, container: str, function: str, several: bool = False) -> str:
    kind = "tuple of Python numbers" if several else "Python number"
    return (
        f"{_part_of(argument, container)} Pass it to {quoted(function)} as an argument of its own, as a {kind}, and "
        f"declare that static{_or_all(container)}"
    )


def _write_static_flag(argument: str, container: str, function: str, jnp: str) -> str:
    return (
        f"{_part_of(argument, container)} If it is a Python bool, pass it to {quoted(function)} as an argument of "
        f"its own, and declare that static{_or_all(container)} A condition on data becomes "
        f"{jnp}.where(condition, a, b)."
    )


def _part_of(argument: str, container: str) -> str:
    return f"{quoted(argument)} is a part of {quoted(container)}, and JAX traces all numbers in it."


def _or_all(container: str) -> str:
    return (
        f"; or declare {quoted(container)} static, if it is hashable, such as a tuple or a frozen dataclass of "
        "Python numbers."
    )


def _write_static(
    argument: str, type: str, function: str, option: str = "", varying: str = "", traced_too: str = ""
) -> str:
    *first, last = argument.split(", ")
    depends = f"{' and '.join(map(quoted, varying.split(', ')))} depend{'' if ',' in varying else 's'}"
    loop = f" {depends} on the loop around the call, which compiles a program for each new value." if varying else ""
    other = (
        f" Or keep it traced, as an index of an array: {printable(traced_too)}, where an index that is out of range "
        "is clamped, not an error."
        if traced_too
        else ""
    )
    if first and not option:
        names = f"{', '.join(map(quoted, first))} and {quoted(last)}"
        kind = f"{type}s" if type else "values"
        return (
            f"{names} are Python {kind} where {quoted(function)} is called: declare {'all' if first[1:] else 'both'} "
            f"static. The function is then compiled once per combination of their values.{loop}{other}"
        )
    how = f", with {printable(option)} where the function is jitted" if option else ""
    return (
        f"{'The argument ' if 'argnums' in option else ''}{quoted(argument)} is a Python {type} where "
        f"{quoted(function)} is called: declare it static{how}. "
        f"The function is then compiled once per value.{loop}{other}"
    )


def _write_element(elements: str, items: str, index: str, jnp: str, lax: str) -> str:
    """Word the advice for an element of a list that cannot become an array."""
    items, index = printable(items), printable(index)
    if elements == "text":
        return (
            f"JAX has no arrays of text. Return the index, {index}, and read {items} outside of the traced function."
        )
    switch = (
        f"{lax}.switch({index}, [functools.partial(f, each) for each in {items}]), where f computes arrays of the "
        "same shapes and types from each element. An index that is out of range is then clamped, not an error."
    )
    if elements == "shapes":
        return (
            f"The arrays in {items} have different shapes, so they cannot become one array. Pad them to one shape, "
            f"join them with {jnp}.stack, and mask the padding; or use {switch}"
        )
    return f"The elements of {items} cannot become one array. Use {switch}"


def _write_joined_lists(items: str, index: str, jnp: str, joined: bool, code: str, function: str) -> str:
    """Word the advice for an item of a list of lists."""
    items = printable(items)
    going = f" To go on now, call {quoted(function)} without jit." if function else ""
    if not joined:
        return (
            f"The items of {items} are lists of different lengths, or empty, so they make no array. Pad them to one "
            f"length, so that {jnp}.array({items}) has a row for each, and mask the padding.{going}"
        )
    start = f"{items} begins as an array, too: {jnp}.zeros((number, 0), int) for empty lists that get integers."
    how = (
        f"Keep one array with a row for each list: {printable(code)}. {start}"
        if code
        else f"Keep one array of a fixed size, with a row for each list, and set its elements with "
        f"{items}.at[row, column].set(value), or join arrays with {jnp}.concatenate()."
    )
    item = f"{items}[{printable(index)}]"
    return (
        f"{item} is a list, and + joins lists. Arrays in their place would be added, without an error. {how}{going}"
    )


def _write_dynamic_slice(
    array: str, size: str, code: str, static: str = "", function: str = "", option: str = ""
) -> str:
    declared = ""
    if static:
        *first, last = map(quoted, static.split(", "))
        are = f"{', '.join(first)} and {last} are Python ints" if first else f"{last} is a Python int"
        them = "them" if first else "it"
        how = f", with {printable(option)}" if option else ""
        declared = f" {are} where {quoted(function)} is called: declare {them} static{how}."
    return (
        f"The size of the slice, {quoted(size)}, does not depend on where it starts: write {printable(code)}, which "
        f"is compiled once for all starts{' of one size' if static else ''}. If it would reach beyond the end of "
        f"{quoted(array)}, it starts earlier, with the same size.{declared}"
    )


def _write_sized(
    function: str,
    jnp: str,
    argument: str = "",
    jitted: bool = False,
    replaced: str = "",
    counted: str = "",
    count: str = "",
) -> str:
    """Word how many elements a function returns whose result has a size that depends on values.

    Args:
        function: the function, as it is called.
        jnp: the name of ``jax.numpy``.
        argument: the argument that says how many; ``size`` and ``fill_value`` if left out.
        jitted: whether ``jax.jit`` gets the function itself, and traces this argument.
        replaced: the function of NumPy that is called in its place.
        counted: the length of the result, if the code uses nothing else of it.
        count: code that counts as many elements; empty if there is none.
    """
    many = f"{quoted(function)} returns as many elements as the values say."
    if replaced:
        many = f"Use {quoted(function)} in place of {quoted(replaced)}. {many}"
    if count:
        return (
            f"{many} To count them, write {printable(count)} in place of {printable(counted)}. With size=, "
            f"{printable(counted)} would be that size, whatever the values are."
        )
    then = f" {printable(counted)} is then that size, whatever the values are." if counted else ""
    size = argument or "size"
    static = f' Declare {size} static where the function is jitted: static_argnames="{size}".' if jitted else ""
    if argument:
        known = f"a number known during tracing: the result is padded, or cut, to it.{static}"
        return f"{many} Say how many with {argument}=, {known}"
    if jitted:
        return f"{many} Give it size=, and fill_value= for the padding.{static}{then}"
    no_mask = function.endswith(("unique", "intersect1d", "union1d", "setdiff1d"))
    where = "" if no_mask else f", or use {jnp}.where(condition, a, b) with three arguments"
    return f"{many} Give it size=, a number known during tracing, and fill_value= for the padding{where}.{then}"


def _write_number_after(
    value: str, name: str, need: str, function: str, outermost: bool, differentiated: bool, code: str
) -> str:
    """Word the advice for a number that a traced function stores outside of it."""
    what = quoted(value) or "it"
    who = quoted(function) if function else "the traced function"
    run = f"run {printable(code)}" if code else "store it"
    if outermost:
        then = f"Return {what} from {who} as well, and after result, {printable(name)} = {who}(…), {run}."
    else:
        called = "" if name == value else f", as {printable(name)}"
        then = f"Return {what} from {who} and from what calls it, and where it has a value{called}, {run}."
    if differentiated:
        then += " Under jax.grad, that takes has_aux=True."
    return f"{then} Without {quoted(need)}, a traced value would be stored, and cannot be used after {who} has ended."


def _write_slice(lax: str, update: bool = False, table: str = "") -> str:
    bound = f"{quoted(table)} would be traced, too, as no bound of a slice can be. " if table else ""
    how = (
        f"{lax}.dynamic_update_slice(x, values, (start,)) sets a slice of known size at a traced position. "
        if update
        else f"A slice of known size from a traced position is {lax}.dynamic_slice(x, (start,), (size,)). "
    )
    return f"{bound}{how}If the size itself is traced, keep the whole array and mask it."


KNOWN_VALUE_REMEDIES: dict[str, Callable[..., str]] = {
    "write_option": lambda function: (
        f"{quoted(function)} decides by this value while it is traced: pass a Python value, such as a constant or an "
        "argument that is static in the function that is jitted."
    ),
    "write_kept_number": lambda need, dtype="": (
        (
            f"Keep it an array: write x.astype({dtype}) in place of {dtype}(x). "
            + ("It rounds towards zero, too. " if dtype == "int" else "")
            if dtype
            else f"Keep it an array: leave out {quoted(need)}. "
        )
        + "A Python number can be made of the result that the function returns."
    ),
    "write_number_after": _write_number_after,
    "write_unmapped": lambda mapped, kept: (
        f"Keep the elements arrays: write {printable(kept)} in place of {quoted(mapped)}. Python numbers can be made "
        "of the result that the function returns."
    ),
    "write_sized": _write_sized,
    "write_static": _write_static,
    "write_static_perhaps": lambda argument, function, option="", tuple=False: (
        f"If {quoted(argument)} is a {'tuple of Python numbers' if tuple else 'Python number'} wherever "
        f"{quoted(function)} is called, declare it static{option and f': {printable(option)}'}. "
        "Whether it is, is unknown here."
    ),
    "write_static_if": lambda argument, type, function, computed, option="": (
        f"{quoted(argument)} is a Python {type} where {quoted(function)} is called. If "
        f"{printable(computed) or 'the failing number'} is computed by Python alone, without functions of JAX, "
        f"declare {quoted(argument)} static{option and f', with {printable(option)}'}. The function is then "
        "compiled once per value."
    ),
    "write_static_list": lambda argument, function, option="": (
        f"{quoted(argument)} is a Python list where {quoted(function)} is called, and a static argument has to be "
        f"hashable: pass a tuple, and declare it static{option and f', with {printable(option)}'}. The function is "
        "then compiled once per value."
    ),
    "write_static_part": _write_static_part,
    "write_static_flag": _write_static_flag,
    "write_static_int": lambda argument, function, option: (
        f"{quoted(argument)} is a Python float where {quoted(function)} is called. Pass an int, and declare it static"
        f"{option and f', with {printable(option)}'}. The function is then compiled once per value."
    ),
    "write_fori": lambda lax, steps="n": (
        f"Use {lax}.fori_loop(0, {steps}, body, init), where body(i, carry) returns the next carry. jax.grad needs "
        "an n that is static."
    ),
    "write_index": lambda jnp, items="items", index="i": (
        f"Make the sequence an array: {jnp}.array({printable(items)})[{printable(index)}]. An index that is out of "
        f"range is then clamped, not an error. Functions are chosen with "
        f"jax.lax.switch({printable(index)}, functions, x)."
    ),
    "write_element": _write_element,
    "write_joined_lists": _write_joined_lists,
    "write_switch": lambda items, index, lax, given="": (
        f"Functions are chosen with {lax}.switch({printable(index)}, {printable(items)}"
        f"{', ' if given else ''}{printable(given)}). An index that is out of range is then clamped, not an error."
    ),
    "write_dynamic_slice": _write_dynamic_slice,
    "write_slice": _write_slice,
    "write_in_python": lambda: (
        "Under jit, functions of JAX return traced values, even for known sizes. Compute it with Python or NumPy, "
        "for example x.shape[0] // 2 or math.prod(x.shape)."
    ),
    "write_known_size": lambda segments=False: (
        "A number of segments that depends on data is unknown while the function is traced. Give one that is known "
        "then: num_segments=len(x) for an array x with a row per segment, or a static argument of jit. Segments "
        "without data get a row as well."
        if segments
        else "Take it from what is known during tracing: x.shape, a Python number that the function closes over, or "
        "a static argument of jit that is a Python number; under vmap, one that in_axes does not map. A size that "
        "depends on an array is unknown while the function is traced: take the largest, and mask the rest."
    ),
    **STATIC_REMEDIES,
}
