"""Words what to write instead of code on which JAX raised an exception."""

from __future__ import annotations

from collections.abc import Callable

from ...terminal import printable
from .quoted import quoted


def _gradient(jnp: str, gradient: bool) -> str:
    """Word when ``where()`` spoils a gradient."""
    if not gradient:
        return ""
    return (
        " Under jax.grad, a NaN or infinity in the one that where() does not choose, or in its derivative, can make "
        f"the gradient NaN: then replace its inputs as well, as in {jnp}.sqrt({jnp}.where(x > 0, x, 1))."
    )


def _unchained(chain: str, whole: str) -> str:
    """Word how a chained comparison, which Python cuts into two conditions, becomes one condition."""
    return f"Write {printable(chain)} as {printable(whole)}. " if chain else ""


def _write_selection(jnp: str, lax: str, gradient: bool = False, chain: str = "", whole: str = "") -> str:
    return (
        f"{_unchained(chain, whole)}Choose between two results with {jnp}.where(condition, a, b), which computes "
        "both, or with "
        f"{lax}.cond(condition, f, g, x), which runs one of two functions."
        f"{_gradient(jnp, gradient)}"
    )


def _write_decided(decides: str, jax: str, jnp: str, lax: str) -> str:
    """Word the advice for a condition that decides what JAX cannot choose."""
    loop = (
        "JAX traces every step of a Python loop, so a traced condition cannot end it. Use "
        f"{lax}.while_loop(condition, body, state), through which jax.grad does not work; or run a known number of "
        "steps, and keep each value once the loop is over: done = done | (condition), then "
        f"x = {jnp}.where(done, x, new_x)."
    )
    ways = {
        "recursion": "JAX traces both results, so with where() or cond() the function would call itself without end, "
        f"unless a condition on Python values ends it. Write a loop, {lax}.while_loop(condition, body, state), or "
        "make the condition one on Python values, such as static arguments.",
        "raise": "Whether Python raises cannot depend on a traced value. Use "
        "jax.experimental.checkify.check(condition, message), which fails if the condition is false, and "
        "checkify.checkify(f); or test the value outside of the traced function.",
        "break": loop,
        "return": loop,
        "continue": "JAX traces every step of a Python loop, so a traced condition cannot skip the rest of one. "
        "Compute the step in any case, and keep each value where it is to be skipped: "
        f"x = {jnp}.where(condition, x, new_x).{_gradient(jnp, True)}",
        "print": f'Print when the compiled function runs: {lax}.cond(condition, lambda: {jax}.debug.print("…"), '
        "lambda: None).",
        "container": "Which elements a Python container has, or a generator yields, cannot depend on a traced value. "
        f"Keep an array of full size with a mask, or choose between values with {jnp}.where(condition, a, b).",
        "value": "JAX chooses between arrays and numbers, not between texts or None. Return the condition, or a "
        "number that stands for each case, and choose the text or None outside of the traced function.",
    }
    return ways[decides]


def _write_logical(function: str, operator: str, chain: str = "", whole: str = "") -> str:
    what = f"{function}(…) in place of {operator}" if operator else f"{function}(a < b, b < c) in place of a < b < c"
    how = _unchained(chain, whole) or f"Write {what}. "
    return f"{how}Where the result decides what is computed, use where(), cond() or while_loop() as well."


def _write_extreme(function: str, replacement: str, whole: str) -> str:
    jnp = whole.rpartition(".")[0]
    return (
        f"Use {replacement}(a, b) in place of {function}(a, b), and {whole}(x) for the elements of one array, to "
        f"which {jnp}.stack([…]) joins those of a list. With key=, compare the keys in {jnp}.where."
    )


