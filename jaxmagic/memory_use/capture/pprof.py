"""Reads the heap profile of a backend, which JAX writes as a gzipped pprof profile, into a record.

The field numbers are those of ``profile.proto`` in https://github.com/google/pprof. The data may come from a file, so
nothing in it is trusted: neither its size nor its counts and references.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from io import BytesIO
from typing import Any

from ...records.call_stack import Frame, Stack
from ...records.note import Note, note
from ...runtime.private_api import backends_started
from ...xla.hlo_proto import classes_of
from ..record.heap import HeapProfile, HeapSample

_PPROF = """
Profile: types 1 *ValueType, samples 2 *Sample, locations 4 *Location, functions 5 *Function, texts 6 *bytes,
    time_ns 9 int64
ValueType: name 1 int64, unit 2 int64
Sample: locations 1 *int64, values 2 *int64, labels 3 *Label
Label: key 1 int64, text 2 int64
Location: id 1 int64, lines 4 *Line
Line: function 1 int64, line 2 int64
Function: id 1 int64, name 2 int64, file 4 int64
"""

#: Largest profile, decompressed. Real ones have kilobytes. Parsed, a profile can take thirty times as much.
_MOST_BYTES = 64 * 2**20

#: Most samples of a profile. Real ones have hundreds: one for each stack, size and device.
_MOST_SAMPLES = 2**20

#: Most calls of all stacks together. A few bytes can refer to the same long stack many times.
_MOST_FRAMES = 2**24

#: Larger numbers are no amounts of memory, and cannot be saved.
_LIMIT = 2**60

_COUNT, _SIZE = ("allocations", "count"), ("space", "bytes")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def heap_data(backend: str | None = None) -> tuple[bytes, tuple[Note, ...]]:
    """Take the heap profile of a backend, as the bytes that ``pprof`` reads, with notes on it.

    This starts no backend: before one has started, the profile is empty.

    Args:
        backend: the name of a platform, such as ``"cpu"``; JAX's default backend if left out.
    """
    if backends_started() is False:
        return _empty(), (note("memory_use.no_backend"),)
    import jax

    return jax.profiler.device_memory_profile(backend), ()


def read_heap(data: bytes, started_at: str | None = None) -> HeapProfile:
    """Read a heap profile into a record.

    Args:
        data: the result of :func:`jax.profiler.device_memory_profile`, or its decompressed content.
        started_at: when it was taken, because JAX does not write that.

    Raises:
        ValueError: the data is not a heap profile, or a broken or huge one.
    """
    profile = _parse(_unpack(data))
    texts = [text.decode("utf-8", "replace") for text in profile.texts]
    count, size = _columns(profile, texts)
    if len(profile.samples) > _MOST_SAMPLES:
        raise _huge(f"{_MOST_SAMPLES} samples")
    stacks = _Stacks(profile, texts)
    if started_at is None and profile.time_ns:
        started_at = (_EPOCH + timedelta(microseconds=profile.time_ns // 1000)).isoformat(timespec="milliseconds")
    samples = []
    for each in profile.samples:
        if len(each.values) != len(profile.types):
            raise _broken(f"a sample with {len(each.values)} values for {len(profile.types)} columns")
        labels = {_text(texts, label.key): _text(texts, label.text) for label in each.labels}
        samples.append(
            HeapSample(
                size_bytes=_amount("space", each.values[size]),
                count=_amount("allocations", each.values[count]),
                kind=labels.get("kind") or "unknown",
                device=labels.get("device") or None,
                stack=stacks.read(each.locations),
            )
        )
    return HeapProfile(samples=tuple(samples), started_at=started_at)


@cache
def _messages() -> dict[str, Any]:
    return classes_of("jaxmagic.pprof", _PPROF)


def _empty() -> bytes:
    """Make an empty profile, as JAX would write it."""
    names = ["", *_COUNT, *_SIZE]
    profile = _messages()["Profile"](texts=[name.encode() for name in names])
    for name, unit in (_COUNT, _SIZE):
        profile.types.add(name=names.index(name), unit=names.index(unit))
    return gzip.compress(profile.SerializeToString())


def _unpack(data: bytes) -> bytes:
    if data[:2] == b"\x1f\x8b":
        try:
            # Decompress no more than is allowed, whatever the full size of the data is.
            data = gzip.GzipFile(fileobj=BytesIO(data)).read(_MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise _broken(f"broken gzip data ({error})") from None
    if len(data) > _MOST_BYTES:
        raise _huge(f"{_MOST_BYTES} bytes")
    return data


def _parse(data: bytes) -> Any:
    from google.protobuf.message import DecodeError

    profile = _messages()["Profile"]()
    try:
        profile.ParseFromString(data)
    except DecodeError:
        raise _broken(f"{len(data)} other bytes") from None
    return profile


def _columns(profile: Any, texts: Sequence[str]) -> tuple[int, int]:
    """Return the indices of the count and the size among the values of a sample."""
    columns = [(_text(texts, each.name), _text(texts, each.unit)) for each in profile.types]
    if _COUNT not in columns or _SIZE not in columns:
        words = ", ".join(f"{name!r} in {unit!r}" for name, unit in columns)
        raise _broken(f"a profile of {_short(words) or 'nothing'}")
    return columns.index(_COUNT), columns.index(_SIZE)


class _Stacks:
    """The stacks of a profile. Equal stacks are one object, because many samples share them."""

    def __init__(self, profile: Any, texts: Sequence[str]) -> None:
        self._texts = texts
        self._functions = {each.id: each for each in profile.functions}
        self._locations = {each.id: each for each in profile.locations}
        self._frames: dict[int, Stack] = {}
        self._known: dict[tuple[int, ...], Stack] = {}
        self._left = _MOST_FRAMES

    def read(self, locations: Sequence[int]) -> Stack:
        """Return the calls at `locations`, which pprof writes from the innermost to the outermost."""
        self._take(len(locations))
        key = tuple(locations)
        if key not in self._known:
            frames: list[Frame] = []
            for each in key:
                calls = self._at(each)
                self._take(len(calls))
                frames += calls
            self._known[key] = tuple(reversed(frames))
        return self._known[key]

    def _take(self, frames: int) -> None:
        self._left -= frames
        if self._left < 0:
            raise _huge(f"{_MOST_FRAMES} calls in its stacks")

    def _at(self, location: int) -> Stack:
        """Return the calls at a location: several if functions were inlined, innermost first."""
        if location not in self._frames:
            if location not in self._locations:
                raise _broken(f"a stack with the location {location}, which is missing")
            self._frames[location] = tuple(self._frame(line) for line in self._locations[location].lines)
        return self._frames[location]

    def _frame(self, line: Any) -> Frame:
        function = self._functions.get(line.function)
        if function is None:
            raise _broken(f"a location in the function {line.function}, which is missing")
        return Frame(
            function=_text(self._texts, function.name),
            file=_text(self._texts, function.file),
            line=_amount("a line", line.line),
        )


def _text(texts: Sequence[str], index: int) -> str:
    if not 0 <= index < len(texts):
        raise _broken(f"a name with the number {index}, where there are {len(texts)}")
    return texts[index]


def _amount(name: str, value: int) -> int:
    if not 0 <= value < _LIMIT:
        raise _broken(f"{name} of {value}")
    return value


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _broken(problem: str) -> ValueError:
    return ValueError(
        f"heap profile: expected a complete pprof profile of memory, got {problem}. "
        "Pass the result of jax.profiler.device_memory_profile()"
    )


def _huge(limit: str) -> ValueError:
    return ValueError(
        f"heap profile: expected at most {limit}, got more. "
        "Open it with the pprof tool, or take a profile while fewer arrays are alive"
    )
