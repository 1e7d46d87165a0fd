"""Words the notes on an exception that JAX raised."""

from __future__ import annotations

from collections.abc import Callable

from ...records.names import public_type
from ...terminal import printable
from .out_of_memory import MEMORY_NOTES
from .quoted import quoted
from .remedies.arrays import ARRAY_REMEDIES
from .remedies.conditions import CONDITION_REMEDIES
from .remedies.known_values import KNOWN_VALUE_REMEDIES
from .remedies.not_finite import NOT_FINITE_NOTES
from .structures import STRUCTURE_NOTES
from .wrong_arguments.arrays import ARRAY_NOTES, USES
from .wrong_arguments.control_flow import CONTROL_FLOW_NOTES
from .wrong_arguments.custom_rules import CUSTOM_RULE_NOTES
from .wrong_arguments.dtypes import DTYPE_NOTES
from .wrong_arguments.meshes import MESH_NOTES
from .wrong_arguments.modules import MODULE_NOTES
from .wrong_arguments.names import NAME_NOTES
from .wrong_arguments.non_numbers import NON_NUMBER_NOTES
from .wrong_arguments.scopes import SCOPE_NOTES
from .wrong_arguments.shapes.broadcasting import SHAPE_NOTES
from .wrong_arguments.shapes.indexing import INDEXING_NOTES
from .wrong_arguments.shapes.joining import JOINING_NOTES
from .wrong_arguments.shardings import SHARDING_NOTES
from .wrong_arguments.signatures import SIGNATURE_NOTES
from .wrong_arguments.transforms import TRANSFORM_NOTES
from .wrong_arguments.values import VALUE_NOTES
from .wrong_arguments.wrong_calls import WRONG_CALL_NOTES

#: How each need of a number is worded.
_NEEDS = {
    "shape": "a shape, which has to be known when the function is traced",
    "slice": "the bounds of a slice, which have to be known when the function is traced",
    "index": "an index of a Python sequence, which has to be a number",
    "number": "a Python number",
    "length": "the length of a list or a tuple, which has to be known when the function is traced",
}


def _typed(text: str, kind: str) -> str:
    """Word a traced value with its type, as far as they are known."""
    typed = f" ({kind})" if kind else ""
    return f"{quoted(text)}{typed} is traced" if text else f"A value{typed} is traced"


def _condition(value: str, type: str, use: str) -> str:
    what = USES.get(use, quoted(use))
    return f"{_typed(value, type)}, so it has no value that is true or false yet, but {what} needs one."


def _number(value: str, type: str, need: str) -> str:
    what = _NEEDS.get(need)
    if what is not None:
        return f"{_typed(value, type)}, so it has no value yet, but it is used as {what}."
    return f"{_typed(value, type)}, so it has no value yet, but {quoted(need)} needs one."


def _numpy(function: str, type: str, value: str = "") -> str:
    what = quoted(function) if function else "NumPy"
    return f"{_typed(value, type)}, so it has no value yet, but {what} needs a NumPy array."


def _mask(array: str, mask: str, type: str, index: str = "") -> str:
    what = f"the size of {quoted(f'{array}[{index or mask}]')}" if array else "the size of the result"
    return f"{_typed(mask, type)}, so {what} is unknown: it depends on how many elements are true."


def _static(
    argument: str, text: str, function: str, type: str, part: str = "", part_type: str = "", itself: bool = False
) -> str:
    who = f"{quoted(argument)} of {quoted(function)} is static" if argument and function else "An argument is static"
    passed = f" ({quoted(text)})" if text and text != argument else ""
    type, part_type = public_type(type), public_type(part_type)
    an = "an" if part_type[:1].lower() in "aeiou" else "a"
    why = f", because {quoted(part)} is {an} {quoted(part_type)}" if part else ""
    why = f", and neither is {quoted(part)} inside of it, {an} {quoted(part_type)}" if part and itself else why
    return (
        f"{who}, but the {quoted(type) or 'value'} passed for it{passed} is not hashable{why}. JAX compiles "
        "once per value of a static argument and looks it up by its hash."
    )