def _write_default(operator: str, first: str, other: str, jnp: str, gradient: bool = False) -> str:
    first, other = quoted(first), quoted(other)
    default = f" To replace None, write {other} if {first} is None else {first}." if operator == "or" else ""
    chosen = f"{first}, {other}" if operator == "or" else f"{other}, {first}"
    return (
        f"The operator {operator} returns one of its operands, by the value of the first.{default} "
        f"{jnp}.where({first} != 0, {chosen}) chooses for each element."
        f"{_gradient(jnp, gradient)}"
    )


def _write_static(argument: str, type: str, function: str, option: str = "") -> str:
    how = f", with {quoted(option)} where the function is jitted" if option else ""
    return (
        f"{'The argument ' if 'argnums' in option else ''}{quoted(argument)} is a Python {type} where "
        f"{quoted(function)} is called: declare it static{how}. "
        "The function is then compiled once per value."
    )


def _write_functions(functions: str, replacements: str, left: str = "") -> str:
    """Word which functions of JAX to use in place of which of NumPy."""
    pairs = zip(functions.split(", "), replacements.split(", "), strict=True)
    *first, last = (f"{quoted(new)} in place of {quoted(old)}" for old, new in pairs)
    uses = f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}" if first else last
    need = "need" if ", " in left else "needs"
    rest = (
        f" {quoted(left)} {need} a NumPy array as well: use a function of JAX in its place, or call it outside of "
        "the traced function."
    )
    return f"Use {uses}.{rest if left else ''}"


def _write_in_domain(domain: str, jnp: str, example: str = "") -> str:
    """Word how to keep an operation in its domain: with the user's own operand, or without code."""
    if not domain:
        return (
            f"Find out for which inputs it does, and replace these before the operation, with {jnp}.where(): one "
            "behind it leaves NaN in the gradient."
        )
    is_operand = domain.startswith(("a divisor", "a base"))
    how = f": {printable(example)}. A where()" if example else f", with {jnp}.where(): one"
    return (
        f"The operation needs {'' if is_operand else 'a value that is '}{domain}. Replace other inputs before it"
        f"{how} behind the operation leaves NaN in the gradient."
    )


