"""Words of the rule ``compile-time``."""

from __future__ import annotations

from collections.abc import Callable

from .... import units
from ....terminal import printable
from ..remedies.jitted_parts import method_once

_STAGES = {"trace": "tracing", "lower": "lowering", "XLA": "XLA", "cache": "the persistent cache"}


def _compile_time(function: str, programs: int, time_ns: int, stage: str, stage_ns: int, same: int = 0) -> str:
    each = " each" if programs > 2 else ""
    more = [f"{units.count(same, 'more program')} of it"] if same else []
    more += [units.count(programs - 1 - same, "other program")] if programs - 1 > same else []
    others = f", and {' and '.join(more)} at least 1 s{each}" if more else ""
    took = f"{units.time(time_ns)} to compile, {units.time(stage_ns)} of it in {_STAGES[stage]}"
    return f"{printable(function)} takes {took}{others}."


def _compile_time_short(programs: int, total_ns: int, function: str, time_ns: int, same: int = 0) -> str:
    if same:
        return (
            f"{units.count(programs, 'program')} of {printable(function)} take {units.time(total_ns)} to compile "
            f"together, the longest of them {units.time(time_ns)}."
        )
    return (
        f"{units.count(programs, 'program')} take {units.time(total_ns)} to compile together. The longest of them, "
        f"{printable(function)}, takes {units.time(time_ns)}."
    )


def _eager_at(line: str, source: str, programs: int, called: str = "") -> str:
    told = f"{programs:,} of them {'is' if programs == 1 else 'are'} first called from {printable(line)}"
    once = f" {method_once(called)}" if called else ""
    return f"{told}{f': {printable(source)}' if source else ''}.{once}"


def _and_others(count: int) -> str:
    return (
        f"; {units.count(count, 'other program')} of this kind {'is' if count == 1 else 'are'} compiled as well"
        if count
        else ""
    )


def _cache_missed(programs: int, had: int = -1) -> str:
    missed = f"JAX's persistent compilation cache is on, but did not have {units.count(programs, 'program')} of these"
    if had == 0:
        return f"{missed}: its folder had no program of this name."
    if had > 0:
        others = (
            f"{units.count(had, 'program')} of this name were there"
            if had > 1
            else "1 program of this name was there"
        )
        return f"{missed}: {others}, for other operations, shapes, devices, versions of JAX, or flags."
    return f"{missed}: it has none of the same operations, shapes, device, versions and flags."


def _cache_short(spared_ns: int, off: int, also: int = 0) -> str:
    if also:
        return (
            "With JAX's persistent cache on, as for the long compilations, let it keep programs that compile in less "
            f"than a second: {_spared(spared_ns)}"
        )
    do = "Switch on JAX's persistent cache before the first call, and let" if off else "Let JAX's persistent cache"
    it = "it " if off else ""
    return f"{do} {it}keep programs that compile in less than a second: {_spared(spared_ns)}"


def _cache(spared_ns: int) -> str:
    return f"Switch on JAX's persistent cache before the first call: {_spared(spared_ns)}"


def _spared(spared_ns: int) -> str:
    return f"it saves a later session up to {units.time(spared_ns)} of XLA's time, less what loading takes."


NOTES: dict[str, Callable[..., str]] = {
    "compile_time": _compile_time,
    "compile_time_eager": lambda programs, total_ns, names, kinds: (
        f"{programs} operations are called one by one, outside of jit, and each is compiled as a program of its own: "
        f"{printable(names)}{'' if kinds <= len(names.split(', ')) else ' and others'}. Together this takes "
        f"{units.time(total_ns)}."
    ),
    "compile_time_eager_at": _eager_at,
    "compile_time_short": _compile_time_short,
    "compile_time_cache_short": _cache_short,
    "compile_time_cache": _cache,
    "compile_time_constant": lambda line, source: (
        f"While it compiles, XLA computes a part of {printable(line)} that needs no argument (constant folding)"
        f"{f': {printable(source)}' if source else '.'}"
    ),
    "compile_time_constant_unknown": lambda: (
        "XLA does not report how much of the time that takes; --verify compiles the function without it."
    ),
    "compile_time_folded": lambda function: (
        f"Compute this part once outside of {printable(function)}, and pass the result as an argument."
    ),
    "compile_time_iterated": lambda: (
        "JAX compiles this to iterate over an array, or for jnp.unstack: one program that returns up to a hundred "
        "elements, each as an array of its own. Compute all elements at once with jax.vmap, take them in turn with "
        "jax.lax.map or jax.lax.scan, or iterate over np.asarray(x)."
    ),
    "compile_time_joined": lambda name, arrays, time_ns, others: (
        f"{printable(name)} of {arrays:,} arrays takes {units.time(time_ns)} to compile, as each of them is an "
        f"argument of its program{_and_others(others)}."
    ),
    "compile_time_collected": lambda name: (
        "If a loop computes these arrays, let jax.lax.scan collect them inside one jitted function: that compiles "
        f"one round. Or join them with np.{printable(name)}, which compiles nothing, but copies each of them to the "
        "host."
    ),
    "compile_time_again": lambda function, programs, reason: (
        f"{printable(function)} is compiled {programs} times. The cause of the last time: {printable(reason)}."
        if programs > 1
        else f"{printable(function)} had been compiled before. The cause of this compilation: {printable(reason)}."
    ),
    "compile_time_line": lambda line, source, equations, total: (
        f"{equations:,} of its {total:,} equations come from {printable(line)}"
        f"{f': {printable(source)}' if source else ''}."
    ),
    "cache_callbacks": lambda function, some=0: (
        f"{f'A program of {printable(function)}' if some else printable(function)} calls Python while it runs (a "
        "callback or debug.print): this JAX never writes such a program to its persistent cache."
    ),
    "cache_unknown": lambda function: (
        f"It is unknown whether {printable(function)} calls Python while it runs. JAX never writes a program that "
        "does to its persistent cache."
    ),
    "cache_too_short": lambda function, compilation_ns, least_ns=10**9: (
        f"XLA takes {units.time(compilation_ns)} for {printable(function)}, and JAX's persistent cache only keeps "
        f"programs of at least {units.time(least_ns)}, unless jax_persistent_cache_min_compile_time_secs is lower."
    ),
    "cache_least_bytes": lambda least_bytes: (
        f"The cache only keeps programs of at least {units.size(least_bytes)} "
        "(jax_persistent_cache_min_entry_size_bytes)."
    ),
    "lowering_import": lambda package, modules, least_ns: (
        f"To lower programs, JAX imported {printable(package)} ({units.count(modules, 'module')}): at least "
        f"{units.time(least_ns)}, only in the first run of a process."
    ),
    "cache_off": lambda: "JAX's persistent compilation cache is off.",
    "cache_on": lambda: "JAX's persistent compilation cache is on.",
    "cache_missed": _cache_missed,
}
