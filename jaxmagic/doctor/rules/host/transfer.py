"""Finds NumPy arrays that are copied to the device in every round of a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .... import units
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import Dispatch, Evidence, Input
from ...record.finding import RuleFinding
from ..rewriting.list_items import changed_in_place, parts_given
from ..rule import LEAST_IDLE, Rule, source_at
from .copies.converted_again import converted_again
from .copies.cost import MUCH, CopyCost, cost_of_copies
from .copies.donated_copies import may_be_donated
from .copies.in_turn import Sources, code_once, converted_in_turn, items_may_be_donated, put_in_turn
from .copies.passed_unchanged import passed_unchanged
from .copies.passed_whole import may_change, passed_whole, put_once
from .copies.put_again import put_again_from_host
from .copies.unchanged import converted_unchanged
from .functions.inputs_inside import MOST_OF_MEMORY, fits, inputs_inside, lists_in_turn
from .functions.used_in_loop import used_otherwise
from .host_time import LEAST_NS, SEVERAL, copying_ns, host_time, jitted_calls, matters, programs_named
from .numbers.converted_lists import lists_converted
from .numbers.many_numbers import MANY_NUMBERS, many_numbers
from .syntax import around, assigned, called_as, calls_of, function_around, is_comprehended, loop_around, site_of

#: Less than this per run is no finding.
_LEAST_BYTES = 2**20

#: Parts of an array whose copies delay the device for less than this per call are no finding: taking a part of an
#: array on the device takes time as well.
_LEAST_PER_PART_NS = 50_000

#: What JAX makes of types of 64 bits, unless these are enabled.
_NARROWED = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


class _Given(NamedTuple):
    """NumPy arrays that a loop passes to a jitted function again and again.

    Attributes:
        line: the line that calls the function.
        names: the variables to put on the device, which may be containers of arrays.
        moved_bytes: what all calls together are given.
        again: the share of it that was given before in the same run.
        size_bytes: the size of the variables; ``None`` if each call is given all of them.
        converted: the types that JAX converts before they are copied, such as ``"float64 to float32"``; may be empty.
        parts: whether the loop passes parts of the arrays, as ``x[rows]``.
        otherwise: whether the loop also uses the arrays for something else.
        sources: the variables, if the loop passes their items in turn.

    Sizes are those on the device, after the conversion.
    """

    line: Frame
    names: list[str]
    moved_bytes: int
    again: float = 1.0
    size_bytes: int | None = None
    converted: str = ""
    parts: bool = False
    otherwise: bool = False
    sources: Sources | None = None


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find calls in a loop that are given the same NumPy arrays again and again."""
    time = host_time(evidence)
    if time is None:
        return
    again = list(converted_again(RULE.name, evidence, time))
    in_turn = list(converted_in_turn(RULE.name, evidence, time))
    yield from again
    yield from in_turn or converted_unchanged(RULE.name, evidence, time, {each.line for each in again})
    yield from put_again_from_host(evidence, RULE.name, time)
    yield from put_in_turn(RULE.name, evidence, time)
    yield from lists_converted(RULE.name, evidence, time)
    yield from many_numbers(RULE.name, evidence, time)
    told = set[str]()
    for call in jitted_calls(evidence, time.use):
        if call.count < SEVERAL or call.puts < call.count:
            continue
        called = called_as(call.name, programs_named(call.name, evidence), evidence)
        for given in _given(call, called, evidence):
            host_bytes = given.moved_bytes * (2 if given.converted else 1)
            cost_ns = min(copying_ns(call, host_bytes) * time.scale, time.idle_ns) * given.again
            cost = _cost(given, call, cost_ns, evidence)
            if cost is None or (given.moved_bytes < _LEAST_BYTES and given.sources is None):
                continue
            told.add(call.name)
            names, items = ", ".join(given.names), "" if given.size_bytes is None else "[*]"
            yield RuleFinding(
                rule=RULE.name,
                found=note(
                    "doctor.transfer",
                    names=", ".join(f"{each}{items}" for each in given.names),
                    function=called,
                    count=call.count,
                    size_bytes=given.moved_bytes,
                    converted=given.converted,
                ),
                line=given.line.location,
                source=source_at(given.line),
                evidence=cost.evidence,
                cost_ns=cost.cost_ns,
                basis=cost.basis,
                remedy=_remedy(given, names),
                code=_code(given, evidence),
            )
    yield from passed_unchanged(RULE.name, evidence, time, told)


