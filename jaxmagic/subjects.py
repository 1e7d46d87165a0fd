"""List the subjects, and find a subject's report, tables, charts or live view for a record.

A subject is a folder and one entry here. The entry holds only names, so that nothing is imported for it. Each file of
the subject has a table by kind of record, such as ``REPORTS`` in ``timing/report.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

_HOUSE = __name__.rpartition(".")[0]


class Magic(NamedTuple):
    """One magic of a subject, implemented by the function of the same name in the module ``magic``.

    Attributes:
        name: the name without percent signs.
        kinds: whether it is a line magic, a cell magic, or both.
        block: whether it is rewritten to a block in the cell, which IPython then runs.
        several: whether that block runs its code several times.
        example: how it is written, for ``%jaxmagic``.
    """

    name: str
    kinds: tuple[Literal["line", "cell"], ...] = ("line", "cell")
    block: bool = False
    several: bool = False
    example: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One subject.

    Attributes:
        package: its package.
        records: the kinds of its records that are shown, with the module of each.
        saved: the kinds that a file may hold.
        kept: the kinds that a session keeps.
        magics: its magics.
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

#: All magics by name.
_MAGICS: dict[str, MagicEntry] = {}


def add(subject: Subject) -> None:
    """Add a subject. A kind of record replaces an earlier one with the same name."""
    _OWNERS.update(dict.fromkeys(subject.records, subject))
    _MAGICS.update({each.name: MagicEntry(each, subject.package) for each in subject.magics})


def magics() -> Mapping[str, MagicEntry]:
    """Return all magics by name."""
    return _MAGICS


def of_record(kind: type, file: str, table: str) -> Any:
    """Return a subject's entry for a kind of record; ``None`` if it has none.

    Args:
        kind: the class of the record.
        file: the module of the subject, such as ``"report"``.
        table: the name of the table by kind in that module.
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
    """Import the function that converts any record to a medium; records may not import ``report`` themselves."""
    return getattr(import_module(f"{_HOUSE}.report.{name}"), name)


def kinds(which: Literal["saved", "kept"]) -> list[str]:
    """Return the names of the kinds of records that a file may hold or a session keeps."""
    return [kind for kind, subject in _OWNERS.items() if kind in getattr(subject, which)]


def kind_named(name: str) -> type:
    """Import the class of a kind of record.

    Raises:
        KeyError: there is no kind of that name.
    """
    found: type = getattr(import_module(_OWNERS[name].records[name]), name)
    return found


def _ours(name: str, *magics: Magic, saved: str = "", kept: str = "", **records: str) -> None:
    """Add a subject of this package; the modules of its records are relative to it."""
    package = f"{_HOUSE}.{name}"
    homes = {
        kind: f"{package}.{file}" if file[0] != "/" else f"{_HOUSE}.{file[1:]}" for kind, file in records.items()
    }
    add(Subject(package=package, records=homes, saved=tuple(saved.split()), kept=tuple(kept.split()), magics=magics))


_ours("compilation", Compilation="record.compilation", Cause="record.compilation")
_ours("timing", Magic("jaxtime", block=True, example="%jaxtime f(x)"), saved="Timing", kept="Timing", Timing="record")
_ours(
    "memory_use",
    Magic("jaxmem", block=True, example="%jaxmem f(x)"),
    saved="MemoryProfile Executable LiveArrays HeapDifference HeapProfile",
    kept="MemoryProfile LiveArrays",
    MemoryProfile="record.memory_profile",
    Executable="record.memory_profile",
    LiveArrays="record.live_arrays",
    HeapDifference="record.heap",
    HeapProfile="record.heap",
)
_ours(
    "profiling",
    Magic("jaxprof", block=True, several=True, example="%jaxprof -n 3 f(x)"),
    saved="Profile",
    kept="Profile",
    Profile="record.profile",
)
_ours(
    "benchmarking",
    Magic("jaxtimeit", example="%jaxtimeit f(x)"),
    saved="Benchmark",
    kept="Benchmark",
    Benchmark="record.benchmark",
    Versus="record.versus",
)
_ours(
    "comparison",
    Magic("jaxcompare", example="%%jaxcompare, and below it lines such as  jit: f(x)"),
    saved="Comparison Sweep",
    kept="Comparison Sweep",
    Comparison="record.comparison",
    Sweep="record.sweep",
)
_ours(
    "doctor",
    Magic("jaxdoctor", block=True, several=True, example="%jaxdoctor f(x)"),
    saved="Diagnosis",
    kept="Diagnosis",
    Diagnosis="record.diagnosis",
    RuleFinding="record.finding",
)
_ours(
    "overview",
    Magic("jaxmagic", kinds=("line",), example="%jaxmagic"),
    saved="History",
    History="/session.history",
)
