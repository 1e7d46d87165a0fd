"""Finds which op each kernel of a CUDA graph belongs to, from its name, its position and its node.

XLA names a kernel after its op. But it compiles equal fusions once, and names the kernel after one of them. If a
kernel has as many nodes in the graph as there are such fusions, each is one of them, in the order of the schedule.
Kernels of libraries lie between others. A node is the same op in every run, so one run is enough to know it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ....xla.hlo import HloModule
from ....xla.schedule import flattened_schedule
from ..operations import kind_of

#: The op of a kernel that may belong to several.
UNSURE = ""


class GraphKernel(NamedTuple):
    """One execution of a kernel in a CUDA graph.

    Attributes:
        name: the name of the kernel.
        graph: the id of the graph.
        node: its node in the graph; 0 if not recorded.
        launch: the correlation id of the launch of the graph; 0 if not recorded.
    """

    name: str
    graph: object = 0
    node: int = 0
    launch: int = 0


def ops_of_kernels(kernels: Sequence[GraphKernel], module: HloModule, elsewhere: Iterable[str]) -> list[str | None]:
    """Return the op of each kernel that its name alone does not show; ``None`` where the name does, or nothing does.

    Args:
        kernels: the kernels of one program on one stream, in the order in which they ran.
        module: the compiled module.
        elsewhere: the ops that ran outside of graphs.
    """
    order = {module.instructions[number].name: at for at, number in enumerate(_schedule(module))}
    by_kernel = _by_kernel(module)
    names = {name: _only(by_kernel, name) for name in {each.name for each in kernels}}
    seen = {*elsewhere, *names.values()}
    alike: dict[tuple[object, ...], list[str]] = {}
    for op in order:
        alike.setdefault(_compiled_once(op, module), []).append(op)
    ops: list[str | None] = [None] * len(kernels)
    for name, named in names.items():
        if named not in order or module.instructions[module.instruction_ids[named]].opcode != "fusion":
            continue
        equal = [each for each in alike[_compiled_once(named, module)] if each == named or each not in seen]
        if len(equal) > 1:
            mine = [at for at, each in enumerate(kernels) if each.name == name]
            nodes = _nodes_in_order([kernels[at] for at in mine])
            by_node = dict(zip(nodes, equal, strict=True)) if len(nodes) == len(equal) else {}
            for at in mine:
                ops[at] = by_node.get((kernels[at].graph, kernels[at].node), UNSURE)
    _add_by_position(ops, [ops[at] or names[each.name] for at, each in enumerate(kernels)], order, module)
    _add_by_node(ops, kernels, names, module)
    return ops


def op_of_kernel(kernel: str, module: HloModule | None) -> str:
    """Return the name of the HLO op that a kernel was compiled from, or the kernel's name if that is not certain.

    Without a module, a number at the end is taken for the number of an op.

    >>> op_of_kernel("loop_add_fusion_1", None), op_of_kernel("ampere_sgemm_128x64_tn", None)
    ('loop_add_fusion.1', 'ampere_sgemm_128x64_tn')
    """
    if module is None:
        return re.sub(r"_(\d+)$", r".\1", _plain(kernel))
    return _only(_by_kernel(module), kernel)


def _by_kernel(module: HloModule) -> dict[str, list[str]]:
    """Return the ops whose kernels have each name."""
    by_kernel: dict[str, list[str]] = {}
    for name in module.instruction_ids:
        by_kernel.setdefault(sanitized(name), []).append(name)
    return by_kernel


def _only(by_kernel: Mapping[str, Sequence[str]], kernel: str) -> str:
    """Return the only op whose kernel has this name, or the one that is called so, or else the name."""
    kernel = _plain(kernel)
    names = by_kernel.get(kernel, ())
    return names[0] if len(names) == 1 else kernel


def _plain(kernel: str) -> str:
    """Return the name of a kernel without what AMD's compiler adds."""
    return kernel.removesuffix(".kd")


def sanitized(name: str) -> str:
    """Return the kernel name that XLA derives from the name of an op."""
    return re.sub(r"\W", "_", name)


def _compiled_once(op: str, module: HloModule) -> tuple[object, ...]:
    """Return a key that is the same for fusions that XLA may have compiled as one."""
    fusion = module.instructions[module.instruction_ids[op]]
    inside = (number for called in fusion.called_computation_ids for number in module.computations.get(called, ()))
    parts = [(each.opcode, each.shape) for number in inside if (each := module.instructions.get(number))]
    return fusion.opcode, kind_of(op), fusion.shape, *parts


def _nodes_in_order(kernels: Sequence[GraphKernel]) -> list[tuple[object, int]]:
    """Return the nodes of one kernel in the order of a launch that has all of them; none if that is not known."""
    nodes = {(each.graph, each.node) for each in kernels}
    if len({each.graph for each in kernels}) > 1 or not all(each.node and each.launch for each in kernels):
        return []
    by_launch: dict[int, list[tuple[object, int]]] = {}
    for each in kernels:
        by_launch.setdefault(each.launch, []).append((each.graph, each.node))
    whole = (list(dict.fromkeys(found)) for found in by_launch.values() if len({*found}) == len(nodes))
    return next(whole, [])


def _add_by_position(
    ops: list[str | None], names: Sequence[str], order: Mapping[str, int], module: HloModule
) -> None:
    """Add the calls of libraries: the kernels between two kernels with known ops belong to the calls between these.

    All of them belong to the same call if there is only one, and one to each if there are as many calls as kernels.
    """
    calls = [each for each in order if module.instructions[module.instruction_ids[each]].opcode == "custom-call"]
    places = [None if ops[at] == UNSURE else order.get(name) for at, name in enumerate(names)]
    begin = 0
    while begin < len(ops):
        if places[begin] is not None or ops[begin] == UNSURE:
            begin += 1
            continue
        known = (at for at in range(begin, len(ops)) if places[at] is not None or ops[at] == UNSURE)
        end = next(known, len(ops))
        low = places[begin - 1] if begin else -1
        high = places[end] if end < len(ops) else len(order)
        # It is not the other way round, as where the next run of a graph begins.
        between = [] if low is None or high is None else [each for each in calls if low < order[each] < high]
        if len(between) == 1:
            ops[begin:end] = between * (end - begin)
        elif len(between) == end - begin:
            ops[begin:end] = between
        begin = end


def _add_by_node(
    ops: list[str | None], kernels: Sequence[GraphKernel], names: Mapping[str, str], module: HloModule
) -> None:
    """Add what other runs show of a node, as at the beginning of a recording, where neighbours are missing."""
    known: dict[GraphKernel, set[str]] = {}
    for op, kernel in zip(ops, kernels, strict=True):
        if op and kernel.node:
            known.setdefault(kernel._replace(launch=0), set()).add(op)
    for at, kernel in enumerate(kernels):
        found = known.get(kernel._replace(launch=0), set())
        if ops[at] is None and names[kernel.name] not in module.instruction_ids and len(found) == 1:
            ops[at] = next(iter(found))


def _schedule(module: HloModule) -> Iterable[int]:
    """Return the instructions in the order in which they run: those of a called computation before its caller."""
    try:
        return flattened_schedule(module).order
    except ValueError:
        called = {each for one in module.instructions.values() for each in one.called_computation_ids}
        return [each for number, ids in module.computations.items() if number not in called for each in ids]
