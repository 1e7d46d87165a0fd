"""Finds the one type in which an argument can be passed that is now a number, now another number or an array."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....records.call_stack import Frame
from ...record.evidence import Evidence
from ...record.program import Program
from ..host.syntax import arguments_of, called_as, calls_of, tree_of
from ..rewriting.syntax import with_imports
from .recompilations import Group, only_argument, programs_of

#: Types of numbers, each of which holds those before it.
_NUMBERS = {"bool": bool, "int": int, "float": float, "complex": complex}

#: A type in a cause of kind ``"weak type"``, as in ``"f32[] (a Python float)"``.
_KIND = re.compile(r"(\w+)\[[\d,]*\] \((?:a Python (?P<number>\w+)|an array|a weakly typed array)\)")

#: The types of arrays that a number can be converted to.
_DTYPE = re.compile(r"(?P<kind>bf|[iufc])(?P<bits>\d+)")
_DTYPES = {"i": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex"}

#: How many bits of an integer are kept in the types of floating-point and complex numbers.
_EXACT_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53, "c64": 24, "c128": 53}

#: The most calls that are written out.
_MOST_CALLS = 4


class OneType(NamedTuple):
    """One type for an argument in all calls.

    Attributes:
        converted: the argument in this type, such as ``"float(k)"``.
        same_dtypes: whether the programs for all types that were passed return the same dtypes.
        code: the calls that have to change, changed; ``None`` if they are not known.
        exact: the largest number up to which all integers keep their value; 0 if no integer becomes another type.
    """

    converted: str
    same_dtypes: bool
    code: str | None
    exact: int = 0


def one_type(group: Group, evidence: Evidence) -> OneType | None:
    """Return the type that holds all numbers that were passed; ``None`` if nothing but one argument has to change."""
    causes = [each.cause for each in group.compilations]
    argument = only_argument(group)
    kinds = [_KIND.fullmatch(text or "") for each in causes for text in (each.now, each.before)]
    conversion = _conversion([each for each in kinds if each is not None]) if all(kinds) else None
    if group.eager or conversion is None or argument is None:
        return None
    programs = programs_of(group, evidence)
    results = {
        None if each.module is None else tuple(output.shape.partition("[")[0] for output in each.module.outputs)
        for each in programs
    }
    same = len(results) == 1 and None not in results
    code = _code(argument, conversion, called_as(group.own_name, programs, evidence), programs) if same else None
    return OneType(conversion.format(argument), same, code, _exact([each for each in kinds if each is not None]))


def _conversion(kinds: Sequence[re.Match[str]]) -> str | None:
    """Return a call with a place for the argument, ``"float({})"``; ``None`` if no type that was seen holds all."""
    ranks = list(_NUMBERS)
    numbers = {each["number"] for each in kinds if each["number"]}
    arrays = {each[1] for each in kinds if not each["number"]}
    if not arrays:
        return f"{max(numbers, key=ranks.index)}({{}})"
    dtype = _DTYPE.fullmatch(arrays.pop())
    if arrays or dtype is None:
        return None
    name = _DTYPES[dtype["kind"]]
    rank = ranks.index({"uint": "bool", "bfloat": "float"}.get(name, name))
    if any(ranks.index(each) > rank for each in numbers):
        return None
    return f"jnp.asarray({{}}, jnp.{name}{dtype['bits']})"


def _exact(kinds: Sequence[re.Match[str]]) -> int:
    """Return up to which number all integers have a value of their own in the type that is not one of integers."""
    types = {each[1] for each in kinds}
    bits = [_EXACT_BITS[each] for each in types & _EXACT_BITS.keys()]
    return 2 ** min(bits) if bits and any(each[0] in "iu" for each in types) else 0


def _code(argument: str, conversion: str, function: str, programs: Sequence[Program]) -> str | None:
    """Return the calls to change, of those that first ran the programs; ``None`` if one of them cannot be read."""
    changed: list[str] = []
    for line in dict.fromkeys(each.called_at for each in programs):
        calls = [] if line is None else list(_calls(line, function))
        texts = [_with_argument(each, argument, conversion, programs[0].arguments) for each in calls]
        if not texts or None in texts:
            return None
        changed += filter(None, texts)
    code = "\n".join(dict.fromkeys(changed))
    tree = None if programs[0].called_at is None else tree_of(programs[0].called_at)
    return with_imports(code, tree) if 0 < len(code.splitlines()) <= _MOST_CALLS else None


def _calls(line: Frame, function: str) -> Iterator[ast.Call]:
    tree = tree_of(line)
    for each in [] if tree is None else calls_of(function, tree, line):
        if each.lineno <= line.line <= (each.end_lineno or each.lineno):
            yield each


def _with_argument(call: ast.Call, argument: str, conversion: str, parameters: Sequence[str]) -> str | None:
    """Return a call with one argument converted; ``""`` if it needs no change, ``None`` if it is not written out."""
    value = arguments_of(call, parameters).get(argument)
    if value is None or parameters[0] == "self":
        return None
    function = conversion.partition("(")[0]
    number = _NUMBERS.get(function)
    converted = ast.parse(conversion.format(ast.unparse(value)), mode="eval").body
    if isinstance(value, ast.Constant) and number is not None and isinstance(value.value, int | float):
        if type(value.value) is number:
            return ""
        converted = ast.Constant(number(value.value))
    elif isinstance(value, ast.Call) and ast.unparse(value.func) == function:
        return ""
    arguments = [converted if each is value else each for each in call.args]
    keywords = [ast.keyword(each.arg, converted if each.value is value else each.value) for each in call.keywords]
    return ast.unparse(ast.Call(call.func, arguments, keywords))
