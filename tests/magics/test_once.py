"""With ``-o``, a report is shown once, however the record is used."""

from __future__ import annotations

import ast
from argparse import ArgumentParser
from typing import Any

import pytest

from jaxmagic.magics import once
from jaxmagic.magics.declare import declared
from jaxmagic.magics.once import DisplayOnce, OnceRewriter, is_displayed
from jaxmagic.report.displayable import Displayable

pytestmark = pytest.mark.clock

LINES = [
    "%jaxtime -o f(x)",
    "%jaxmem -o f(x)",
    "%jaxmem --before -o",
    "%jaxprof -o f(x)",
    "%jaxtimeit -o --budget 20ms f(x)",
]
CELLS = [
    "%%jaxtime -o\nf(x)",
    "%%jaxmem -o\nf(x)",
    "%%jaxprof -o\nf(x)",
    "%%jaxtimeit -o --budget 20ms\nf(x)",
    "%%jaxcompare -o --budget 20ms\none: f(x)\ntwo: x * 2",
    "%%jaxcompare -o --budget 20ms --sweep n=1,2\none: f(x) * n\ntwo: x * 2 * n",
]


def reports(session: Any, capsys: pytest.CaptureFixture[str], cell: str) -> tuple[int, str]:
    """Return the number of reports that a cell publishes, and the text after the display hook's prompt."""
    session.published.clear()
    capsys.readouterr()
    session.run(cell)
    _, prompt, displayed = capsys.readouterr().out.partition("]: ")
    return len(session.published), displayed.strip() if prompt else ""


@pytest.mark.parametrize("cell", [*LINES, *CELLS])
def test_a_record_that_the_cell_displays_has_been_shown_by_then(session: Any, capsys: Any, cell: str) -> None:
    published, displayed = reports(session, capsys, cell)
    record = session.shell.user_ns["_"]
    assert isinstance(record, Displayable)
    assert (published, displayed) == (1, f"<{type(record).__name__}, shown above>")
    assert session.shell.user_ns["Out"][session.shell.execution_count - 1] is record


@pytest.mark.parametrize("line", LINES)
def test_a_record_that_is_assigned_or_silenced_is_shown_once(session: Any, capsys: Any, line: str) -> None:
    assert reports(session, capsys, f"r = {line}") == (1, "")
    assert reports(session, capsys, f"{line}\n1;") == (1, "")
    if "--before" in line:  # which takes no code, and a semicolon is some
        return
    published, displayed = reports(session, capsys, f"{line};")
    assert published == 1
    assert displayed in (
        "",
        "<Benchmark, shown above>",
        "<LiveArrays, shown above>",
    )  # IPython: where it calls a magic


@pytest.mark.parametrize("line", ["%jaxtime -o f(x)", "%jaxtimeit -o --budget 20ms f(x)"])
def test_what_the_user_displays_is_shown_again(session: Any, capsys: Any, line: str) -> None:
    published, displayed = reports(session, capsys, f"r = {line}\nr")
    assert published == 1
    assert displayed.startswith(str(session.shell.user_ns["r"]).split()[0])
    assert reports(session, capsys, f"r = {line}\ndisplay(r)") == (2, "")
    assert reports(session, capsys, line)[0] == 1
    assert "shown above" not in reports(session, capsys, "_")[1]  # the same record, in a later cell


@pytest.mark.parametrize("line", ["%jaxtime -oq f(x)", "%jaxtimeit -oq --budget 20ms f(x)"])
def test_a_quiet_magic_has_shown_nothing_so_its_value_is(session: Any, capsys: Any, line: str) -> None:
    published, displayed = reports(session, capsys, line)
    assert published == 0
    assert displayed.startswith(str(session.shell.user_ns["_"]).split()[0])


@pytest.mark.parametrize("line", ["%jaxtime -o f(x)", "%jaxtimeit -o --budget 20ms f(x)"])
@pytest.mark.parametrize(
    ("interactivity", "cell", "published", "displayed"),
    [
        ("all", "{line}\n1", 1, 2),
        ("all", "r = {line}", 1, 0),
        ("last_expr_or_assign", "r = {line}", 1, 1),
        ("last", "{line}", 1, 1),
        ("none", "{line}", 1, 0),
    ],
)
def test_it_is_once_whatever_the_shell_displays(
    session: Any, capsys: Any, line: str, interactivity: str, cell: str, published: int, displayed: int
) -> None:
    session.shell.ast_node_interactivity = interactivity
    session.published.clear()
    capsys.readouterr()
    session.run(cell.format(line=line))
    out = capsys.readouterr().out
    assert len(session.published) == published
    assert out.count("]: ") == displayed
    assert out.count("shown above") == (1 if displayed else 0)