def _static_traced(argument: str, text: str, function: str) -> str:
    who = f"{quoted(argument)} of {quoted(function)} is static" if argument and function else "An argument is static"
    passed = f" ({quoted(text)})" if text and text != argument else ""
    return f"{who}, but the value passed for it{passed} is traced: it has no value yet that JAX could compile for."


def _leak(name: str, type: str, function: str, location: str, transform: str) -> str:
    value = f"{quoted(name)} ({type})" if name else f"A value of type {type}" if type else "A value"
    verb, it = ("were", "them") if ", " in name else ("was", "it")
    if not function:
        computed = f", computed at {location}," if location else ""
        unknown = "" if location else " It is unknown which function that was."
        return f"{value}{computed} {verb} used after the function that traced {it} had ended.{unknown}"
    where = f"{location}, " if location else ""
    return (
        f"{value} {verb} traced by {quoted(function)} ({where}for {transform}) and used after that tracing had ended."
    )


def _leak_checked(function: str, location: str, holder: str) -> str:
    at = f" ({location})" if location else ""
    value = f"value that {quoted(function)}{at} traced and" if function else f"traced value{at}"
    held = f": {quoted(holder)} still holds it" if holder else ""
    return f"jax.checking_leaks() found a {value} that outlives the tracing{held}."


def _depends(function: str, location: str, transform: str, arguments: str) -> str:
    several = "arguments" if ", " in arguments else "argument"
    return (
        f"It depends on the {several} {quoted(arguments)} of {quoted(function)} ({location}), which JAX "
        f"traces for {transform}."
    )


def _vmapped(names: str = "", function: str = "") -> str:
    if not names:
        return "The line runs inside jax.vmap, which traces its function. JAX does not say which argument it is."
    several = "arguments" if ", " in names else "argument"
    what = f"the {several} {quoted(names)} of {quoted(function)}" if function else quoted(names)
    return f"It depends on {what}, which jax.vmap traces."


