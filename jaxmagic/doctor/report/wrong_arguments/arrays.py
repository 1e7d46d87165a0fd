"""Words arrays where Python or JAX needs something else, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ...analysis.failures.expression import before_dot
from ..quoted import quoted

#: How each use of a condition is worded.
USES = {
    "if": "an if statement",
    "while": "a while loop",
    "assert": "an assertion",
    "and": "the operator and",
    "or": "the operator or",
    "not": "the operator not",
    "in": "the operator in",
    "if … else": "a conditional expression (if … else)",
    "match": "a match statement",
    "chain": "a chained comparison",
    "comprehension": "the condition of a comprehension",
    "": "Python",
}


def _truth(value: str, use: str) -> str:
    who = quoted(value) or "An array"
    what = USES.get(use, quoted(use))
    return (
        f"{who} has several elements, so it is neither true nor false as a whole, but {what} needs one truth value."
    )


def _elementwise(function: str, operator: str) -> str:
    what = f"{function}(…) in place of {operator}" if operator else f"{function}(a < b, b < c) in place of a < b < c"
    return f"Write {what} to combine element by element, or reduce each array with .all() or .any() first."


#: What methods of other libraries compute where JAX's function differs.
_OTHERS = {
    "median": " It is the mean of two middle values, of which PyTorch takes the lower one.",
    "nanmedian": " It is the mean of two middle values, of which PyTorch takes the lower one.",
    "resize": " It repeats the elements, where NumPy's method adds zeros.",
}


def _write_attribute(replacement: str, other: str = "", left: str = "") -> str:
    arguments = f" Translate the arguments yourself: {quoted(left)}." if left else ""
    return f"Write {quoted(replacement)}.{_OTHERS.get(other, '')}{arguments}"


def _write_listed(jnp: str, alike: bool, joined: str = "") -> str:
    made = f"ake it an array: {jnp}.array(…)"
    adds = (
        f", which is then added element by element; {jnp}.concatenate([{printable(joined)}]) joins" if joined else ""
    )
    if alike:
        return f"M{made}{adds}."
    return f"If all its items have one shape, m{made}{adds}. Otherwise, pass one of them."


ARRAY_NOTES: dict[str, Callable[..., str]] = {
    "error_several_keys": lambda function, shape: (
        f"{quoted(function)} takes one key, but gets an array of keys of shape {quoted(shape)}."
    ),
    "write_one_key": lambda function, jax: (
        f"Pass one of them, such as keys[0], or draw with each: {jax}.vmap({jax}.random.{quoted(function)})(keys), "
        f"with a lambda around it for more arguments. {jax}.random.split(key) returns two keys: key, subkey = "
        f"{jax}.random.split(key)."
    ),
    "error_single_number": lambda: "A function of jax.random gets an array of one number where it needs a key.",
    "error_key_used": lambda operation, key="": (
        f"{quoted(key) or 'A value'} is a key of random numbers. It is no number, and {quoted(operation) or 'NumPy'} "
        "does not take it."
    ),
    "write_other_key": lambda jax: (
        f"For other random numbers, make another key: {jax}.random.fold_in(key, n) or {jax}.random.split(key). "
        f"{jax}.random.key_data(key) returns the numbers in a key."
    ),
    "error_float_seed": lambda: "The seed of a key is a float, but has to be an integer.",
    "write_seed": lambda jax: f"Pass an integer: {jax}.random.key(0), or {jax}.random.key(int(seed)).",
    "error_key_again": lambda maker: f"{quoted(maker)} makes a key of a seed, but gets a key.",
    "error_key_numbers": lambda shape: (
        f"A function of random numbers needs a key, but gets an array of shape {quoted(shape)}."
    ),
    "error_no_key": lambda got, dtype: (
        "A function of random numbers needs a key, but gets "
        f"{f'an array of type {quoted(dtype)}' if dtype else quoted(got)}."
    ),
    "write_key": lambda jax: (
        f"Make a key once, key = {jax}.random.key(0), and pass it as the first argument. Each draw needs a new one: "
        f"key, subkey = {jax}.random.split(key)."
    ),
    "error_keys_mixed": lambda: (
        "A key of jax.random.key() is combined with an array that is no such key, perhaps one of "
        "jax.random.PRNGKey(), which returns two uint32 numbers."
    ),
    "write_new_keys": lambda jax: (
        f"Make all keys with {jax}.random.key(). {jax}.random.wrap_key_data(old) makes a key of an old one, "
        f"{jax}.random.key_data(key) returns its numbers."
    ),
    "error_key_mapped": lambda: (
        "jax.vmap maps over the two numbers of a single key of jax.random.PRNGKey(), and half a key is none."
    ),
    "write_keys": lambda jax: (
        f"Give each element a key of its own, with {jax}.random.split(key, n); or the same one to all, with None for "
        "it in in_axes=."
    ),
    "error_attribute": lambda array, name: (
        f"{quoted(array) or 'The value'} is a JAX array, which has no {quoted(name)}."
    ),
    "write_attribute": _write_attribute,
    "error_truth": _truth,
    "write_elementwise": _elementwise,
    "write_one_truth": lambda jnp: (
        f"For one decision, reduce the condition with .all() or .any(). To choose for each element, use "
        f"{jnp}.where(condition, a, b)."
    ),
    "error_iterated": lambda: "A scalar is unpacked, or iterated over, but it has no elements.",
    "write_value_and_grad": lambda jax: (
        f"{jax}.grad(f) returns the gradient alone; {jax}.value_and_grad(f) returns the value and the gradient. Of "
        "other functions, assign the result to one name."
    ),
    "write_one_name": lambda: "Assign it to one name.",
    "write_no_iteration": lambda: "Iterate over an array with an axis, such as x[None] or jnp.arange(n).",
    "error_scalar": lambda function, axes: (
        f"{quoted(function) or 'Python'} needs a single number, but it gets an array with {axes} "
        f"{'axis' if axes == 1 else 'axes'}."
    ),
    "write_one_number": lambda: (
        "Reduce the array, as with .sum(), or take one element of it, such as x[0]. x.astype() converts all elements."
    ),
    "error_hash": lambda traced: (
        f"A {'traced value' if traced else 'JAX array'} has no hash, so it cannot be a key of a dictionary, an "
        "element of a set, or an argument of a function with a cache."
    ),
    "write_no_hash": lambda jnp, traced: (
        f"Put the values into an array and index it by their position: {jnp}.array(values)[position]. "
        + (
            "Where the key has to be a Python number, make it a static argument, or look it up outside of the traced "
            "function."
            if traced
            else "To use one number as a key, write x.item()."
        )
    ),
    "write_python_key": lambda key: f"Use a Python number as the key: {printable(before_dot(key))}.item().",
    "write_table": lambda table, last: (
        f"The keys of {quoted(table)} are 0 to {last}: make an array of its values, and index that. A key that is "
        "out of range takes the first or last one, and raises no error."
    ),
    "write_by_place": lambda table, default=False: (
        f"Find the place of the key among those of {quoted(table)}, and index an array of its values by that."
        + ("" if default else " A key that is missing takes the first value, and raises no error.")
    ),
    "write_no_table": lambda table, key, text: (
        f"The values of {quoted(table)} {'are text' if text else 'cannot become one array'}, so JAX cannot choose "
        f"one by a traced key. Look it up outside of the traced function, or make {quoted(key)} a static argument."
    ),
    "write_switch_table": lambda items, table, index, given, keywords, lax: (
        f"Functions are chosen by their position: {lax}.switch("
        + (f"{printable(index)}, {printable(items)}" if items else f"position, list({printable(table)}.values())")
        + f"{', ' if given else ''}{printable(given)})"
        + ("." if items else f", where position counts from 0 and is computed of {quoted(index)}.")
        + (" It passes no keywords: bind them with functools.partial." if keywords else "")
        + " A position that is out of range is clamped, not an error."
    ),
    "write_memo": lambda memo, key, traced: (
        f"{quoted(memo)} is a dictionary, which finds a key by its hash. "
        + (
            "Look it up outside of the traced function, with a Python value as key, such as "
            f"{quoted(before_dot(key))}.item(). Inside, compute the result without it: the compiled function "
            "would not look again, and a traced value that it stores leaks."
            if traced
            else f"Use a Python value as the key: {quoted(before_dot(key))}.item() for one number, "
            f"np.asarray({quoted(key)}).tobytes() for an array."
        )
    ),
    "error_listed": lambda argument, type, function: (
        f"{quoted(argument) or 'A value'} is {'None' if type == 'NoneType' else f'a {quoted(type)}'}, but "
        f"{quoted(function)} of JAX takes arrays and numbers."
    ),
    "write_listed": _write_listed,
    "write_joined_arrays": lambda arrays, jnp, traced: (
        f"To join them, write {jnp}.concatenate([{printable(arrays)}]): + of arrays adds their elements."
        + (
            " An array that grows in each step of a loop has another shape in each, so under jit one of a fixed size "
            "is better, set with .at[step].set(value). Without jit, an integer array can be the index of a Python "
            "list, and + joins its items if these are lists."
            if traced
            else ""
        )
    ),
    "write_repeated": lambda number, type, traced: (
        f"To repeat the {quoted(type)}, the number has to be a Python int"
        + (", which is known when the function is traced." if traced else f", int({printable(number) or '…'}).")
        + " To multiply its items, make it an array."
    ),
    "write_stacked_items": lambda items, going, whole, jnp: (
        f"{quoted(items)} holds a slice of each array, because {printable(going)} goes over the leading axis of each "
        f"array in {quoted(whole) or 'a list'}. To go over the arrays themselves, make one array of them, "
        f"{jnp}.stack({printable(whole) or '…'}), if they have one shape."
    ),
    "write_no_none": lambda: "Pass an array or a number. A function without a return statement returns None.",
    "write_as_number": lambda number: (
        f"It is a number in quotes: convert it with {number}()."
        if number
        else "Pass an array or a number. A number in a text, as from a file, is converted with float()."
    ),
    "error_scalar_index": lambda: (
        "An array is used where Python needs one integer, but it has an axis, or holds no integer."
    ),
    "write_scalar_index": lambda jnp, traced=False: (
        f"For items of a list, make the list an array: {jnp}.array(items)[i], where i holds integers. Where Python "
        "itself needs one, as in range(), "
        + (
            "take it from what is known during tracing, such as x.shape[0]."
            if traced
            else "take one element of the array, x[0], and convert a float: int(x)."
        )
    ),
    "write_no_object": lambda type: f"Pass an array or a number in place of the {quoted(type)}.",
    "write_each_of_dict": lambda function, jax: (
        f"Apply {quoted(function)} to each array of the dict, with {jax}.tree.map."
    ),
    "error_index_list": lambda: "A list is used as an index, but JAX takes arrays as indices.",
    "write_index_list": lambda jnp: (
        f"Make it an array, x[{jnp}.array([0, 1])]; or a tuple, if it has one index for each axis."
    ),
    "error_index_type": lambda dtype: f"An index has dtype {quoted(dtype)}, but JAX takes integers and bools.",
    "write_index_type": lambda: (
        "An index is an integer: compute it with // in place of /, or convert it, int(i) of a Python number and "
        "i.astype(int) of an array. A mask of zeros and ones selects with bools: mask.astype(bool)."
    ),
    "error_at_element": lambda target: (
        f"{quoted(target) or 'x.at[…]'} cannot be assigned: .at[…] has methods that return a new array."
    ),
    "error_at_use": lambda method, index: (
        f"x.at is a place for an index{f', and has no {quoted(method)}' if method else ''}: its methods are those of "
        "x.at[i]."
        if index
        else f"x.at[i] has no {quoted(method)}."
        if method
        else "x.at[i] is no element: it has methods that return a new array."
    ),
    "write_at_use": lambda: (
        "Its methods are set, add, subtract, multiply, divide, power, min, max, apply and get: x = x.at[i].add(1). "
        "x.at[...] stands for all elements, and x[i] is the element."
    ),
    "write_at_method": lambda array: (
        f"Make a new array: {array or 'x'} = {array or 'x'}.at[…].set(…), or with .add(…), .multiply(…) and others."
    ),
}
