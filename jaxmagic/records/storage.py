"""Saves records as versioned JSON, and loads them.

A loaded record is data, never code: the file names a kind of record out of the table of subjects, and every field is
checked against the type that the record declares. The format is described in ``docs/records.md``.
"""

from __future__ import annotations

import json
import os
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from errno import EISDIR
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..errors import RecordError
from ..subjects import kind_named, kinds
from ..tracebacks import of_the_user
from .files import missing, path_of, read, replacing, short, target_of
from .names import public_type

#: Raised by one when a field changes its meaning, so that an old program refuses a new file.
VERSION = 2

_FORMAT = "jaxmagic"
_BEGINNING = re.compile(rb'\s*\{\s*"format"\s*:\s*"jaxmagic"')

#: Suffixes of other files, by what they are.
_OTHERS = dict.fromkeys((".png", ".svg", ".pdf", ".jpg", ".jpeg"), "a picture")
_OTHERS |= {".html": "a web page", ".htm": "a web page", ".csv": "a table"}
_ENVELOPE = {"format", "version", "kind", "record"}

_MOST_BYTES = 256 * 2**20

#: Amounts and durations are not negative, except for differences; counts begin at one.
_AMOUNTS = ("_ns", "_ps", "_bytes")
_DIFFERENCES = {"saved_ns", "change_bytes"}
_LEAST = {"count": 1, "devices": 1, "runs": 0, "peak_flops": 1, "peak_bytes": 1}


@of_the_user
def save(record: object, path: str | os.PathLike[str]) -> Path:
    """Write `record` to `path` as JSON; an existing file is replaced completely or not at all.

    A symbolic link is followed. A device, a pipe or a socket is refused.

    Args:
        record: a record of any kind: what a magic or a verb returns, an ``Executable``, a
            ``HeapProfile``, a ``HeapDifference``, or the whole
            ``History``. ``load()`` refuses a file above 256 MiB.
        path: where to. Its directory must exist.

    Returns:
        The path.

    Raises:
        TypeError: `record` is not a record, or `path` is not a path.
        ValueError: `path` has the suffix of a picture, a web page or a table.
        OSError: the file cannot be written.

    >>> import jaxmagic, tempfile, os
    >>> with jaxmagic.stopwatch() as t:
    ...     pass
    >>> path = jaxmagic.save(t.timing, os.path.join(tempfile.mkdtemp(), "timing.json"))
    >>> jaxmagic.load(path) == t.timing
    True
    """
    kind = type(record).__name__
    if kind not in kinds("saved") or kind_named(kind) is not type(record):
        raise TypeError(
            f"save(): expected a record or the history, got {public_type(kind)}. "
            "Pass a record, such as jaxmagic.last() or the timing of a stopwatch."
        )
    refuse_other_file(path_of("save()", path, "save(record, 'run.json')"))
    document = {"format": _FORMAT, "version": VERSION, "kind": kind, "record": encode(record)}
    target = target_of(path)
    with replacing(target, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)  # in ASCII: a path need not be valid Unicode
        file.write("\n")
    return target


def refuse_other_file(path: str | os.PathLike[str], name: str = "record") -> None:
    """Refuse a path with the suffix of a picture, a web page or a table, in which nobody expects JSON.

    Args:
        path: the path.
        name: what the user calls the record.

    Raises:
        ValueError: it has one.
    """
    file = Path(path)
    what = _OTHERS.get(file.suffix.lower())
    if what is None:
        return
    json_path = str(file.with_suffix(".json"))
    instead = {
        "a picture": f"{name}.figure().savefig({str(path)!r}) for a picture",
        "a web page": f"{name}.save({json_path!r}); a notebook that shows {name} can be exported as a web page",
        "a table": f"{name}.to_frame().to_csv({str(path)!r}) for a table",
    }[what]
    raise ValueError(f"{file.name}: expected a file for JSON, got the name of {what}. Write {instead}.")