ERROR_NOTES: dict[str, Callable[..., str]] = {
    "error_condition": _condition,
    "error_number": _number,
    "error_sized": lambda function: (
        f"How many elements {quoted(function)} returns depends on traced values, so the shape of its result is "
        "unknown."
    ),
    "error_numpy": _numpy,
    "error_own_argument": lambda function: (
        f"{quoted(function)} failed while tracing its own arguments. One of them is probably not of a type that it "
        "accepts."
    ),
    "write_arguments": lambda function: (
        f"Check the order and the types of the arguments with help({printable(function)}). NumPy's function of that "
        "name may take them in another order."
    ),
    "error_mask": _mask,
    "error_static": _static,
    "error_static_traced": _static_traced,
    "error_leak": _leak,
    "error_leak_checked": _leak_checked,
    "error_deleted": lambda names: (
        f"{quoted(names)} were donated or deleted: their memory has been freed or used for other arrays."
        if ", " in names
        else f"{quoted(names) or 'An array'} was donated or deleted: its memory has been freed or used for another "
        "array."
    ),
    "error_transformed": lambda location, code: (
        f"It comes from an operation at {location} that JAX transformed{f': {quoted(code)}' if code else '.'}"
    ),
    "error_depends": _depends,
    "error_checkpoint": lambda argument, function: (
        f"If {quoted(argument)} is a Python value where {quoted(function)} is called, it stays one with "
        "static_argnums= of jax.checkpoint."
    ),
    "error_no_argument": lambda function, location, transform: (
        f"JAX was tracing {quoted(function)} ({location}) for {transform}. The value depends on none "
        "of its arguments."
    ),
    "error_unnamed_argument": lambda function, location, transform: (
        f"JAX was tracing {quoted(function)} ({location}) for {transform}. It does not say on which of its arguments "
        "the value depends."
    ),
    "error_closed_over": lambda name, type, function, location, arguments: (
        f"{quoted(name)} ({type}) comes from outside: it depends on {quoted(arguments)} of "
        f"{quoted(function)} ({location})."
    ),
    "error_through": lambda calls: f"Calls from there to the line: {printable(calls)}.",
    "error_handed": lambda parameter, text, location, function, arguments: (
        f"{quoted(parameter)} is {quoted(text)} in the call at {location}, which depends on {quoted(arguments)} of "
        f"{quoted(function)}."
    ),
    "error_vmapped": _vmapped,
    "error_behind": lambda error, behind: f"This explains the {error} behind the {behind}.",
    "error_run_by": lambda file, location: (
        f"The text of {quoted(file)} is not kept, so it is unknown which expression failed. It was run at "
        f"{printable(location)}."
    ),
    "error_outdated": lambda file: (
        f"{printable(file)} was changed after it had been imported, so the line that ran is not shown, and it is "
        "unknown which expression failed. To run the file as it is now, restart, or use importlib.reload()."
    ),
    "error_in_library": lambda function, location: (
        f"It happened in {quoted(function)} ({location}), which this line calls directly or through other calls."
    ),
    "error_fallback": lambda function, code: f"To go on now, call {quoted(function)} without jit: {printable(code)}",
    "error_left": lambda names, function: (
        f"{quoted(names)} {'hold traced values' if ', ' in names else 'holds a traced value'}, which cannot be used "
        f"after this error: assign arrays again before the next call. Let {quoted(function)} return what it changes "
        "in place of storing it."
    ),
    "error_created": lambda location: f"It was computed at {location}.",
    "error_escaped": lambda location, code: f"It escaped at {location}: {quoted(code)}",
    "error_may_escape": lambda location, code: f"It may have escaped at {location}: {quoted(code)}",
    "error_made_by_linen": lambda: (
        "A layer of flax.linen computed it. A layer makes its parameters where it is first called, and keeps them."
    ),
    "error_escape_unknown": lambda: (
        "Where it escaped is unknown. jax.checking_leaks() raises an error at the end of the function that leaks."
    ),
    "error_donor": lambda call, several=False: (
        f"{'It may have been' if several else 'Probably'} donated by {printable(call)}."
    ),
    "error_deleter": lambda call, several=False: (
        f"{'It may have been' if several else 'Probably'} deleted by {printable(call)}."
    ),
    "error_donor_before": lambda call, same_line=True: (
        f"Probably donated by {printable(call)}"
        f"{' itself, when this line ran before with the same array' if same_line else ', in an earlier round'}."
    ),
    "error_kept": lambda statement, location, name: (
        f"It is kept at {location} ({quoted(statement)}), which copies no array: donating {quoted(name)} deletes it, "
        "too."
    ),
    "error_donor_unknown": lambda: (
        "Which call donated or deleted it is unknown: none was found that the code of this line can see."
    ),
    "error_earlier": lambda: "The last cell raised no error; this one is of an earlier cell.",
    "error_before_usage": lambda: "The last error is a mistake in the use of %jaxdoctor; this is the one before it.",
    "error_unknown": lambda error: (
        f"{quoted(error)} is not an error that JAX raised, or there is no explanation for it yet."
    ),
    "error_unexplained": lambda error: f"There is no explanation for this {quoted(error)} of JAX yet.",
    **CONDITION_REMEDIES,
    **KNOWN_VALUE_REMEDIES,
    **ARRAY_REMEDIES,
    **NOT_FINITE_NOTES,
    **STRUCTURE_NOTES,
    **MEMORY_NOTES,
    **SHAPE_NOTES,
    **JOINING_NOTES,
    **CONTROL_FLOW_NOTES,
    **SIGNATURE_NOTES,
    **TRANSFORM_NOTES,
    **VALUE_NOTES,
    **NON_NUMBER_NOTES,
    **SCOPE_NOTES,
    **WRONG_CALL_NOTES,
    **CUSTOM_RULE_NOTES,
    **DTYPE_NOTES,
    **INDEXING_NOTES,
    **MESH_NOTES,
    **SHARDING_NOTES,
    **MODULE_NOTES,
    **NAME_NOTES,
    **ARRAY_NOTES,
}
