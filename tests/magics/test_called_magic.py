"""The magic called as a function, where no cell is rewritten."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.error import UsageError

from jaxmagic.timing.record import Timing


def test_line_and_cell_magic_return_the_value(session: Any) -> None:
    shell = session.shell
    assert shell.run_line_magic("jaxtime", "f(x)").shape == (8, 8)
    assert shell.run_cell_magic("jaxtime", "-q", "direct = 3\ndirect + 1") == 4
    assert shell.user_ns["direct"] == 3
    assert len(session.published) == 1


def test_a_semicolon_silences(session: Any) -> None:
    assert session.shell.run_line_magic("jaxtime", "f(x);") is None


def test_locals_of_the_caller_are_read(session: Any) -> None:
    def inside() -> Any:
        local = 7  # noqa: F841
        return session.shell.run_line_magic("jaxtime", "-q local + 1")

    assert inside() == 8


def test_options_work(session: Any) -> None:
    assert isinstance(session.shell.run_line_magic("jaxtime", "-q -o f(x)"), Timing)
    session.shell.run_line_magic("jaxtime", "-q -v direct f(x)")
    assert session.shell.user_ns["direct"].code == "f(x)"
    with pytest.raises(AssertionError, match="expected at most"):
        session.shell.run_line_magic("jaxtime", "-q --max-time 1ns f(x)")


def test_errors_come_through(session: Any) -> None:
    before = set(session.shell.user_ns)
    with pytest.raises(ZeroDivisionError):
        session.shell.run_line_magic("jaxtime", "-q 1/0")
    with pytest.raises(SyntaxError):
        session.shell.run_line_magic("jaxtime", "f(")
    with pytest.raises(UsageError, match="nothing to run"):
        session.shell.run_line_magic("jaxtime", "")
    assert set(session.shell.user_ns) == before


def test_await_works_where_no_event_loop_runs(session: Any) -> None:
    session.run("import asyncio")
    assert session.shell.run_line_magic("jaxtime", "-q await asyncio.sleep(0, 5)") == 5


def test_await_inside_a_running_loop_is_a_clear_error(session: Any) -> None:
    import asyncio

    session.run("import asyncio")

    async def inside() -> None:
        with pytest.raises(UsageError, match="while an event loop is running"):
            session.shell.run_line_magic("jaxtime", "-q await asyncio.sleep(0)")

    asyncio.run(inside())


def test_inside_prun_it_is_called_and_measures(session: Any) -> None:
    session.run("%prun -q -T /dev/null %jaxtime -q -v pruned f(x)")
    assert session.run("pruned.code") == "f(x)"


def test_a_cell_marker_that_nothing_rewrote_says_so(session: Any) -> None:
    with pytest.raises(UsageError, match="outermost"):
        session.shell.run_cell_magic("jaxtime", "", ...)
