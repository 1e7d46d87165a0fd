"""Lists methods of the arrays of other libraries, and what JAX has in their place.

In a template, ``{x}`` stands for the array, ``{args}`` for all arguments of the method, ``{0}`` for the first one.
"""

from __future__ import annotations

#: What has the same value, with the arguments of the method.
# fmt: off
EXPRESSIONS = {
    **{name: f"{{jax}}.nn.{name}({{x}}, {{args}})" for name in ("relu", "sigmoid", "softmax", "log_softmax")},
    **{old: f"{{jnp}}.{new}({{x}}, {{args}})" for old, new in {
        "bmm": "matmul", "clamp": "clip", "div": "divide", "eq": "equal", "ge": "greater_equal", "gt": "greater",
        "le": "less_equal", "lt": "less", "mm": "matmul", "mul": "multiply", "mv": "matmul", "ne": "not_equal",
        "neg": "negative", "pow": "power", "sub": "subtract", "unsqueeze": "expand_dims",
    }.items()},
    **{old: f"{{x}}.{new}({{args}})" for old, new in {
        "amax": "max", "amin": "min", "permute": "transpose", "repeat_interleave": "repeat", "type": "astype",
    }.items()},
    **{name: f"{{jnp}}.{name}({{x}}, {{args}})" for name in ("add", "multiply", "logical_and", "logical_or")},
    **{name: "{np}.asarray({x})" for name in ("numpy", "values")},
    "bool": "{x}.astype({jnp}.bool_)",
    "cpu": "{jax}.device_get({x})",
    "cuda": '{jax}.device_put({x}, {jax}.devices("gpu")[0])',
    "clone": "{x}.copy()",
    "detach": "{jax}.lax.stop_gradient({x})",
    "dim": "{x}.ndim",
    "double": "{x}.astype({jnp}.float64)",
    "expand_as": "{jnp}.broadcast_to({x}, {0}.shape)",
    "float": "{x}.astype({jnp}.float32)",
    "gather": "{jnp}.take_along_axis({x}, {1}, {0})",
    "half": "{x}.astype({jnp}.float16)",
    "index_select": "{jnp}.take({x}, {1}, {0})",
    "int": "{x}.astype({jnp}.int32)",
    "len": "len({x})",
    "long": "{x}.astype({jnp}.int32)",
    "masked_fill": "{jnp}.where({0}, {1}, {x})",
    "ndimension": "{x}.ndim",
    "nelement": "{x}.size",
    "new_full": "{jnp}.full({0}, {1}, {x}.dtype)",
    "new_ones": "{jnp}.ones({0}, {x}.dtype)",
    "new_zeros": "{jnp}.zeros({0}, {x}.dtype)",
    "norm": "{jnp}.linalg.norm({x}, {args})",
    "numel": "{x}.size",
    "t": "{x}.T",
    "to_numpy": "{np}.asarray({x}, {args})",
    "topk": "{jax}.lax.top_k({x}, {0})",
    "type_as": "{x}.astype({0}.dtype)",
    "unbind": "{jnp}.unstack({x}, axis={0})",
    "view_as": "{x}.reshape({0}.shape)",
    "where": "{jnp}.where({0}, {x}, {1})",
}

#: What a method that changes the array in place makes of it.
IN_PLACE = {
    "append": "{jnp}.concatenate([{x}, {jnp}.asarray({0})[None]])",
    "extend": "{jnp}.concatenate([{x}, {jnp}.asarray({0})])",
    "insert": "{jnp}.insert({x}, {0}, {1}, axis=0)",
    "itemset": "{x}.at[{0}].set({1})",
    "put": "{jnp}.put({x}, {jnp}.asarray({0}), {1}, inplace=False)",
    **{name: f"{{jnp}}.{name}({{x}}, {{args}}, inplace=False)" for name in ("fill_diagonal", "place")},
    "partition": "{jnp}.partition({x}, {args})",
    "fill": "{jnp}.full_like({x}, {0})",
    "resize": "{jnp}.resize({x}, {0})",
    "add_": "{x} + {0}",
    "sub_": "{x} - {0}",
    "mul_": "{x} * {0}",
    "div_": "{x} / {0}",
    "clamp_": "{jnp}.clip({x}, {args})",
    "fill_": "{jnp}.full_like({x}, {0})",
    "masked_fill_": "{jnp}.where({0}, {1}, {x})",
    "relu_": "{jax}.nn.relu({x})",
    "zero_": "{jnp}.zeros_like({x})",
}

