"""Lists how each message on a wrong argument is explained, and recognizes the messages."""

from __future__ import annotations

import re
from collections.abc import Callable

from ....record.failure import Failure
from ....record.failure_kind import Kind
from . import classes, meshes, modules, scopes, shardings, wrong_calls, xla
from .explained import Explained, Rule
from .libraries import layers, optimizers
from .names import attributes, missing, positional, renamed
from .shapes import axes, broadcasting, convolutions, indexing, joining, matrices, products
from .transforms import (
    callbacks,
    control_flow,
    custom_rules,
    derivatives,
    mapped,
    options,
    other_options,
    places,
    signatures,
)
from .values import (
    at_elements,
    formats,
    integers,
    keys,
    mixed_dtypes,
    non_arrays,
    non_numbers,
    python_values,
    texts,
    trees,
    updates,
)

_RULES: tuple[Rule, ...] = (
    *products.RULES,
    *matrices.RULES,
    *broadcasting.RULES,
    *joining.RULES,
    *indexing.RULES,
    *axes.RULES,
    *convolutions.RULES,
    *updates.RULES,
    *at_elements.RULES,
    *formats.RULES,
    *non_arrays.RULES,
    *classes.RULES,
    *non_numbers.RULES,
    *texts.RULES,
    *control_flow.RULES,
    *derivatives.RULES,
    *custom_rules.RULES,
    *callbacks.RULES,
    *mapped.RULES,
    *options.RULES,
    *integers.RULES,
    *optimizers.RULES,
    *signatures.RULES,
    *meshes.RULES,
    *shardings.RULES,
    *python_values.RULES,
    *keys.RULES,
    *attributes.RULES,
    *missing.RULES,
    *positional.RULES,
    *mixed_dtypes.RULES,
    *modules.RULES,
    *wrong_calls.RULES,
    *scopes.RULES,
    *layers.RULES,
    *xla.RULES,
    *trees.RULES,
)

#: The function for each kind.
WRONG_ARGUMENTS: dict[Kind, Callable[[Failure], Explained]] = {
    **{each.kind: each.explain for each in _RULES},
    **wrong_calls.CALLS,
    "squeeze": axes.explain_squeeze,
    "array unpacked": axes.explain_unpacked_array,
    "renamed": renamed.explain_renamed,
    "kept axis": positional.explain_kept_axis,
    "flattened": positional.explain_flattened,
    "tiled": positional.explain_tiled,
    "module leaves": layers.explain_module_leaves,
    "layer key": layers.explain_layer_key,
    "apply order": layers.explain_apply_order,
    "other option": other_options.explain_other_option,
    "number dtype": other_options.explain_number_dtype,
    "starts": other_options.explain_starts,
    "uneven": other_options.explain_uneven,
    "named axes": other_options.explain_named_axes,
    "field": other_options.explain_field,
    "unpacked": other_options.explain_unpacked,
    "called apart": places.explain_called_apart,
    "other arguments": signatures.explain_other_arguments,
    "order": places.explain_order,
    "device": places.explain_device,
    "no key": places.explain_no_key,
    "float": integers.explain_float,
    "float bound": integers.explain_float_bound,
}


def read(types: list[str], text: str) -> tuple[Kind, dict[str, str]] | None:
    """Return the kind of an exception and the facts in its message, by the names of its class and its bases.

    >>> read(["TypeError"], "add got incompatible shapes for broadcasting: (3,), (4,).")
    ('broadcast', {'operation': 'add', 'shapes': '(3,), (4,)'})
    """
    for rule in _RULES:
        if any(each in types for each in rule.types.split("|")):
            match = re.compile(rule.message, re.M).match(text)
            if match is not None:
                return rule.kind, {key: value for key, value in match.groupdict().items() if value is not None}
    return None
