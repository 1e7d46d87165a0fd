"""Lists names of other libraries and of older versions of JAX, and the names that JAX has for the same today."""

from __future__ import annotations

#: Other names of functions that take the same arguments, apart from ``dim`` and ``keepdim``, in any module of JAX.
_ANYWHERE = {
    "alltrue": "jax.numpy.all",
    "as_tensor": "jax.numpy.asarray",
    "bmm": "jax.numpy.matmul",
    "cat": "jax.numpy.concatenate",
    "clamp": "jax.numpy.clip",
    "constant": "jax.numpy.array",
    "convert_to_tensor": "jax.numpy.asarray",
    "cumproduct": "jax.numpy.cumprod",
    "div": "jax.numpy.divide",
    "eq": "jax.numpy.equal",
    "from_numpy": "jax.numpy.asarray",
    "ge": "jax.numpy.greater_equal",
    "gt": "jax.numpy.greater",
    "jnp": "jax.numpy",
    "in1d": "jax.numpy.isin",
    "inverse": "jax.numpy.linalg.inv",
    "le": "jax.numpy.less_equal",
    "lt": "jax.numpy.less",
    "mm": "jax.numpy.matmul",
    "mul": "jax.numpy.multiply",
    "mv": "jax.numpy.matmul",
    "ne": "jax.numpy.not_equal",
    "neg": "jax.numpy.negative",
    "permute": "jax.numpy.transpose",
    "product": "jax.numpy.prod",
    "reduce_max": "jax.numpy.max",
    "reduce_mean": "jax.numpy.mean",
    "reduce_min": "jax.numpy.min",
    "reduce_prod": "jax.numpy.prod",
    "reduce_sum": "jax.numpy.sum",
    "repeat_interleave": "jax.numpy.repeat",
    "round_": "jax.numpy.round",
    "row_stack": "jax.numpy.vstack",
    "sometrue": "jax.numpy.any",
    "sub": "jax.numpy.subtract",
    "tensor": "jax.numpy.array",
    "topk": "jax.lax.top_k",
    "trapz": "jax.numpy.trapezoid",
    "unsqueeze": "jax.numpy.expand_dims",
    "Inf": "jax.numpy.inf",
    "NaN": "jax.numpy.nan",
    "PINF": "jax.numpy.inf",
    "infty": "jax.numpy.inf",
    "float": "jax.numpy.float32",
    "half": "jax.numpy.float16",
    "int": "jax.numpy.int32",
    "long": "jax.numpy.int32",
    "DeviceArray": "jax.Array",
    "KeyArray": "jax.Array",
    "tree_all": "jax.tree.all",
    "tree_flatten": "jax.tree.flatten",
    "tree_leaves": "jax.tree.leaves",
    "tree_map": "jax.tree.map",
    "tree_multimap": "jax.tree.map",
    "tree_reduce": "jax.tree.reduce",
    "tree_structure": "jax.tree.structure",
    "tree_transpose": "jax.tree.transpose",
    "tree_unflatten": "jax.tree.unflatten",
    "gaussian": "jax.random.normal",
    "shuffle": "jax.random.permutation",
}

#: What else JAX calls in other ways, in any of its modules: the subject of the advice.
_SUBJECTS = {
    "Tensor": "tensor",
    "Variable": "variable",
    "gather": "gather",
    "scatter": "scatter",
    "scatter_add": "scatter",
    "cross_entropy": "loss",
    "mse_loss": "loss",
    "nll_loss": "loss",
    "binary_cross_entropy": "loss",
    "Conv": "layer",
    "Conv2d": "layer",
    "Dense": "layer",
    "Dropout": "layer",
    "Embedding": "layer",
    "LayerNorm": "layer",
    "Linear": "layer",
    "Module": "layer",
    "Sequential": "layer",
    "index_add": "indexed update",
    "index_max": "indexed update",
    "index_min": "indexed update",
    "index_mul": "indexed update",
    "index_update": "indexed update",
    "manual_seed": "seed",
    "no_grad": "no gradient",
    "optim": "optimizer",
    "optimizers": "former optimizers",
    "partial": "partial",
    "rand": "uniform",
    "randn": "normal",
    "seed": "seed",
    "stax": "former layers",
    "xla_computation": "lowered",
    "xmap": "mapped",
}

#: Modules that JAX has no more, and what the code that imports them is about.
MODULES = {
    "jax.config": "config",
    "jax.experimental.host_callback": "callback",
    "jax.experimental.maps": "mapped",
    "jax.experimental.optimizers": "former optimizers",
    "jax.experimental.optix": "optimizer",
    "jax.experimental.stax": "former layers",
    "jax.linear_util": "linear_util",
}

#: Subjects of names that a module of JAX lacks, and of those that are modules themselves.
_IN_MODULE = {
    ("jax.numpy", "random"): "random",
    ("jax", "linear_util"): "linear_util",
    ("jax.experimental", "host_callback"): "callback",
    ("jax.experimental", "maps"): "mapped",
}


def replacement_of(name: str) -> str:
    """Return the full name that JAX has for a name of another library or version; empty without one.

    >>> replacement_of("cat"), replacement_of("foo")
    ('jax.numpy.concatenate', '')
    """
    return _ANYWHERE.get(name, "")


def subject_of(module: str, name: str) -> str:
    """Return what a name is about that has no replacement with the same arguments; empty if that is unknown.

    >>> subject_of("jax.nn", "Linear"), subject_of("jax.numpy", "random"), subject_of("jax.numpy", "foo")
    ('layer', 'random', '')
    """
    return _IN_MODULE.get((module, name)) or _SUBJECTS.get(name, "")