#: What has another meaning or other arguments, in words of code.
IN_WORDS = {
    "to": "{x}.astype(dtype), or {jax}.device_put({x}, device)",
    "requires_grad_": "{jax}.grad(f)(…)",
    "requires_grad": "{jax}.grad(f)(…)",
    **{name: "{jax}.grad(f)(params), where f(params) returns the loss" for name in ("grad", "backward")},
    "expand": "{jnp}.broadcast_to({x}, shape)",
    "masked_select": "{x}[mask]",
    "scatter": "{x}.at[indices].set(values)",
    "scatter_": "{x} = {x}.at[indices].set(values)",
    "scatter_add_": "{x} = {x}.at[indices].add(values)",
    "index_add_": "{x} = {x}.at[indices].add(values)",
    "copy_": "{x} = {jnp}.asarray(values)",
    "set": "{x}.at[index].set(value)",
    "split": "{jnp}.split({x}, parts, axis), with the number of parts in place of their size",
    "chunk": "{jnp}.array_split({x}, parts, axis)",
    "is_cuda": "{x}.devices()",
}
# fmt: on

#: Methods of NumPy and PyTorch that compute something else than JAX's function of the same name.
OTHERS = "median", "nanmedian", "resize"

#: Methods and attributes of NumPy's arrays and of lists among those above: what follows them is NumPy's as well.
OF_NUMPY = frozenset(
    {
        "append",
        "extend",
        "fill",
        "fill_diagonal",
        "insert",
        "itemset",
        "len",
        "numpy",
        "partition",
        "place",
        "put",
        "resize",
        "set",
        "to_numpy",
        "values",
    }
)

#: Methods of both that compute something else in PyTorch, with any arguments or with some.
ELSEWISE = frozenset({"median", "nonzero", "repeat", "sort", "std", "var"})
PAIRS_ALONG = frozenset({"max", "min"})

#: The parameters of methods whose arguments templates place.
PARAMETERS = {
    "gather": ("dim", "index"),
    "index_select": ("dim", "index"),
    "masked_fill": ("mask", "value"),
    "masked_fill_": ("mask", "value"),
    "topk": ("k",),
    "unbind": ("dim",),
    "view_as": ("other",),
    "expand_as": ("other",),
    "type_as": ("other",),
}

#: Keywords that change no values.
WITHOUT_EFFECT = "non_blocking", "memory_format", "force"

#: Methods whose second argument is whether the axis is kept.
REDUCTIONS = "amax", "amin", "logsumexp", "nanmean", "nansum"

#: Methods that take several axes or sizes one by one, where JAX's function takes a tuple.
ONE_BY_ONE = "flip", "tile"

#: Methods after which others of them follow, as in ``x.detach().cpu().numpy()``.
CHAINED = "detach", "cpu", "contiguous", "numpy"

#: What a method or an attribute leaves as it is.
LEFT_OUT = ("contiguous",)

#: Methods of NumPy's arrays that change them, which they do not where the array is one of JAX.
CHANGING = "setfield", "setflags", "sort", "byteswap"

#: The first parameters of functions that take an array first.
FIRST = "a", "x", "x1", "arr", "ary", "m", "A", "v"

#: All methods and attributes above.
KNOWN = frozenset([*EXPRESSIONS, *IN_PLACE, *IN_WORDS, *LEFT_OUT])
