"""Words what cannot be changed, formatted or passed, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted
from ..remedies.conditions import spoiled_gradient


def _update(array: str, target: str) -> str:
    if not target:
        return "An element of a JAX array cannot be assigned: JAX arrays are immutable."
    return f"{quoted(target)} cannot be assigned: {quoted(array)} is a JAX array, and JAX arrays are immutable."


def _write_at(
    array: str, method: str, root: str, repeated: bool, taken: str = "", back: str = "", masked: bool = False
) -> str:
    left = _left(array, root, taken, back)
    array = quoted(array)
    more = " An index that occurs several times then counts each time, unlike in NumPy." if repeated else ""
    new = f"{array} = {array}.at[…].{method}(…)"
    if masked:
        return f"Make a new array: {new}. Under jit, this raises an error if the mask is traced.{left}"
    return f"Make a new array: {new}. Under jit, XLA can update it in place.{more}{left}"


def _write_masked(
    array: str,
    mask: str,
    jnp: str,
    written: bool = False,
    root: str = "",
    taken: str = "",
    back: str = "",
    gradient: bool = False,
) -> str:
    left = f"{spoiled_gradient(jnp, gradient)}{_left(array, root, taken, back)}"
    array = quoted(array)
    if written:
        return (
            f"Use {jnp}.where(), which works with and without jit: {array}.at[…].set(…) takes no mask that is traced."
            f"{left}"
        )
    return (
        f"Make a new array, with a value for each element: {jnp}.where(mask, value, {array}), where the mask "
        f"{quoted(mask)} must have the shape of {array} or broadcast to it, as mask[:, None] does for rows. "
        f"{array}.at[…].set(…) takes no mask that is traced.{left}"
    )


def _left(array: str, root: str, taken: str, back: str) -> str:
    """Word which arrays stay as they are, although the line makes a new one."""
    also = f" To change that as well, write {printable(back)} after it." if back else ""
    source = f" {quoted(taken)}, from which {quoted(array)} was taken, stays as it is.{also}" if taken else ""
    caller = f" The caller's {quoted(root)} stays as it is: return the new one." if root else ""
    return f"{caller}{source}"


def _write_at_lost(array: str, taken: str, whole: str) -> str:
    """Word the advice for an element of what a loop goes over, where nothing reads what the loop makes of it."""
    array, whole = quoted(array), quoted(whole)
    how = (
        f"Make a new array of the whole: {whole} = {whole}.at[i, …].set(…), where i is the position of {array} in it."
        if whole
        else "Keep each new one, for example in a list."
    )
    return f"A new {array} would be lost: nothing in the loop reads it, and {quoted(taken)} stays as it is. {how}"


def _write_at_new(array: str, method: str, holder: str) -> str:
    """Word the advice for an array that cannot be assigned where it is held, or may not be."""
    array = quoted(array)
    new = f"Make a new array, {array}.at[…].{method}(…)"
    frozen = f"{array} cannot be assigned either: it is a field of"
    ways = {
        "dataclass": f"{frozen} a frozen dataclass. {new}, and a new object with it, with dataclasses.replace().",
        "equinox": f"{frozen} a module of Equinox, immutable outside of its __init__. {new}, and a new module with "
        "it, with equinox.tree_at().",
        "namedtuple": f"{frozen} a named tuple. {new}, and a new tuple with it, with its method _replace().",
        "property": f"{array} cannot be assigned either: it is a property without a setter. {new}, and assign it "
        "where the property takes the array from.",
        "attribute": f"{new}, and assign it to the attribute. If its object is immutable, make a new object with it, "
        "for example with dataclasses.replace().",
    }
    return ways.get(holder, f"{new}, and use it in place of the old one.")


def _write_at_divided(array: str, type: str) -> str:
    array = quoted(array)
    holds = f"{array} has type {quoted(type)}, and " if type else f"If {array} holds integers, "
    return (
        f"Make a new array with {array}.at[…].divide(…). {holds}dividing makes all of it floats, unlike in NumPy, "
        f"which keeps integers or raises. To keep integers, use {array}.at[…].set(…) with //, which rounds down."
    )


def _write_at_cut_off(array: str, type: str, method: str) -> str:
    array = quoted(array)
    return (
        f"Make a new array, and convert the result to its type, {quoted(type)}: the fraction is cut off, as in NumPy "
        f"for one element. {array}.at[…].{method}(…) alone warns that it will be an error. To keep fractions, begin "
        f"with floats: {array} = {array}.astype(float)."
    )


def _write_at_copied(function: str, jax: str, jnp: str, np: str) -> str:
    instead = {
        f"{np}.random.shuffle": f"x = {jax}.random.permutation(key, x)",
        f"{np}.fill_diagonal": f"x = {jnp}.fill_diagonal(x, value, inplace=False)",
        f"{np}.put": f"x = {jnp}.put(x, indices, values, inplace=False)",
        f"{np}.place": f"x = {jnp}.place(x, mask, values, inplace=False)",
        f"{np}.copyto": f"x = {jnp}.asarray(y, x.dtype)",
    }.get(function)
    if instead is not None:
        return f"Make a new array: {instead}."
    return (
        f"{quoted(function) or 'The function'} changes what it gets in place. Give it a copy that can be changed, "
        f"{np}.array(x), and make an array of JAX of that: {jnp}.asarray(…)."
    )


def _format(value: str, type: str) -> str:
    typed = f" ({type})" if type else ""
    return f"{quoted(value) or 'A value'}{typed} is traced, so it has no value yet that could be formatted."


def _write_printed(debug: str, printed: bool, value: str = "") -> str:
    if printed:
        return f"Use {debug}(), which prints when the compiled function runs."
    printing = f'{debug}("{{}}", {quoted(value) or "x"})'
    return (
        f"To print it, use {printing}, which prints when the compiled function runs. For a text that is used "
        "otherwise, return the value, and format it outside the traced function."
    )


def _not_array(argument: str, parameter: str, function: str, type: str) -> str:
    needs = "but JAX traces arrays, numbers and pytrees of them"
    if type == "ndarray":
        needs = "but its elements are text or other objects, and JAX traces numbers"
    called = quoted(function) or "a function of JAX"
    if not argument and not parameter:
        return f"A value of type {quoted(type)} is passed to {called}, or returned in it, {needs}."
    what = f"{quoted(argument)} ({quoted(type)})" if argument else f"A value of type {quoted(type)}"
    passed = f" for {quoted(parameter)}" if parameter and parameter != argument else ""
    return f"{what} is passed to {called}{passed}, {needs}."


def _result(function: str, location: str, path: str, type: str, transform: str) -> str:
    who = f"{quoted(function)} ({quoted(location)})" if function else "The mapped function"
    at = f" at {quoted(path)} of its result" if path else ""
    value = f"a value of type {quoted(type)}{at}"
    return f"{who} returns {value}, but under {quoted(transform)} a function returns arrays and numbers."


def _write_array(type: str) -> str:
    leave_out = f"Leave the {quoted(type)} out of the arguments that are traced: close over it, as in"
    partial = f"{leave_out} functools.partial(f, option=…)"
    if type not in ("function", "PjitFunction", "custom_jvp", "custom_vjp"):
        return f"{partial}, or convert numbers to an array."
    return f"{partial}. If it is in a module of Equinox, use equinox.filter_grad or equinox.filter_jit."


def _write_64_bits(jax: str, jnp: str, unsigned: int) -> str:
    shorter = (
        f" Without a sign, 32 bits are enough: {jnp}.uint32({unsigned}), if the other operands are converted with "
        f".astype({jnp}.uint32)."
        if unsigned
        else ""
    )
    return (
        f'Integers have 64 bits after {jax}.config.update("jax_enable_x64", True), which is best at the start of the '
        f"program.{shorter} If the number need not be exact, and no operator on bits such as >> follows, pass a "
        "float: float(n)."
    )


def _made_pytree(type: str, jax: str = "jax") -> str:
    """Word how a class becomes a pytree, whatever it is."""
    return (
        f"with {jax}.tree_util.register_dataclass if {quoted(type)} is a dataclass; otherwise with "
        f"{jax}.tree_util.register_pytree_node_class and the methods tree_flatten and tree_unflatten"
    )


def _write_attributes(function: str, changed: str, parameter: str, code: str) -> str:
    names = " and ".join(filter(None, quoted(changed).rpartition(", ")[::2]))
    does = f"{quoted(function) or 'The function'} changes {names}"
    shown = f": {printable(code)}" if code else ""
    return (
        f"{does}. As a pytree, {quoted(parameter)} would be a copy in the traced function, and what it changes there "
        "would be lost without an error. Jit a function that gets the values of these attributes and returns the new "
        f"ones{shown}."
    )


def _write_pytree(type: str, jax: str) -> str:
    return (
        f"if {quoted(type)} is a dataclass of arrays, make it a pytree: @{jax}.tree_util.register_dataclass above it."
    )


VALUE_NOTES: dict[str, Callable[..., str]] = {
    "error_update": _update,
    "write_at": _write_at,
    "write_masked": _write_masked,
    "write_at_new": _write_at_new,
    "write_at_lost": _write_at_lost,
    "write_at_divided": _write_at_divided,
    "write_at_cut_off": _write_at_cut_off,
    "write_at_outside": lambda array, root: (
        f"{quoted(root)} is not a local variable of this function. Return the new array, "
        f"{quoted(array)}.at[…].set(…), and assign it where {quoted(root)} is made."
    ),
    "write_at_copied": _write_at_copied,
    "error_in_place": lambda function, array: (
        f"{quoted(function) or 'The function'} cannot change {quoted(array) or 'its array'} in place: arrays of JAX "
        "are immutable."
    ),
    "write_in_place": lambda: "Pass inplace=False, and assign the new array that it then returns.",
    "error_tree_arithmetic": lambda trees, count: (
        f"{quoted(trees)} {'is a dictionary' if count == 1 else 'are dictionaries'} of arrays. JAX computes with "
        "pytrees leaf by leaf, but operators of Python do not."
    ),
    "write_tree_map": lambda jax: (
        f"Compute with the leaves: {jax}.tree.map(f, tree, …) calls f with one leaf of each tree, which must have "
        "the same keys."
    ),
    "error_format": _format,
    "write_printed": _write_printed,
    "error_not_array": _not_array,
    "write_array": _write_array,
    "write_taken_out": lambda path, argument: (
        f"Pass {quoted(path)} as an argument of its own that is static, and only arrays and numbers in "
        f"{quoted(argument)}."
    ),
    "write_object": lambda argument, type: (
        f"{quoted(argument)} is a pytree with a value of type {quoted(type)} in it. If it holds no arrays, close "
        "over it, or declare it static if it is hashable. If it does, pass its arrays alone: equinox.filter_jit "
        "does that for modules of Equinox."
    ),
    "write_as_numbers": lambda converted, jnp: (
        f"Convert it before the call: {jnp}.array({converted}) is an array, if all of its elements are numbers."
    ),
    "write_numbers": lambda jnp: (
        f"Its elements are no numbers: {jnp} has arrays of bools, integers, floats and complex numbers. Encode text "
        "as integers, and convert arrays of objects with .astype()."
    ),
    "write_self": lambda type: (
        f"Make {quoted(type)} a pytree: {_made_pytree(type)}. Or jit a function that gets its arrays as arguments. A "
        "static self would be compiled once per object, and would not see later changes."
    ),
    "write_attributes": _write_attributes,
    "error_no_dataclass": lambda type: (
        f"{quoted(type)} is no dataclass, so jax.tree_util.register_dataclass does not know which of its attributes "
        "hold arrays."
    ),
    "write_dataclass": lambda type, jax: (
        f"Put @dataclass below it, and declare the attributes of {quoted(type)} as fields, so that it gets them as "
        f"arguments. A class with an __init__ of its own becomes a pytree with "
        f"@{jax}.tree_util.register_pytree_node_class and the methods tree_flatten and tree_unflatten. What a traced "
        "method assigns to attributes of self is lost in both cases: return it."
    ),
    "write_static_or_pytree": lambda type, option: (
        f"If {quoted(type)} holds arrays, make it a pytree: {_made_pytree(type)}. If it "
        f"holds settings and is hashable, declare it static{option and f': {printable(option)}'}."
    ),
    "write_static_argument": lambda option, anew: (
        f"Declare it static where the function is jitted{option and f': {printable(option)}'}. It is then compiled "
        f"once per value{', and again for each new lambda' if anew else ''}."
    ),
    "error_result": _result,
    "write_result": lambda own=False, type="", jax="jax": (
        "Return arrays and numbers alone, in tuples, lists or dictionaries, and add the rest outside of the function."
        f"{f' Or, {_write_pytree(type, jax)}' if own else ''}"
    ),
    "error_overflow": lambda value, dtype, fits: (
        f"The integer {quoted(value) or 'of an argument'} does not fit into "
        + (quoted(dtype) or ("the dtype that JAX gives it, int32 by default" if fits else "int32, nor into int64"))
        + "."
    ),
    "write_wider": lambda: "Convert the array to a dtype that holds it, such as int32, with .astype().",
    "write_64_bits": _write_64_bits,
    "write_last_bits": lambda jax, jnp, last, unsigned: (
        "No signed integer of JAX is that large. For a hash, or anything else of which the last 32 bits are enough, "
        f"write {jnp}.uint32({last}), and convert the other operands with .astype({jnp}.uint32): the results are "
        "those modulo 2**32."
        + (
            f' With 64 bits, after {jax}.config.update("jax_enable_x64", True), {jnp}.uint64({unsigned}) holds it.'
            if unsigned
            else ""
        )
    ),
    "write_pytree": lambda type, jax: (
        f"I{_write_pytree(type, jax)[1:]} Otherwise, leave it out of the traced arguments, and close over it."
    ),
}
