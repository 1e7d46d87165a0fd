"""Explains options that name no argument or the wrong one, callbacks that fail, and sizes that are floats."""

from __future__ import annotations

import re

from ......records.call_stack import Frame, is_users
from ......records.cell_names import known_as
from ......records.note import note
from .....record.failure import Failure
from ...expression import before_dot, spelled
from ..explained import Explained, Rule
from ..operands import fact


def explain_jit_option(failure: Failure) -> Explained:
    """Explain numbers and names of arguments that the function does not have."""
    option = fact(failure, "option")
    names, count = fact(failure, "names"), fact(failure, "count")
    if names:
        return Explained(
            note("doctor.error_jit_names", option=option, names=names), note("doctor.write_jit_names", option=option)
        )
    return Explained(
        note("doctor.error_jit_numbers", option=option, numbers=fact(failure, "numbers"), count=int(count)),
        note("doctor.write_jit_numbers", option=option, last=max(int(count) - 1, 0)),
    )


def explain_nondiff(failure: Failure) -> Explained:
    """Explain a traced value for an argument in ``nondiff_argnums``."""
    rule = fact(failure, "rule")
    return Explained(note("doctor.error_nondiff", rule=rule), note("doctor.write_nondiff", rule=rule))


def explain_callback_result(failure: Failure) -> Explained:
    """Explain a function of a callback that returns something else than was declared."""
    aspect, declared, returned = (fact(failure, each) for each in ("aspect", "declared", "returned"))
    found = note(
        "doctor.error_callback_result",
        aspect=aspect,
        declared=declared,
        returned=returned,
        number=int(fact(failure, "number") or 0),
        here="callback" in (failure.source or ""),
    )
    return Explained(found, note("doctor.write_callback_result", aspect=aspect, declared=declared, returned=returned))


def explain_callback(failure: Failure) -> Explained:
    """Explain an exception that the function of a callback raised."""
    entries = re.findall(r'File "([^"\n]+)", line (\d+), in (.+)', fact(failure, "calls"))
    calls = [
        Frame(function=function, file=file, line=int(line), cell=None if known_as(file) == file else known_as(file))
        for file, line, function in entries
    ]
    users = [each for each in calls if is_users(each)]
    location = users[-1].location if users else ""
    function = calls[0].function if users and users[0] is calls[0] else ""
    found = note("doctor.error_callback", function=function, error=fact(failure, "error"), location=location)
    assigns = "immutable" in fact(failure, "error")
    return Explained(found, note("doctor.write_callback", function=function, assigns=assigns))


def explain_donated_twice(failure: Failure) -> Explained:
    """Explain an array that one call donates, and gets for another argument as well."""
    names = (failure.detail or "").split(", ")
    used = bool(fact(failure, "used"))
    other = names[-1]
    copied = f"{before_dot(other)}.copy()" if other else ""
    found = note("doctor.error_donated_twice", names=" and ".join(dict.fromkeys(names)), used=used)
    return Explained(found, note("doctor.write_donated_copy", copied=copied, jax=spelled(failure, "jax")))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "jit option", explain_jit_option,
        r"Jitted function has (?P<option>\w+_argnums)=(?P<numbers>\(.*?\)), but only accepts (?P<count>\d+) "
        r"positional"),
    Rule("ValueError", "jit option", explain_jit_option,
        r"Jitted function has invalid argnames \{(?P<names>.+)\} in (?P<option>\w+_argnames)"),
    Rule("JaxRuntimeError|XlaRuntimeError", "callback result", explain_callback_result,
        r"[\s\S]*callback[\s\S]*Incorrect output (?P<aspect>shape|dtype) for return value #(?P<number>\d+): "
        r"Expected: (?P<declared>\([\d, ]*\)|\w+), Actual: (?P<returned>\([\d, ]*\)|\w+)"),
    Rule("JaxRuntimeError|XlaRuntimeError", "callback result", explain_callback_result,
        r"[\s\S]*Mismatched number of outputs from callback\. Expected: (?P<declared>\d+), Actual: "
        r"(?P<returned>\d+)"),
    Rule("JaxRuntimeError|XlaRuntimeError", "callback", explain_callback,
        r"[^\n]*CpuCallback error[^\n]*: Traceback \(most recent call last\):\n(?:  [^\n]*\n)*"
        r"  File \"[^\"\n]*[\\/]jax[\\/]_src[\\/](?:callback|debugging)\.py\"[^\n]*\n(?P<calls>(?:  [^\n]*\n)+)"
        r"(?P<error>[A-Za-z_][\w.]*(?:: [^\n]*)?)"),
    Rule("UnexpectedTracerError", "nondiff", explain_nondiff,
        r"Found a JAX Tracer object passed as an argument to a (?P<rule>custom_\w+) function in a position "
        r"indicated by nondiff_argnums"),
    Rule("JaxRuntimeError|XlaRuntimeError|ValueError", "donated twice", explain_donated_twice,
        r"INVALID_ARGUMENT: Attempt to donate the same buffer twice"),
    Rule("JaxRuntimeError|XlaRuntimeError|ValueError", "donated twice", explain_donated_twice,
        r"INVALID_ARGUMENT: Attempt to (?P<used>use) a buffer that was previously donated in the same call"),
)
# fmt: on
