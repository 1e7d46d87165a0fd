"""Words of the rules ``sort``, ``layout`` and ``gather``."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable
from .runs import at_least


def _partial(length: int, used: int, end: str) -> str:
    which = f"the {end}" if used == 1 else f"the {used} {end}"
    return f"{units.count(length, 'element')} are sorted, of which only {which} {'is' if used == 1 else 'are'} used."


def _partial_remedy(used: int, end: str, indices: bool, written: str = "") -> str:
    sign = "-" if end == "smallest" else ""
    array = f"{sign}(…)" if sign else "…"
    part = f"jax.lax.top_k({array}, {used})[1]" if indices else f"{sign}jax.lax.top_k({array}, {used})[0]"
    part = printable(written) or f"{part}, with all that is sorted, and its sign, in place of …"
    ties = ", and ties may be broken differently" if indices else ""
    one = ("argmin" if indices else "min") if end == "smallest" else ("argmax" if indices else "max")
    single = f" For one element, jnp.{one}(…, axis=-1) of what is sorted is the fastest." if used == 1 else ""
    return (
        f"Use {part}. It does not sort everything, and begins with the {end} of what is sorted. "
        f"NaN may be in another place{ties}."
        f"{single}"
    )


def _partials(length: int, largest: int, smallest: int) -> str:
    """Describe what is used of several sorts that are not used alike."""
    ends = (largest, "largest"), (smallest, "smallest")
    parts = " and the ".join(f"{count} {end}" for count, end in ends if count)
    return (
        f"{units.count(length, 'element')} are sorted, of which only the {parts} are used, in several sorts that "
        "differ in that."
    )


def _partials_remedy(sorts: int, largest: int, smallest: int) -> str:
    ways = ["jax.lax.top_k(x, k) for the k largest"] if largest else []
    ways += ["-jax.lax.top_k(-x, k)[0] for the values of the k smallest"] if smallest else []
    return (
        f"Replace each of these {sorts} sorts: {', '.join(ways)}. XLA makes one sort of those of the same array, "
        "whose time is spared only if all of them are replaced. NaN may be in another place."
    )


def _time(shape: str, sorts: int, sort_ns: float, least: int = 0) -> str:
    time = at_least(units.time(sort_ns), least)
    ran = str(at_least(units.count(sorts, "sort"), least))
    return f"{ran[:1].upper()}{ran[1:]} of {printable(shape)} per run: {time} of device time."


def _reordered(function: str, share: float) -> str:
    return (
        f"{printable(function)} reorders arrays in memory for {units.percent(share)} of the run (transposes, and "
        "copies that change the layout)."
    )


def _time_of(operations: int, time_ns: float, name: str, shape: str, least: int = 0) -> str:
    one = f"{printable(name)} makes {printable(shape)}"
    which = one if operations == 1 else f"{operations} operations; the longest, {one}"
    time = at_least(units.time(time_ns), least)
    return f"{time[:1].upper()}{time[1:]} of device time per run: {which}."


def _reordered_argument(arguments: str, function: str) -> str:
    them = "them" if "," in arguments else "it"
    return (
        f"Pass {printable(arguments)} in the order of axes that this line needs: create {them} so, or transpose "
        f"{them} once before several calls of {printable(function)}."
    )


def _reordered_order(arguments: int, orders: str, function: str) -> str:
    them, order = ("them", "these orders") if arguments > 1 else ("it", "this order")
    return (
        f"Pass {printable(orders)}: XLA stores {them} so here. Create {them} so, or transpose {them} once before "
        f"several calls of {printable(function)}. Then write {printable(function)} for {order}: with other letters "
        "in an einsum, other dimension_numbers in a convolution, other in_axes in a vmap, or without a transpose."
    )


def _scatter_remedy(backend: str) -> str:
    fewer = "If they can be fewer and larger, write them so: whole rows, or all updates of a loop at once."
    if backend == "cpu":
        return fewer
    return (
        f"{fewer} If the indices are sorted, or none occurs twice, promise it, which JAX does not check: "
        "x.at[i].add(y, indices_are_sorted=True) or unique_indices=True, which jax.ops.segment_sum takes as well."
    )


NOTES: dict[str, Callable[..., str]] = {
    "partial_sort": _partial,
    "partial_sort_remedy": _partial_remedy,
    "partial_sorts": _partials,
    "partial_sorts_remedy": _partials_remedy,
    "sort_time": _time,
    "repeated_sort": lambda array, function, count, least=0: (
        f"{printable(function)} sorts {printable(array)} in each of {at_least(count, least)} calls, and it is "
        "the same in all of them."
    ),
    "repeated_sort_time": lambda sort_ns, sorts, least=0: (
        f"{units.count(sorts, 'sort')} in the program, {at_least(units.time(sort_ns), least)} of device time per run."
    ),
    "repeated_sort_remedy": lambda array, function, within="": (
        f"Sort {printable(array)} once before the loop, pass the result to {printable(function)}, and "
        + (
            f"compute there from the sorted array, by index, what {printable(within)} does, which sorts again."
            if within
            else f"take the sort out of {printable(function)}, which would sort the result again."
        )
    ),
    "reordered": _reordered,
    "dominant_time": _time_of,
    "reordered_argument": _reordered_argument,
    "reordered_order": _reordered_order,
    "reordered_remedy": lambda: (
        "Keep one order of axes from where the arrays are made to where they are used: axes that a product shares "
        "first, and an axis that is summed, sorted or transformed over last."
    ),
    "sort": lambda function, share: f"{printable(function)} sorts for {units.percent(share)} of the run.",
    "sort_remedy": lambda: (
        "Sort once, before a loop, what stays the same; or do without the whole order: jax.lax.top_k finds a few "
        "elements, jnp.min and jnp.max one."
    ),
    "shuffle": lambda function, share: (
        f"{printable(function)} sorts random numbers for {units.percent(share)} of the run, to shuffle."
    ),
    "shuffle_remedy": lambda: (
        "jax.random.permutation, and jax.random.choice without replacement, sort random numbers for all elements, "
        "however few are used. If an element may be drawn twice, draw with replacement. For batches, shuffle once "
        "per epoch and take the next slice for each. To draw k of many elements n, jax.lax.top_k(jax.random.uniform("
        "key, (n,)), k)[1] does not sort, but prefers the first of equal random numbers, of which float32 has 2**23."
    ),
    "gather": lambda function, share: (
        f"{printable(function)} reads elements by index (gather) for {units.percent(share)} of the run."
    ),
    "scatter": lambda function, share: (
        f"{printable(function)} writes elements by index (scatter) for {units.percent(share)} of the run."
    ),
    "gather_remedy": lambda: (
        "Sort the indices where their order does not matter, so that memory is read in order; read the same elements "
        "once, before a loop; or store them in a smaller type."
    ),
    "scatter_remedy": _scatter_remedy,
}