def _cost(given: _Given, call: Dispatch, cost_ns: float, evidence: Evidence) -> CopyCost | None:
    if given.size_bytes is None:
        return cost_of_copies(cost_ns, call.copied_ns, evidence)
    if given.parts and cost_ns < call.count * _LEAST_PER_PART_NS:
        return None
    return CopyCost(cost_ns, "estimated") if matters(cost_ns, evidence) else None


def _code(given: _Given, evidence: Evidence) -> str | None:
    if given.sources is not None:
        return code_once(given.line, given.sources)
    if given.parts or given.otherwise:
        return None
    return put_once(given.names, given.line, evidence)


def _remedy(given: _Given, names: str) -> Note:
    if given.sources is not None:
        return given.sources.remedy(code_once(given.line, given.sources))
    if given.size_bytes is None and given.otherwise:
        return note("doctor.transfer_beside", names=names)
    if given.size_bytes is None:
        return note("doctor.transfer_once", names=names)
    return note("doctor.transfer_parts", names=names, size_bytes=given.size_bytes)


def _given(call: Dispatch, called: str, evidence: Evidence) -> Iterator[_Given]:
    """Yield the NumPy arrays that a line in a loop gives to a function again and again."""
    programs = programs_named(call.name, evidence)
    line = site_of(call.name, programs, evidence)
    if line is None or not (loop_around(line) or is_comprehended(line, called)):
        return
    nodes = calls_of(called, around(line)[-1], line)
    given = [each for node in nodes for each in (*node.args, *(word.value for word in node.keywords))]
    scope = function_around(line) or around(line)[0]
    changed = assigned(scope) | changed_in_place(scope)
    shapes = {
        each.shape.partition("[")[2]
        for program in programs
        if program.module is not None
        for each in program.module.inputs
    }
    inputs = {
        name: each for name, each in _on_device(line, evidence).items() if re.split(r"\W", name)[0] not in changed
    }
    arrays = {
        name: each
        for name, each in inputs.items()
        if each.kind == "numpy array" and each.type.partition("[")[2] in shapes
    }
    passed = [each for each in passed_whole(nodes, arrays, programs) if not may_change(each, line, evidence)]
    if passed:
        whole = {one.path: one for each in passed for one in each.arrays.values()}
        moved_bytes = call.count * sum(each.size_bytes for each in whole.values())
        otherwise = used_otherwise({each.name for each in passed}, called, line)
        paths, converted = list(dict.fromkeys(each.path for each in passed)), _converted(whole.values(), evidence)
        if not any(may_be_donated(each.type, evidence) for each in whole.values()):
            yield _Given(line, paths, moved_bytes, converted=converted, otherwise=otherwise)
        return
    in_turn = _in_turn(call, line, given, inputs, shapes, evidence)
    yield from _in_parts(call, line, given, inputs, evidence) if in_turn is None else [in_turn]


