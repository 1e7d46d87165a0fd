"""Tracebacks of errors in the user's code show none of jaxmagic's lines."""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
from IPython import version_info

import jaxmagic
from jaxmagic.tracebacks import of_the_user

PACKAGE = str(Path(jaxmagic.__file__).parent)

#: Each magic over code that fails; `later` in its third call, and `late` while it is waited for.
FAILING = [
    "%jaxtime fail()",
    "%%jaxtime\nfail()",
    "%jaxtimeit fail()",
    "%jaxtimeit -n1 -r3 later()",
    "%jaxtimeit --setup fail() 1",
    "%jaxtimeit --processes 1 fail()",
    "%%jaxtimeit fail()\n1",
    "%%jaxcompare\na: fail()\nb: 1",
    "%%jaxcompare\na: 1\nb: later()",
    "%%jaxcompare --modes grad\na: differentiated(1.0)\nb: differentiated(2.0)",
    "%%jaxcompare --sweep n=fail()\na: n\nb: n",
    "%%jaxcompare\nfail()\na: 1\nb: 2",
    "%jaxmem fail()",
    "%%jaxmem\nfail()",
    "%jaxprof fail()",
    "%jaxprof --cold fail()",
    "jaxmagic.benchmark(fail)",
    "jaxmagic.benchmark(fail, processes=1)",
    "jaxmagic.compare({'a': fail, 'b': fail})",
    "jaxmagic.memory(fail)",
    "jaxmagic.memory_requirement(fail)",
    "jaxmagic.profile(fail)",
    "with jaxmagic.stopwatch(): fail()",
    "%jaxtime late()",
    "%jaxtimeit late()",
    "%%jaxcompare\na: late()\nb: 1",
    "%jaxmem late()",
    "%jaxprof late()",
    "with jaxmagic.stopwatch(): late()",
    "with jaxmagic.profiler(): late()",
    "with jaxmagic.profiler(): fail()",
    "jaxmagic.testing.assert_max_compiles(0)(fail)()",
]


@pytest.mark.parametrize("code", FAILING)
def test_lines_of_ours_are_hidden(session: Any, code: str) -> None:
    session.run(
        "import jaxmagic, jaxmagic.testing\ncalls = []\n"
        "def fail():\n    raise ZeroDivisionError('of the user')\n"
        "def later():\n    calls.append(1)\n    if len(calls) > 2: fail()\n"
        "import jax, jax.numpy as jnp\n"
        "late = jax.jit(lambda: jax.pure_callback(lambda: fail(), jax.ShapeDtypeStruct((), jnp.float32)))\n"
        "def differentiated(x):\n    fail()"
    )
    error = session.shell.run_cell(code).error_in_exec
    assert error is not None
    ours = [
        f"{Path(frame.f_code.co_filename).name}:{line} {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith(PACKAGE) and not frame.f_locals.get("__tracebackhide__")
    ]
    assert ours == [], error


@pytest.mark.parametrize(
    "code",
    [
        "%jaxtimeit upd(s, 1)",
        "%jaxtimeit s = upd(s, 1)",
        "%%jaxcompare\na: upd(s, 1)\nb: s - 1",
        "jaxmagic.benchmark(upd, s, 1)",
    ],
)
def test_lines_of_ours_are_hidden_in_the_cause_of_an_error(session: Any, code: str) -> None:
    session.run("import jaxmagic\nupd = jax.jit(lambda s, g: s - g, donate_argnums=0)\ns = jnp.ones(8)")
    error = session.run(code, fails=jaxmagic.DonatedTwice)
    files = [each.filename for each in traceback.extract_tb(error.__cause__.__traceback__)]
    assert not [each for each in files if each.startswith(PACKAGE)]
    assert code.startswith("jaxmagic") or "<ipython-input" in files[0]  # JAX calls the compiled function in C++


def test_errors_that_are_causes_of_each_other_are_raised() -> None:
    def fail() -> None:
        error, other = ValueError("one"), ValueError("two")
        error.__cause__, other.__cause__ = other, error
        raise error

    with pytest.raises(ValueError, match="one"):
        of_the_user(fail)()


@pytest.mark.skipif(version_info < (8,), reason="IPython names no cell in tracebacks")
@pytest.mark.parametrize("code", ["%jaxtimeit nothing()", "%%jaxcompare\na: nothing()\nb: 1"])
def test_the_lines_of_a_magic_belong_to_its_cell(session: Any, code: str) -> None:
    session.shell.run_cell("1", store_history=True)
    result = session.shell.run_cell(code, store_history=True)
    file = traceback.extract_tb(result.error_in_exec.__traceback__)[-1].filename
    assert session.shell.compile.format_code_name(file) == ("Cell", f"In[{result.execution_count}]")