@of_the_user
def load(path: str | os.PathLike[str]) -> Any:
    """Read a record that ``save()`` wrote.

    Raises:
        TypeError: `path` is not a path.
        RecordError: the file is not a record, is broken, or was written by a newer jaxmagic; the message names
            the field.
        OSError: the file cannot be read.

    >>> import jaxmagic, tempfile, os
    >>> with jaxmagic.stopwatch() as t:
    ...     pass
    >>> path = jaxmagic.save(t.timing, os.path.join(tempfile.mkdtemp(), "timing.json"))
    >>> jaxmagic.load(path).wall_ns == t.timing.wall_ns
    True
    """
    source = path_of("load()", path, "load('run.json')")
    opened = f"open it with jaxmagic.read_profile({str(source)!r})"
    if source.is_dir():
        raise IsADirectoryError(
            EISDIR, f"Expected a file, got a folder; if it has recordings of JAX's profiler, {opened}", str(source)
        )
    try:
        document = json.loads(read(source, _MOST_BYTES))
    except FileNotFoundError:
        raise missing(source, "a file that jaxmagic.save() wrote", ".json") from None
    except (ValueError, RecursionError) as error:
        advice = "Load a file that jaxmagic.save() wrote."
        if source.name.endswith((".xplane.pb", ".xplane.pb.gz")):
            advice = f"It is a recording of JAX's profiler: {opened}."
        raise RecordError(f"{source}: not a record of jaxmagic, because it is not JSON ({error}). {advice}") from None
    try:
        return _decode_document(document)
    except RecordError as error:
        raise RecordError(f"{source}: {error}") from None
    except RecursionError:
        raise RecordError(f"{source}: not a record of jaxmagic, because it is nested too deeply") from None


def is_saved(data: bytes) -> bool:
    """Return whether the content of a file begins as that of a saved record."""
    return _BEGINNING.match(data) is not None


def encode(value: Any) -> Any:
    """A record as dictionaries and lists, without what is not saved: the value of the user's that it may hold."""
    if hasattr(type(value), "of_records"):
        return {"records": [{"kind": type(each).__name__, "record": encode(each)} for each in value]}
    if is_dataclass(value):
        kind: Any = type(value)
        return {name: encode(getattr(value, name)) for name in _saved(kind)}
    if isinstance(value, tuple):
        return [encode(each) for each in value]
    if isinstance(value, dict):
        return {key: encode(each) for key, each in value.items()}
    return value


@cache
def _saved(kind: type) -> Mapping[str, Field[Any]]:
    """Return the fields of a record that are saved, by name."""
    return {each.name: each for each in fields(kind) if each.metadata.get("saved", True)}


_hints = cache(get_type_hints)  # which evaluates text each time


def _decode_document(document: object) -> Any:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise RecordError(
            'not a record of jaxmagic: there is no field "format" that says "jaxmagic". '
            "Load a file that jaxmagic.save() wrote."
        )
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise _wrong("version", "an integer of at least 1", version)
    if version > VERSION:
        raise RecordError(
            f'field "version": expected at most {VERSION}, which this jaxmagic reads, got {version}. '
            "Update jaxmagic to read the file."
        )
    for name in document:
        if name not in _ENVELOPE:
            raise _unknown(name, "a file of jaxmagic")
    return _decode_kind(document, kinds("saved"), "")


def _decode_kind(document: Mapping[str, object], known: Sequence[str], where: str) -> Any:
    """The record of a document, or of an entry of a history, as the kind that it names."""
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in known:
        raise RecordError(f'field "{where}kind": expected one of {", ".join(known)}, got {short(kind)}')
    found = kind_named(kind)
    if hasattr(found, "of_records"):
        return found.of_records(_decode_records(document.get("record")))
    return _decode(document.get("record"), found, f"{where}record")


