"""Bad input to the magic: a clear error, and the session as it was."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic.magics.block import Block
from jaxmagic.timing.capture.completion import Completion
from jaxmagic.timing.capture.stopwatch import Stopwatch

HOSTILE = """
class Hostile:
    def __getattr__(self, name): raise RuntimeError('do not ask')
    def __eq__(self, other): raise RuntimeError('do not compare')
    def __repr__(self): return 'hostile'
hostile = Hostile()
loop = []; loop.append(loop)
deleted = x + 1; deleted.delete()
async def coroutine(): pass
def interrupt(): raise KeyboardInterrupt
import threading
def compile_beside():
    thread = threading.Thread(target=lambda: jax.block_until_ready(jax.jit(lambda x: x - 97)(x)))
    thread.start(); thread.join()
"""


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ("%jaxtime -q 1/0", ZeroDivisionError),
        ("%jaxtime -q f(", SyntaxError),
        ("%%jaxtime -q\nf(", SyntaxError),
        ("%jaxtime --bogus 1", Exception),
        ("%jaxtime -q interrupt()", KeyboardInterrupt),
        ("%jaxtime -q raise SystemExit", SystemExit),
        ("%jaxtime -q --max-time 1ns f(x)", AssertionError),
        ("%jaxtime -q hostile;", None),
        ("%jaxtime -q loop;", None),
        ("%jaxtime -q [deleted];", None),
        ("%jaxtime -q (n for n in range(3));", None),
        ("%jaxtime -q list(range(10**6));", None),
        ("%jaxtime -q compile_beside()", None),
        ("%%jaxtime -q\n%jaxtime -q f(x);\n%jaxtime -q 1/0", ZeroDivisionError),
        ("%%jaxtime --no-raise-error -q\n%jaxtime -q 1/0", None),
        ("for i in range(3):\n    %jaxtime -q f(x)", None),
        ("def g():\n    %jaxtime -q f(x)\n    return 1/0\ng()", ZeroDivisionError),
    ],
)
def test_the_session_is_as_before(session: Any, session_state: Any, cell: str, error: Any) -> None:
    session.run(HOSTILE)
    session.run("%jaxtime -q f(x);")
    session.run("%reset -f out")
    before = session_state()
    session.run(cell, fails=error)
    session.run("import sys; sys.last_traceback = sys.last_value = sys.last_exc = None")
    session.run("%reset -f out")
    assert session_state() == before
    assert session.run("%jaxtime -q 1 + 1") == 2


def test_a_coroutine_that_is_not_awaited_is_said(session: Any) -> None:
    session.run(HOSTILE)
    session.run("c = %jaxtime coroutine()")
    assert "coroutine that has not run" in " ".join(session.report.split())
    session.run("c.close()")


def test_after_unloading_the_session_is_as_before_loading(bare: Any, session_state: Any) -> None:
    bare.run("import jax, jax.numpy as jnp\nx = jnp.ones(3)\nf = jax.jit(lambda x: x + 101)")
    before = session_state()
    bare.run("%load_ext jaxmagic")
    bare.run("%jaxtime -q f(x);")
    bare.run("%unload_ext jaxmagic")
    assert session_state() == before


def test_a_record_names_what_was_timed_when_the_source_is_gone(session: Any, monkeypatch: Any) -> None:
    import linecache

    monkeypatch.setattr(linecache, "getlines", lambda *_: [])
    session.run("%jaxtime -q -v t f(x)")
    assert session.run("t.code") is None


@pytest.mark.parametrize(
    "where",
    [
        "timing.capture.stopwatch.Stopwatch.returned",
        "magics.block.Block._result",
        "timing.capture.stopwatch.Stopwatch._make_record",
    ],
)
def test_an_interrupt_in_one_of_our_own_lines_is_an_interrupt(
    session: Any, session_state: Any, monkeypatch: Any, where: str
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    before = session_state()
    with monkeypatch.context() as patch:
        patch.setattr(f"jaxmagic.{where}", interrupt)
        session.run("%jaxtime 1", fails=KeyboardInterrupt)
    assert not [name for name in session.shell.user_ns if name.startswith("__jaxmagic")]
    assert session_state() == before


def test_a_failed_expectation_shows_its_report_once(session: Any) -> None:
    shown = len(session.published)
    error = session.run("%jaxtime --max-time 1ns f(x)", fails=AssertionError)
    assert str(error).count("Wall time") == 1
    assert len(session.published) == shown


@pytest.mark.parametrize(
    "cell",
    [
        "for i in range(3):\n    %jaxtime -q if i == 1: break",
        "for i in range(3):\n    %jaxtime -q if True: continue",
        "%jaxtime -q 1 / 0",
    ],
)
def test_no_hidden_name_is_left_however_the_block_is_left(session: Any, cell: str) -> None:
    session.shell.run_cell(cell, store_history=True)
    assert not [name for name in (*session.shell.user_ns, *vars(builtins)) if name.startswith("__jaxmagic")]


@pytest.mark.parametrize(
    "magic", ["%jaxtime -q ", "%%jaxtime -q\n", "%jaxmem -q ", "%jaxprof -q ", "%jaxprof -q -n 2 "]
)
@pytest.mark.parametrize("code", ["%reset -f", "globals().clear()"])
def test_code_may_clear_the_users_names(session: Any, magic: str, code: str) -> None:
    session.run("c = 3")
    records = len(jaxmagic.history())
    session.run(magic + code)
    assert len(jaxmagic.history()) == records + 1
    assert "c" not in session.shell.user_ns
    assert not [name for name in (*session.shell.user_ns, *vars(builtins)) if name.startswith("__jaxmagic")]


def test_what_follows_in_the_cell_is_bound(session: Any) -> None:
    session.run("%%jaxtime -q -v t\n%reset -f\nb = 5")
    assert session.shell.user_ns["b"] == 5
    assert session.shell.user_ns["t"].error is None


def test_the_block_of_a_cell_that_runs_another_cell_stays(session: Any) -> None:
    session.run("%%jaxtime -q -v t\nget_ipython().run_cell('%jaxtime -q 1')\nz = 2")
    assert session.shell.user_ns["z"] == 2
    assert session.shell.user_ns["t"].error is None


def test_a_class_has_no_attribute_of_ours(session: Any) -> None:
    session.run(
        "class A:\n    if True:\n        %jaxtime -q a = 1\n    else:\n        %jaxtime -q b = 1\n"
        "    for i in range(2):\n        %jaxtime -q c = i\n"
        "    def f(self):\n        %jaxtime -q d = 1\n        return d"
    )
    made = session.shell.user_ns["A"]
    assert [name for name in vars(made) if not name.startswith("__") or "jaxmagic" in name] == ["a", "i", "c", "f"]
    assert made().f() == 1


@pytest.mark.parametrize(
    "code",
    [
        "f(x); None",
        "f(x)\nNone",
        "for i in range(2):\n    f(x)",
        "if True:\n    f(x)\nNone",
        "try:\n    f(x)\nfinally:\n    1",
    ],
)
def test_a_value_that_is_thrown_away_is_kept_until_the_block_ends(
    session: Any, session_state: Any, monkeypatch: Any, code: str
) -> None:
    before = session_state()
    seen: list[Any] = []
    wait = Completion._wait_for_dropped

    def spy(completion: Completion) -> Any:
        seen.append(completion.dropped.shape)
        return wait(completion)

    monkeypatch.setattr(Completion, "_wait_for_dropped", spy)
    session.run(f"%%jaxtime -q\n{code}")
    assert seen == [(8, 8)]
    assert session_state()["arrays"] == before["arrays"]


def test_what_functions_and_generators_throw_away_is_left_alone(session: Any) -> None:
    session.run("%%jaxtime -q\ndef g():\n    'doc'\n    f(x)\n    yield 1\nlist(g())")
    assert session.shell.user_ns["g"].__doc__ == "doc"


def test_the_clock_is_read_before_anything_of_ours(session: Any, monkeypatch: Any) -> None:
    called = []
    for kind, name in ((Stopwatch, "returned"), (Block, "_leave"), (Block, "_result")):
        patched(monkeypatch, kind, name, called)
    session.run("%jaxtime -q 1")
    assert called == ["returned", "_leave", "_result"]


def patched(monkeypatch: Any, kind: type, name: str, called: list[str]) -> None:
    """Note each call of a method, and call it."""
    method = getattr(kind, name)

    def noted(*arguments: Any, **options: Any) -> Any:
        called.append(name)
        return method(*arguments, **options)

    monkeypatch.setattr(kind, name, noted)


@pytest.mark.parametrize(
    ("cell", "magic"),
    [
        ("ran = True\n%%jaxtime\ny = 1", "jaxtime"),
        ("# a comment\n%%jaxcompare --budget 1s\na: 1\nb: 2", "jaxcompare"),
        ("ran = True\nfor i in range(3):\n    %%jaxprof\n    y = 1", "jaxprof"),
        ("%jaxtime ran = True\n%%jaxtime\ny = 1", "jaxtime"),
    ],
)
def test_a_cell_magic_below_the_first_line_is_told_before_anything_runs(session: Any, cell: str, magic: str) -> None:
    error = session.run(cell, fails=UsageError)
    assert str(error) == (
        f"%%{magic} has to be the first line of its cell. Move it above all other lines, also comments. "
        "Nothing was run."
    )
    assert "ran" not in session.shell.user_ns
    session.run("\n%%jaxtime -q\nbelow = 1")
    assert session.shell.user_ns["below"] == 1
