"""Finds the sizes to which arguments of varying size can be padded, and writes code that pads them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ....records.note import Note, note
from ...record.evidence import Evidence
from ..host.syntax import arguments_at, called_as, function_around, own_nodes, site_of
from ..rewriting import syntax
from ..rewriting.bucket_sizes import Buckets, buckets, powers_of_two, sizes_along
from .recompilations import Group, counts, function_of, programs_of

#: A type of an array without elements.
_EMPTY = re.compile(r"[\[,]0[\],]")

#: A type of an array of integers, in JAX's and in XLA's words.
_INTEGERS = re.compile(r"[isu]\d")

#: Names for the size of an argument and for the padded one, of which the first that the code does not use is taken.
_NUMBERS = ("n", "length", "own_size", "unpadded_size"), ("size", "padded_size", "next_size", "size_of_padded")

#: Arrays that vary on their own are padded to their largest sizes if these are at most so many times the smallest.
MOST_TIMES = 4


class Padding(NamedTuple):
    """How arguments can be padded so that fewer programs do for all calls.

    Attributes:
        sizes: how to pad each argument, by name; those that have the same size in each program are together.
        seen: how many programs there were.
        needed: how many there would be.
        integers: the names of the arguments that may be indices.
    """

    sizes: Sequence[Mapping[str, Buckets]]
    seen: int
    needed: int
    integers: tuple[str, ...] = ()


def sizes_to_pad(group: Group, evidence: Evidence) -> Padding | None:
    """Return sizes to pad to, if one axis of each argument varies, and if they need at most half as many programs."""
    arguments = {each.cause.argument or "" for each in group.compilations}
    name = group.compilations[-1].cause.argument
    if name is None or "" in arguments:
        return None
    if group.eager:  # an array that grows may begin empty, and other code may have called the operation before
        types = [
            each.cause.now for each in group.compilations if each.cause.now and not _EMPTY.search(each.cause.now)
        ]
        return _of_one_size(name, types) if len(arguments) == 1 else None
    shapes: dict[str, list[str]] = {}
    for program in programs_of(group, evidence):
        for each in () if program.module is None else program.module.inputs:
            shapes.setdefault(each.name, []).append(each.shape)
    varying = {each: types for each, types in shapes.items() if len(set(types)) > 1}
    types = [text for each in group.compilations for text in (each.cause.now, each.cause.before) if text]
    if not varying and len(arguments) == 1:
        return _of_one_size(name, types)
    if not arguments <= varying.keys():
        return None
    found = {each: powers_of_two(varying[each]) for each in varying}
    together: dict[tuple[str, ...], dict[str, Buckets]] = {}
    for argument, along in found.items():
        if along is None:
            return None
        together.setdefault(tuple(sizes_along(varying[argument], along.axis)), {})[argument] = along
    if len(together) == 1:
        return _of_one_size(name, types, varying, next(iter(together.values())))
    return _of_several_sizes(together, group, varying)


def _of_one_size(
    name: str,
    seen: Sequence[str],
    varying: Mapping[str, Sequence[str]] | None = None,
    alike: Mapping[str, Buckets] | None = None,
) -> Padding | None:
    """Return how to pad an argument that had some types, and others that have the same size in each program."""
    sizes = buckets(seen)
    if sizes is None:
        return None
    padded = {**(alike or {}), name: sizes}
    return Padding([padded], len(sizes.seen), len(sizes.sizes), _integers(varying or {name: seen}))


def _of_several_sizes(
    together: Mapping[tuple[str, ...], Mapping[str, Buckets]], group: Group, varying: Mapping[str, Sequence[str]]
) -> Padding | None:
    """Return how to pad arguments whose sizes vary on their own: if powers of two are too many, to the largest."""
    own = {
        (name, size)
        for name, types in ((each.cause.argument, (each.cause.now, each.cause.before)) for each in group.compilations)
        for along in (each[name] for each in together.values() if name is not None and name in each)
        for size in sizes_along(filter(None, types), along.axis)
    }
    names = [set(each) for each in together.values()]
    programs = {
        tuple(map(int, sizes))
        for sizes in zip(*together, strict=True)
        if any((name, size) in own for each, size in zip(names, sizes, strict=True) for name in each)
    }
    sizes = list(together.values())
    largest = [{name: along._replace(sizes=along.sizes[-1:]) for name, along in each.items()} for each in sizes]
    few = all(each.sizes[-1] <= MOST_TIMES * each.seen[0] for like in largest for each in like.values())
    for found in (sizes, largest) if few else (sizes,):
        first = [next(iter(each.values())) for each in found]
        needed = {tuple(along.padded(size) for along, size in zip(first, each, strict=True)) for each in programs}
        if 2 * len(needed) <= len(programs):
            return Padding(found, len(programs), len(needed), _integers(varying))
    return None


def _integers(types: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(name for name, each in types.items() if all(map(_INTEGERS.match, each)))


def about_sizes(group: Group, padding: Padding, evidence: Evidence) -> Iterator[Note]:
    """Describe the sizes that were seen, and those to pad to."""
    if len(padding.sizes) == 1:
        argument = group.compilations[-1].cause.argument or ""
        yield _about(argument, *_sizes_of_session(group, padding.sizes[0][argument], evidence))
        return
    for sizes in padding.sizes:
        for axis in dict.fromkeys(each.axis for each in sizes.values()):
            names = [name for name, each in sizes.items() if each.axis == axis]
            yield _about(" and ".join(names), sizes[names[0]])
    yield note("doctor.recompile_sizes_together", seen=padding.seen, needed=padding.needed)


def _about(arguments: str, sizes: Buckets, earlier: int = 0, unknown: int = 0) -> Note:
    return note(
        "doctor.recompile_sizes",
        argument=arguments,
        axis=sizes.axis,
        seen=len(sizes.seen),
        sizes=", ".join(map(str, sizes.sizes)),
        padding=sizes.padding,
        earlier=earlier,
        unknown=unknown,
    )


def _sizes_of_session(group: Group, sizes: Buckets, evidence: Evidence) -> tuple[Buckets, int, int]:
    """Return the sizes to pad to for all shapes that the session has compiled, and how many are not seen in the code.

    They are the sizes of the code alone if other shapes of the session vary in other axes. Last comes whether it is
    unknown if the code has those that are not seen: programs that were compiled before may have run unseen.
    """
    runs = (evidence.first, evidence.observed, *evidence.timed)
    compiled = [[each for each in run.compilations if function_of(each) == group.same_function] for run in runs]
    argument = group.compilations[-1].cause.argument
    earlier = [
        each.cause
        for each in evidence.earlier
        if each.cause.kind == group.kind
        and function_of(each) == group.same_function
        and each.cause.argument == argument
        and counts(each)
    ]
    causes = [each.cause for each in group.compilations]
    of_code = [each.cause for run in compiled for each in run if each.cause.argument == argument]
    programs = programs_of(group, evidence)
    inputs = [() if each.module is None else each.module.inputs for each in programs]
    ran = [each.shape for parts in inputs for each in parts if each.name == argument]
    own = {*ran, *(each.now for each in (*causes, *of_code))}
    if len(compiled[0]) > len(causes):  # the run made the program that the first of them is compared with
        own |= {each.before for each in causes}
    session = buckets(text for each in (*causes, *earlier) for text in (each.now, each.before) if text) or sizes
    unseen = set(session.seen) - {int(each) for each in sizes_along(filter(None, own), session.axis)}
    all_seen = programs and len(ran) == len(programs) and not any(compiled[1:])
    return session, len(unseen), int(bool(unseen) and not all_seen)


def padding_code(group: Group, padding: Padding, evidence: Evidence) -> str | None:
    """Return code that pads what the call passes; by the names of the parameters if that is not known."""
    programs = programs_of(group, evidence)
    site = site_of(group.own_name, programs, evidence)
    called = called_as(group.own_name, programs, evidence)
    passed = {} if site is None or not programs else arguments_at(site, called, programs[0].arguments)
    padded = [argument for each in padding.sizes for argument in each]
    made = {each: passed[each] for each in padded if not isinstance(passed.get(each), ast.Name | None)}
    taken = set() if site is None else _names_in(syntax.tree_of(site.file))
    names = {each: value.id if isinstance(value := passed.get(each), ast.Name) else each for each in padded}
    scope = None if site is None else function_around(site) or syntax.tree_of(site.file)
    own = {each.id for each in own_nodes(scope or ast.Module([], [])) if isinstance(each, ast.Name)}
    unknown = [each for each in padded if each not in passed]
    names |= {each: f"padded_{each}" for each in made if each in taken}
    names |= {each: f"padded_{each}" for each in unknown if each in own}  # which may be another array
    if group.eager or not all(map(str.isidentifier, names.values())):
        return None
    begin = [
        *(f"{names[each]} = np.asarray({ast.unparse(node)})  # pass this to {called}" for each, node in made.items()),
        *(_about_unknown(names[each], each, called) for each in unknown),
    ]
    own |= {*names.values()}
    numbers = tuple(next(each for each in choices if each not in own) for choices in _NUMBERS)
    return "\n".join([*begin, *(line for each in padding.sizes for line in _lines(each, names, numbers))])


def _about_unknown(name: str, argument: str, function: str) -> str:
    if name == argument:
        return f"# {argument} is an argument of {function}"
    return f"# {name} is what {function} gets as {argument}"


def _names_in(tree: ast.AST | None) -> set[str]:
    """Return all variables in a piece of code."""
    return {each.id for each in ast.walk(tree or ast.Module([], [])) if isinstance(each, ast.Name)}


def _lines(sizes: Mapping[str, Buckets], names: Mapping[str, str], numbers: Sequence[str]) -> Iterator[str]:
    first, along = next(iter(sizes.items()))
    n, size = numbers
    power = f"1 << ({n} - 1).bit_length()"
    yield f"{n} = {names[first]}.shape[{along.axis}]"
    if along.least > 1:
        yield f"{size} = max({along.least}, {power})  # the next power of two, from {along.least} on"
    else:
        yield f"{size} = {power}  # the next power of two"
    for argument, along in sizes.items():
        widths = ", ".join(f"(0, {size} - {n})" if axis == along.axis else "(0, 0)" for axis in range(along.rank))
        yield f"{names[argument]} = np.pad({names[argument]}, [{widths}])"
