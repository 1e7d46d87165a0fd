"""Words of the rules about the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import units
from ...terminal import printable


def _wait(count: int, time_ns: int, library: str, loop: int) -> str:
    where = f" inside {printable(library)}" if library else ""
    each = ", in a loop" if loop else ""
    return f"The code waits for a result{where} {count} times per run{each}: {units.time(time_ns)} in all."


def _read_later(decides: int, called: str = "") -> str:
    if decides:
        return "Let the device decide, with jnp.where, jax.lax.cond or jax.lax.while_loop, or decide less often."
    first = f"Return the array from {printable(called)}, and read it" if called else "Keep the arrays and read them"
    where = "after the loop that calls it" if called else "after the loop"
    return f"{first} {where}, or read the result of a step only after calling the next one."


def _not_jitted(count: int, names: str, kinds: int) -> str:
    more = "" if kinds <= len(names.split(", ")) else " and others"
    return f"{count} operations per run are called one by one, outside of jit: {printable(names)}{more}."


def _how_to_jit(
    way: str,
    function: str,
    outer: str = "",
    source: str = "",
    freezes: int = 0,
    library: str = "",
    functions: str = "",
    objects: str = "",
    jit: str = "jax.jit",
    then: str = "",
    axes: str = "",
    line: str = "",
    **known: Any,
) -> str:
    if way == "blocked":
        first = _blocked(function, source, freezes=bool(freezes))
    else:
        first = _way_to_jit(way, function, outer, jit)
    more = [_next_step(then, function, axes, line)] if then else []
    return " ".join([first, *_not_traced(library, functions, objects), *more, *_caveats(**known)])


def _next_step(then: str, function: str, axes: str, line: str) -> str:
    """Word what would avoid the calls of the jitted function as well."""
    if then == "vmap":
        mapped = f"jax.jit(jax.vmap({printable(function)}{axes and f', in_axes={axes}'}))"
        return (
            f"{printable(function)} would still be called once per iteration, and no iteration needs the result of "
            f"another. If their arguments have the same shapes, stack them and call {mapped} once."
        )
    return (
        f"The loop at {printable(line)} would still call it, and everything else in the loop, one by one. A jitted "
        "function of a whole iteration, looped over with jax.lax.scan, would avoid that as well."
    )


def _not_traced(library: str, functions: str, objects: str) -> Iterator[str]:
    """Yield what jit does not trace in the arguments."""
    if library == "equinox":
        yield (
            "filter_jit traces the arrays in its arguments. It compiles again for another value of anything else, "
            "even a number: pass an array for one that changes."
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
        several = ", " in objects
        yield (
            f"jit does not trace {printable(objects)}: let the jitted function read {'them' if several else 'it'} "
            "from outside, or make static what is the same object in each call."
        )


def _caveats(
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
) -> Iterator[str]:
    """Yield what becomes of code that cannot be jitted as it is."""
    if rebinds:
        yield (
            f"Under jit, {printable(rebinds)} would be assigned only while JAX traces, and would be a traced value "
            "afterwards: pass it as an argument, and return the new one."
        )
    if converts:
        yield "A function of NumPy becomes that of jax.numpy there, or stays outside."
    if counts:
        yield "A size or count there becomes a static argument, or is computed outside."
    if masked:
        yield "Keep all elements there instead of those of a mask, with jnp.where, or leave it outside."
    if decides:
        yield "A condition on an array becomes jnp.where or jax.lax.cond there, or stays outside."
    if reads:
        yield "What reads the values of arrays, as float and print do, stays outside."
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
            "with jnp.where(mask, x, 0) or jnp.sum(x, where=mask); or leave it outside."
        )
    if size:
        yield (
            f"{printable(size)} fails under jit without {argument}=, because the size of its result depends "
            "on values: pass the largest size; or leave it outside."
        )


def _blocked(function: str, source: str, *, freezes: bool) -> str:
    if freezes:
        return (
            f"{printable(function)} cannot be jitted as it is, because jit would run only once what changes from "
            "call to call. Pass it as an argument, such as random numbers or the time; then jit the function."
        )
    where = f" at '{printable(source)}'" if source else ""
    return (
        f"{printable(function)} cannot be jitted as it is: tracing it fails{where}. Change that first, or leave it "
        "outside, and put only the other operations into a function under jax.jit."
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
    if way == "loop":
        return (
            f"Put the body of the loop in {printable(function)} into a function under jax.jit; or jit all of it, "
            "with jax.lax.scan or jax.vmap instead of the loop, which would otherwise be unrolled."
        )
    if way == "until":
        return (
            f"Values of arrays end the loop in {printable(function)}, so jit cannot compile it as it is. Put the "
            "computation of an iteration into a function under jax.jit and decide outside; or use "
            "jax.lax.while_loop, and jit all of it."
        )
    if way == "asked":
        return (
            f"The condition that ends the loop in {printable(function)} asks more than arrays, such as a clock or an "
            "object of Python, so jit cannot compile the loop. Put the computation of an iteration into a function "
            "under jax.jit and decide outside."
        )
    if way == "outermost":
        where = f" around {printable(function)}" if function else ""
        module, _, own = jit.rpartition(".")
        grad = printable(f"{module}.{own.removesuffix('jit')}grad")
        return (
            f"Some of them come from a function under jax.vmap, {grad} or the like. Put {printable(jit)} "
            f"outermost{where}, as in {printable(jit)}({grad}(f)), or jit all that calls it; and make the jitted "
            "function once."
        )
    return f"Put these operations into a function under {printable(jit)}."


def _dispatch_bound(function: str, count: int, busy_ns: int, idle_ns: int) -> str:
    return (
        f"{printable(function)} is called {count} times per run. Each call keeps the device busy for "
        f"{units.time(busy_ns)} and idle for {units.time(idle_ns)}."
    )


def _until(function: str, end: str) -> str:
    steps = (
        f"call a jitted function that takes a fixed number of steps of {printable(function)} with jax.lax.scan, and "
        "check after each call. That may take some steps more than now."
    )
    if end == "host":
        return (
            "The condition that ends this loop asks more than arrays, such as a clock or an object of Python, so the "
            f"loop cannot be compiled as a whole: {steps}"
        )
    return (
        "Values end this loop, and jax.lax.scan cannot stop early. Use jax.lax.while_loop inside one jitted "
        f"function, if JAX can compute the condition; or {steps}"
    )


def _transformed(function: str, count: int, transform: str, backward: int) -> str:
    each = f"{count} forward and backward passes" if backward else f"{count} calls"
    how = f"jax.{printable(transform)}" if transform else "a transformation such as jax.vmap or jax.grad"
    return (
        f"{printable(function)} is jitted, but {how} around it is not: each of {each} per run is transformed "
        "again, in Python."
    )


def _jit_outside(function: str, transform: str) -> str:
    around = f"jax.jit({printable(transform)}({printable(function)}))" if transform else "jax.jit(jax.vmap(f))"
    return f"Put jax.jit outermost, {around}, and make this function once."


NOTES: dict[str, Callable[..., str]] = {
    "host_wait": _wait,
    "host_wait_idle": lambda idle_ns: (
        f"After these waits the device is idle for {units.time(idle_ns)} per run, until it has work again. The rest "
        "of the wait is the device's own work."
    ),
    "host_wait_cores": lambda: (
        "The gain may be a fraction of the cost: on the CPU the host and the device share the same cores."
    ),
    "host_wait_also": lambda line, count, time_ns: (
        f"The code also waits at {printable(line)}: {count} times, {units.time(time_ns)}."
    ),
    "host_wait_remedy": _read_later,
    "host_wait_leave_out": lambda: (
        "Leave block_until_ready() out: nothing is read there, and JAX waits by itself where a value is read."
    ),
    "host_wait_library": lambda library: (
        f"{printable(library)} waits by itself: call it less often, such as once in ten steps, or with several steps "
        "in one call."
    ),
    "host_callback": lambda primitive, count: (
        f"The device waits for the host in {printable(primitive)}, {units.count(count, 'time')} per run."
    ),
    "host_callback_remedy": lambda printing: (
        "Remove it when it is no longer needed, or return the values and print them later."
        if printing
        else "Compute it with jax.numpy, or outside of the jitted function if its input allows."
    ),
    "not_jitted": _not_jitted,
    "not_jitted_inside": lambda function, share: (
        f"Others are called elsewhere: {printable(function)} has {units.share(share, 1)} of the samples in which "
        "operations may have been called."
    ),
    "not_jitted_first_called": lambda function, share: (
        f"Others are called elsewhere: {printable(function)} has {units.share(share, 1)} of the time of all of them, "
        "as far as the lines show that called each of them first."
    ),
    "not_jitted_unknown": lambda function: (
        f"How many of them {printable(function)} calls is unknown: it ran too briefly to be sampled often enough."
    ),
    "not_jitted_remedy": _how_to_jit,
    "transformed_calls": _transformed,
    "transformed_calls_remedy": _jit_outside,
    "dispatch_bound": _dispatch_bound,
    "dispatch_bound_scan": lambda function, **known: " ".join(
        [
            f"Do more in one call: loop over {printable(function)} with jax.lax.scan inside one jitted function.",
            *_caveats(**known),
        ]
    ),
    "dispatch_bound_until": _until,
    "dispatch_bound_unknown": lambda function: (
        f"Do more in one call: put the code that calls {printable(function)} again and again into the jitted "
        "function as well, as far as jit can compile it."
    ),
    "dispatch_bound_vmap": lambda function, axes="": (
        "No call needs the result of another: make one call of "
        f"jax.jit(jax.vmap({printable(function)}{axes and f', in_axes={axes}'})) with "
        f"{'the arguments that vary' if axes else 'the arguments'} stacked, and make this function once."
    ),
    "input_bound": lambda loading_ns: f"Loading data takes {units.time(loading_ns)} per run on the calling thread.",
    "input_bound_samples": lambda samples: f"Estimated from {samples} samples of the line that the host was at.",
    "input_bound_prefetch": lambda hidden_ns: (
        f"Load the next item in another thread meanwhile. That hides up to {units.time(hidden_ns)} if loading "
        "releases the GIL, as NumPy and reading files do."
    ),
    "input_bound_faster": lambda: (
        "Make loading itself faster, for example with several processes: it takes nearly all of the run, so loading "
        "one item ahead hides little."
    ),
    "transfer": lambda names, function, count, size_bytes: (
        f"Each of {count} calls of {printable(function)} copies {printable(names)} to the device: "
        f"{units.size(size_bytes)} per run."
    ),
    "transfer_once": lambda names: f"Copy {printable(names)} once, before the loop.",
    "transfer_all": lambda names, size_bytes: (
        f"Copy {printable(names)} once, before the loops, if {units.size(size_bytes)} fit on the device."
    ),
}
