"""Words the notes on an exception that JAX raised."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable

#: The longest text of the user's code that a sentence quotes.
_LONGEST = 80

#: How each use of a condition is worded.
_USES = {
    "if": "an if statement",
    "while": "a while loop",
    "assert": "an assertion",
    "and": "the operator and",
    "or": "the operator or",
    "not": "the operator not",
    "in": "the operator in",
    "if … else": "a conditional expression (if … else)",
    "chain": "a chained comparison",
    "comprehension": "the condition of a comprehension",
    "": "Python",
}

#: How each need of a number is worded.
_NEEDS = {
    "shape": "a shape, which has to be known when the function is traced",
    "slice": "the bounds of a slice, which have to be known when the function is traced",
    "index": "an index of a Python sequence, which has to be a number",
    "number": "a Python number",
}


def _code(text: str) -> str:
    """Quote code on one line, without control characters."""
    text = printable(" ".join(text.split()))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _typed(text: str, kind: str) -> str:
    """Word a traced value with its type, as far as they are known."""
    typed = f" ({kind})" if kind else ""
    return f"{_code(text)}{typed} is traced" if text else f"A value{typed} is traced"


def _condition(value: str, type: str, use: str) -> str:
    what = _USES.get(use, _code(use))
    return f"{_typed(value, type)}, so it has no value that is true or false yet, but {what} needs one."


def _number(value: str, type: str, need: str) -> str:
    what = _NEEDS.get(need)
    if what is not None:
        return f"{_typed(value, type)}, so it has no value yet, but it is used as {what}."
    return f"{_typed(value, type)}, so it has no value yet, but {_code(need)} needs one."


def _numpy(function: str, type: str) -> str:
    what = _code(function) if function else "NumPy"
    return f"{_typed('', type)}, so it has no value yet, but {what} needs a NumPy array."


def _mask(array: str, mask: str, type: str) -> str:
    what = f"the size of {_code(f'{array}[{mask}]')}" if array else "the size of the result"
    return f"{_typed(mask, type)}, so {what} is unknown: it depends on how many elements are true."


def _static(argument: str, text: str, function: str, type: str) -> str:
    who = f"{_code(argument)} of {_code(function)} is static" if argument and function else "An argument is static"
    passed = f" ({_code(text)})" if text and text != argument else ""
    return f"{who}, but the {_code(type) or 'value'} passed for it{passed} is not hashable. JAX compiles once per value of a static argument and looks it up by its hash."


def _leak(name: str, type: str, function: str, location: str, transform: str) -> str:
    value = f"{_code(name)} ({type})" if name else f"A value of type {type}" if type else "A value"
    if not function:
        return f"{value} was used after the function that traced it had ended. It is unknown which function that was."
    return f"{value} was traced by {_code(function)} ({location}, for {transform}) and used after that tracing had ended."


def _depends(function: str, location: str, transform: str, arguments: str) -> str:
    several = "arguments" if ", " in arguments else "argument"
    return f"It depends on the {several} {_code(arguments)} of {_code(function)} ({location}), which JAX traces for {transform}."


def _carry(loop: str, leaf: str, expected: str, got: str, aspect: str) -> str:
    if not expected:
        return f"The carry of {_code(loop)} ends with another type or structure than it began with."
    return f"{_code(leaf) or 'The carry'} of {_code(loop)} begins as {_kind(expected)} and ends as {_kind(got)}{_differing(aspect)}."


def _kind(text: str) -> str:
    """Put an article before a word such as ``tuple``; types such as ``f32[3]`` have none."""
    text = _code(text)
    return f"{'an' if text[:1] in 'aeiou' else 'a'} {text}" if text.replace(" ", "").isalpha() else text


def _differing(aspect: str) -> str:
    return "" if aspect in ("", "structure") else f": the {_code(aspect)} differ"


def _branches(function: str, leaf: str, expected: str, got: str, aspect: str) -> str:
    if not expected:
        return f"The branches of {_code(function)} return different types or structures."
    at = f" at {_code(leaf)}" if leaf else ""
    return f"One branch of {_code(function)} returns {_kind(expected)}{at} and another {_kind(got)}{_differing(aspect)}."


def _pytree(path: str, expected: str, got: str) -> str:
    if not expected:
        return "Two pytrees that must have the same structure differ. JAX's message says where."
    at = f" at {_code(path)}" if path else ""
    return f"Two pytrees that must have the same structure differ{at}: one has {_code(expected)}, the other {_code(got)}."


def _write_selection(jnp: str, lax: str) -> str:
    return (
        f"Choose between two results with {jnp}.where(condition, a, b), which computes both, or with "
        f"{lax}.cond(condition, f, g, x), which runs one of two functions."
    )


def _write_logical(function: str, operator: str) -> str:
    what = f"{function}(…) in place of {operator}" if operator else f"{function}(a < b, b < c) in place of a < b < c"
    return f"Write {what}. Where the result decides what is computed, use where() or cond() as well."


def _write_static(argument: str, type: str, function: str) -> str:
    return (
        f"{_code(argument)} is a Python {type} where {_code(function)} is called: declare it static. "
        "The function is then compiled once per value."
    )


ERROR_NOTES: dict[str, Callable[..., str]] = {
    "error_condition": _condition,
    "error_number": _number,
    "error_numpy": _numpy,
    "error_mask": _mask,
    "error_static": _static,
    "error_leak": _leak,
    "error_carry": _carry,
    "error_branches": _branches,
    "error_pytree": _pytree,
    "error_deleted": lambda names: (
        f"{_code(names) or 'An array'} was donated or deleted: its memory has been freed or used for another array."
    ),
    "error_not_finite": lambda operation: (
        f"{_code(operation) or 'An operation'} returned NaN or infinity, and JAX's debugging flags make that an error."
    ),
    "error_memory": lambda: "A device or the host ran out of memory.",
    "error_depends": _depends,
    "error_no_argument": lambda function, location, transform: (
        f"JAX was tracing {_code(function)} ({location}) for {transform}. The value depends on none of its arguments."
    ),
    "error_closed_over": lambda name, type, function, location, arguments: (
        f"{_code(name)} ({type}) comes from outside: it depends on {_code(arguments)} of {_code(function)} ({location})."
    ),
    "error_through": lambda calls: f"Calls from there to the line: {printable(calls)}.",
    "error_handed": lambda parameter, text, location, function, arguments: (
        f"{_code(parameter)} is {_code(text)} in the call at {location}, which depends on {_code(arguments)} of "
        f"{_code(function)}."
    ),
    "error_vmapped": lambda: "The line runs inside jax.vmap, which traces its function. JAX does not say which argument it is.",
    "error_behind": lambda error, behind: f"This explains the {error} behind the {behind}.",
    "error_in_library": lambda function, location: (
        f"It happened in {_code(function)} ({location}), which this line calls directly or through other calls."
    ),
    "error_fallback": lambda function, code: (
        f"To go on now, call {_code(function)} without jit: {printable(code)}"
    ),
    "error_differs_too": lambda leaf, expected, got: (
        f"{_code(leaf) or 'Another leaf'} differs as well: {_code(expected)} and {_code(got)}."
    ),
    "error_created": lambda location: f"It was computed at {location}.",
    "error_escaped": lambda location, code: f"It escaped at {location}: {_code(code)}",
    "error_may_escape": lambda location, code: f"It may have escaped at {location}: {_code(code)}",
    "error_escape_unknown": lambda: (
        "Where it escaped is unknown. jax.checking_leaks() raises an error at the end of the function that leaks."
    ),
    "error_donor": lambda call: f"Probably donated by {printable(call)}.",
    "error_donor_unknown": lambda: (
        "Which call donated or deleted it is unknown: none was found that the code of this line can see."
    ),
    "error_alive": lambda array, size_bytes: (
        f"Alive when this was explained: {_code(array)}, {units.size(size_bytes)}."
    ),
    "error_unknown": lambda error: (
        f"{_code(error)} is not an error that JAX raised, or there is no explanation for it yet."
    ),
    "write_selection": _write_selection,
    "write_while": lambda lax: (
        f"Use {lax}.while_loop(condition, body, state): both functions take the state, and body returns the next one."
    ),
    "write_assert": lambda: (
        "Check values with jax.experimental.checkify.check() and checkify.checkify(f), or outside of the traced "
        "function. An assertion on a shape or a dtype works as it is."
    ),
    "write_logical": _write_logical,
    "write_extreme": lambda function, replacement, whole: (
        f"Use {replacement}(a, b) in place of {function}(a, b), and {whole}(x) for the elements of an array."
    ),
    "write_function": lambda function, replacement: f"Use {replacement} in place of {_code(function)}.",
    "write_membership": lambda jnp: f"Use {jnp}.isin(x, {jnp}.array([…])) in place of x in […].",
    "write_mask": lambda jnp: (
        f"Keep the size: {jnp}.where(mask, x, 0) replaces what is left out, reductions take where=mask, "
        f"x.at[mask].set(y) changes the elements, and {jnp}.nonzero(mask, size=n) returns n indices, padded."
    ),
    "write_kept_condition": lambda jnp, lax: (
        f"Keep the array, and use it in {jnp}.where(condition, a, b) or {lax}.cond(condition, f, g, x)."
    ),
    "write_no_condition": lambda jnp, lax: (
        f"Keep it an array: {jnp}.where chooses between results, {lax}.cond between functions, and "
        f"{lax}.while_loop repeats a function."
    ),
    "write_library": lambda function: (
        f"{_code(function)} needs numbers, not traced values. Call it outside of the traced function, or use a function "
        "of JAX in its place. jax.pure_callback() calls it on the host from within the traced function."
    ),
    "write_kept_number": lambda need: (
        f"Keep it an array: leave out {_code(need)}, or use x.astype() for another type. A Python number can be made of "
        "the result that the function returns."
    ),
    "write_sized": lambda function, jnp: (
        f"{_code(function)} returns as many elements as the values say. Give it size=n, and fill_value= for the "
        f"padding, or use {jnp}.where(condition, a, b) with three arguments."
    ),
    "write_static": _write_static,
    "write_static_perhaps": lambda argument, function: (
        f"If {_code(argument)} is a Python number wherever {_code(function)} is called, declare it static: "
        f'static_argnames="{_code(argument)}". Whether it is, is unknown here.'
    ),
    "write_fori": lambda lax: (
        f"Use {lax}.fori_loop(0, n, body, init), where body(i, carry) returns the next carry."
    ),
    "write_index": lambda jnp: (
        f"Make the sequence an array: {jnp}.array(items)[i]. An index that is out of range is then clamped, not an "
        "error. Functions are chosen with jax.lax.switch(i, functions, x)."
    ),
    "write_slice": lambda lax: (
        f"A slice of known size from a traced position is {lax}.dynamic_slice(x, (start,), (size,)). If the size itself "
        "is traced, keep the whole array and mask it."
    ),
    "write_known_size": lambda: (
        "Take it from what is known during tracing: x.shape, a Python number that the function closes over, or a "
        "static argument that is a Python number. A size that depends on an array cannot be computed under jit."
    ),
    "write_scipy": lambda function: (
        f"Use jax.scipy, which has many functions under SciPy's names, in place of {_code(function)}; or call it "
        "outside of the traced function."
    ),
    "write_indexed_array": lambda array, jnp: (
        f"{_code(array)} is a NumPy array. Make it a JAX array, {jnp}.asarray({_code(array)}), before it is indexed."
    ),
    "write_no_numpy": lambda jnp: (
        f"Use {jnp} in place of NumPy on traced values, or call the function outside of the traced function. "
        "jax.pure_callback() calls it on the host from within."
    ),
    "write_not_static": lambda argument: (
        f"Do not declare {_code(argument) or 'an array'} static: arrays are passed as ordinary arguments, which are traced."
    ),
    "write_tuple": lambda argument: f"Pass {_code(argument) or 'it'} as a tuple, if its items are hashable.",
    "write_hashable": lambda argument, type: (
        f"If {_code(argument) or 'it'} holds arrays or numbers to compute with, leave it an ordinary argument: a {type} "
        "of settings becomes a frozen dataclass, or a tuple of pairs."
        if type == "dict"
        else f"Pass {_code(argument) or 'it'} as a frozenset."
    ),
    "write_frozen": lambda argument, type: (
        f"Make {_code(type) or 'its class'} hashable, for example with @dataclasses.dataclass(frozen=True) and hashable "
        f"fields; or leave {_code(argument) or 'the argument'} an ordinary argument if it is a pytree."
    ),
    "write_returned": lambda function, debug: (
        f"Return the value from {_code(function) or 'the function'} in place of storing it. To look at it, use "
        f'{debug}("{{}}", value).'
    ),
    "write_reassigned": lambda name: (
        f"Use what the donating call returned, {_code(name)} = f({_code(name)}), or pass a copy, {_code(name)}.copy(), "
        "or do not donate this argument."
    ),
    "write_in_domain": lambda domain, jnp: (
        (f"The operation needs {'a value that is ' if not domain.startswith('a ') else ''}{domain}. " if domain else "")
        + f"Replace other inputs before it, as in {jnp}.log({jnp}.where(x > 0, x, 1)): a where() behind the operation "
        "leaves NaN in the gradient."
    ),
    "write_carry_dtype": lambda leaf, expected, got: (
        f"Begin with {_code(got)}, or convert at the end of the body with .astype(), so that {_code(leaf) or 'the carry'} "
        f"stays {_code(expected)}."
    ),
    "write_carry_shape": lambda leaf: (
        f"Begin with the type that the body returns, or return {_code(leaf) or 'the carry'} with the type it came in. "
        "A carry cannot grow: allocate it in full and set its elements with .at[i].set()."
    ),
    "write_carry_structure": lambda expected: (
        "Return the carry with the structure that it came in, as the first of the two that a body of scan() returns."
    ),
    "write_branch_dtype": lambda expected, got: (
        f"Convert the result of one branch with .astype(), so that both return {_code(expected)} or both {_code(got)}."
    ),
    "write_branch_structure": lambda: "Return the same structure with the same shapes from each branch.",
    "write_same_tree": lambda: (
        "Pass pytrees with the same containers, keys and lengths; jax.tree.structure(x) shows the structure of each."
    ),
    "write_smaller": lambda jax: (
        f"Delete what is not needed, donate inputs that are replaced ({jax}.jit(f, donate_argnums=0)), recompute "
        f"intermediate values in the gradient ({jax}.checkpoint), split the batch and accumulate, compute in bfloat16, or "
        "shard arrays over devices."
    ),
}
