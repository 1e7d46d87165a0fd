"""Help where a user looks for it: ``-h``, ``?``, ``%jaxmagic``, a magic with the wrong number of percent signs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic.magics.declare import declared
from jaxmagic.subjects import magics

NAMES = [name for name in magics() if name != "jaxmagic"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "option", ["-h", "--help", "-q --help", "-h  # what was it?", "-h --all", "--help -q", "-h -qo"]
)
def test_the_help_is_printed_and_nothing_runs(
    session: Any, capsys: pytest.CaptureFixture[str], name: str, option: str
) -> None:
    for cell in (f"%{name} {option}", f"%%{name} {option}", f"%%{name} {option}\n1 / 0", f"y = %{name} {option}"):
        assert session.run(cell) is None
        printed = capsys.readouterr().out
        assert printed.startswith((f"%{name} [", f"%%{name} ["))
        assert "  -h, --help " in printed
        assert printed.count("\n\noptions:\n") == 1
    assert session.published == []


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_help_fits_the_terminal_and_has_no_markup(
    session: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("jaxmagic.terminal.width", lambda: columns)
    for name in NAMES:
        session.run(f"%{name} -h")
        printed = capsys.readouterr().out
        assert "``" not in printed
        assert "::" not in printed
        described = printed.split("\n\noptions:\n")[0].split("\n\n", 1)[1]
        assert max(map(len, described.splitlines())) <= columns
        assert f"    %{'%' * (name == 'jaxcompare')}{name} [options]" in described


@pytest.mark.parametrize("name", NAMES)
def test_the_usage_is_aligned_behind_the_name_of_its_magic(
    session: Any, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    session.run(f"%{name} -h")
    printed = capsys.readouterr().out
    for shown in (printed, session.shell.find_magic(name).__doc__.removeprefix("::\n\n")):
        first, *others = shown.split("\n\n")[0].splitlines()
        assert first.startswith("%")
        assert others
        assert {len(each) - len(each.lstrip()) for each in others} == {first.index(" ") + 1}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "jaxcompare"])
@pytest.mark.parametrize("below", ["", "\n", "\n\n  \n"])
def test_a_magic_over_an_empty_cell_says_that_it_is_empty(session: Any, name: str, below: str) -> None:
    error = session.run(f"%%{name}{below}", fails=UsageError)
    assert str(error) == f"%%{name} has nothing to run: the cell is empty. Put the code below it."


@pytest.mark.parametrize("below", ["", "\n", "\n\n  \n"])
@pytest.mark.parametrize("options", ["", " --modes grad", " --sweep n=1,2"])
def test_a_comparison_over_an_empty_cell_says_what_to_write_below(session: Any, options: str, below: str) -> None:
    error = session.run(f"%%jaxcompare{options}{below}", fails=UsageError)
    assert str(error) == (
        "%%jaxcompare has nothing to run: the cell is empty. Write a candidate on each line below, such as  jit: f(x)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_help_may_be_asked_for_before_any_option_and_behind_it(
    session: Any, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Each option has the value that it takes, if it takes one."""
    values = {"TIME": "50ms", "SIZE": "16GiB", "SHARE": "1%", "CHECK": "1e-3", "WORK": "flops", "RULES": "recompile"}
    values |= {"FILE": "a.json", "DIR": "runs", "NAME": "t", "NAME=VALUES": "n=1,2", "MODES": "grad"}
    for option, action in declared(name).parser._option_string_actions.items():
        value = "" if action.nargs in (0, "?") else values.get(str(action.metavar), "3")
        for line in (f"-h {option} {value}", f"{option} {value} -h"):
            session.run(f"%{name} {line}")
            assert capsys.readouterr().out.count("\n\noptions:\n") == 1, line


def test_help_before_code_is_told(session: Any) -> None:
    error = session.run("%jaxprof -h -n 3 f(x)", fails=UsageError)
    assert str(error) == (
        "%jaxprof -h: expected nothing after it, got '-n 3 f(x)'. It prints the help. Leave it out to run the code."
    )


def test_a_minus_sign_and_a_variable_are_code(session: Any) -> None:
    assert session.run("h = 2\n%jaxtime -q -h + 1") == -1
    assert session.run("h = 2\nz = 3\n%jaxtime -q -h -z") == -5
    assert session.run("qh = 3\n%jaxtime -qh") == -3
    assert session.run("%jaxtime -q -- -h") == -2