def _in_turn(
    call: Dispatch,
    line: Frame,
    given: list[ast.expr],
    inputs: Mapping[str, Input],
    shapes: Collection[str],
    evidence: Evidence,
) -> _Given | None:
    """Return the lists and arrays whose items a loop passes in turn; ``None`` if there are none."""
    arrays = {name: each for name, each in inputs.items() if each.kind == "numpy array"}
    lists = tuple(
        each
        for each in lists_in_turn(line, given, inputs, arrays)
        if call.count >= each.items and {shape[1:] for shape in each.shapes} <= set(shapes)
    )
    sources = Sources(lists, min((call.count // each.items for each in lists), default=0))
    if not lists or not fits(sources.size_bytes, evidence) or items_may_be_donated(lists, evidence):
        return None
    paths = {each.path for each in lists}
    items = [each for each in arrays.values() if each.path.partition("[")[0] in paths or each.path in paths]
    return _Given(
        line,
        list(dict.fromkeys(each.path for each in lists)),
        sum(call.count * each.size_bytes // each.items for each in lists),
        sources.spared,
        sources.size_bytes,
        _converted(items, evidence),
        sources=sources,
    )


def _in_parts(
    call: Dispatch, line: Frame, given: list[ast.expr], inputs: Mapping[str, Input], evidence: Evidence
) -> Iterator[_Given]:
    """Yield the arrays of which a loop passes parts, such as ``x[rows]``, if it passes all of them more than once."""
    arrays = {name: each for name, each in inputs.items() if each.kind == "numpy array"}
    rounds: dict[str, int] = {}
    programs = [each.module for each in programs_named(call.name, evidence) if each.module is not None]
    shapes = [[_dimensions(each.shape) for each in module.inputs] for module in programs]
    for number, name in enumerate(parts_given(line, given)):
        if name in arrays:
            whole = _dimensions(arrays[name].type)
            own = [[each[number]] if len(each) == len(given) else each for each in shapes]
            counts = [each for each in (_parts_per_round(whole, inputs) for inputs in own) if each is not None]
            if counts and call.count >= 2 * min(counts):  # one more program may take what remains at the end
                rounds[name] = call.count // min(counts)
    size_bytes = sum(arrays[each].size_bytes for each in rounds)
    if rounds and fits(size_bytes, evidence):
        fewest = min(rounds.values())
        given_parts = [arrays[each] for each in rounds]
        names, converted = [each.path for each in given_parts], _converted(given_parts, evidence)
        yield _Given(line, names, fewest * size_bytes, 1 - 1 / fewest, size_bytes, converted, parts=True)


def _on_device(line: Frame, evidence: Evidence) -> dict[str, Input]:
    """Return the inputs that a line sees, those of NumPy with the size that they have on the device."""
    return {
        name: replace(each, size_bytes=each.size_bytes // 2) if _wide(each, evidence) else each
        for name, each in inputs_inside(line, evidence).items()
    }


def _wide(array: Input, evidence: Evidence) -> str:
    """Return the type of an array of NumPy if JAX makes one of half the size of it; empty otherwise."""
    dtype = array.type.partition("[")[0]
    narrowed = array.kind == "numpy array" and dtype in _NARROWED and not evidence.first.environment.x64
    return dtype if narrowed else ""


def _converted(arrays: Iterable[Input], evidence: Evidence) -> str:
    types = dict.fromkeys(filter(None, (_wide(each, evidence) for each in arrays)))
    return ", ".join(f"{each} to {_NARROWED[each]}" for each in types)


def _parts_per_round(whole: Sequence[int], inputs: Sequence[Sequence[int]]) -> int | None:
    """Return how many calls get all of an array, at most; ``None`` if no input of a program can be a part of it."""
    if whole and whole[1:] in inputs:
        return whole[0]
    alike = [each for each in inputs if each and len(each) == len(whole) and each[1:] == whole[1:]]
    rows = min((each[0] for each in alike if 0 < each[0] <= whole[0]), default=None)
    return None if rows is None else -(-whole[0] // rows)


def _dimensions(shape: str) -> list[int]:
    sizes = shape.partition("[")[2].partition("]")[0]
    return [int(each) for each in sizes.split(",") if each.isdigit()]


RULE = Rule(
    name="transfer",
    looks_for="NumPy arrays, or many numbers, that every call in a loop copies to the device",
    decides="Reports NumPy arrays that a loop does not change, and passes to a jitted function at least "
    f"{SEVERAL} times, also inside of a dictionary or another container that it passes whole, if that copies "
    f"at least 1 MiB per run, and the device is idle for at least {units.percent(LEAST_IDLE)} of the run "
    f"without compiling, and at "
    f"least {units.time(LEAST_NS)}, until these calls have them. A list, or an array of NumPy, counts if it is there "
    "before the code runs, and a loop passes all of its items in turn. An array counts as well if a loop passes "
    "larger parts of it, as x[rows]: all of it at least twice per run, as in several epochs, "
    f"with a delay of at least {units.time(_LEAST_PER_PART_NS)} per call. All of them have to take at most "
    f"{units.percent(MOST_OF_MEMORY)} of the device's memory. On the CPU, arrays that begin at a multiple of 64 "
    "bytes are not copied. There, copies also slow down the device's work, by a time that the runs do not show: the "
    f"cost is a lower bound, or unknown if the device is hardly idle, but the copies take {units.percent(MUCH)} of a "
    "run. A line that converts the same array in every round, as jnp.asarray(x), counts with the "
    "time that all its copies but one take, and one that converts the items of a list or array in turn with the "
    "copies of all rounds after the first, or of the only round. What a function converts each time that a loop "
    "calls it counts in the same way, if the arrays are the same, with the same values. So does what a line "
    "passes to a jitted function again and again, however it is written there. So does a line that copies "
    "the same array of NumPy, or the same views of it, with jax.device_put to the same place, if its values have not "
    "changed meanwhile. "
    "Lists of Python that jnp.array converts number by number count with the time that the samples of "
    "the host show, and calls of a jitted function that gets at least "
    f"{MANY_NUMBERS} numbers, each an argument of its own, with their share of the idle time of these calls.",
    source="https://docs.jax.dev/en/latest/faq.html",
    look=look,
    needs=("programs", "profile"),
)
