"""Finds lists of Python that ``jnp.array`` converts number by number: NumPy does so many times as fast."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import note
from ....record.evidence import Dispatch, Evidence
from ....record.finding import RuleFinding
from ...rewriting.list_items import items_given
from ...rewriting.meanings import path_at, paths_in
from ...rewriting.syntax import parameters
from ...rule import source_at
from ..functions.inputs_inside import inputs_inside
from ..host_time import SEVERAL, HostTime, matters, names_of_program, without_compiling_ns
from ..syntax import Function, around, function_around, values_of

#: The operation that JAX calls with the outcome.
CONVERTING = "convert_element_type"

#: How the names of what the host runs meanwhile end.
_CONSTRUCTORS = (".array_constructors.array", ".array_constructors.asarray")

_CONVERTERS = frozenset({"jax.numpy.array", "jax.numpy.asarray"})

#: A conversion of an array of NumPy takes no longer than this, and this per element.
_ARRAY_NS = 200_000
_ELEMENT_NS = 200

#: The types of what JAX converts item by item.
_LISTS = "list", "tuple"

#: Calls copy from the host with this share of copies; one that compiles shows none.
_MOST = 0.9

#: Fewer samples are chance.
_LEAST_SAMPLES = 10

#: The conversion of what NumPy makes takes about as long as this, and NumPy this for a number of a list.
_CALL_NS = 30_000
_NUMPY_NS = 50

#: The smallest numbers have this many bytes.
_BYTES = 4


class ConvertedLists(NamedTuple):
    """The lists that one line converts.

    Attributes:
        line: the line.
        numbers: how many numbers each list has, at most.
        taken_ns: how long that takes per run.
        left_ns: how long NumPy would take, if all conversions are this line's.
    """

    line: Frame
    numbers: int
    taken_ns: float
    left_ns: float


def lists_converted(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find lines that convert lists of numbers with JAX.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    found, call = converted_lists(evidence, time), _conversions(time)
    if not found or call is None:
        return
    taken_ns, left_ns = sum(each.taken_ns for each in found), sum(each.left_ns for each in found) / len(found)
    cost_ns = min(taken_ns - left_ns, time.spare_ns)
    if not matters(cost_ns, evidence):
        return
    most, *others = found
    calls = [_conversion_at(each.line, evidence) for each in found]
    code = list(dict.fromkeys(filter(None, (_with_numpy(each) for each in calls if each is not None))))
    also = ", ".join(each.line.location for each in others)
    taken = note("doctor.converted_list_time", taken_ns=round(taken_ns))
    yield RuleFinding(
        rule=rule,
        found=note("doctor.converted_list", count=call.count, numbers=max(each.numbers for each in found)),
        line=most.line.location,
        source=source_at(most.line),
        evidence=(taken, note("doctor.converted_list_also", lines=also)) if others else (taken,),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=note("doctor.converted_list_remedy"),
        code="\n".join(code) or None,
    )


def converted_lists(evidence: Evidence, time: HostTime) -> list[ConvertedLists]:
    """Return the lines at which JAX converts what is known to be a list, those that take longest first.

    A program that lines share tells where it was called first, so that the size of a line's lists may be another's.
    How often each line is called is not known: no line is called more often than all of them.
    """
    call = _conversions(time)
    samples = Counter[Frame]()
    for each in evidence.host or ():
        if each.line is not None and _is_conversion(each.called):
            samples[each.line] += each.samples
    if call is None:
        return []
    programs = [each for each in evidence.programs or () if each.eager and CONVERTING in names_of_program(each)]
    sizes = {each.called_at: (each.executable.output_bytes or 0) // _BYTES for each in programs}
    all_samples = sum(each.samples for each in evidence.host or ())
    found = []
    for line, count in samples.most_common():
        numbers = sizes.get(line, max(sizes.values(), default=0))
        taken_ns = without_compiling_ns(evidence) * count / max(all_samples, 1)
        of_numbers = taken_ns >= call.count * (_ARRAY_NS + numbers * _ELEMENT_NS)
        left_ns = call.count * (_CALL_NS + numbers * _NUMPY_NS if of_numbers else _ARRAY_NS)
        joined = [line] if line in sizes else samples
        if count < _LEAST_SAMPLES or not numbers or any(_joins(each, evidence) for each in joined):
            continue
        if _is_list(line, sizes.get(line, 0), evidence):
            found.append(ConvertedLists(line, numbers, taken_ns, left_ns))
    return found


def _conversions(time: HostTime) -> Dispatch | None:
    """Return the calls of the operation that gets the lists; ``None`` if others call it, with arrays of JAX."""
    call = next((each for each in time.use.dispatches if each.name == CONVERTING), None)
    return None if call is None or call.count < SEVERAL or call.puts < _MOST * call.count else call


def _is_list(line: Frame, numbers: int, evidence: Evidence) -> bool:
    """Return whether the only conversion at a line gets a list or a tuple: by its syntax, or as the code ran.

    Args:
        line: the line.
        numbers: how many numbers the result is known to have there; 0 if that is unknown.
        evidence: what the code reads.
    """
    conversion = _conversion_at(line, evidence)
    if conversion is None:
        return False
    given = conversion.args[0]
    if _makes_list(given):
        return True
    if isinstance(given, ast.Name) and _is_assigned_list(given.id, function_around(line) or around(line)[0]):
        return True
    inputs = inputs_inside(line, evidence)
    known = inputs.get(ast.unparse(given))
    if known is not None:
        return known.type in _LISTS
    holders = [each for each in items_given(line, [given]) if each in inputs and inputs[each].type in _LISTS]
    return numbers > 1 and any(not any(path.startswith(f"{each}[") for path in inputs) for each in holders)


def _is_assigned_list(name: str, scope: ast.AST) -> bool:
    values = [] if isinstance(scope, Function) and name in parameters(scope) else list(values_of(name, scope))
    return bool(values) and all(each is not None and _makes_list(each) for each in values)


def _makes_list(value: ast.expr) -> bool:
    match value:
        case ast.ListComp() | ast.List() | ast.Tuple():
            return True
        case ast.Call(func=ast.Name(id="list" | "sorted" | "tuple")):
            return True
        case ast.Call(func=ast.Attribute(attr="tolist"), args=[], keywords=[]):
            return True
    return False


def without_conversions(evidence: Evidence) -> Evidence:
    """Return what was observed, without the samples in which JAX converted something."""
    host = evidence.host
    return replace(
        evidence,
        host=None if host is None else tuple(each for each in host if not _is_conversion(each.called)),
        functions=tuple(each for each in evidence.functions if not _is_conversion(each.called)),
    )


def _is_conversion(called: str) -> bool:
    return called.endswith(_CONSTRUCTORS)


def _joins(line: Frame, evidence: Evidence) -> bool:
    """Return whether a line runs operations that join arrays of JAX, as for a list of them."""
    here = (each for each in evidence.programs or () if each.eager and each.called_at == line)
    return any(name in ("concatenate", "stack") for each in here for name in names_of_program(each))


def _conversion_at(line: Frame, evidence: Evidence) -> ast.Call | None:
    """Return the only conversion in the statement of a line; ``None`` if there are several, or none."""
    nodes = around(line)
    if not nodes:
        return None
    paths = paths_in(function_around(line) or nodes[0], line.file, evidence.names)
    calls = [each for each in ast.walk(nodes[-1]) if isinstance(each, ast.Call) and each.args]
    found = [each for each in calls if path_at(each.func, paths) in _CONVERTERS]
    return found[0] if len(found) == 1 else None


def _with_numpy(call: ast.Call) -> str | None:
    """Return a conversion that gets an array of NumPy, as ``jnp.array(np.asarray(numbers))``."""
    if isinstance(call.args[0], ast.Starred | ast.GeneratorExp):
        return None
    changed = copy.deepcopy(call)
    changed.args[0] = ast.Call(func=ast.parse("np.asarray", mode="eval").body, args=[call.args[0]], keywords=[])
    return f"{ast.unparse(changed)}  # replaces {ast.unparse(call)}"
