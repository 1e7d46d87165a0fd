"""Words modules of flax.linen that are called, applied or written against its rules, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted

#: The collection of running statistics, and the key for dropout.
_STATISTICS, _DROPOUT = "batch_stats", "dropout"


def _write_applied(module: str, arguments: str, method: str, inside: bool) -> str:
    module, arguments = quoted(module), quoted(arguments)
    named = f', method="{quoted(method)}"' if method else ""
    start = f"variables = {module}.init(key, {arguments}{named}), then {module}.apply(variables, {arguments}{named})."
    there = " In a method of another module, make it there under @nn.compact, or in setup()." if inside else ""
    return f"Make the parameters once, and pass them at each call: {start}{there}"


def _submodule(layer: str, function: str) -> str:
    where = f" in {quoted(function)}" if function else ""
    return f"A submodule {quoted(layer)} is made{where}, outside of setup() and of methods with @nn.compact."


def _write_submodule(layer: str, function: str) -> str:
    method = f"def {quoted(function)}" if function else "the method"
    return (
        f"Put @nn.compact above {method}; or make it in setup(), self.layer = nn.{quoted(layer)}(…), and call "
        "self.layer in the method. Only one method of a class can have @nn.compact."
    )


def _write_collection(collection: str) -> str:
    name = quoted(collection)
    whole = "Pass all that init() returned: model.apply(variables, x)."
    if collection == "params":
        return f'{whole} Parameters alone go in a dict with their name: model.apply({{"params": params}}, x).'
    return f'{whole} In parts, pass {name} besides the parameters: {{"params": params, "{name}": {name}}}.'


def _write_mutable(collection: str) -> str:
    name = quoted(collection)
    update = (
        f'To update it, write y, updated = model.apply(variables, x, mutable=["{name}"]), and keep '
        f'updated["{name}"] for the next call.'
    )
    evaluation = " For evaluation, use_running_average=True leaves the statistics as they are."
    return update + (evaluation if collection == _STATISTICS else "")


def _write_module_key(name: str) -> str:
    key = quoted(name)
    evaluation = " For evaluation, deterministic=True needs none." if name == _DROPOUT else ""
    return f'Pass a new one at each call: model.apply(variables, x, rngs={{"{key}": key}}).{evaluation}'


def _layer_key(layer: str, option: str, given: bool, positional: bool) -> str:
    what = quoted(layer) or "The layer"
    if positional:
        return f"{what} takes its {option} as a keyword."
    if given:
        return f"{what} takes nnx.Rngs for rngs, but gets a key or a seed."
    return f"{what} needs random numbers for its parameters: {option} is missing."


_FROZEN = {
    "equinox": ("a field of a module of Equinox", "tree_at() returns a new module with another value in it."),
    "flax": ("a field of an immutable dataclass of Flax", "replace() returns a new object with another value in it."),
    "FrozenDict": ("a FrozenDict", "copy() returns a new one with other values in it; unfreeze() returns a dict."),
}


def _write_new_object(library: str, returned: str = "") -> str:
    """Word how to make a new object, and that a function has to return it."""
    more = " Return it as well, and use it in place of the old one in the caller, which keeps the old "
    return f"{_FROZEN[library][1]}{f'{more}{quoted(returned)}.' if returned else ''}"


def _write_optimizer(problem: str, optimizer: str) -> str:
    update = f"updates, state = {quoted(optimizer)}.update(grads, state, params)"
    if problem == "params":
        return f"Pass them as the third argument: {update}."
    start = f"Make the state once, state = {quoted(optimizer)}.init(params)."
    return f"{start} Each step is {update}, then params = optax.apply_updates(params, updates)."


SCOPE_NOTES: dict[str, Callable[..., str]] = {
    "error_name_in_use": lambda what, name, module: (
        f"{quoted(module)} has two parts with the name {quoted(name)}, the second of which is a {what}."
    ),
    "write_name_once": lambda submodule: (
        "Give each its own name=, or leave it out: flax then numbers them. To share parameters, make the layer once "
        "and call it twice."
        if submodule
        else "Give each its own name."
    ),
    "error_frozen_module": lambda name, module: (
        f"self.{quoted(name)} is set in a method of {quoted(module)}, but a module of flax.linen is frozen outside "
        "setup()."
    ),
    "write_variable_of_module": lambda: (
        "Use a local variable in the method. For a value that stays between calls, declare self.variable(collection, "
        "name, init), and pass mutable=[collection] to apply()."
    ),
    "error_unbound": lambda module: (
        f"{quoted(module)} is called without parameters: a module of flax.linen does not hold its own."
    ),
    "error_no_setup": lambda attribute, module: (
        f"{quoted(module)} has no {quoted(attribute)} outside of init() and apply(): what setup() defines exists "
        "only there."
    ),
    "write_applied": _write_applied,
    "error_submodule": _submodule,
    "write_submodule": _write_submodule,
    "error_no_collection": lambda layer, name, collection: (
        f"{quoted(layer) or 'The module'} needs {quoted(name)} of the collection {quoted(collection)}, but the "
        "variables that the model gets have no such collection."
    ),
    "write_collection": _write_collection,
    "error_no_variable": lambda layer, name, collection: (
        f"{quoted(layer) or 'The module'} needs {quoted(name)} of the collection {quoted(collection)}, which is not "
        "among the variables that the model gets."
    ),
    "write_variable": lambda: (
        "They may be those of another definition of the model: make them again with its init(), or rename them. "
        "jax.tree.map(jnp.shape, variables) shows their names."
    ),
    "error_nested_variables": lambda flat: (
        'The first argument of apply() is no dict of collections, such as {"params": …}.'
        if flat
        else 'apply() gets {"params": {"params": …}}, one level more than it takes.'
    ),
    "write_flat_variables": lambda passed="", named="": (
        f"If {quoted(passed)} holds the parameters, name their collection: {printable(named)}. Or pass all that "
        "init() returned: model.apply(variables, x)."
        if named
        else 'Pass what init() returned as it is, model.apply(variables, x), or {"params": variables["params"]}.'
    ),
    "error_collection_kept": lambda layer, name, collection: (
        f"{quoted(layer) or 'The module'} updates {quoted(name)} of the collection {quoted(collection)}, which "
        "apply() keeps as it is unless it is named in mutable=."
    ),
    "error_applied_at": lambda code, location: (
        f"The model gets its variables at {printable(location)}: {quoted(code)}"
    ),
    "write_mutable": _write_mutable,
    "error_no_module_key": lambda layer, name: (
        f"{quoted(layer)} needs a key of random numbers for {quoted(name)}, but gets none."
    ),
    "write_module_key": _write_module_key,
    "error_init_key": lambda init: (
        f"{'The first argument of init()' if init else 'What a module gets for random numbers'} has to be a key, or "
        "a dict of keys, but is not."
    ),
    "write_init_key": lambda called, jax: f"Pass a key before the inputs: {quoted(called)}({jax}.random.key(0), x).",
    "error_layer_key": _layer_key,
    "write_layer_key": lambda option, made: f"Pass {option}={quoted(made)}. Each layer needs other random numbers.",
    "error_apply_order": lambda: "apply() takes the variables first, but gets an array.",
    "write_apply_order": lambda: "Pass the variables before the inputs: model.apply(variables, x).",
    "error_trace_level": lambda variable, passed=False: (
        f"An object of flax.nnx, {quoted(variable)}, is {'passed to a function of nnx' if passed else 'changed'} "
        "in a function that JAX traces, but was made outside of it."
    ),
    "write_trace_level": lambda: (
        "Pass the module as an argument, and transform the function with nnx, which takes the change out again: "
        "nnx.jit(lambda model, x: model(x))(model, x). nnx.grad, nnx.vmap and nnx.scan do the same."
    ),
    "error_container": lambda attribute, container: (
        f"{quoted(attribute)} holds modules or arrays in a {container}, which flax.nnx takes for a constant."
    ),
    "write_container": lambda name: f"Put them into {name}, which is a part of the module.",
    "error_frozen": lambda library, target: (
        f"{quoted(target) or 'A value'} cannot be assigned: it is {_FROZEN[library][0]}."
    ),
    "error_undeclared": lambda field: f"{quoted(field)} is no field of this module of Equinox.",
    "write_declared": lambda field: f"Declare it in the class: {quoted(field)}: jax.Array, or with another type.",
    "write_new_object": _write_new_object,
    "error_dropout": lambda library: "Dropout drops values at random, but gets no random numbers.",
    "write_dropout": lambda library: (
        "Pass a key at each call: model(x, key=key). For evaluation, call equinox.nn.inference_mode(model) instead."
        if library == "equinox"
        else "Make it with some, nnx.Dropout(0.5, rngs=nnx.Rngs(0)). For evaluation, call model.eval() first."
    ),
    "error_optimizer": lambda problem, method: (
        f"An optimizer of Optax has no {quoted(method)}: it holds neither parameters nor state."
        if problem == "method"
        else "This optimizer needs the parameters for its updates, but update() does not get them."
        if problem == "params"
        else "update() needs the state that init() returned, but does not get it."
        if problem == "state"
        else "update() gets something else for the state than init() returned."
    ),
    "write_optimizer": _write_optimizer,
    "error_loss_dtype": lambda called, argument, dtype, wanted: (
        f"{quoted(called) or 'A loss of Optax'} takes {'integer labels' if wanted == 'integer' else 'floats'}, but "
        f"{quoted(argument) or ('the labels' if wanted == 'integer' else 'an argument')} "
        f"{'have' if wanted == 'integer' and not argument else 'has'} dtype {quoted(dtype)}."
    ),
    "write_loss_dtype": lambda converted: (
        f"If the labels are the numbers of classes, convert them: {printable(converted)}. If they are probabilities "
        "or one-hot, use optax.softmax_cross_entropy."
        if converted
        else "Convert it with .astype(float)."
    ),
    "error_nnx_optimizer": lambda missing: f"Since Flax 0.11, the optimizer needs {quoted(missing)}, but gets none.",
    "write_nnx_optimizer": lambda wrt: (
        "Say what it updates: wrt=nnx.Param."
        if wrt
        else "Pass the model and the gradients: optimizer.update(model, grads)."
    ),
    "error_unset": lambda name: (
        f"The layer does not know its {quoted(name)}: it is given neither where the layer is "
        "made nor where it is called."
    ),
    "write_set": lambda name: (
        f"Pass {quoted(name)}=not train, with an argument of the model; it is True in evaluation."
    ),
}
