"""Finds the sizes to which arguments of varying size can be padded, and writes code that pads them."""

from __future__ import annotations

import ast
import re

from ...record.evidence import Evidence
from ..host.syntax import arguments_at, site_of
from ..rewriting.bucket_sizes import Buckets, buckets, sizes_along
from .recompilations import Group, counts, function_of, programs_of

#: A type of an array without elements.
_EMPTY = re.compile(r"[\[,]0[\],]")


def sizes_to_pad(group: Group, evidence: Evidence) -> Buckets | None:
    """Return sizes to pad to, if one axis varies: that of one argument, or of several that always agree."""
    arguments = {each.cause.argument for each in group.compilations}
    if len(arguments) != 1 or None in arguments:
        return None
    if group.eager:  # an array that grows may begin empty, and other code may have called the operation before
        return buckets(
            each.cause.now for each in group.compilations if each.cause.now and not _EMPTY.search(each.cause.now)
        )
    types = [text for each in group.compilations for text in (each.cause.now, each.cause.before) if text]
    sizes = buckets(types)
    return sizes if sizes is None or _padded(group, sizes, evidence) else None


def sizes_of_session(group: Group, sizes: Buckets, evidence: Evidence) -> tuple[Buckets, int]:
    """Return the sizes to pad to for all shapes that the session has compiled, and how many of these the run had not.

    They are the sizes of the run alone if other shapes of the session vary in other axes.
    """
    of_run = [each for each in evidence.first.compilations if function_of(each) == group.same_function]
    argument = group.compilations[-1].cause.argument
    earlier = [
        each.cause
        for each in evidence.earlier
        if function_of(each) == group.same_function and each.cause.argument == argument and counts(each)
    ]
    causes = [each.cause for each in group.compilations]
    own = {each.now for each in causes}
    if len(of_run) > len(causes):  # the run made the program that the first of them is compared with
        own |= {each.before for each in causes}
    session = buckets(text for each in (*causes, *earlier) for text in (each.now, each.before) if text) or sizes
    return session, len(set(session.seen) - {int(each) for each in sizes_along(filter(None, own), session.axis)})


def _padded(group: Group, sizes: Buckets, evidence: Evidence) -> dict[str, Buckets]:
    """Return the arguments to pad and how: the one that a cause names, which is the first that differs, and others.

    Empty if another argument varies that does not have the same size in each program: padding this one is no help.
    """
    name = group.compilations[-1].cause.argument or ""
    shapes: dict[str, list[str]] = {}
    for program in programs_of(group, evidence):
        for each in () if program.module is None else program.module.inputs:
            shapes.setdefault(each.name, []).append(each.shape)
    varying = {each: types for each, types in shapes.items() if len(set(types)) > 1}
    if name not in varying:
        return {name: sizes} if not varying else {}
    seen = sizes_along(varying[name], sizes.axis)
    found = {name: sizes}
    for other in varying.keys() - {name}:
        alike = buckets(varying[other])
        if alike is None or sizes_along(varying[other], alike.axis) != seen:
            return {}
        found[other] = alike
    return dict(sorted(found.items(), key=lambda each: list(shapes).index(each[0])))


def padding(group: Group, sizes: Buckets, evidence: Evidence) -> str | None:
    """Return code that pads what the call passes; by the names of the parameters if that is not known."""
    padded = _padded(group, sizes, evidence)
    programs = programs_of(group, evidence)
    site = site_of(group.function, programs, evidence)
    passed = {} if site is None or not programs else arguments_at(site, group.function, programs[0].arguments)
    names = {each: value.id if isinstance(value := passed.get(each), ast.Name) else each for each in padded}
    if not names or not all(map(str.isidentifier, names.values())):
        return None
    first, along = next(iter(padded.items()))
    lines = [
        f"n = {names[first]}.shape[{along.axis}]",
        "size = 1 << (n - 1).bit_length()  # the next power of two",
    ]
    for argument, along in padded.items():
        widths = ", ".join("(0, size - n)" if axis == along.axis else "(0, 0)" for axis in range(along.rank))
        lines.append(f"{names[argument]} = np.pad({names[argument]}, [{widths}])")
    return "\n".join(lines)
