"""Words calls whose arguments stand apart or are no shape, and calls that PyTorch takes."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ....units import count
from ...analysis.failures.expression import before_dot
from ..quoted import quoted

#: What each attribute of an array is.
_ATTRIBUTES = {
    "size": "the number of elements",
    "shape": "a tuple of sizes",
    "ndim": "the number of axes",
    "T": "the transposed array",
    "dtype": "the type of the elements",
    "device": "the device, or the sharding over several",
    "sharding": "how the array is laid out over devices",
    "nbytes": "the number of bytes",
    "itemsize": "the number of bytes of an element",
    "real": "the real part",
    "imag": "the imaginary part",
}


def _no_shape(function: str, text: str, type: str, parameter: str) -> str:
    got = f"{quoted(text) or 'a value'}{f' ({quoted(type)})' if type else ''}"
    return (
        f"Axes have integer sizes, but {quoted(function) or 'a function of JAX'} gets {got} for {quoted(parameter)}."
    )


def _write_shape(text: str, axes: int, is_shape: bool, is_float: bool, parameters: str) -> str:
    order = f"Its parameters are, in this order: {quoted(parameters)}."
    shape, text = f"{quoted(before_dot(text)) or 'x'}.shape", quoted(text) or "x"
    if axes > 1 and is_shape:
        return f"For a result with the shape of {text}, pass {shape}. {order}"
    if axes == 1 and is_shape:
        return (
            f"For a result with the shape of {text}, pass {shape}. If {text} holds the sizes, pass integers: "
            f"tuple(map(int, {text})). {order}"
        )
    if axes == 0 or is_float:
        return (
            f"Pass an integer{', or a tuple of integers' if is_shape else ''}: divide with //, or use int(). {order}"
        )
    return f"Pass an integer{', or a tuple of integers' if is_shape else ''}. {order}"


def _write_permutation(swaps: bool, rank: int, jnp: str) -> str:
    every = f"Name each of the {rank} axes once."
    return f"To swap two axes, write x.swapaxes(i, j) or {jnp}.swapaxes(x, i, j). {every}" if swaps else every


#: The arguments of functions that call others.
_ORDERS = {
    "fori_loop": "lower, upper, body_fun, init_val",
    "while_loop": "cond_fun, body_fun, init_val",
    "scan": "f, init, xs",
    "map": "f, xs",
    "associative_scan": "fn, elems",
}


#: What the arguments of a loop are.
_MEANINGS = {
    "fori_loop": " The bounds lower and upper are integers, and init_val is what body_fun begins with.",
    "while_loop": " cond_fun returns a bool, body_fun the next value, and init_val is the first one.",
    "scan": " init is the first carry, and scan iterates over the leading axis of each array in xs.",
}


def _write_order(called: str, meaning: bool = False) -> str:
    name = called.rpartition(".")[2]
    return f"It takes, in this order: {_ORDERS.get(name, 'functions first')}.{_MEANINGS.get(name, '') * meaning}"


def _seed(called: str, value: str, seed: bool) -> str:
    got = f"the number {quoted(value)}" if seed else "none"
    return f"{quoted(called) or 'A function of jax.random'} needs a key as its first argument, but gets {got}."


def _write_number_dtype(function: str, random: bool, bounds: bool, sizes: str, jnp: str) -> str:
    if random:
        shaped = f"For a shape, pass its sizes as one tuple: {quoted(sizes)}. " if sizes else ""
        name = printable(function)
        if bounds:
            return f"{shaped}Pass bounds by name: {name}(key, shape, minval=low, maxval=high)."
        scaled = "For a scale, write" if sizes else "Scale and shift what it returns:"
        return f"{shaped}{scaled} shift + scale * {name}(…)."
    return f"Pass a dtype, such as {jnp}.float32, or leave it out."


def _fields(places: int, values: int, missing: str, extra: str) -> str:
    said = []
    if places != values:
        said.append(
            f"The text has {count(places, 'field')} without a name, but gets {count(values, 'value')} by position."
        )
    if missing:
        said.append(f"No value is passed for {quoted(missing)}.")
    if extra:
        said.append(f"The text has no field for {quoted(extra)}.")
    return " ".join(said)


def _write_renamed(keywords: str, other: str, indices: str, jnp: str) -> str:
    of_jax = any(each in keywords for each in ("minval", "maxval", "shape"))
    renamed = f"{'JAX calls' if of_jax else 'JAX and NumPy call'} it {quoted(keywords)}."
    others = {
        "std": "PyTorch divides by n - 1 by default, and JAX by n: ddof=1 divides by n - 1.",
        "median": "PyTorch's median is the lower of two middle values, which "
        f"{jnp}.quantile(x, 0.5, axis, method='lower') is in JAX, and has an index. JAX's is their mean.",
        "split": "PyTorch's split takes the size of each part, and JAX's the number of parts.",
    }
    others = {**others, "var": others["std"], "nanmedian": others["median"]}
    if other in others:
        return f"{renamed} {others[other]}"
    if not other:
        return renamed
    return f"{renamed} {_write_pair(other, indices)}"


def _write_pair(other: str, indices: str) -> str:
    pair = f"PyTorch's {other} returns the values and their indices, JAX's the values only."
    return f"{pair} The indices are {quoted(indices)}." if indices else pair


WRONG_CALL_NOTES: dict[str, Callable[..., str]] = {
    "error_arrays_apart": lambda function: (
        f"{quoted(function) or 'A function of JAX'} takes its arrays as one list, but gets them as separate "
        "arguments."
    ),
    "write_one_list": lambda code: f"Put them into a list: {quoted(code)}.",
    "write_without_star": lambda code: f"Leave out the star: {quoted(code)}.",
    "error_no_shape": _no_shape,
    "write_shape": _write_shape,
    "error_number_dtype": lambda value, function, parameters: (
        f"{quoted(value) or 'A number'} is passed as the dtype of {quoted(function) or 'a function'}, which takes "
        f"{printable(parameters)}."
    ),
    "write_number_dtype": _write_number_dtype,
    "error_sizes_apart": lambda function: (
        f"{quoted(function) or 'A function of JAX'} takes a shape as one tuple, but gets its sizes as separate "
        "arguments."
    ),
    "write_one_tuple": lambda shape: f"Put them into a tuple: {quoted(shape)}.",
    "error_array_axis": lambda called, text: (
        f"{quoted(text) or 'An array'} is passed as the axis of {quoted(called) or 'a function of JAX'}, its second "
        "argument."
    ),
    "write_reduced_axis": lambda: "Pass an integer or a tuple of integers for the axis, and one array to reduce.",
    "write_larger": lambda replacement: f"To compare two arrays element by element, write {quoted(replacement)}.",
    "error_called_apart": lambda called: (
        f"{quoted(called) or 'A function of JAX'} takes a function and returns another one, but gets the arguments "
        "of that function as well."
    ),
    "write_called_apart": lambda code: f"Pass them to what it returns: {quoted(code) or 'jax.grad(f)(x)'}.",
    "error_order": lambda called: f"{quoted(called) or 'A function of JAX'} gets a value where it needs a function.",
    "write_order": _write_order,
    "error_device": lambda given, text: (
        f"{repr(given) if text else given} stands in place of a device, but is {'text' if text else 'a number'}."
    ),
    "write_device": lambda device, jax: (
        f"Pass the device, {quoted(device)}. {jax}.devices() lists those of the default backend."
    ),
    "error_seed": _seed,
    "error_key_order": lambda called: (
        f"{quoted(called) or 'A function of jax.random'} takes the key first, but gets it as another argument."
    ),
    "write_key_order": lambda: "Pass the key as the first argument, and the others after it.",
    "error_other_option": lambda option: (
        f"{quoted(option)} takes {'positions' if 'nums' in option else 'names'} of arguments, but gets a "
        f"{'name' if 'nums' in option else 'number'}."
    ),
    "write_other_option": lambda option, other: (
        f"Pass it as {quoted(other)}." if other else "Pass the position of the argument, which begins with 0."
    ),
    "error_starts": lambda called: (
        f"{quoted(called) or 'A slice'} takes starts and sizes as tuples, with an entry for each axis, but gets a "
        "number."
    ),
    "write_starts": lambda: "Put them into tuples: (0,) for an array with one axis.",
    "error_uneven": lambda: "The axis cannot be divided into parts of one size.",
    "write_uneven": lambda jnp: (
        f"{jnp}.array_split makes the last parts smaller. For parts that end at certain places, pass a list of them."
    ),
    "error_named_axes": lambda called: f"{quoted(called) or 'transpose()'} takes its axes by position.",
    "write_named_axes": lambda jnp: f"Leave out the name. {jnp}.transpose(x, axes=…) takes it.",
    "error_field": lambda: "The text names a field, but its value is passed by position.",
    "error_fields": _fields,
    "write_fields": lambda jax: (
        f'Each value needs a field, {{}} by position and {{name}} by name: {jax}.debug.print("{{}} {{y}}", x, y=y).'
    ),
    "write_field": lambda: "Pass it by its name, or leave the braces empty: {}.",
    "error_unpacked": lambda single, names, keys=2: (
        "A single key cannot be unpacked."
        if single
        else f"split makes {count(keys, 'key')}, but they are unpacked into {count(names, 'name')}."
    ),
    "write_unpacked": lambda jax, names, single=True: (
        f"Split the key into as many: {jax}.random.split(key{'' if names == 2 else f', {names}'})"
        f"{'.' if single else '; or write a name for each key.'}"
    ),
    "error_view": lambda method, array: (
        f"In JAX as in NumPy, {quoted(method)} reads the bytes of {quoted(array)} as another dtype. It changes no "
        "shape, unlike in PyTorch."
    ),
    "error_kept_axis": lambda function, parameter: (
        f"{quoted(function) or 'The function'} takes no keepdims by position: its next argument is "
        f"{quoted(parameter)}."
    ),
    "error_flattened": lambda array: f"flatten() makes one axis of all, and takes no axis of {quoted(array)}.",
    "error_tiled": lambda array: (
        f"In JAX as in NumPy, {quoted(array)}.repeat(n, axis) repeats each element. In PyTorch, repeat() gets a "
        "number for each axis, and repeats the whole array."
    ),
    "write_tiled": lambda replacement: f"To repeat the whole array, write {quoted(replacement)}.",
    "error_deleted_item": lambda array: (
        f"{quoted(array) or 'The array'} is a JAX array, which is immutable: no element can be deleted."
    ),
    "write_deleted_item": lambda code: f"Make an array without it: {quoted(code)}.",
    "error_renamed": lambda function, keywords: (
        f"{quoted(function) or 'A function of JAX'} has no parameter {quoted(keywords)}."
    ),
    "write_renamed": _write_renamed,
    "write_one_of_pair": _write_pair,
    "error_called_attribute": lambda attribute, name: f"{quoted(attribute)} is no method: it is {_ATTRIBUTES[name]}.",
    "error_permutation": lambda given, shape: (
        f"transpose orders all axes, and gets {given} for an array of shape {shape}."
    ),
    "write_permutation": _write_permutation,
}