@pytest.mark.parametrize("code", ["%%jaxtimeit\ny = 1\nnothing(y)", "%%jaxcompare\ny = 1\na: nothing(y)\nb: y"])
def test_the_source_of_a_failing_line_is_found(session: Any, code: str) -> None:
    error = session.shell.run_cell(code).error_in_exec
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    lines, first = inspect.getsourcelines(frame)
    assert "nothing(y)" in lines[line - max(first, 1)]
    assert frame.f_code.co_qualname == "<module>"


def test_lines_of_ours_are_hidden_in_what_a_fresh_process_says(session: Any) -> None:
    session.run("def fail():\n    raise ZeroDivisionError('of the user')")
    error = session.run("%jaxtimeit --processes 1 fail()", fails=jaxmagic.LaunchError)
    assert ", in fail" in str(error)
    assert PACKAGE not in str(error)


def test_an_error_of_ours_keeps_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jaxmagic.benchmarking.capture.plan.Plan", None)
    with pytest.raises(TypeError) as error:
        jaxmagic.benchmark(abs, 3)
    assert any(str(each.path).startswith(PACKAGE) for each in error.traceback[2:])


@pytest.mark.parametrize(
    "code",
    [
        "%jaxtime -q --max-time 1ns 1",
        "%%jaxtime -q --max-time 1ns\n1",
        "def measured():\n    %jaxtime -q --max-time 1ns 1\nmeasured()",
        "for _ in range(2):\n    %jaxtime -q --max-time 1ns break",
        "%jaxprof -q --max-time 1ns 1",
        "%jaxmem -q --max-time 1ns 1",
        "%jaxtime -q --expect-no-compile __import__('jax').jit(lambda x: x + 1973)(1)",
    ],
)
def test_a_failed_expectation_is_raised_in_the_users_code(session: Any, code: str) -> None:
    error = session.run(code, fails=AssertionError)
    assert type(error) is AssertionError
    assert str(error).startswith("expected ")
    files = [each.filename for each in traceback.extract_tb(error.__traceback__)]
    assert not [each for each in files if each.startswith(PACKAGE)]
    assert error.__suppress_context__


def test_an_assertion_of_the_users_stays_theirs(session: Any) -> None:
    error = session.run("%jaxtime -q --max-time 100s assert 1 > 2, 'of the user'", fails=AssertionError)
    assert str(error) == "of the user"


@pytest.mark.parametrize(
    "code",
    [
        "%jaxtime interrupted()",
        "%%jaxtime\ninterrupted()",
        "%jaxmem interrupted()",
        "%jaxprof interrupted()",
        "%jaxtimeit interrupted()",
        "%%jaxcompare\na: interrupted()\nb: 1",
        "jaxmagic.benchmark(interrupted)",
        "jaxmagic.profile(interrupted)",
        "jaxmagic.memory(interrupted)",
        "with jaxmagic.stopwatch(): interrupted()",
        "with jaxmagic.profiler(): interrupted()",
    ],
)
def test_an_interrupt_ends_in_the_users_code(session: Any, code: str) -> None:
    session.run("import jaxmagic, signal\ndef interrupted():\n    signal.raise_signal(signal.SIGINT)")
    error = session.run(code, fails=KeyboardInterrupt)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert last.name == "interrupted"


@pytest.mark.parametrize(
    "code", ["%jaxtime waits()", "%jaxprof waits()", "%jaxdoctor waits()", "with jaxmagic.stopwatch(): waits()"]
)
def test_an_interrupted_wait_shows_no_line_of_ours(session: Any, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(jnp.ones(3))
    waits = kind.block_until_ready

    def interrupted(array: Any) -> Any:
        if "waits" in [each.name for each in traceback.extract_stack(limit=3)]:
            raise KeyboardInterrupt
        return waits(array)

    monkeypatch.setattr(kind, "block_until_ready", interrupted)
    session.run("import jaxmagic, jax.numpy as jnp\ndef waits():\n    jnp.ones(3).block_until_ready()")
    error = session.run(code, fails=KeyboardInterrupt)
    calls = traceback.extract_tb(error.__traceback__)
    assert [each.name for each in calls][-2:] == ["waits", "interrupted"]
    assert not [each for each in calls if each.filename.startswith(PACKAGE)]


@pytest.mark.parametrize("code", ["%jaxtime waits()", "%jaxdoctor waits()", "with jaxmagic.stopwatch(): waits()"])
def test_a_wait_that_fails_shows_no_line_of_ours(session: Any, code: str) -> None:
    session.run(
        "import jax, jaxmagic\n"
        "def fail(x):\n    raise ZeroDivisionError('of the user')\n"
        "failing = jax.jit(lambda x: jax.pure_callback(fail, x, x))\n"
        "def waits():\n    failing(1.0).block_until_ready()"
    )
    error = session.run(code, fails=Exception)
    calls = traceback.extract_tb(error.__traceback__)
    assert "waits" in [each.name for each in calls]
    assert not [each for each in calls if each.filename.startswith(PACKAGE)]
