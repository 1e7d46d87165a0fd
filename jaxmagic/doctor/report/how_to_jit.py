"""Words the advice to jit a function or a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...terminal import printable
from .remedies.conditions import MASKED
from .remedies.filled import filled, loop_in
from .remedies.jitted_parts import parts_of_method, parts_of_round

#: Words for variables whose values jit keeps.
_ONE_KEPT = "keeps the value", "it changes, pass it as an argument"
_SEVERAL_KEPT = "keep the values", "they change, pass them as arguments"

#: The ways that put a round of a loop into a jitted function.
_OF_ROUNDS = "loop", "until", "asked", "generator", "group"

#: What loops of JAX need.
SAME_TYPES = "Each variable must begin with the shape and type that every round gives it."


def how_to_jit(
    way: str,
    function: str,
    outer: str = "",
    source: str = "",
    freezes: int = 0,
    library: str = "",
    functions: str = "",
    rounds: str = "",
    objects: str = "",
    jit: str = "jax.jit",
    then: str = "",
    axes: str = "",
    outer_axes: str = "",
    line: str = "",
    written: int = 0,
    parts: int = 1,
    fills: str = "",
    static: str = "",
    donated: str = "",
    indexed: str = "",
    **known: Any,
) -> str:
    """Word what to jit and how, and what becomes of what jit cannot compile."""
    if way == "blocked":
        first = _blocked(function, source, jit, freezes=bool(freezes))
    elif way in ("rows", "in_turn"):
        first = filled(way, function, fills, written=bool(written))
    elif written:
        first = (
            f"Values of arrays decide when the loop in {printable(function)} ends: let jax.lax.while_loop compute "
            f"all of it, inside one jitted function. {SAME_TYPES}"
        )
    elif way == "method":
        first = parts_of_method(function, static, parts, donated)
    elif way == "round":
        first = parts_of_round(function, parts, indexed)
    else:
        first = _way_to_jit(way, function, outer, jit)
    more = [_next_step(then, function, axes, line, library, jit)] if then and then != "pairs" else []
    more += [_pairs(function, axes, outer_axes, jit)] if then == "pairs" else []
    counter = _counter(way, jit)
    return " ".join(
        [first, *counter, *_not_traced(library, functions, objects, rounds), *more, *about_caveats(**known)]
    )


def _counter(way: str, jit: str) -> Iterator[str]:
    """Yield how a round of a loop gets its number: the jit of Equinox compiles for each number of Python."""
    if way in _OF_ROUNDS and jit.endswith("filter_jit"):
        yield (
            f"{printable(jit)} compiles again for each number of Python: pass what counts the rounds as an array, as "
            "in jnp.asarray(i)."
        )


def jitted_vmap(function: str, axes: str, jit: str = "jax.jit") -> str:
    """Write a function mapped and jitted: modules of Equinox need the library's own transformations.

    >>> jitted_vmap("loss", "(None, 0)", "eqx.filter_jit")
    'eqx.filter_jit(eqx.filter_vmap(loss, in_axes=(None, 0)))'
    """
    return f"{printable(jit)}({_vmap(jit)}({printable(function)}{axes and f', in_axes={axes}'}))"


def _vmap(jit: str) -> str:
    return printable(f"{jit.removesuffix('jit')}vmap")


def loops_beside(jit: str) -> str:
    """Return the module whose loops take what a jit takes: modules of flax.nnx change in the library's own only.

    >>> loops_beside(""), loops_beside("jax.jit"), loops_beside("eqx.filter_jit"), loops_beside("nnx.jit")
    ('jax.lax', 'jax.lax', 'jax.lax', 'nnx')
    """
    return "jax.lax" if jit in ("", "jax.jit") or jit.endswith("filter_jit") else jit.rpartition(".")[0]


def _pairs(function: str, axes: str, outer_axes: str, jit: str) -> str:
    """Word how to compute all pairs of the items of two loops."""
    vmap = _vmap(jit)
    inner, outer = (each and f", in_axes={each}" for each in (axes, outer_axes))
    return (
        f"{printable(function)} would still be called once for each pair of items, and no pair needs the result of "
        "another. If the arguments that vary have the same shapes, stack those of each loop and call "
        f"{printable(jit)}({vmap}({vmap}({printable(function)}{inner}){outer})) once: its result has an axis for "
        "each loop."
    )


def _next_step(then: str, function: str, axes: str, line: str, library: str, jit: str) -> str:
    """Word what would avoid the calls of the jitted function as well."""
    if then == "vmap":
        mapped = jitted_vmap(function, axes, jit)
        return (
            f"{printable(function)} would still be called once per iteration, and no iteration needs the result of "
            f"another. If their arguments have the same shapes, stack them and call {mapped} once."
        )
    scan = "nnx.scan" if library == "nnx" else "jax.lax.scan"
    return (
        f"The loop at {printable(line)} would still call it, and everything else in the loop, one by one. A jitted "
        f"function of a whole iteration, looped over with {scan}, would avoid that as well."
    )


def _not_traced(library: str, functions: str, objects: str, rounds: str) -> Iterator[str]:
    """Yield what jit does not trace in the arguments."""
    if library == "equinox":
        yield (
            "filter_jit traces the arrays in its arguments. It compiles again for another value of anything else, "
            "even a number: pass an array for one that changes, unless a shape, axis, range() or if needs its value."
        )
    if rounds:
        yield (
            f"{printable(rounds)} needs the number. A jax.lax.fori_loop in its place takes an array, but jax.grad "
            "cannot differentiate that."
        )
    if library == "nnx":
        yield "nnx.jit takes modules and optimizers, and keeps what the function changes in them."
    if functions:
        several = ", " in functions
        yield (
            f"{printable(functions)} {'are' if several else 'is'} static: pass the same "
            f"{'functions' if several else 'function'} in each call, as jit compiles again for another one."
        )
    if objects:
        yield (
            f"jit does not trace {printable(objects)}: pass what the code computes with as arguments, return what it "
            "assigns, and make static only what is the same in each call."
        )


def about_caveats(
    decides: int = 0,
    reads: int = 0,
    random: str = "",
    once: str = "",
    mask: str = "",
    size: str = "",
    argument: str = "",
    converts: int = 0,
    counts: int = 0,
    masked: int = 0,
    rebinds: str = "",
    traced: str = "",
    changes: str = "",
    keeps: str = "",
    numbers: str = "",
    wide: str = "",
    sorts: str = "",
    anew: str = "",
) -> Iterator[str]:
    """Yield what becomes of code that cannot be jitted as it is."""
    if numbers:
        array = "arrays, not Python numbers" if ", " in numbers else "an array, not a Python number"
        it = "them" if ", " in numbers else "it"
        which = " and ".join(filter(None, printable(numbers).rpartition(", ")[::2]))
        yield f"Under jit, {which} would be {array}, with 32 bits by default: compute {it} outside."
    if anew:
        state = printable(anew)
        yield (
            f"Each run makes the Optax optimizer of {state} anew, and jit compiles again for it, which may take "
            f"longer than the operations: make it once, outside, as well as a model whose method {state} holds."
        )
    if wide:
        several = ", " in wide
        yield (
            f"jit does not take {printable(wide)}: {'integers' if several else 'an integer'} beyond 32 bits. Compute "
            f"what needs {'them' if several else 'it'} outside, and pass the results."
        )
    if sorts:
        yield (
            "jit returns dictionaries with their keys sorted: read the items by their keys, not in the order "
            f"{printable(sorts)}."
        )
    if keeps:
        keep, if_changed = _SEVERAL_KEPT if ", " in keeps else _ONE_KEPT
        yield f"Under jit, {printable(keeps)} {keep} of the first call: if {if_changed}."
    if changes:
        several = ", " in changes
        yield (
            f"Under jit, {printable(changes)} would keep the {'values' if several else 'value'} of the first call: "
            f"pass {'them as arguments' if several else 'it as an argument'}."
        )
    if rebinds:
        yield _rebound(rebinds, traced)
    if converts:
        yield "Replace functions of NumPy there by those of jax.numpy, or leave them outside."
    if counts:
        yield "A size or count there becomes a static argument, or is computed outside."
    if masked:
        yield "Keep all elements there instead of those of a mask, with jnp.where, or leave it outside."
    if decides:
        yield "A condition on an array becomes jnp.where or jax.lax.cond there, or stays outside."
    if reads:
        yield "Code that reads values of arrays, such as float() and print(), stays outside."
    if random:
        yield (
            f"Under jit, {printable(random)} would draw only once, while JAX traces, and each call would "
            "get the same numbers: use jax.random with a key as an argument, or pass the numbers."
        )
    if once:
        yield (
            f"Under jit, {printable(once)} would run only once, while JAX traces: call it outside, and pass "
            "its result if it is needed."
        )
    if mask:
        yield (
            f"{printable(mask)} fails under jit, because its size depends on values: keep all elements, "
            f"with {MASKED}; or leave it outside."
        )
    if size:
        yield (
            f"{printable(size)} fails under jit without {argument}=, because the size of its result depends "
            "on values: pass the largest size; or leave it outside."
        )


def _rebound(names: str, traced: str) -> str:
    which = "" if traced == names else f"{printable(traced)} "
    value = "traced values" if ", " in traced else "a traced value"
    then = f", and {which}could be {value} afterwards" if traced else ""
    pass_ = (
        "pass them as arguments, and return the new ones"
        if ", " in names
        else "pass it as an argument, and return the new one"
    )
    return f"Under jit, {printable(names)} would be assigned only while JAX traces{then}: {pass_}."


def _blocked(function: str, source: str, jit: str, *, freezes: bool) -> str:
    if freezes:
        return (
            f"{printable(function)} cannot be jitted as it is: a part of it has another result in each call, such as "
            "random numbers or the time, and would run only once under jit. Pass that result as an argument; then "
            "jit the function."
        )
    where = f" at '{printable(source)}'" if source else ""
    return (
        f"{printable(function)} cannot be jitted as it is: tracing it fails{where}. Change that first, or leave it "
        f"outside, and put only the other operations into a function under {printable(jit)}."
    )


def _way_to_jit(way: str, function: str, outer: str, jit: str) -> str:
    if way == "function":
        return f"Compile {printable(function)} as one program."
    if way == "outside":
        return (
            f"Compile {printable(function)} as one program: define it outside of {printable(outer)}, and jit it "
            f"once. Jitted inside, it would compile in every call of {printable(outer)}."
        )
    if way == "model":
        return (
            f"Jit the whole call of the model that {printable(function)} belongs to, once: jax.jit(model.apply) and "
            "jax.jit(model.init) in flax linen, nnx.jit or eqx.filter_jit around a function that calls it."
        )
    own, loops = printable(jit), printable(loops_beside(jit))
    if way == "generator":
        return (
            f"{printable(function)} contains yield, so jit cannot compile it. Put what computes one of its values "
            f"into a function under {own}, and yield outside of that."
        )
    if way == "loop":
        return (
            f"Put the body of {loop_in(function)} into a function under {own}; or jit all of it, "
            f"with {loops}.scan or {_vmap(jit)} instead of the loop, which would otherwise be unrolled."
        )
    if way == "whole":
        loops = printable(loops_beside(jit))
        return (
            f"Put all of {loop_in(function)} into one function under {printable(jit)}, with {loops}.scan, "
            f"{loops}.fori_loop or {_vmap(jit)} instead of the loop, which would otherwise be unrolled."
        )
    if way == "until":
        return (
            f"Values of arrays decide when the loop in {printable(function)} ends, so jit cannot compile it as it "
            f"is. Put the computation of an iteration into a function under {own} and decide outside; or use "
            f"{loops}.while_loop, and jit all of it."
        )
    if way == "asked":
        return (
            f"The condition that ends the loop in {printable(function)} depends on more than arrays, such as a clock "
            "or a Python object, so jit cannot compile the loop. Put the computation of an iteration into a function "
            f"under {own} and decide outside."
        )
    if way == "outermost":
        where = f" around {printable(function)}" if function else ""
        module, _, own = jit.rpartition(".")
        grad = printable(f"{module}.{own.removesuffix('jit')}grad")
        return (
            f"Some of them come from a function under jax.vmap, {grad} or the like. Put {printable(jit)} "
            f"outermost{where}, as in {printable(jit)}({grad}(f)), or jit all that calls it. Make the jitted "
            "function once, before the calls, and call it in place of the other."
        )
    return f"Put these operations into a function under {printable(jit)}."
