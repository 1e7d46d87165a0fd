"""Words of the rule ``recompile``."""

from __future__ import annotations

from collections.abc import Callable

from .... import units
from ....terminal import printable
from ..remedies.conditions import MASKED
from ..remedies.created_once import CREATED_ONCE

#: How often and why something compiled again, by the kind of cause.
_WHY = {
    "shape": "for different shapes",
    "dtype": "for different dtypes",
    "weak type": "for a different kind of value",
    "static value": "for different static values",
    "pytree": "for different pytrees",
    "options": "with different options of jax.jit",
    "placement": "for a different placement",
    "context": "under a different configuration",
    "transformation": "as part of a transformation outside jit",
}


def recompiles(
    function: str,
    cause: str,
    programs: int,
    every_run: int,
    reason: str,
    operations: int = 1,
    made: str = "",
    given: int = 0,
    unknown: int = 0,
    shapes: int = 0,
    types: int = 0,
    objects: str = "",
    earlier: int = 0,
) -> str:
    """Word how often and why functions compile again."""
    times = _times(programs - earlier)
    when = f"{times} in every run" if every_run else f"again {times} in the first run"
    new = _new_function(made, given=bool(given), unknown=bool(unknown))
    why = new if cause == "new function" else _WHY.get(cause)
    because = f" {why}" if why else f": {printable(reason)}"
    because += f", and so {'are' if ', ' in objects else 'is'} {printable(objects)}" if objects else ""
    if shapes:
        one, several = ("type of an argument", "types of arguments") if types else ("shape", "shapes")
        other = f"a different {one}" if shapes == 1 else f"different {several}"
        because = f": {_times(programs - shapes)}{because}, and {_times(shapes)} for {other}"
    if earlier == programs:
        return (
            f"{printable(function)} compiled again {_times(earlier)} earlier in this session{because}. This code "
            "runs these programs as well: it compiled nothing for them now, and would for other values."
        )
    if earlier:
        because += f", and {_times(earlier)} before it in this session"
    if operations == 1:
        first = " If this runs only once, it is its first compilation." if every_run and times == "once" else ""
        return f"{printable(function)} compiles {when}{because}.{first if cause == 'new function' else ''}"
    listed = function.count(", ") + 1
    more = f" and {operations - listed} more" if operations > listed else ""
    return f"{operations} operations ({printable(function)}{more}) compile {when}{because}."


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"


def _new_function(made: str, *, given: bool, unknown: bool) -> str:
    """Say which function is new: one that an operation is given, or else what is jitted."""
    if given:
        return "because it is given a new function object each time"
    if unknown:  # it may be the function itself, or one that jax.grad returned for it
        return "because jit is given a new function object each time"
    return f"because {printable(made) or 'it'} is a new function object each time"


def _alive(function: str, programs: int, code_bytes: int) -> str:
    code = f", with {units.size(code_bytes)} of code" if code_bytes else ""
    return (
        f"Programs pile up in memory: {programs} more of {printable(function)} are alive than after the second run"
        f"{code}. jax.clear_caches() frees those that only JAX's caches hold, and every jitted function then "
        "compiles again."
    )


def _difference(argument: str, now: str, before: str) -> str:
    if before == "not there":
        return f"{printable(argument)} has {printable(now)}, which the earlier call lacks."
    if now == "not there":
        return f"{printable(argument)} lacks {printable(before)}, which the earlier call has."
    return f"{printable(argument)}: {printable(now)} after {printable(before)}."


def _sizes(
    argument: str, axis: int, seen: int, sizes: str, padding: float, earlier: int = 0, unknown: int = 0
) -> str:
    session = f", {earlier} of them {'' if unknown else 'only '}in earlier calls" if earlier else ""
    these, them = ("this size", "it") if earlier == 1 else ("these sizes", "them")
    unseen = f" Nothing was compiled for {these} now, so it is unknown whether the code has {them} as well."
    return (
        f"Axis {axis} of {printable(argument)} had {seen} sizes{session}.{unseen if earlier and unknown else ''} "
        f"Powers of two ({printable(sizes)}) cover {'all sizes' if earlier else 'them'}, with "
        f"{units.share(padding, 1)} more elements if all sizes are equally frequent."
    )


def _pad(integers: str = "") -> str:
    indices = (
        f" As an index, a padded 0 in {printable(integers)} is the first element: mask what it selects or adds to."
        if integers
        else ""
    )
    return (
        "Pad to a few sizes before the call, on the host with NumPy: jnp.pad compiles for each shape as well. Mask "
        f"the padding where the result depends on it.{indices}"
    )


def _by_values(text: str, argument: str) -> str:
    return (
        f"The size of {printable(text)} depends on values, and outside jit, an operation compiles for each shape. "
        f"{_one_size(argument)}; or do this with NumPy."
    )


def waits_for_size(text: str, argument: str) -> str:
    """Word why an operation waits whose size depends on values, and what to do."""
    return (
        f"The size of {printable(text)} depends on values, so JAX waits for them. {_one_size(argument)}; or do this "
        "with NumPy."
    )


def _one_size(argument: str) -> str:
    if argument:
        return f"Pass {printable(argument)}= with the largest size"
    return f"Keep all elements and mask them, with {MASKED}"


def _grows(argument: str, axis: int, step: int) -> str:
    by = f" by {step}" if step else ""
    return f"{printable(argument)} grows along axis {axis}{by} from call to call, and each size needs a program."


def _preallocate(argument: str, function: str) -> str:
    where = f"In {printable(function)}, write" if function else "Write"
    return (
        f"Make {printable(argument)} once, at the largest size that it will need, and pass how much of it is filled, "
        f"as an array. {where} new entries with jax.lax.dynamic_update_slice or .at[n].set(...), and mask the rest "
        "where the result depends on it."
    )


