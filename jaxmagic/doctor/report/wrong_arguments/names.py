"""Words names that the modules and the arrays of JAX do not have, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ..quoted import quoted


def _write_name(replacement: str, key: bool, takes: str, jax: str) -> str:
    if takes:
        return f"JAX has {quoted(replacement)}, but with other arguments: {quoted(takes)}."
    first = f" It takes a key as its first argument: key = {jax}.random.key(0)." if key else ""
    return f"Write {quoted(replacement)}.{first}"


def _write_for_subject(subject: str, jax: str, jnp: str) -> str:
    advice = {
        "tensor": f"The type of arrays is {jax}.Array; {jnp}.array(values) makes one.",
        "variable": f"Arrays are immutable, and no variable is declared: use {jnp}.array(values), and return what a "
        "function changes.",
        "loss": "Losses are in optax: optax.softmax_cross_entropy_with_integer_labels(logits, labels) and "
        "optax.l2_loss(predictions, targets) return one value per example.",
        "layer": "JAX has functions, and no layers. They are in flax.nnx, flax.linen and equinox.nn.",
        "indexed update": "Arrays have it as x.at[index].set(value), .add(value), .multiply(value), .min(value) and "
        ".max(value), which return a new array.",
        "gather": f"For PyTorch's gather(x, axis, indices), write {jnp}.take_along_axis(x, indices, axis). For "
        f"TensorFlow's gather(x, indices), write {jnp}.take(x, indices, axis=0).",
        "scatter": "Write x.at[indices].set(values), or .add(values), which return a new array.",
        "seed": f"There is no global seed: make a key, key = {jax}.random.key(seed), and pass it to each function of "
        f"{jax}.random. Each draw needs a new one: key, subkey = {jax}.random.split(key).",
        "no gradient": f"Leave it out: JAX differentiates only what {jax}.grad or a function like it is given. "
        f"{jax}.lax.stop_gradient(x) makes x a constant there.",
        "optimizer": "Optimizers are in optax, for example optax.adam(1e-3).",
        "former optimizers": "It is jax.example_libraries.optimizers now. Optimizers in use today are in optax.",
        "former layers": "It is jax.example_libraries.stax now. Layers in use today are in flax.nnx, flax.linen and "
        "equinox.nn.",
        "partial": "Python has it: functools.partial.",
        "uniform": f"Write {jax}.random.uniform(key, shape), with a key: key = {jax}.random.key(0).",
        "normal": f"Write {jax}.random.normal(key, shape), with a key: key = {jax}.random.key(0).",
        "lowered": f"{jax}.jit(f).lower(x) has the program: .as_text() before XLA's optimizations, "
        ".compile().as_text() after them.",
        "mapped": f"Use {jax}.vmap over an axis on one device, and {jax}.shard_map over the devices of a mesh.",
        "config": f"It is no module: {jax}.config.update(name, value).",
        "callback": f"{jax}.pure_callback and {jax}.experimental.io_callback call a function on the host, and "
        f"{jax}.debug.callback calls one without a result.",
        "linear_util": "It is jax.extend.linear_util, which is no stable interface.",
        "random": f"{jax}.random has such functions. They take a key first and a shape: {jax}.random.normal(key, "
        f"shape), with key = {jax}.random.key(0).",
    }
    return advice[subject]


NAME_NOTES: dict[str, Callable[..., str]] = {
    "error_missing_name": lambda module, name: f"{quoted(module)} has no {quoted(name)}.",
    "error_missing_module": lambda module: f"This version of JAX has no module {quoted(module)}.",
    "write_name": _write_name,
    "write_for_subject": _write_for_subject,
    "write_library_version": lambda: (
        "The library was written for another version of JAX: upgrade it, or install a version of JAX that it takes."
    ),
    "write_numpy_name": lambda np, name: (
        f"NumPy has {np}.{quoted(name)}. It takes NumPy arrays: {np}.asarray(x) makes one of a JAX array, outside of "
        "functions that JAX traces."
    ),
    "error_traced_attribute": lambda array, name: (
        f"{quoted(array) or 'The value'} is traced, and a traced value has no {quoted(name)}."
    ),
    "write_outside": lambda: "Use it outside of functions that JAX traces, on an array that has a value.",
    "write_no_wait": lambda: (
        "Leave it out: nothing runs while a function is traced. Wait for its result where the function is called."
    ),
    "write_no_layout": lambda: "Leave it out: XLA chooses how arrays lie in memory.",
    "write_similar_names": lambda names: f"{'A name' if ', ' not in names else 'Names'} like it: {quoted(names)}.",
}
