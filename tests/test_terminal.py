"""Nothing that came from outside moves a terminal's cursor: names, labels and loaded records may hold anything."""

from __future__ import annotations

import io
import os
from typing import Any

import pytest
from documents import fields_of, with_value
from processes import scaled

import jaxmagic
import jaxmagic.testing
from jaxmagic import terminal
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.records import storage
from jaxmagic.report.style import AT_A_GLANCE, Style
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text
from jaxmagic.subjects import magics
from jaxmagic.terminal import printable_lines, width, written_to

EVIL = "a\x1b[2Jb\r\x07\x9b31m\u202e\0"


def test_no_string_of_a_record_reaches_a_terminal_as_it_is(document: Any) -> None:
    tried = 0
    for place, value in fields_of(document):
        if not isinstance(value, str):
            continue
        try:
            record = storage._decode_document(with_value(document, place, EVIL))
        except jaxmagic.RecordError:  # it names one of few values
            continue
        tried += 1
        texts = [to_text(record), to_text(record, Style(form="line")), to_text(record, explain=True), repr(record)]
        for text in texts:
            assert printable_lines(text) == text, place
        assert "\x1b" not in to_html(record)
    assert tried > 5


def test_messages_of_our_errors_hold_no_control_characters() -> None:
    error = jaxmagic.RecordError(f"one\n{EVIL}")
    assert str(error) == "one\na�[2Jb���31m��"
    with pytest.raises(ValueError, match="expected one of the labels") as caught:
        jaxmagic.compare({EVIL: lambda: 1, "other": lambda: 1}, baseline="none", budget_s=0.01)
    assert "\x1b" not in str(caught.value)


def ascii_only() -> io.TextIOWrapper:
    """A terminal that knows no character beyond ASCII, and raises for any other."""
    return io.TextIOWrapper(io.BytesIO(), "ascii")


def test_a_terminal_that_knows_ascii_only_gets_ascii(document: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    record = storage._decode_document(document)
    monkeypatch.setattr("sys.stdout", ascii_only())
    whole, short = str(record), record._repr_mimebundle_()["text/plain"]
    for text, style in ((whole, Style()), (short, AT_A_GLANCE)):
        assert text.isascii()
        assert len(text.splitlines()) == len(to_text(record, style).splitlines())


def test_every_magic_shows_its_report_there(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", ascii_only())
    for cell in (
        "%jaxtime f(x)",
        "%jaxmem f(x)",
        "%jaxprof f(x)",
        "%jaxdoctor f(x)",
        "%jaxtimeit -r 4 f(x)",
        "%%jaxcompare -r 4\nµ: f(x)\n中: x * 2",
    ):
        session.run(cell)
        assert session.report.isascii()
        print(jaxmagic.last())
    assert "us" in session.report
    assert "\\u4e2d" in session.report  # a letter without a likeness
    message = session.run("%jaxtime --max-time 1ns f(x)", fails=AssertionError)
    assert str(message).isascii()
    assert str(jaxmagic.NotMeasured("5 µs …")) == "5 us ..."


@pytest.mark.parametrize("name", magics())
def test_the_help_of_every_magic_is_read_there(session: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for cell in (f"%{name}?", f"%{name} -h", *(["%jaxmagic"] if name != "jaxmagic" else [])):
        stream = ascii_only()
        monkeypatch.setattr("sys.stdout", stream)
        session.run(cell)
        stream.flush()
        printed = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
        assert f"%{'%' * (name == 'jaxcompare')}{name}" in printed, cell


def test_failures_of_assertions_are_read_there(
    session: Any, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", ascii_only())
    monkeypatch.setattr("sys.stderr", ascii_only())
    session.shell.user_ns.update(old=scaled(benchmark, 1e-3), new=scaled(benchmark, 3e-3))
    session.run("from jaxmagic.testing import *\ndef µ(x):\n    for i in range(300): x = x * i\n    return x")
    for cell, told in (
        ("with assert_no_compile(): f(x[:2])", "-> pad to a few fixed shapes"),
        ("assert_healthy(µ, x, budget_s=0.1)", "expected nothing to be found, got "),
        ("assert_no_regression(new, old, measure=False)", " us"),
    ):
        message = str(session.run(cell, fails=AssertionError))
        assert message.isascii()
        assert told in message
    with pytest.warns(UserWarning, match="Inconclusive") as warned:
        jaxmagic.testing.assert_no_regression(benchmark, benchmark, tolerance=0, measure=False)
    assert str(warned[0].message).isascii()


@pytest.mark.parametrize(
    "cell", ["jaxmagic.explore()", "jaxmagic.explore(jaxmagic.last())", "%jaxtimeit -w -r 4 f(x)"]
)
def test_a_live_view_is_told_whole_in_any_terminal(session: Any, cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session.run("import jaxmagic\n%jaxtime f(x)")
    monkeypatch.setattr("sys.stdout", ascii_only())
    view = session.run(cell)
    plain = session.report if view is None else view._repr_mimebundle_()["text/plain"]
    assert plain.isascii()
    if view is not None:
        assert " ".join(plain.split()) == repr(view)


def test_other_terminals_get_all_they_know() -> None:
    text = "5 µs → ±2 中"
    assert written_to(text, None) == written_to(text, io.StringIO()) == text
    assert written_to(text, io.TextIOWrapper(io.BytesIO(), "utf-8")) == text
    assert written_to(text, io.TextIOWrapper(io.BytesIO(), "latin-1")) == "5 µs -> ±2 \\u4e2d"


def test_every_replacement_is_ascii() -> None:
    assert "".join(terminal._PLAIN.values()).isascii()


class _Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "expected"), [("20", 40), ("60", 60), ("120", 120), ("500", 500), ("0", 80)])
def test_text_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str, expected: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width() == 80  # stdout is no terminal here
    monkeypatch.setattr("sys.stdout", _Screen())
    if columns == "0":
        monkeypatch.setattr("shutil.get_terminal_size", lambda fallback: os.terminal_size(fallback))
    assert width() == expected


@pytest.mark.parametrize(("columns", "widest"), [(60, 60), (300, 100)])
def test_a_sentence_stays_easy_to_read_in_a_wide_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int, widest: int
) -> None:
    monkeypatch.setattr(terminal, "width", lambda: columns)
    assert max(map(len, terminal.wrapped("word " * 100).splitlines())) == widest - 1


def test_a_stdout_that_is_closed_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stdout in (closed, None, object()):
        monkeypatch.setattr("sys.stdout", stdout)
        assert width() == 80