def _decode_records(value: object) -> Iterator[Any]:
    """The records of a history."""
    entries = value.get("records") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        raise _wrong("record.records", "a list", entries)
    for index, entry in enumerate(entries):
        where = f"record.records[{index}]"
        if not isinstance(entry, Mapping):
            raise _wrong(where, "an object", entry)
        yield _decode_kind(entry, kinds("kept"), f"{where}.")


def _decode(value: object, wanted: Any, where: str) -> Any:
    """`value`, as JSON gave it, as the type that a record declares; `where` is its place in the file."""
    origin = get_origin(wanted)
    if origin in (Union, types.UnionType):
        options = get_args(wanted)
        if value is None and type(None) in options:
            return None
        found = [option for option in options if option is not type(None)]
        only = found[0] if len(found) == 1 else type(value)
        if only not in found:
            raise _wrong(where, " or ".join(_IN_WORDS[option] for option in found), value)
        return _decode(value, only, where)
    if origin is Literal:
        if value not in get_args(wanted):
            raise _wrong(where, "one of " + ", ".join(map(repr, get_args(wanted))), value)
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        item, *others = get_args(wanted)
        if others != [...]:
            return _decode_fixed(value, (item, *others), where)
        return tuple(_decode(each, item, f"{where}[{index}]") for index, each in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise _wrong(where, "an object", value)
        return {key: _decode(each, get_args(wanted)[1], f"{where}[{short(key)}]") for key, each in value.items()}
    if is_dataclass(wanted):
        earlier = getattr(wanted, "of_text", None)  # was a sentence in earlier files
        if earlier is not None and isinstance(value, str):
            return earlier(value)
        return _decode_record(value, wanted, where)
    if wanted is float and isinstance(value, int | float) and type(value) is not bool and abs(value) < 1e300:
        return float(value)
    if type(value) is not wanted or wanted is float:  # a bool is not an integer here
        raise _wrong(where, _IN_WORDS[wanted], value)
    if isinstance(value, int) and not -(2**60) <= value < 2**60:  # their sums have to fit into 64 bits
        raise _wrong(where, "an integer of at most 60 bits", value)
    return value


def _decode_fixed(value: list[object], wanted: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if len(value) != len(wanted):
        raise _wrong(where, f"a list of {len(wanted)}", value)
    return tuple(
        _decode(each, kind, f"{where}[{index}]") for index, (each, kind) in enumerate(zip(value, wanted, strict=True))
    )


_IN_WORDS = {int: "an integer", float: "a finite number", str: "a string", bool: "true or false"}


def _decode_record(value: object, wanted: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong(where, "an object", value)
    hints, known = _hints(wanted), _saved(wanted)
    for name in value:
        if name not in known:
            raise _unknown(f"{where}.{name}", f"a {wanted.__name__}")
    arguments = {}
    for name, each in known.items():
        if name in value:
            arguments[name] = _decode(value[name], hints[name], f"{where}.{name}")
            _check(name, arguments[name], f"{where}.{name}")
        elif each.default is each.default_factory is MISSING:
            raise RecordError(f'field "{where}.{name}": missing')
    try:
        return wanted(**arguments)
    except ValueError as error:
        raise RecordError(f'field "{where}": {error}') from None


def _check(name: str, value: Any, where: str) -> None:
    """Refuse what the name does not allow: a time that is none, or a number, or one in a list, below the least."""
    if name == "started_at" and value is not None:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise _wrong(where, "a time as in ISO 8601", value) from None
    least = _LEAST.get(name, 0 if name.endswith(_AMOUNTS) and name not in _DIFFERENCES else None)
    if least is None:
        return
    for number in value if isinstance(value, tuple) else (value,):
        if isinstance(number, int | float) and number < least:
            raise _wrong(where, f"at least {least}", number)


def _unknown(where: str, kind: str) -> RecordError:
    return RecordError(f'field "{short(where)[1:-1]}": there is no such field in {kind}')


def _wrong(where: str, expected: str, found: object) -> RecordError:
    return RecordError(f'field "{where}": expected {expected}, got {short(found)}')