def test_the_report_is_in_the_users_style(session: Any) -> None:
    session.run("%config JaxMagics.form = 'line'")
    session.run("%jaxtime -o f(x)")
    session.run("%jaxtimeit -o --budget 20ms f(x)")
    for bundle in session.published:
        assert list(bundle) == ["text/plain"]
        assert "\n" not in bundle["text/plain"]


def test_in_a_notebook_nothing_is_displayed_at_all(session: Any) -> None:
    display, record = DisplayOnce(session.shell), ["a record"]
    object.__setattr__(session.shell, "kernel", object())
    once.shown_already(record)
    assert display._format_once(record) == ({}, {})
    assert display._format_once(record)[0] == {"text/plain": "['a record']"}  # the next time it is a value


def test_no_record_is_kept_behind_its_cell(session: Any) -> None:
    session.run("%%jaxtime -o\nf(x);")
    assert once._shown is None
    session.run("%jaxtimeit -o --budget 20ms f(x);")
    assert once._shown is None


def test_a_record_in_the_middle_of_a_cell_is_not_kept(session: Any) -> None:
    session.run(
        "r = %jaxtimeit -o --budget 20ms f(x)\nkept = __import__('jaxmagic.magics.once', fromlist=['x'])._shown"
    )
    assert session.shell.user_ns["kept"] is None


@pytest.mark.parametrize(
    "call",
    [
        "get_ipython().run_line_magic('jaxtimeit', 'f(x)')",  # no -o
        "get_ipython().run_line_magic('jaxtimeit', '-o -q f(x)')",
        "get_ipython().run_line_magic('jaxtimeit', '-o --bogus f(x)')",
        "get_ipython().run_line_magic('jaxtimeit', text)",
        "get_ipython().run_line_magic('timeit', '-o f(x)')",
        "if True:\n    get_ipython().run_line_magic('jaxtimeit', '-o f(x)')",
        "get_ipython().run_line_magic('jaxtimeit', '-o f(x)')\nr",
    ],
)
def test_any_other_statement_stays_as_it_is(call: str) -> None:
    rewriter = OnceRewriter({"jaxtimeit": declared("jaxtimeit").parser}, lambda: "last_expr")
    assert ast.unparse(rewriter.visit(ast.parse(call))) == call


def test_a_magic_that_returns_no_record_needs_no_such_options() -> None:
    call = "get_ipython().run_line_magic('look', 'x')"
    rewriter = OnceRewriter({"look": ArgumentParser()}, lambda: "last_expr")
    assert ast.unparse(rewriter.visit(ast.parse(call))) == call


@pytest.mark.parametrize("interactivity", ["all", "last", "last_expr", "last_expr_or_assign", "none"])
def test_the_rule_for_what_a_cell_displays_is_ipythons(bare: Any, capsys: Any, interactivity: str) -> None:
    bare.shell.ast_node_interactivity = interactivity
    for last in (False, True):
        for assigned in (False, True):
            statement = f"{'a = ' if assigned else ''}'shown'"
            bare.run(statement if last else f"{statement}\nNone")
            assert ("shown" in capsys.readouterr().out) is is_displayed(interactivity, last=last, assigned=assigned)


def test_a_hook_that_somebody_else_has_replaced_is_theirs(bare: Any) -> None:
    hook = bare.shell.displayhook
    before = hook.compute_format_data
    theirs = lambda result: ({"text/plain": "theirs"}, {})  # noqa: E731
    hook.compute_format_data = theirs
    bare.run("%load_ext jaxmagic")
    assert hook.compute_format_data is not theirs
    bare.run("%unload_ext jaxmagic")
    assert hook.compute_format_data is theirs
    bare.run("%load_ext jaxmagic")
    hook.compute_format_data = theirs
    bare.run("%unload_ext jaxmagic")
    assert hook.compute_format_data is theirs
    hook.compute_format_data = before
