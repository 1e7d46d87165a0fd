"""Finds lists of Python that ``jnp.array`` converts number by number: NumPy does so many times as fast."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import note
from ....record.evidence import Dispatch, Evidence
from ....record.finding import RuleFinding
from ...rewriting.meanings import path_at, paths_in
from ...rule import source_at
from ..functions.inputs_inside import inputs_inside
from ..host_time import SEVERAL, HostTime, best_run, matters, names_of_program
from ..syntax import around, function_around

#: The operation that JAX calls with the outcome.
_OPERATION = "convert_element_type"

#: How the names of what the host runs meanwhile end.
_CONSTRUCTORS = (".array_constructors.array", ".array_constructors.asarray")

_CONVERTING = frozenset({"jax.numpy.array", "jax.numpy.asarray"})

#: A conversion of an array of NumPy takes no longer than this, and this per element.
_ARRAY_NS = 200_000
_ELEMENT_NS = 200

#: Fewer samples are chance.
_LEAST_SAMPLES = 10

#: What NumPy needs for a number of a list.
_NUMPY_NS = 50

#: The smallest numbers have this many bytes.
_BYTES = 4


class ConvertedLists(NamedTuple):
    """The lists that one line converts.

    Attributes:
        line: the line.
        call: the calls of the operation that gets the outcome.
        numbers: how many numbers each list has, at most.
        taken_ns: how long that takes per run.
    """

    line: Frame
    call: Dispatch
    numbers: int
    taken_ns: float


def lists_converted(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find lines that convert lists of numbers with JAX.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    found = converted_lists(evidence, time)
    if found is None:
        return
    cost_ns = min(found.taken_ns - found.call.count * found.numbers * _NUMPY_NS, time.spare_ns)
    if not matters(cost_ns, evidence):
        return
    call = _conversion_at(found.line, evidence)
    yield RuleFinding(
        rule=rule,
        found=note("doctor.converted_list", count=found.call.count, numbers=found.numbers),
        line=found.line.location,
        source=source_at(found.line),
        evidence=(note("doctor.converted_list_time", taken_ns=round(found.taken_ns)),),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=note("doctor.converted_list_remedy"),
        code=None if call is None else _with_numpy(call),
    )


def converted_lists(evidence: Evidence, time: HostTime) -> ConvertedLists | None:
    """Return the line at which JAX converts lists; ``None`` if it is unknown, or the numbers may be NumPy's."""
    programs = [each for each in evidence.programs or () if each.eager and _OPERATION in names_of_program(each)]
    call = next((each for each in time.use.dispatches if each.name == _OPERATION), None)
    if call is None or len(programs) != 1 or call.count < SEVERAL or call.puts < call.count:
        return None
    line, numbers = programs[0].called_at, (programs[0].executable.output_bytes or 0) // _BYTES
    shares = [each for each in evidence.host or () if each.line == line and _is_conversion(each.called)]
    samples, all_samples = sum(each.samples for each in shares), sum(each.samples for each in evidence.host or ())
    taken_ns = best_run(evidence).wall_ns * samples / max(all_samples, 1)
    quickest_ns = _ARRAY_NS + numbers * _ELEMENT_NS
    if line is None or samples < _LEAST_SAMPLES or taken_ns < call.count * quickest_ns or _joins(line, evidence):
        return None
    conversion = _conversion_at(line, evidence)
    given = None if conversion is None else inputs_inside(line, evidence).get(ast.unparse(conversion.args[0]))
    if given is not None and given.kind in ("numpy array", "jax array"):
        return None
    return ConvertedLists(line, call, numbers, taken_ns)


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
    found = [each for each in calls if path_at(each.func, paths) in _CONVERTING]
    return found[0] if len(found) == 1 else None


def _with_numpy(call: ast.Call) -> str | None:
    """Return a conversion that gets an array of NumPy, as ``jnp.array(np.asarray(numbers))``."""
    if isinstance(call.args[0], ast.Starred | ast.GeneratorExp):
        return None
    changed = copy.deepcopy(call)
    changed.args[0] = ast.Call(func=ast.parse("np.asarray", mode="eval").body, args=[call.args[0]], keywords=[])
    return f"{ast.unparse(changed)}  # replaces {ast.unparse(call)}"
