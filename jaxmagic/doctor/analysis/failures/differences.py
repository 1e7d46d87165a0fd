"""Reads where carries, branches and pytrees differ from the messages of JAX's exceptions."""

from __future__ import annotations

import ast
import re
from contextlib import suppress

from ...record.failing_code import Difference
from .messages import LONGEST, short_type

#: What precedes the keys that one of two pytrees lacks.
ONLY_ONE = ", and only one of the two has "

#: Keys that only one of two dictionaries has.
_KEYS = r"(?:, with the symmetric difference of key sets:? \{(.+?)\})?"

#: A class in a message, without its module.
_CLASS = r"<class '(?:[\w<>]+\.)*(\w+)'>"


def differences(text: str) -> tuple[Difference, ...]:
    """Return the leaves at which carries, branches or pytrees differ.

    >>> said = "The input carry component c[1] has type float32[2] but the corresponding output carry component has"
    >>> differences(f"{said} type int32[2], so the dtypes do not match.")
    (Difference(path='c[1]', expected='f32[2]', got='i32[2]', aspect='dtypes'),)
    """
    text = text[:LONGEST]
    pairs = re.findall(
        r"he input carry (?:component )?(\S.*?) has type (\S+) but the corresponding output carry component has type "
        r"(\S+), so the (.+?) do not match",
        text,
    )
    pairs += re.findall(
        r"he output of [^\n]+?(?: at path (\S.*?))? has type (\S+) but the corresponding output of [^\n]+? has type "
        r"(\S+), so the (.+?) do not match",
        text,
    )
    found = [
        Difference(path=path, expected=short_type(first), got=short_type(other), aspect=_aspect(first, other, aspect))
        for path, first, other, aspect in pairs
    ]
    return tuple(found) or _structures(text)


def _aspect(first: str, other: str, said: str) -> str:
    """Return in what two types differ: JAX names the shapes in a clause of their own if the dtypes differ as well.

    >>> _aspect("float32[5,3]", "int32[]", "dtypes")
    'shapes and dtypes'
    """
    pairs = list(zip(*(re.sub(r"\{.*\}$", "", each).split("[") for each in (first, other)), strict=False))
    both = said in ("dtypes", "shapes") and len(pairs) == 2 and all(one != two for one, two in pairs)
    return "shapes and dtypes" if both else said


def _structures(text: str) -> tuple[Difference, ...]:
    """Return the nodes of two pytrees that differ in type or in length."""
    pairs = re.findall(
        r"he input carry (?:component )?(\S.*?) is an? (.+?) but the corresponding component of the carry output "
        rf"is an? (.+?), so (?:their|the) (.+?) (?:differ|do not match){_KEYS}",
        text,
    )
    pairs += re.findall(
        r"(?m)^(?:  \* )?\S[^\n]* output(?: at path (\S.*?))? is an? (.+?) but \S[^\n]* output(?: at path \S.*?)? "
        rf"is an? (.+?), so (?:their|the) (.+?) (?:differ|do not match){_KEYS}",
        text,
    )
    found = [
        Difference(
            path=path,
            expected=_plain(first),
            got=f"{_plain(other)}{ONLY_ONE}{keys}" if keys else _plain(other),
            aspect="structure",
        )
        for path, first, other, _, keys in pairs
    ]
    return tuple(found) or _metadata(text) or _trees(text)


def _metadata(text: str) -> tuple[Difference, ...]:
    """Return the nodes of two pytrees that hold other values beside their leaves: in dictionaries these are the keys.

    >>> said = "The input carry s is a <class 'm.S'> with pytree metadata ({}) but the corresponding component of "
    >>> said += "the carry output is a <class 'm.S'> with pytree metadata ({}), so the pytree node metadata does not "
    >>> said += "match"
    >>> _metadata(said.format(1, 2))
    (Difference(path='s', expected='S', got='S with other metadata', aspect='metadata'),)
    """
    node, differ = rf"is an? {_CLASS} with pytree metadata (.+?)", "so the pytree node metadata does not match"
    pairs = re.findall(
        rf"he input carry (?:component )?(\S.*?) {node} but the corresponding component of the carry output {node}, "
        rf"{differ}",
        text,
    )
    pairs += re.findall(
        rf"(?m)^(?:  \* )?\S[^\n]* output(?: at path (\S.*?))? {node} but \S[^\n]* output(?: at path \S.*?)? {node}, "
        rf"{differ}",
        text,
    )
    found = []
    for path, kind, first, _, other in pairs:
        keys = _renamed(first, other) if kind.lower().endswith("dict") else None
        expected, got, aspect = (*keys, "structure") if keys else ("", " with other metadata", "metadata")
        found.append(Difference(path=path, expected=f"{kind}{expected}", got=f"{kind}{got}", aspect=aspect))
    return tuple(found)


def _renamed(first: str, other: str) -> tuple[str, str] | None:
    """Return in which keys two dictionaries of one length differ; ``None`` if their metadata are no keys.

    >>> _renamed("('a', 'b')", "('a', 'c')"), _renamed("('a', 'b')", "('b', 'a')"), _renamed("(f, ('a',))", "()")
    ((" with the key 'b'", " with 'c' in its place"), ('', ' with its keys in another order'), None)
    """
    try:
        before, after = map(ast.literal_eval, (first, other))
        lost, new = (
            [repr(each) for each in one if each not in two] for one, two in ((before, after), (after, before))
        )
    except (ValueError, SyntaxError, TypeError):
        return None
    if not lost or not new:
        return "", " with its keys in another order"
    keys, place = ("key", "its") if len(lost) == 1 else ("keys", "their")
    return f" with the {keys} {_some(lost)}", f" with {_some(new)} in {place} place"


