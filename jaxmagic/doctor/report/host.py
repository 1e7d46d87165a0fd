"""Words of the rules about the host."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable
from .compiling.recompile import waits_for_size
from .copies import COPY_NOTES
from .how_to_jit import how_to_jit, jitted_vmap, loops_beside
from .remedies.loops import LOOP_REMEDIES
from .runs import at_least


def _wait(count: int, share: float, library: str, loop: int) -> str:
    where = f" inside {printable(library)}" if library else ""
    each = ", in a loop" if loop else ""
    part = units.share(share, 1)
    return f"The code waits for a result{where} {count} times per run{each}, for {part} of the run in all."


def _read_later(decides: int, called: str = "") -> str:
    if decides:
        return "Let the device decide, with jnp.where, jax.lax.cond or jax.lax.while_loop, or decide less often."
    first = f"Return the array from {printable(called)}, and read it" if called else "Keep the arrays and read them"
    where = "after the loop that calls it" if called else "after the loop"
    return f"{first} {where}, or read the result of a step only after calling the next one."


def _not_jitted(count: int, names: str, kinds: int, least: int = 0) -> str:
    more = "" if kinds <= len(names.split(", ")) else " and others"
    which = f"{printable(names)}{more}"
    counted = at_least(count, least)
    return f"{counted[:1].upper()}{counted[1:]} operations per run are called one by one, outside of jit: {which}."


def _dispatch_bound(function: str, count: int, busy_ns: int, idle_ns: int, least: int = 0) -> str:
    return (
        f"{printable(function)} is called {at_least(count, least)} times per run. Each call keeps the device "
        f"busy for {units.time(busy_ns)} and idle for {units.time(idle_ns)}."
    )


def _static(function: str, arguments: str, alike: bool) -> str:
    names, several = printable(arguments), "," in arguments
    differ = f"arguments {names} differ" if several else f"argument {names} differs"
    them, arrays = ("them", "arrays") if several else ("it", "an array")
    return (
        f"The static {differ} from call to call, so {printable(function)} is compiled for each value. Pass {them} as "
        f"{arrays} instead, no longer static, unless a shape, an axis, the length of a scan or a Python if depends "
        f"on {them}. With jax.lax.dynamic_slice_in_dim, the start of a slice of known size can be an array."
        + (" Then jax.vmap or a loop of JAX inside one jitted function could make all calls." if alike else "")
    )


def _mapped(
    function: str, axes: str = "", jit: str = "jax.jit", within: str = "", counts: int = 0, caller: str = ""
) -> str:
    """Word the advice to map a function over the arguments of calls that do not need each other's results."""
    arguments = "the arguments that vary" if axes else "the arguments"
    call = f"make one call of {jitted_vmap(function, axes, jit)} with {arguments} stacked"
    if within:
        which = f"The calls in one pass of the loop at {printable(within)} do not need each other's results"
        scan = f"{printable(loops_beside(jit))}.scan over the passes"
        more = f" Where jit can compile a whole pass, {scan} spares these calls as well." if counts else ""
        return f"{which}: in each pass, {call}, and make this function once.{more}"
    if caller:
        which = f"The calls in one call of {printable(caller)} do not need each other's results"
        return f"{which}: {call} there, and make this function once."
    return f"No call needs the result of another: {call}, and make this function once."


def _transformed(function: str, count: int, transform: str, backward: int, least: int = 0) -> str:
    each = f"{at_least(count, least)} {'forward and backward passes' if backward else 'calls'}"
    how = f"jax.{printable(transform)}" if transform else "a transformation such as jax.vmap or jax.grad"
    return (
        f"{printable(function)} is jitted, but {how} around it is not: each of {each} per run is transformed "
        "again, in Python."
    )


def _jit_outside(function: str, transform: str) -> str:
    around = f"jax.jit({printable(transform)}({printable(function)}))" if transform else "jax.jit(jax.vmap(f))"
    return f"Put jax.jit outermost, {around}, and make this function once."


def _per_value(line: str, operations: str, numbers: str) -> str:
    """Word the advice on operations outside jit that have a program for each value of a number."""
    several, named = "," in numbers, printable(numbers)
    these, them, are = ("these numbers", "them", "are") if several else ("this number", "it", "is")
    return (
        f"At {printable(line)}, {printable(operations)} is compiled for each value of {named}, and would be under "
        f"jax.jit as well if {these} {are} static. Pass {these} to a jitted function that traces {them}, and let no "
        f"size depend on {them}: jnp.roll(x, k), jnp.take(x, k) and jax.lax.dynamic_slice_in_dim(x, k, n) accept a "
        "traced k. x[:k] does not: jnp.where(jnp.arange(n) < k, x, 0) keeps the size and masks the rest. Or compute "
        "this with NumPy."
    )


