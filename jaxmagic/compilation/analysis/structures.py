"""Compare the containers in which two calls pass their arrays: JAX compiles for each structure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ... import units
from ...records.names import listed
from ..record.compilation import Cause
from ..record.events import Call, Node
from .remedies import difference

#: The number of a container's class, which distinguishes two classes of the same name.
_CLASS = re.compile(r" \(class \w+\)")
_CLASS_NAME = re.compile(r"(\w+) \(class (\w+)\)")

_ONE_CLASS = "define the class once, outside the code that runs again"

#: At most this many keys of a container are listed; of a larger one only those that the other lacks.
_MOST_KEYS = 4

#: What is said of a call that lacks the leaves of another one.
NOT_THERE = "not there"


def structure_differences(now: Call, before: Call) -> list[Cause]:
    """List arguments whose leaves differ; an argument of only one of the calls is a difference in their signature."""
    leaves_now, leaves_before = _by_argument(now), _by_argument(before)
    causes = []
    for argument in now.names:
        if argument not in before.names:
            continue
        ours, theirs = leaves_now.get(argument, set()), leaves_before.get(argument, set())
        if ours == theirs:
            causes += _containers(argument, now, before)
            continue
        listing = _listed(sorted(ours - theirs), ours), _listed(sorted(theirs - ours), theirs)
        causes.append(_different(*(_nodes(argument, now, before) or (argument, *listing))))
    return causes


def _containers(argument: str, now: Call, before: Call) -> list[Cause]:
    """Compare containers whose elements have the same paths, such as a list and a tuple."""
    here, there = now.containers.get(argument), before.containers.get(argument)
    if here is None or there is None or here == there:
        return []
    text, other = _CLASS.sub("", here), _CLASS.sub("", there)
    if text == other:
        kinds = [name for (name, number), (_, old) in _pairs(here, there) if number != old]
        what = f"argument {argument} is of a different class with the same name: {kinds[0]}"
        return [Cause(kind="pytree", reason=what, remedy=_ONE_CLASS, argument=argument, now=text, before=other)]
    names = [re.split(r"[\[(]", each)[0] for each in (text, other)]
    kinds = [each.partition("[")[0] for each in (text, other)]  # an OrderedDict has the order of its keys
    values = next(((argument, *each) for each in (names, kinds) if each[0] != each[1]), None)
    return [_different(*(values or _nodes(argument, now, before) or (argument, text, other)))]


def _different(path: str, now: str, before: str) -> Cause:
    return difference("pytree", f"argument {path} has a different pytree structure", path, now, before)


def _nodes(argument: str, now: Call, before: Call) -> tuple[str, str, str] | None:
    """Return the path of the first container that differs, and describe it in both calls; ``None`` if not known."""
    for path in (*now.nodes, *before.nodes):
        node, other = now.nodes.get(path), before.nodes.get(path)
        if root(path) != argument or node == other:
            continue
        words = [
            _in_words(one, two) if one is not None else "a single leaf" if path in call.leaves else None
            for one, two, call in ((node, other, now), (other, node, before))
        ]
        return None if words[0] is None or words[1] is None else (path, words[0], words[1])
    return None


def _in_words(node: Node, other: Node | None) -> str:
    """Describe a container by its length or its keys, beside another one at the same path.

    >>> one, two = (Node("dict", count, tuple(map(str, range(count)))) for count in (2, 9))
    >>> _in_words(one, None), _in_words(one, two), _in_words(two, one)
    ('dict with keys 0, 1', 'dict of 2 keys, without 2, 3, …', 'dict of 9 keys, with 2, 3, …')
    >>> _in_words(Node("list", 3), one), _in_words(Node("None", 0), one), _in_words(Node("dict", 0), one)
    ('list of length 3', 'None', 'empty dict')
    """
    names, others = node.names, () if other is None or other.kind != node.kind else other.names
    if not node.count:
        return node.kind if node.kind == "None" else f"empty {node.kind}"
    if not names:
        return f"{node.kind} of length {node.count}"
    noun = units.count(node.count, "field" if names[0].isidentifier() else "key")
    if "…" in names:  # keys that are not written
        return f"{node.kind} of {noun}"
    if max(len(names), len(others)) <= _MOST_KEYS or not others:
        return f"{node.kind} with {noun.partition(' ')[2]} {listed(names, _MOST_KEYS)}"
    own, lacking = ([each for each in one if each not in two] for one, two in ((names, others), (others, names)))
    which = f"with {listed(own, 2)}" if own else f"without {listed(lacking, 2)}" if lacking else "in another order"
    return f"{node.kind} of {noun}, {which}"


def _pairs(here: str, there: str) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Pair the classes of two equally nested containers, with their numbers."""
    return zip(_CLASS_NAME.findall(here), _CLASS_NAME.findall(there), strict=True)


def _by_argument(call: Call) -> dict[str, set[str]]:
    paths: dict[str, set[str]] = {}
    for path in (*call.leaves, *(call.static_args if call.wrapped else ())):
        paths.setdefault(root(path), set()).add(path)
    return paths


def root(path: str) -> str:
    """Return the argument that a path is in.

    >>> root("params['w']"), root("state.step"), root("x")
    ('params', 'state', 'x')
    """
    found = re.match(r"[^.\[]*", path)
    return found[0] if found else path


def _listed(paths: Sequence[str], all_paths: Collection[str]) -> str:
    """Describe the leaves that only one of two arguments has."""
    if not paths:
        return NOT_THERE if all_paths else "nothing"
    if len(all_paths) == 1 and re.fullmatch(r"\w+", paths[0]):
        return "a single leaf"
    return listed(paths, 3)