def _some(keys: list[str]) -> str:
    return f"{', '.join(keys[:3])} and {len(keys) - 3} more" if len(keys) > 4 else ", ".join(keys)


def _trees(text: str) -> tuple[Difference, ...]:
    """Return the node at which two pytrees differ, in one of JAX's wordings."""
    at = re.search(r"pytree structure error: .+ at key path\s+(.+)\n", text)
    pairs = (
        (r"subtree of type (\w+ of length \d+), but .+? of the same type but (of length \d+)", "{0}", "one {1}"),
        (r"child keys?\s+(.+)\nbut [^\n]+ child keys?\s+(.+)\n", "the keys", "the keys"),
        (r"Dict'>\s+with metadata\s+(.+)\nbut [^\n]+ metadata\s+(.+)\n", "the keys", "the keys"),
        (r"dict'>\s+with metadata\s+(.+)\nbut [^\n]+ metadata\s+(.+)\n", "the keys", "the keys"),
        (r"metadata\s+(.+)\nbut [^\n]+ metadata\s+(.+)\n", "the metadata {0}", "{1}"),
        (r"subtree of type\s+(<class '.+?'>)\s+but [^\n]+ different type\s+(<class '.+?'>)", "{0}", "{1}"),
        (r"expected keys: (.+?); present keys: (.+?)\.?$", "the keys", "the keys"),
        (r"input tree structure is:\s+PyTreeDef\(\*\)\s+the output[\w ]+:\s+PyTreeDef\(None\)", "leaf", "NoneType"),
        (r"output tree structure is:\s+PyTreeDef\(None\)", "pytree", "NoneType"),
        (r"^Expected ((?:named )?\w+), got \(", "{0}", "tuple"),
        (r"^Expected ((?:named )?\w+), got \[", "{0}", "list"),
        (r"^Expected ((?:named )?\w+), got \{", "{0}", "dict"),
        (r"^Expected ((?:named )?\w+), got (.+?)\.?$", "{0}", "{1}"),
    )
    for pattern, first, other in pairs:
        match = re.search(pattern, text, re.M)
        if match is not None:
            path = "" if at is None else re.sub(r"^tree_map\w* tree", "", at[1].strip().removesuffix(":"))
            expected, got = (
                _keys_of_both(*match.groups())
                if first == "the keys"
                else (text.format(*map(_plain, match.groups())) for text in (first, other))
            )
            return (Difference(path=path, expected=expected, got=got, aspect="structure"),)
    prefix = re.match(r"(vmap \w+_axes) specification must be a tree prefix", text)
    if prefix is not None:
        return (Difference(path=prefix[1], expected="", got="", aspect="structure"),)
    arity = re.search(r"^(\w+) arity mismatch: (\d+) != (\d+);", text, re.M)
    if arity is None:
        return ()
    expected, got = f"{arity[1].lower()} of length {arity[3]}", f"one of length {arity[2]}"
    return (Difference(path="", expected=expected, got=got, aspect="structure"),)


def _keys_of_both(first: str, other: str) -> tuple[str, str]:
    """Say which keys two dictionaries have.

    >>> _keys_of_both("['b'] ['w']", "['w']"), _keys_of_both("1", "1 2"), _keys_of_both("['b', 'w']", "['b', 'c']")
    (('the keys b and w', 'only w'), ('the key 1', 'the keys 1 and 2'), ('the keys b and w', 'the keys b and c'))
    """
    expected, got = map(_keys, (first, other))
    if got and {*got} < {*expected}:
        return _list(expected), f"only {_joined(got)}"
    return _list(expected), _list(got)


def _list(keys: list[str]) -> str:
    return f"the key{'' if len(keys) == 1 else 's'} {_joined(keys)}" if keys else "no keys"


def _joined(keys: list[str]) -> str:
    *first, last = keys[:6] if len(keys) <= 6 else [*keys[:5], f"{len(keys) - 5} more"]
    return f"{', '.join(first)} and {last}" if first else last


def _keys(text: str) -> list[str]:
    """Return the keys in one of JAX's wordings.

    >>> _keys("['b'] ['w']"), _keys("b w"), _keys("1 2"), _keys("['b', 'w']"), _keys("('a', 'b c')"), _keys("")
    (['b', 'w'], ['b', 'w'], ['1', '2'], ['b', 'w'], ['a', 'b c'], [])
    """
    with suppress(SyntaxError, ValueError):
        found = ast.literal_eval(re.sub(r"\]\s+\[", ", ", text.strip()))
        return [str(each) for each in (found if isinstance(found, list | tuple) else [found])]
    return [each.strip("[',]()") for each in text.split()]


def _plain(text: str) -> str:
    """Write ``<class 'tuple'> of length 2`` without Python's punctuation."""
    plain = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", text)
    return re.sub(r"\b(ShapedArray|ArrayImpl|float|int|complex)\b(?=$)", "leaf", plain)