NOTES: dict[str, Callable[..., str]] = {
    "host_wait": _wait,
    "host_wait_idle": lambda idle_ns, rest, least=0: (
        f"After these waits the device is idle for {at_least(units.time(idle_ns), least)} per run, until it "
        "has work again." + (" The rest of the wait is the device's own work." if rest else "")
    ),
    "host_wait_latency": lambda latency_ns, busy_ns: (
        f"These waits take {units.time(latency_ns + busy_ns)} per run, and the device works for "
        f"{units.time(busy_ns)}: at least {units.time(latency_ns)} of the waits is the time of starting work and "
        "reading results."
    ),
    "idle_elsewhere": lambda rule, time_ns: (
        f"Another {units.time(time_ns)} of this idle time is counted in the finding {printable(rule)}, not here."
    ),
    "host_wait_cores": lambda: (
        "The gain may be a fraction of the cost: on the CPU the host and the device share the same cores."
    ),
    "host_wait_also": lambda line, count, share: (
        f"The code also waits at {printable(line)}: {count} times, for {units.share(share, 1)} of the run."
    ),
    "host_wait_remedy": _read_later,
    "host_wait_kept": lambda kept: (
        f"Append the arrays to a new list, and read them into {printable(kept)} after the loop, if nothing needs "
        f"{printable(kept)} earlier; or read the result of a step only after calling the next one."
    ),
    "host_wait_later": lambda: "Keep the arrays and read them all at the end, or each after calling the next step.",
    "host_wait_one_call": lambda: (
        "Loop with jax.lax.scan inside one jitted function, and read what all rounds returned after the loop."
    ),
    "host_wait_leave_out": lambda: (
        "Leave block_until_ready() out: nothing is read there, and JAX waits by itself where a value is read."
    ),
    "host_wait_moved": lambda: (
        "Nothing is read there: jax.device_put waits. Move the array once, before the loop, if all rounds can use it "
        "as it is then; or change its sharding inside the jitted function, with jax.lax.with_sharding_constraint."
    ),
    "host_wait_numpy": lambda function, name: (
        f"{printable(function)} computes on the host, and reads its argument for that. jax.numpy.{printable(name)} "
        "computes on the device, and nothing is read there."
    ),
    "host_wait_library": lambda library: (
        f"{printable(library)} waits by itself. If it only shows or keeps values, call it less often, such as once "
        "in ten steps. If later steps need its result, let one call do several steps, as far as it can."
    ),
    "host_callback": lambda primitive, count, least=0: (
        f"The device waits for the host in {printable(primitive)}, "
        f"{at_least(units.count(count, 'time'), least)} per run."
    ),
    "host_callback_remedy": lambda printing: (
        "Remove it when it is no longer needed, or return the values and print them later."
        if printing
        else "Compute it with jax.numpy, or outside of the jitted function if its input allows."
    ),
    "not_jitted": _not_jitted,
    "eager_on_device": lambda count, names, kinds, share, least=0: (
        f"The device works for {units.share(share, 1)} of the recorded {'part of a run' if least else 'run'} on "
        f"{count} operations that are called one by one, outside of jit: {printable(names)}"
        f"{' and others' if kinds > 4 else ''}. Each reads and writes whole arrays."
    ),
    "eager_on_device_gain": lambda: (
        "Under jit, XLA fuses such operations. What that gains is unknown before a trial."
    ),
    "not_jitted_inside": lambda function, share: (
        f"{printable(function)} has {units.share(share, 1)} of the samples in which operations may have been called."
    ),
    "not_jitted_first_called": lambda function, share: (
        f"Going by the first call of each, {printable(function)} has {units.share(share, 1)} of the time of all of "
        "them. Which lines call the others is unknown."
    ),
    "not_jitted_lines": lambda share: (
        f"{units.percent(share)} of the samples that may be of operations are in the lines that become jitted "
        "functions, or in what they call. The code leaves other lines as they are."
    ),
    "not_jitted_lines_called": lambda share: (
        f"The lines that become jitted functions have {units.percent(share)} of the time of these operations, as far "
        "as the lines show that called each of them first. The code leaves other lines as they are."
    ),
    "not_jitted_lines_unknown": lambda: (
        "Too few samples tell how much of that is in these lines, so all of it counts."
    ),
    "not_jitted_unknown": lambda function: (
        f"How many of them {printable(function)} calls is unknown: it ran too briefly to be sampled often enough."
    ),
    "not_jitted_own_calls": lambda: (
        "Of this estimate, a jitted function that is called in every round of a loop saves little, because its calls "
        "take time as well. One with the loop inside it saves most."
    ),
    "filled_share": lambda share: f"The loop has {units.percent(share)} of the time of these operations.",
    "filled_copies": lambda size_bytes: (
        f"Outside of jit, each update with .at copies the whole array, {units.size(size_bytes)}."
    ),
    "same_loop": lambda rules, line: (
        f"The same loop, at {printable(line)}, has {printable(rules)}. Each cost is what its own remedy saves, at "
        "least. One jitted function for a whole round saves both, and a loop of JAX saves more."
    ),
    "not_jitted_remedy": how_to_jit,
    "transformed_calls": _transformed,
    "transformed_calls_also": lambda lines: f"It is also called at {printable(lines)}, and each of them needs that.",
    "transformed_calls_remedy": _jit_outside,
    "dispatch_bound": _dispatch_bound,
    "dispatch_bound_static": _static,
    "dispatch_bound_unknown": lambda function: (
        f"Do more in one call: put the code that calls {printable(function)} again and again into the jitted "
        "function as well, as far as jit can compile it."
    ),
    "dispatch_bound_varying": lambda function: (
        f"The arguments of {printable(function)} differ in shape or type from call to call. With the same ones in "
        "each call, also in the first one, a loop of JAX inside one jitted function could make all of them."
    ),
    "dispatch_bound_chosen": lambda function, chosen, jit="jax.jit": (
        f"With {printable(chosen)}, Python reads values to choose what {printable(function)} gets next, so a loop of "
        "JAX cannot make these calls as they are. If the candidates are stacked in one array, a jitted function "
        f"can choose with jnp.argmax and an index, and {printable(loops_beside(jit))}.scan can loop over it."
    ),
    "dispatch_bound_vmap": _mapped,
    "host_wait_sized": waits_for_size,
    "input_bound": lambda loading_ns: f"Loading data takes {units.time(loading_ns)} per run on the calling thread.",
    "input_bound_samples": lambda samples, lines="": (
        f"Estimated from {samples} samples of the line that the host was at{f': {lines}' if lines else ''}."
    ),
    "input_bound_prefetch": lambda hidden_ns, shared="", leaves=0: (
        f"Load the next item in another thread meanwhile. That hides up to {units.time(hidden_ns)} if loading "
        "releases the GIL, as NumPy and reading files do. Python code holds it: if it makes the items, prepare them "
        "once, before the loop, or in other processes."
        + (
            f" Items are made of {printable(shared)}, which the loop may change: loaded ahead, they would not be the "
            "same. Separate the two first."
            if shared
            else " Where the loop ends early, one item more has been loaded."
            if leaves
            else ""
        )
    ),
    "input_bound_in_numpy": lambda: (
        "Compute with whole arrays of NumPy, or prepare the items once if the code runs again. Python computes them "
        "element by element and holds the GIL, so that another thread would hide little."
    ),
    "input_bound_faster": lambda: (
        "Make loading itself faster, for example with several processes: it takes nearly all of the run, so loading "
        "one item ahead hides little."
    ),
    "converted_list": lambda count, numbers, least=0: (
        f"jnp.array converts lists of up to {units.count(numbers, 'number')} {at_least(count, least)} times per "
        "run: JAX looks at each item in Python."
    ),
    "converted_list_time": lambda taken_ns: (
        f"The host is in these conversions for {units.time(taken_ns)} per run, by its samples."
    ),
    "converted_list_also": lambda lines: f"Lists are also converted at {printable(lines)}.",
    "converted_list_remedy": lambda: (
        "Convert lists with NumPy first. Under jit, each number of a list would be an argument of its own."
    ),
    "many_numbers": lambda function, count, numbers, least=0: (
        f"Each of {at_least(units.count(count, 'call'), least)} of {printable(function)} gets {numbers} "
        "numbers of Python or NumPy: JAX converts and copies each of them, as an argument of its own."
    ),
    "many_numbers_remedy": lambda function: (
        f"Pass them as one array, as np.asarray(numbers, np.float32), and compute with it in {printable(function)}. "
        "Numbers that stay the same can be arrays of JAX before the first call."
    ),
    "per_value_remedy": _per_value,
    **COPY_NOTES,
    **LOOP_REMEDIES,
}
