"""Words of the rules ``unrolled-loop`` and ``captured-constant``."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable
from .runs import at_least


def _unrolled(function: str, equations: int, total: int, primitives: str) -> str:
    return (
        f"This loop was unrolled: {equations:,} of the {total:,} equations of {printable(function)} come from it "
        f"({printable(primitives)})."
    )


def _unrolled_compile(time_ns: int, programs: int) -> str:
    several = f" ({units.count(programs, 'program')})" if programs > 1 else ""
    return f"Tracing and compiling took {units.time(time_ns)} in the first run{several}."


def _unrolled_remedy(loop: str, over: str = "", collected: str = "", mapped: str = "", selected: str = "") -> str:
    if loop == "vmap":
        how = f"{printable(mapped)} instead" if mapped else "jax.vmap over stacked inputs"
        return (
            f"No iteration needs the result of another. Use {how}, which computes all of them "
            "at once and returns one array, or jax.lax.map, which compiles the body once and needs less memory."
        )
    if loop == "fori_loop":
        how = "Use jax.lax.fori_loop, which compiles the body once"
    elif over or collected or selected:
        how = f"Use jax.lax.scan{f' over {printable(over)}' if over else ''}, which compiles the body once"
        how += f" and returns the values appended to {printable(collected)} as arrays" if collected else ""
        if selected:
            how += f". It returns a value of every iteration: select those that belong into {printable(selected)}"
    elif loop == "items":
        how = "Use jax.lax.scan over arrays that hold the items of all iterations, which compiles the body once"
    else:
        how = (
            "Use jax.lax.scan over stacked arrays, such as the parameters of equal layers (in flax nn.scan, in "
            "equinox layers made by eqx.filter_vmap), which compiles the body once"
        )
    return f"{how}. Time a run as well: XLA no longer fuses across iterations; scan(..., unroll=n) is in between."


def _captured(function: str, size_bytes: int, constants: int, programs: int, freed: int = 0) -> str:
    where = "the program" if programs == 1 else f"{programs} programs"
    large = units.count(constants, "large constant")
    verb = "is" if constants == 1 else "are"
    size = units.size(size_bytes)
    if freed and programs > 1:
        which = "all" if freed == programs else freed
        size += f" in all. By the end of the run, {which} of these programs had been freed"
    return f"{large} {verb} built into {where} of {printable(function)}: {size}."


def _captured_remedy(names: str, on_host: str, sooner: bool = False) -> str:
    put = f"Put {printable(on_host)} on a device once, with jax.device_put. " if on_host else ""
    several = "arguments" if "," in names else "an argument"
    return (
        f"{put}Pass {printable(names)} as {several}: the program then uses the array on the device, "
        f"{'compiles sooner, ' * sooner}and does not compile again for other values."
    )


def _stale(function: str, names: str) -> str:
    name, which = printable(function), printable(names)
    value, have = ("values", "have") if "," in names else ("value", "has")
    return (
        f"{name} computes with the {value} that {which} had when {name} was compiled. {which} {have} been replaced "
        f"or changed since, and calls of {name} do not see that."
    )


def _stale_value(name: str, before: str, now: str, line: str) -> str:
    where = f", assigned at {printable(line)}" if line else ""
    if before == now:
        return f"{printable(name)} ({printable(now)}) has other values by the end of the run{where}."
    return f"{printable(name)}: {printable(before)} in the program, {printable(now)} by the end of the run{where}."


def _stale_remedy(function: str, names: str, owner: str, parameter: str, bound: int, numbers: int) -> str:
    several = "arguments" if "," in names else "an argument"
    shapes = ", if no shape, axis or Python if depends on it" if numbers else ""
    if not owner:
        return f"Pass {printable(names) or 'what changes'} as {several} of {printable(function)}{shapes}."
    passed = f"Pass {printable(names)} as {several} of {printable(function)}{shapes}. Or " if names else ""
    static = (
        f"jit {printable(owner)}.{printable(function)} in place of its bound method"
        if bound
        else f"no longer declare {printable(parameter)} static"
    )
    make = "make" if passed else "Make"
    return (
        f"{passed}{make} {printable(owner)} a pytree whose leaves are these attributes "
        f"(jax.tree_util.register_dataclass), and {static}."
    )


def _same_remedy(function: str, size_bytes: int) -> str:
    keeps = f", which keeps its result ({units.size(size_bytes)}) in memory" if size_bytes else ""
    return f"Call {printable(function)} once, outside the loop or function, and pass its result on{keeps}."


def _counted_elsewhere(rules: str, time_ns: int) -> str:
    several = "findings" if "," in rules else "finding"
    where = f"in the {several} {printable(rules)}"
    return f"Another {units.time(time_ns)} of compile time is counted {where}, not here."


NOTES: dict[str, Callable[..., str]] = {
    "unrolled_loop": _unrolled,
    "unrolled_compile": _unrolled_compile,
    "unrolled_converts": lambda dtype: (
        f"One iteration converts to {printable(dtype)} and the others do not, as if the first one changes a dtype. A "
        "loop of JAX keeps dtypes: convert what it carries before the loop."
    ),
    "unrolled_remedy": _unrolled_remedy,
    "counted_elsewhere": _counted_elsewhere,
    "captured_constant": _captured,
    "captured_array": lambda name, type, size_bytes: (
        f"{printable(name) or 'An array'} ({printable(type)}, {units.size(size_bytes)}) is captured."
    ),
    "captured_folded": lambda size_bytes: (
        f"XLA computed {units.size(size_bytes)} of it while compiling, such as a transpose. If the array is an "
        "argument, every call computes that again, and may be slower."
    ),
    "captured_unknown": lambda shape, size_bytes, source: (
        f"{printable(shape)} ({units.size(size_bytes)}){f' at {printable(source)}' if source else ''}."
    ),
    "captured_unknown_remedy": lambda: (
        "Pass it as an argument. It is an array that the function captured, or that XLA computed from constants "
        "while compiling; compute it once, outside."
    ),
    "captured_remedy": _captured_remedy,
    "captured_module": lambda name, function, jit: (
        f"Pass {printable(name)} as an argument of {printable(function) or 'the function'}, under {printable(jit)} "
        "in place of jax.jit: the program then uses the module's arrays on the device, and those that it has when it "
        "is called."
    ),
    "stale": _stale,
    "stale_value": _stale_value,
    "stale_remedy": _stale_remedy,
    "same_result": lambda function, count, busy_ns, least=0: (
        f"{printable(function)} computes the same {at_least(count, least)} times per run, "
        f"{units.time(busy_ns)} each: its program has no arguments."
    ),
    "same_arguments": lambda function, names, count, busy_ns, least=0: (
        f"{printable(function)} is called {at_least(count, least)} times per run with the same "
        f"{printable(names)}, and computes the same each time: {units.time(busy_ns)} each."
    ),
    "same_arguments_remedy": lambda function, size_bytes: (
        f"Call {printable(function)} once, before the loop, which keeps its result ({units.size(size_bytes)}) in "
        "memory."
    ),
    "same_random": lambda: "Its random numbers are the same in every call, because their key is made inside.",
    "same_result_remedy": _same_remedy,
}