def test_the_help_can_be_called(session: Any, capsys: pytest.CaptureFixture[str]) -> None:
    session.shell.run_line_magic("jaxtime", "-h")
    session.shell.run_cell_magic("jaxcompare", "--help", "1 / 0")
    session.run("def g():\n    %jaxtime -h\ng()")
    printed = capsys.readouterr().out
    assert printed.count("%jaxtime [-h]") == 2
    assert printed.count("%%jaxcompare [-r R]") == 1


def test_the_list_has_every_magic_with_a_line_and_an_example(
    session: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("%jaxmagic")
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    *lines, last = printed.splitlines()
    assert len(lines) == 2 * len(NAMES)
    assert all(each.endswith((".", "?")) for each in lines[::2])
    assert [each.split()[0] for each in lines[::2]] == [f"%{name}" for name in NAMES]
    assert [each.split()[0].strip(",") for each in lines[1::2]] == [
        f"%%{name}" if name == "jaxcompare" else f"%{name}" for name in NAMES
    ]
    assert last == "%jaxtime -h, for example, prints the options of %jaxtime."
    error = session.run("%jaxmagic f(x)", fails=UsageError)
    assert str(error) == "%jaxmagic: expected nothing or 'last', got 'f(x)'. Write %jaxmagic last."
    session.run("%jaxmagic -h")
    assert capsys.readouterr().out.startswith("%jaxmagic [-h]\n\nList the magics")


def test_the_examples_run(session: Any) -> None:
    jaxmagic.history().clear()
    for name in NAMES:
        example = magics()[name].magic.example
        below = example.partition("such as")[2].strip()
        session.run(f"%%{name} -q -r 4\n{below}\neager: x * 2" if below else example.replace(name, f"{name} -q"))
    assert len(jaxmagic.history()) == len(NAMES)


def test_jaxcompare_without_a_cell_points_to_the_cell_magic(session: Any) -> None:
    for cell in ("%jaxcompare f(x)", "%jaxcompare"):
        error = session.run(cell, fails=UsageError)
        assert "write %%jaxcompare on its first line, and below it a candidate on each line" in str(error)
    for cell in ("%%jaxcompare", "%%jaxcompare -q\n\n"):
        error = session.run(cell, fails=UsageError)
        assert "the cell is empty. Write a candidate on each line below" in str(error)
    assert "Measure expressions side by side" in session.shell.find_line_magic("jaxcompare").__doc__


@pytest.mark.parametrize("name", ["jaxcompare", "jaxtimeit"])
def test_a_mistake_of_syntax_in_a_cell_is_reported_at_its_line_without_frames(
    session: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks: list[Any] = []
    monkeypatch.setattr(
        session.shell,
        "showsyntaxerror",
        lambda filename=None, **given: stacks.append(given.get("running_compiled_code")),
    )
    error = session.run(f"%%{name}\nz = 1\ntwo: f(x", fails=SyntaxError)
    assert (error.lineno, stacks) == (3, [None])
    error = session.run(f"%%{name}\nz = 1\ntwo words: f(x", fails=SyntaxError)
    assert error.lineno == 3
    error = session.run(f"%%{name} --nope\ntwo: f(x", fails=UsageError)
    assert "there is no option --nope" in str(error)


def test_a_marker_that_is_reached_reports_that_nothing_was_measured(session: Any) -> None:
    for name in ("jaxcompare", "jaxtimeit"):
        with pytest.raises(UsageError):
            session.shell.run_cell_magic(name, "", ...)


def test_the_module_lists_its_public_names_and_nothing_that_is_not_its_own() -> None:
    assert {each for each in dir(jaxmagic) if not each.startswith("__")} == {*jaxmagic.__all__, "testing"}


def test_the_last_report_is_shown_in_whole_without_importing_anything(
    session: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import jax, jax.numpy as jnp")
    session.run("%%jaxtime\n" + "\n".join(f"jax.jit(lambda x: x + {n})(jnp.ones({n + 1}))" for n in range(9)))
    assert re.search(r"^… %jaxmagic last shows \d+ more lines", session.report, re.M)
    capsys.readouterr()
    session.run("%jaxmagic last  # of them all")
    assert capsys.readouterr().out == f"{jaxmagic.last()}\n"
    session.run("%jaxmem --top 1 [jnp.ones(n) for n in range(12)]")
    assert "see %jaxmagic last" in session.report
    capsys.readouterr()
    session.run("%jaxmagic last")
    assert "see " not in capsys.readouterr().out
    assert "jaxmagic" not in session.shell.user_ns
