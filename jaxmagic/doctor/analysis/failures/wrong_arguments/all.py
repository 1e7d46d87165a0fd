"""Lists which function explains which kind of wrong argument."""

from __future__ import annotations

from collections.abc import Callable

from ....record.failure import Failure
from ....record.failure_kind import Kind
from .broadcasting import (
    explain_broadcast,
    explain_broadcast_to,
    explain_joined,
    explain_joined_numbers,
    explain_reshaped,
    explain_stacked,
)
from .control_flow import (
    explain_bounds,
    explain_branch_index,
    explain_loop_condition,
    explain_predicate,
    explain_scan_length,
    explain_scan_pair,
    explain_scan_sizes,
)
from .derivatives import (
    explain_aux,
    explain_grad_argument,
    explain_grad_input,
    explain_grad_output,
    explain_loop_gradient,
    explain_no_rule,
)
from .explained import Explained
from .formats import explain_format
from .mapped import explain_vmap_axes, explain_vmap_rank, explain_vmap_sizes
from .meshes import (
    explain_axis_name,
    explain_backend,
    explain_devices,
    explain_mesh_axes,
    explain_spec_axis,
    explain_spec_division,
    explain_spec_rank,
    explain_spec_replication,
)
from .modules import explain_features, explain_groups, explain_image_axes, explain_layer_input
from .non_arrays import explain_index_list, explain_index_type, explain_listed, explain_not_array, explain_result
from .options import explain_callback, explain_callback_result, explain_jit_option, explain_nondiff, explain_size
from .products import explain_batch, explain_einsum, explain_einsum_axes, explain_no_axis, explain_product
from .python_values import explain_hash, explain_key, explain_scalar, explain_truth
from .updates import explain_at_element, explain_update

#: The function for each kind whose message is in ``patterns``.
WRONG_ARGUMENTS: dict[Kind, Callable[[Failure], Explained]] = {
    "product": explain_product,
    "batch": explain_batch,
    "no axis": explain_no_axis,
    "einsum": explain_einsum,
    "einsum axes": explain_einsum_axes,
    "broadcast": explain_broadcast,
    "broadcast to": explain_broadcast_to,
    "joined": explain_joined,
    "stacked": explain_stacked,
    "reshaped": explain_reshaped,
    "size": explain_size,
    "update": explain_update,
    "format": explain_format,
    "not array": explain_not_array,
    "result": explain_result,
    "predicate": explain_predicate,
    "loop condition": explain_loop_condition,
    "branch index": explain_branch_index,
    "bounds": explain_bounds,
    "scan sizes": explain_scan_sizes,
    "scan length": explain_scan_length,
    "scan pair": explain_scan_pair,
    "grad output": explain_grad_output,
    "grad input": explain_grad_input,
    "grad argument": explain_grad_argument,
    "aux": explain_aux,
    "vmap sizes": explain_vmap_sizes,
    "vmap rank": explain_vmap_rank,
    "vmap axes": explain_vmap_axes,
    "jit option": explain_jit_option,
    "devices": explain_devices,
    "mesh axes": explain_mesh_axes,
    "truth": explain_truth,
    "scalar": explain_scalar,
    "hash": explain_hash,
    "listed": explain_listed,
    "key": explain_key,
    "index type": explain_index_type,
    "index list": explain_index_list,
    "joined numbers": explain_joined_numbers,
    "at element": explain_at_element,
    "no rule": explain_no_rule,
    "loop gradient": explain_loop_gradient,
    "axis name": explain_axis_name,
    "spec rank": explain_spec_rank,
    "spec division": explain_spec_division,
    "spec axis": explain_spec_axis,
    "spec replication": explain_spec_replication,
    "callback": explain_callback,
    "callback result": explain_callback_result,
    "layer input": explain_layer_input,
    "groups": explain_groups,
    "image axes": explain_image_axes,
    "features": explain_features,
    "backend": explain_backend,
    "nondiff": explain_nondiff,
}