def _one_type(converted: str, same: int, exact: int = 0) -> str:
    rounds = f" It computes with floats, in which integers are exact up to {exact:,}." if exact else ""
    if same:
        return f"Pass {printable(converted)} in every call. All these programs return the same dtypes.{rounds}"
    return (
        "The dtypes of the result depend on the type of this argument. If one type will do, pass "
        f"{printable(converted)} in every call.{rounds}"
    )


def _same(function: str, argument: str, forms: int) -> str:
    values = f"of {printable(argument)}" if argument else "of its static arguments"
    if forms > 1:
        return (
            f"{printable(function)} computes the same for several values {values}: their programs have the same "
            "operations, shapes and constants. Pass one value in place of these."
        )
    leave = f"leave {printable(argument)} out of the arguments" if argument else "leave out those that vary"
    return (
        f"{printable(function)} computes the same for all these values {values}: the programs have the same "
        f"operations, shapes and constants. Pass one value in every call, or {leave}."
    )


def _constants(argument: str, forms: int) -> str:
    which = "Programs with" if forms > 1 else "The programs have"
    return (
        f"{which} the same operations and shapes{'' if forms > 1 else ', and'} differ in nothing but constants. Pass "
        f"as arrays what these depend on, in place of {printable(argument) or 'the static arguments that vary'}."
    )


def _if_same(function: str, argument: str) -> str:
    what = f"{printable(argument)} is" if argument else "its static arguments are"
    return (
        f"If {printable(function)} computes the same whatever {what}, pass one value in every call. If only numbers "
        "in the program depend on it, pass these as arrays."
    )


def _start(function: str, argument: str, slices: int, items: int) -> str:
    """Word that a number need not be static where it only begins slices of constant size, or is an index."""
    uses = [*(["for where slices of constant size begin"] if slices else []), *(["as an index"] if items else [])]
    ends = [
        *(["a slice that would reach beyond the end is shifted to lie inside"] if slices else []),
        *(["an index beyond the end is that of the last item"] if items else []),
    ]
    write = ", and let jax.lax.dynamic_slice_in_dim take the slices" if slices else ""
    return (
        f"{printable(function)} needs {printable(argument)} only {' and '.join(uses)}. An array will do for that, "
        f"and one program serves all values: leave {printable(argument)} out of static_argnums and static_argnames"
        f"{write}. Then {', and '.join(ends)}."
    )


NOTES: dict[str, Callable[..., str]] = {
    **CREATED_ONCE,
    "recompile": recompiles,
    "recompile_difference": _difference,
    "recompile_reason": lambda reason: f"{printable(reason[:1].upper() + reason[1:])}.",
    "recompile_within": lambda reason: f"In one run, {printable(reason)}.",
    "recompile_between": lambda reason: f"From run to run, {printable(reason)}.",
    "recompile_same_values": lambda: "Later runs have the same values, and compile nothing for them.",
    "recompile_alive": _alive,
    "recompile_object_made": lambda object, line, source: (
        f"{printable(object)} is made at {printable(line)}{f': {printable(source)}' if source else '.'}"
    ),
    "recompile_captured": lambda names: f"It reads {printable(names)} from the code around it.",
    "recompile_sizes": _sizes,
    "recompile_sizes_together": lambda seen, needed: (
        f"Together, they had {seen} combinations of sizes. With these powers of two, "
        f"{units.count(needed, 'program')} will do."
    ),
    "recompile_pad": _pad,
    "recompile_forms": lambda argument, forms: (
        f"The programs have {forms} kinds of operations and shapes. Within a kind, only values of "
        f"{printable(argument)} differ."
    ),
    "recompile_numbers": lambda argument: (
        f"Only numbers in {printable(argument)} differ, and the programs have the same operations and shapes. "
        "Pass these numbers as arrays and not in a static argument, unless an axis depends on them."
    ),
    "recompile_same": _same,
    "recompile_constants": _constants,
    "recompile_if_same": _if_same,
    "recompile_traced": lambda function, argument: (
        f"{printable(function)} only computes with {printable(argument)}, so one program serves all values: leave "
        f"{printable(argument)} out of its static arguments."
    ),
    "recompile_passed": lambda function, argument: (
        f"{printable(function)} only computes with {printable(argument)}, so one program serves all values: pass it "
        "as an array. equinox.filter_jit takes numbers of Python as static."
    ),
    "recompile_start": _start,
    "recompile_counted": lambda argument: (
        f"Only the loop needs {printable(argument)} as a number. With lax.fori_loop, one program serves all values: "
        f"leave {printable(argument)} out of static_argnums and static_argnames. It has no gradient in reverse mode, "
        "which needs a loop of fixed length."
    ),
    "recompile_also": lambda line, source: (
        f"The same sizes reach {printable(line)}{f': {printable(source)}' if source else '.'}"
    ),
    "recompile_one_type": _one_type,
    "recompile_structure": lambda argument: (
        f"Pass {printable(argument)} with the same containers, keys and lengths in every call. In place of what is "
        "missing, pass an array that changes nothing, such as zeros or a mask."
    ),
    "recompile_settings": lambda settings: (
        f"Programs depend on {printable(settings)}. If one value will do, set it once, before the first call: "
        f'jax.config.update("{printable(settings.partition(",")[0])}", value).'
    ),
    "recompile_grows": _grows,
    "recompile_preallocate": _preallocate,
    "recompile_by_values": _by_values,
    "recompile_one_size": lambda: (
        "Outside of jit, an operation compiles for each shape. Keep one size: make the array once and write to it in "
        "a jitted function, with x.at[i].set(...); or, if only the whole array is needed, collect the parts in a "
        "list and join them once after the loop; or prepare the data with NumPy."
    ),
}