REMEDY_NOTES: dict[str, Callable[..., str]] = {
    "write_selection": _write_selection,
    "write_decided": _write_decided,
    "write_while": lambda lax, chain="", whole="": (
        f"{_unchained(chain, whole)}Use {lax}.while_loop(condition, body, state): both functions take the state, and "
        "body returns the next one. jax.grad does not work through it."
    ),
    "write_assert": lambda: (
        "Check values with jax.experimental.checkify.check() and checkify.checkify(f), or outside of the traced "
        "function. An assertion on a shape or a dtype works as it is."
    ),
    "write_logical": _write_logical,
    "write_passed_condition": lambda function, replacement: (
        f"If {quoted(function)} decides by this value while it is traced, as a dropout layer does, pass a Python "
        "value: make its operands static in the function that is jitted. If it computes with it, write "
        f"{replacement}(…)."
    ),
    "write_nested": lambda python, jnp, lax, gradient=False: (
        f"Test {quoted(python)} with a Python if around the rest: {jnp}.logical_and() and {jnp}.logical_or() compute "
        f"both operands, and Python can skip one. Within it, use {jnp}.where() or {lax}.cond() for the traced part."
        + _gradient(jnp, gradient)
    ),
    "write_default": _write_default,
    "write_extreme": _write_extreme,
    "write_function": lambda function, replacement: f"Use {replacement} in place of {quoted(function)}.",
    "write_functions": _write_functions,
    "write_reduced": lambda function, replacement: (
        f"Make the conditions one array, and use {replacement} of this array in place of {function}. It takes no "
        "generator and no list."
    ),
    "write_membership": lambda jnp: f"Use {jnp}.isin(x, {jnp}.array([…])) in place of x in […].",
    "write_mask": lambda jnp, gradient=False: (
        f"Keep the size: {jnp}.where(mask, x, 0) replaces what is left out, {jnp}.sum(x, where=mask) "
        f"reduces the rest, {jnp}.where(mask, y, x) is x.at[mask].set(y), and {jnp}.nonzero(mask, size=n) returns n "
        "indices, padded." + _gradient(jnp, gradient)
    ),
    "write_kept_condition": lambda jnp, lax, gradient=False: (
        f"Keep the array, and use it in {jnp}.where(condition, a, b) or {lax}.cond(condition, f, g, x)."
        + _gradient(jnp, gradient)
    ),
    "write_no_condition": lambda jnp, lax, gradient=False: (
        f"Keep it an array: {jnp}.where chooses between results, {lax}.cond between functions, and "
        f"{lax}.while_loop repeats a function." + _gradient(jnp, gradient)
    ),
    "write_option": lambda function: (
        f"{quoted(function)} decides by this value while it is traced: pass a Python value, such as a constant or an "
        "argument that is static in the function that is jitted."
    ),
    "write_library": lambda function: (
        f"{quoted(function)} needs numbers, not traced values. Call it outside of the traced "
        "function, or use a function "
        "of JAX in its place. jax.pure_callback() calls it on the host from within the traced function."
    ),
    "write_kept_number": lambda need, dtype="": (
        (
            f"Keep it an array: write x.astype({dtype}) in place of {dtype}(x). "
            + ("It rounds towards zero, too. " if dtype == "int" else "")
            if dtype
            else f"Keep it an array: leave out {quoted(need)}, or use x.astype() for another type. "
        )
        + "A Python number can be made of the result that the function returns."
    ),
    "write_sized": lambda function, jnp, argument="": (
        f"{quoted(function)} returns as many elements as the values say. "
        + (
            f"Say how many with {argument}=, a number known during tracing: the result is padded, or cut, to it."
            if argument
            else "Give it size=, a number known during tracing, and fill_value= for the padding"
            + (
                "."
                if function.endswith(("unique", "intersect1d", "union1d", "setdiff1d"))
                else f", or use {jnp}.where(condition, a, b) with three arguments."
            )
        )
    ),
    "write_static": _write_static,
    "write_static_perhaps": lambda argument, function: (
        f"If {quoted(argument)} is a Python number wherever {quoted(function)} is called, declare it static: "
        f'static_argnames="{quoted(argument)}". Whether it is, is unknown here.'
    ),
    "write_fori": lambda lax: (
        f"Use {lax}.fori_loop(0, n, body, init), where body(i, carry) returns the next carry. jax.grad needs an n "
        "that is static."
    ),
    "write_index": lambda jnp, items="items", index="i": (
        f"Make the sequence an array: {jnp}.array({printable(items)})[{printable(index)}]. An index that is out of "
        f"range is then clamped, not an error. Functions are chosen with "
        f"jax.lax.switch({printable(index)}, functions, x)."
    ),
    "write_switch": lambda items, index, lax, given="": (
        f"Functions are chosen with {lax}.switch({printable(index)}, {printable(items)}"
        f"{', ' if given else ''}{printable(given)}). An index that is out of range is then clamped, not an error."
    ),
    "write_slice": lambda lax, update=False: (
        (
            f"{lax}.dynamic_update_slice(x, values, (start,)) sets a slice of known size at a traced position. "
            if update
            else f"A slice of known size from a traced position is {lax}.dynamic_slice(x, (start,), (size,)). "
        )
        + "If the size itself is traced, keep the whole array and mask it."
    ),
    "write_sorted": lambda function, jnp: (
        f"Make the values one array, and use {jnp}.sort(x) in place of {quoted(function)}, with descending=True for "
        f"reverse=True. y[{jnp}.argsort(keys)] puts an array into the order of its keys, as key= does."
    ),
    "write_found": lambda function, jnp: (
        f"Make the items an array. {jnp}.argmax(items == x) is the position of the first item that is equal, or 0 if "
        f"none is, and {jnp}.sum(items == x) is how many are, in place of {quoted(function)}."
    ),
    "write_stored_outside": lambda function: (
        f"Return the value, and call {quoted(function)} with it outside of the traced function, where it has numbers."
    ),
    "write_known_size": lambda: (
        "Take it from what is known during tracing: x.shape, a Python number that the function closes over, or a "
        "static argument that is a Python number. A size that depends on an array cannot be computed under jit."
    ),
    "write_scipy": lambda function: (
        f"Use jax.scipy, which has many functions under SciPy's names, in place of {quoted(function)}; or call it "
        "outside of the traced function."
    ),
    "write_indexed_array": lambda array, jnp: (
        f"{quoted(array)} is a NumPy array. Make it a JAX array, {jnp}.asarray({quoted(array)}), "
        "before it is indexed."
    ),
    "write_stored": lambda array, jnp: (
        f"{quoted(array)} holds numbers. Make it a JAX array, {jnp}.zeros() or {jnp}.asarray({quoted(array)}), and "
        f"write {quoted(array)} = {quoted(array)}.at[index].set(value)."
    ),
    "write_random": lambda function, jax: (
        f"Use a function of {jax}.random with a key, such as {jax}.random.normal(key, shape), in place of "
        f"{quoted(function)}."
    ),
    "write_no_numpy": lambda jnp: (
        f"Use {jnp} in place of NumPy on traced values, or call the function outside of the traced function. "
        "jax.pure_callback() calls it on the host from within."
    ),
    "write_not_static": lambda argument: (
        f"Do not declare {quoted(argument) or 'an array'} static: arrays are passed as ordinary "
        "arguments, which are traced."
    ),
    "write_tuple": lambda argument: (
        f"Pass {quoted(argument) or 'it'} as a tuple, if its items are hashable and nothing changes it."
    ),
    "write_static_too": lambda argument: (
        f"Pass a Python value for {quoted(argument) or 'it'}: make it static in the function around it as well, or "
        "leave it out of what jax.vmap or jax.grad maps or differentiates. If it is data, do not declare it static."
    ),
    "write_hashable": lambda argument, type: (
        f"If {quoted(argument) or 'it'} holds arrays or numbers to compute with, leave it an ordinary "
        "argument. Settings can stay static as a frozen dataclass, or as a tuple of pairs."
        if type == "dict"
        else f"Pass {quoted(argument) or 'it'} as a frozenset."
    ),
    "write_frozen": lambda argument, type: (
        f"Make {quoted(type) or 'its class'} hashable, for example with "
        "@dataclasses.dataclass(frozen=True) and hashable "
        f"fields; or leave {quoted(argument) or 'the argument'} an ordinary argument if it is a pytree."
    ),
    "write_returned": lambda function, debug: (
        f"Return the value from {quoted(function) or 'the function'} in place of storing it. To look at it, use "
        f'{debug}("{{}}", value).'
    ),
    "write_uncached": lambda cache: (
        f"Leave out {quoted(cache)}: it keeps the array that its function computed while another function was "
        "traced. To compute a table once, make it with NumPy."
    ),
    "write_reassigned": lambda name, called="", copied="": (
        f"Use what {quoted(called) or 'the donating call'} returned in place of {quoted(name) or 'the array'}, "
        f"or pass it a copy{copied and f', {quoted(copied)}'}, or do not donate this argument."
    ),
    "write_kept_copy": lambda location, name, copied: (
        f"Keep a copy at {location}: {printable(copied)} in place of {quoted(name)}. Or do not donate this argument."
    ),
    "write_later_deleted": lambda name, copied="": (
        f"Delete {quoted(name) or 'the array'} after its last use, or keep a copy{copied and f', {quoted(copied)}'}."
    ),
    "write_in_domain": _write_in_domain,
    "write_matrix": lambda function, needs, jnp: (
        f"{function} needs a matrix that {needs}. Where that nearly holds for a matrix a, a small multiple of the "
        f"identity is enough, and changes the result a little: a + 1e-6 * {jnp}.eye(a.shape[-1])."
    ),
}
