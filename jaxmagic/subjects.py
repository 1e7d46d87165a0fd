"""Lists the subjects, and finds what a subject has for a record: its report, its tables, its pictures.

A subject is a folder and one entry here. The entry has names only, so that nothing is imported for it. What a noun of
the subject has for each kind of record stands in a table of that file, such as ``REPORTS`` in ``timing/report.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

_HOUSE = __name__.rpartition(".")[0]


class Magic(NamedTuple):
    """One magic of a subject: a function of its name in the file ``magic``.

    Attributes:
        name: without the percent signs.
        kinds: whether it is a magic for a line, for a cell, or for both.
        block: whether it becomes a block of the cell, which IPython then runs.
        several: whether that block runs its code several times.
    """

    name: str
    kinds: tuple[Literal["line", "cell"], ...] = ("line", "cell")
    block: bool = False
    several: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One subject.

    Attributes:
        package: where it lives.
        records: the kinds of its records that are shown, with the module of each.
        saved: which of them a file may hold.
        kept: which of them a session keeps.
        magics: that it has.
    """

    package: str
    records: Mapping[str, str]
    saved: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    magics: tuple[Magic, ...] = ()


class MagicEntry(NamedTuple):
    """A magic, and the package of its subject."""

    magic: Magic
    package: str


#: The subject of each kind of record.
_OWNERS: dict[str, Subject] = {}

#: All magics by their names.
_MAGICS: dict[str, MagicEntry] = {}


def add(subject: Subject) -> None:
    """Add a subject. A kind of record that has the name of an earlier one takes its place."""
    _OWNERS.update(dict.fromkeys(subject.records, subject))
    _MAGICS.update({each.name: MagicEntry(each, subject.package) for each in subject.magics})


def magics() -> Mapping[str, MagicEntry]:
    """Return all magics by their names."""
    return _MAGICS


def of_record(kind: type, file: str, table: str) -> Any:
    """Return what the subject of a kind of record has for it; ``None`` where it has nothing.

    Args:
        kind: the class of the record.
        file: of the subject, such as ``"report"``.
        table: in that file, by kind.
    """
    for each in kind.__mro__:
        subject = _OWNERS.get(each.__name__)
        if subject is not None and subject.records[each.__name__] == each.__module__:
            home = f"{subject.package}.{file}"
            return None if find_spec(home) is None else getattr(import_module(home), table, {}).get(each)
    return None


def words_of_note(kind: str) -> Callable[..., str] | None:
    """Return the function that words notes of a kind, such as ``"timing.standstill"``, if there is one."""
    subject, _, name = kind.partition(".")
    packages = (each.package for each in _OWNERS.values() if each.package.rpartition(".")[2] == subject)
    package = next(packages, None)
    return None if package is None else getattr(import_module(f"{package}.report"), "NOTES", {}).get(name)


def medium(name: str) -> Any:
    """Import what turns any record into a medium. Records stand below the media, and have no other way to ask."""
    return getattr(import_module(f"{_HOUSE}.report.{name}"), name)


def kinds(which: Literal["saved", "kept"]) -> list[str]:
    """Return the names of the kinds that a file or a session may hold."""
    return [kind for kind, subject in _OWNERS.items() if kind in getattr(subject, which)]


def kind_named(name: str) -> type:
    """Import the class of a kind of record.

    Raises:
        KeyError: there is none of that name.
    """
    found: type = getattr(import_module(_OWNERS[name].records[name]), name)
    return found


def _ours(name: str, *magics: Magic, saved: str = "", kept: str = "", **records: str) -> None:
    """Add a subject of this package; the files of its records are relative to it."""
    package = f"{_HOUSE}.{name}"
    homes = {
        kind: f"{package}.{file}" if file[0] != "/" else f"{_HOUSE}.{file[1:]}" for kind, file in records.items()
    }
    add(Subject(package=package, records=homes, saved=tuple(saved.split()), kept=tuple(kept.split()), magics=magics))


_ours("compilation", Compilation="record.compilation", Cause="record.compilation")
_ours("timing", Magic("jaxtime", block=True), saved="Timing", kept="Timing", Timing="record")
_ours(
    "memory_use",
    Magic("jaxmem", block=True),
    saved="MemoryProfile Executable LiveArrays HeapDifference HeapProfile",
    kept="MemoryProfile",
    MemoryProfile="record.memory_profile",
    Executable="record.memory_profile",
    LiveArrays="record.live_arrays",
    HeapDifference="record.heap",
    HeapProfile="record.heap",
)
_ours(
    "profiling", Magic("jaxprof", block=True, several=True), saved="Profile", kept="Profile", Profile="record.profile"
)
_ours("benchmarking", Magic("jaxtimeit"), saved="Benchmark", kept="Benchmark", Benchmark="record.benchmark")
_ours(
    "comparison",
    Magic("jaxcompare", kinds=("cell",)),
    saved="Comparison Sweep",
    kept="Comparison Sweep",
    Comparison="record.comparison",
    Sweep="record.sweep",
)
_ours("overview", saved="History", History="/session.history")
