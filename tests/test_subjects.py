"""A subject is a folder and an entry: a toy subject that is added from outside is found everywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jaxmagic
from jaxmagic import subjects
from jaxmagic.report.mimebundle import mimebundle

#: A subject that tells how many letters some code has, in the files that a subject of ours has.
TOY = {
    "__init__": "",
    "record": '''
from dataclasses import dataclass
from jaxmagic.session.record import Record

@dataclass(frozen=True, slots=True, kw_only=True)
class Letters(Record):
    """How many letters some code has."""

    code: str
    count: int
''',
    "report": """
from jaxmagic.report.blocks import Headline, Picture
from jaxmagic.report.compose import Brief
from .charts import bar
from .record import Letters

def report(record, style, explain):
    yield Headline(text=f"{record.count} letters: {record.code}")
    yield Picture(chart=lambda: bar(record))

REPORTS = {Letters: report}
BRIEFS = {Letters: lambda record: Brief(record.code, None, f"{record.count} letters")}
""",
    "charts": """
from jaxmagic.charts.chart_of import Pictured
from jaxmagic.charts.scale import Scale
from jaxmagic.charts.spec import Bar, Bars
from .record import Letters

def bar(record):
    x = Scale(label="letters", quantity="number", low=0.0, high=float(record.count))
    return Bars(title="letters", x=x, bars=(Bar(name=record.code, parts=(("letters", float(record.count)),)),))

CHARTS = {Letters: {"bar": Pictured(bar)}}
""",
    "tables": """
from jaxmagic.report.table import Table
from .record import Letters

COLUMNS = {"code": "string", "count": "int64"}
TABLES = {Letters: {"letters": lambda record: Table(COLUMNS, [(record.code, record.count)])}}
""",
    "verbs": """
from jaxmagic.session.verbs import keep
from .record import Letters

def letters(code):
    return keep(Letters(code=code, count=len(code)))
""",
    "magic": '''
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display
from .verbs import letters

@magic_arguments("letters")
@argument("code")
def letters_of(magics, line, cell=None, local_ns=None):
    """Count letters."""
    display(letters(letters_of.parser.parse_argstring(line).code))
''',
}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The toy subject, for the time of a test."""
    package = tmp_path / "toy"
    package.mkdir()
    for name, code in TOY.items():
        (package / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    for table in ("_OWNERS", "_MAGICS"):
        monkeypatch.setattr(subjects, table, dict(getattr(subjects, table)))
    subjects.add(
        subjects.Subject(
            package="toy",
            records={"Letters": "toy.record"},
            saved=("Letters",),
            kept=("Letters",),
            magics=(subjects.Magic("letters_of", kinds=("line",)),),
        )
    )
    import toy.verbs

    yield toy.verbs
    for name in [each for each in sys.modules if each.partition(".")[0] == "toy"]:
        del sys.modules[name]


def test_a_toy_subject_takes_less_than_eighty_lines() -> None:
    assert sum(code.count("\n") for code in TOY.values()) < 80


def test_a_record_of_it_is_shown_in_all_media_and_saved(toy: Any, tmp_path: Path) -> None:
    record = toy.letters("x + y")
    assert str(record) == "5 letters: x + y"
    bundle = mimebundle(record)
    assert "5 letters" in bundle["text/html"]
    assert "data:image/svg+xml" in bundle["text/html"]
    assert record.to_frame().to_dict("records") == [{"code": "x + y", "count": 5}]
    assert record.figure("bar").axes[0].get_xlabel() == "letters"
    assert jaxmagic.load(record.save(tmp_path / "letters.json")) == record


def test_a_session_keeps_it_and_shows_it_live(toy: Any, tmp_path: Path) -> None:
    record = toy.letters("abc")
    assert jaxmagic.last() is record
    assert "3 letters  abc" in str(jaxmagic.history())
    assert type(jaxmagic.explore(record)).__name__ == "HistoryView"
    assert jaxmagic.load(jaxmagic.save(jaxmagic.history(), tmp_path / "all.json"))[-1] == record


def test_its_magic_is_there_and_is_imported_when_it_is_used(toy: Any, bare: Any) -> None:
    bare.run("%load_ext jaxmagic")
    assert "toy.magic" not in sys.modules
    bare.run("%letters_of abcd")
    assert bare.report == "4 letters: abcd"
    assert "toy.magic" in sys.modules
    bare.run("%unload_ext jaxmagic")
    assert "letters_of" not in bare.shell.magics_manager.magics["line"]
