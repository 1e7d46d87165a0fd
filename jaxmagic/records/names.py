"""Write lists of names, and shorten long texts, lists and names so that they can still be distinguished."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from keyword import iskeyword

#: The number of a line or of an operation, which often distinguishes long names; a line may be in brackets. Digits of
#: a decimal number in code are none.
_NUMBER = re.compile(r"(?:(?<!\W\d)(?<!\W\d\d)\.|[:#])\d+\)?$")

#: So many names are offered in a message, and so many letters of each.
_MOST_OFFERED, _MOST_LETTERS = 6, 30


def truncated(text: str, most: int) -> str:
    """Cut the end of a text that is longer than `most` characters.

    >>> truncated("a" * 30, 24)
    'aaaaaaaaaaaaaaaaaaaaaaa…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def truncated_sentence(text: str, most: int) -> str:
    """Cut the end of a sentence that is longer than `most` characters, after a word: numbers and units stay whole.

    >>> truncated_sentence("f grows from 4.21 ms to 5.2 ms; g does not", 34)
    'f grows from 4.21 ms to 5.2 ms …'
    >>> truncated_sentence("f grows from 4.21 ms to 5.2 ms; g does not", 30)
    'f grows from 4.21 ms to …'
    """
    if len(text) <= most:
        return text
    whole = re.match(rf".{{{most // 2},{most - 3}}}[^\s\d](?= )", text)
    return f"{whole[0].rstrip(',;:')} …" if whole else truncated(text, most)


def one_or_tuple(names: Sequence[str]) -> str:
    """Write names as options of ``jax.jit`` take them.

    >>> one_or_tuple(["n"]), one_or_tuple(["start", "size"])
    ('"n"', '("start", "size")')
    """
    written = ", ".join(f'"{each}"' for each in names)
    return written if len(names) == 1 else f"({written})"


def nearest_name(name: str, names: Collection[str]) -> str | None:
    """Return the one of `names` that was probably meant by another one.

    >>> nearest_name("wall", ["wall_ns", "host_ns"]), nearest_name("plot", ["wall_ns"])
    ('wall_ns', None)
    """
    parts = [each for each in names if each.startswith(name) or name.startswith(f"{each}_")]
    return next(iter([*get_close_matches(name, names, 1), *parts]), None)


def listed(names: Sequence[str], most: int) -> str:
    """List the first names, `most` of them.

    >>> listed(["dot", "sort"], 2), listed(["dot", "sort", "copy"], 2)
    ('dot, sort', 'dot, sort, …')
    """
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def offered(names: Iterable[str]) -> str:
    """List names to choose from in a message: the first ones, without the ends of long ones.

    >>> offered(["dot", "sort" * 9]), offered("abcdefgh")
    ('dot, sortsortsortsortsortsortsorts…', 'a, b, c, d, e, f, …')
    """
    return listed([truncated(each, _MOST_LETTERS) for each in names], _MOST_OFFERED)


def one_of(names: Sequence[str]) -> str:
    """Return which names a message expects: the only one, or one of several.

    >>> one_of(["parts"]), one_of(["distribution", "order"])
    ("'parts'", "one of 'distribution', 'order'")
    """
    return f"{'one of ' if len(names) > 1 else ''}{', '.join(map(repr, names))}"


def told_apart(names: Sequence[str], *details: Sequence[str]) -> list[str]:
    """Add the first detail to names that repeat, where it differs between them, then the next one.

    >>> told_apart(["dot", "dot", "sort"], ["a:1", "a:2", "a:3"])
    ['dot a:1', 'dot a:2', 'sort']
    >>> told_apart(["dot", "dot"], ["a:1", "a:1"], ["f32[2]", "f32[4]"])
    ['dot f32[2]', 'dot f32[4]']
    """
    told = list(names)
    for detail in details:
        both = list(zip(told, detail, strict=True))
        told = [
            f"{name} {own}".rstrip() if len({other for same, other in both if same == name}) > 1 else name
            for name, own in both
        ]
    return told


def in_sentence(label: str) -> str:
    """Return a label for use in a sentence: in quotes unless it is a name, as code and words would run into the text.

    >>> print(in_sentence("jit"), in_sentence("x @ x"), in_sentence("it is"))
    jit 'x @ x' 'it is'
    """
    return label if label.isidentifier() and not iskeyword(label) else repr(label)


def numbered(names: Sequence[str]) -> list[str]:
    """Number the names that repeat.

    >>> numbered(["dot", "dot", "sort"])
    ['dot #1', 'dot #2', 'sort']
    """
    return [
        f"{name} #{names[: at + 1].count(name)}" if names.count(name) > 1 else name for at, name in enumerate(names)
    ]


def shortened(names: Sequence[str], most: int) -> tuple[str, ...]:
    """Cut long names to `most` letters, so that each can still be distinguished from all others.

    The end is cut, except for the number of a line or an operation. If that would make two names alike, the middle is
    cut; if names differ only in the middle, there are two gaps. A name is longer than `most` only if neither helps.
    Short names are unchanged, and equal names stay equal.

    >>> shortened(["update_cross_section_jacobian", "update_cross_section_jax", "step", "a_loss_of_the_model"], 16)
    ('update_c…acobian', 'update_c…ion_jax', 'step', 'a_loss_of_the_m…')
    >>> shortened(["wrapped_tanh (train.py:61)", "return u.at[s, s].set(0.25)"], 24)
    ('wrapped_tanh (train…:61)', 'return u.at[s, s].set(0…')
    >>> shortened(["the_loss_of_the_first_layer_in_f32", "the_loss_of_the_other_layer_in_f32"], 16)
    ('the_…first_…_f32', 'the_…other_…_f32')
    """
    long = list(dict.fromkeys(name for name in names if len(name) > most))
    taken = set(names)
    cuts = {name: _cut(name, [other for other in long if other != name], taken, most) for name in long}
    uses = Counter(cuts.values())  # a name with … in it may be cut to the same text as another name
    return tuple(cuts[name] if uses[cuts.get(name, "")] == 1 else name for name in names)


def _cut(name: str, others: Sequence[str], taken: set[str], most: int) -> str:
    """Return the first cut of `name` that no other name could have been cut to."""
    places = [_common(name, other) for other in others]
    least_tails = _least_tails(name, others, places)
    return next(text for text in _ways(name, others, places, least_tails, most) if text not in taken or text == name)


def _ways(
    name: str, others: Sequence[str], places: Sequence[int], least_tails: Sequence[int], most: int
) -> Iterator[str]:
    """Yield the cuts of `name`, the best one first.

    They are: without the end, with a gap in the middle, with two gaps, with a gap anywhere, and longer ones.
    """
    number = _NUMBER.search(name)
    end = number[0] if number and len(number[0]) <= most // 2 else ""
    head = most - 1 - len(end)
    if len(end) >= least_tails[head]:
        yield f"{name[:head]}…{end}"

    def with_gap(letters: int, shortest: int) -> Iterator[str]:
        middle = (letters + 1) // 2
        for head in sorted(range(shortest, letters - shortest + 1), key=lambda head: abs(head - middle)):
            tail = letters - head
            if tail >= least_tails[head]:
                yield f"{name[:head]}…{name[len(name) - tail :]}"

    yield from with_gap(most - 1, most // 4)
    yield from _with_two_gaps(name, others, places, most - 2)
    yield from with_gap(most - 1, 0)
    least = min(head + tail for head, tail in enumerate(least_tails))
    for letters in range(max(most, least), len(name) - 1):
        yield from with_gap(letters, 0)
    yield name


def _least_tails(name: str, others: Sequence[str], places: Sequence[int]) -> list[int]:
    """Return, for each number of letters before a gap, how many must come after it so that no other name fits."""
    alike = [
        (place, _common(name[::-1], other[::-1]), len(other)) for place, other in zip(places, others, strict=True)
    ]
    return [
        max((min(end, size - head) + 1 for start, end, size in alike if start >= head), default=0)
        for head in range(len(name) + 1)
    ]


def _with_two_gaps(name: str, others: Sequence[str], places: Sequence[int], letters: int) -> Iterator[str]:
    """Yield cuts with two gaps, and between them a piece from where the name begins to differ from another one."""
    outer = letters // 3
    inner = letters - 2 * outer
    for place in dict.fromkeys(places):
        if 0 < outer < place and place + inner < len(name) - outer:
            first, piece, last = name[:outer], name[place : place + inner], name[len(name) - outer :]
            if not any(_fits(first, piece, last, other) for other in others):
                yield f"{first}…{piece}…{last}"


def _fits(first: str, piece: str, last: str, other: str) -> bool:
    """Return whether `other` could have been cut to these three."""
    return other.startswith(first) and other.endswith(last) and piece in other[len(first) : len(other) - len(last)]


def _common(one: str, other: str) -> int:
    """Count the letters that two names have in common from the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # a binary search, because comparing slices is faster than comparing letter by letter
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


#: What people call values whose class has a name that JAX does not publish.
_PUBLIC = {"ArrayImpl": "jax.Array", "PjitFunction": "a jitted function"}


def public_type(name: str) -> str:
    """Return what people call values of a class of JAX that has a private name; other names stay.

    >>> public_type("ArrayImpl"), public_type("int")
    ('jax.Array', 'int')
    """
    return _PUBLIC.get(name, "a traced value" if name.endswith("Tracer") else name)


def type_in_words(value: object) -> str:
    """Name the type of a value for a message."""
    return public_type(type(value).__name__)
