"""`%jaxprof` in a real shell: lines of cells, values as without the magic, and nothing left behind."""

from __future__ import annotations

import gzip
import json
from itertools import repeat
from pathlib import Path
from typing import Any

import jax
import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic.errors import NotMeasured
from jaxmagic.profiling.capture.event_rate import EventRate
from jaxmagic.profiling.record.profile import Profile

pytestmark = pytest.mark.clock

PREPARE = "import jax, jax.numpy as jnp\nx = jax.random.normal(jax.random.key(0), (300, 300))\ncalls = []"

CELL = """%%jaxprof -v p
def helper(x):
    return jnp.sort(x, axis=1)

@jax.jit
def f(x):
    y = helper(x)
    return y.sum()

f(x)
"""


@pytest.fixture(autouse=True)
def prepared(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session.run(PREPARE)
    monkeypatch.setattr("jaxmagic.profiling.capture.run_plan._TIMED_NS", 10**15)  # however busy the machine is


def profile(session: Any) -> Profile:
    found = session.shell.user_ns["p"]
    assert isinstance(found, Profile)
    return found


def test_the_line_of_a_cell_is_first_and_the_cell_is_told_by_its_number(session: Any) -> None:
    for _ in range(5):  # where other processes take the processor away, that is the time of whatever ran just then
        cell = f"cell {session.shell.execution_count}"
        session.run(CELL)
        frame = profile(session).lines()
        if frame["line"][0] == 3:
            break
    assert (frame["cell"][0], frame["line"][0], frame["function"][0]) == (cell, 3, "helper")
    assert "return jnp.sort(x, axis=1)" in session.report
    assert cell in session.report
    assert frame["time_ns"].sum() == profile(session).device_ns


def test_a_cell_is_listed_as_it_was_typed(session: Any) -> None:
    session.run("z = x[:, :251] * 1")
    session.run("%jaxprof jnp.sort(z, axis=1)")  # of a shape that nobody else has
    assert "1  %jaxprof jnp.sort(z, axis=1)" in session.report


def nothing_ran(runs: str) -> tuple[str, ...]:
    """Beginnings of the report; before JAX 0.10, threads of several devices do not name the fence that they run."""
    known = jax.__version_info__ >= (0, 10)
    return (f"No JAX program ran in {runs}", *(() if known else ("No device time was recorded; wall time ",)))


def test_what_runs_nothing_on_a_device_has_no_device_time(session: Any) -> None:
    session.run("%jaxprof calls.append(1)")
    assert session.report.startswith(nothing_ran("the recorded run; wall time "))
    session.run("%jaxprof -n 2 __import__('numpy').ones(3)")
    assert session.report.startswith(nothing_ran("the 2 recorded runs; wall time "))
    assert session.report.count("No JAX program ran") <= 1


def test_of_programs_in_a_thread_that_goes_on_nothing_is_said(session: Any) -> None:
    session.run(
        "import threading\nended = threading.Event()\nf = jax.jit(lambda x: x + 1)\nf(x)\n"
        "def runs_beside():\n    f(x)\n    ended.set()\n"
        "def starts():\n    threading.Thread(target=runs_beside).start()\n    ended.wait()"
    )
    session.run("%jaxprof starts()")
    assert "No JAX program ran" not in session.report


@pytest.mark.parametrize("magic", ["jaxprof", "jaxtime", "jaxtimeit", "jaxdoctor"])
def test_a_recording_in_place_of_a_statement_is_answered_with_what_reads_it(
    session: Any, tmp_path: Path, magic: str
) -> None:
    for path in ("host.xplane.pb", "'a b/host.xplane.pb.gz'", str(tmp_path)):
        error = str(session.run(f"%{magic} {path}", fails=UsageError))
        name = path.strip("'")
        assert error.startswith(f"%{magic}: expected a statement, got a path. Use jaxmagic.read_profile({name!r})")
    session.run(f"%{magic} {tmp_path}/nothing", fails=NameError)


@pytest.mark.parametrize("magic", ["jaxprof", "jaxtimeit"])
def test_a_relative_path_of_a_recording_is_no_division_of_unknown_variables(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, magic: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs" / "run1" / "plugins").mkdir(parents=True)
    session.run(f"%{magic} logs/run1", fails=NameError)  # nothing is recorded there
    (tmp_path / "logs" / "run-01").mkdir()
    for name in ("run1/plugins", "run-01"):
        (tmp_path / "logs" / name / "host.xplane.pb").touch()
    for path in ("logs/run1", "logs", "logs/", "logs/run-01"):
        error = str(session.run(f"%{magic} {path}", fails=UsageError))
        assert f"Use jaxmagic.read_profile({path!r})" in error
    session.run("logs, run1 = 1, 2")
    session.run(f"%{magic} -q logs/run1")


def test_a_function_that_is_only_named_was_not_called(session: Any) -> None:
    session.run("f = jax.jit(jnp.sort)\nmade = lambda: f")
    session.run("%jaxprof f")
    assert session.report.startswith("f was not called: %jaxprof f(x)\n")
    session.run("%jaxprof jnp.sort")
    assert session.report.startswith("jnp.sort was not called: %jaxprof jnp.sort(x)\n")
    for code in ("made()", "x", "calls"):
        session.run(f"%jaxprof {code}")
        assert session.report.startswith(nothing_ran(""))
    jaxmagic.profile(session.shell.user_ns["made"])
    last = jaxmagic.last()
    assert isinstance(last, Profile)
    assert "not called" not in str(last)


def test_devices_that_ran_nothing_are_not_counted(session: Any) -> None:
    session.run("%jaxprof -v p jnp.sort(x)")
    assert [each.device for each in profile(session).device_uses] == ["CPU:0"]


def test_a_line_of_an_earlier_cell_is_told_by_that_cell(session: Any) -> None:
    cell = f"cell {session.shell.execution_count}"
    session.run("f = jax.jit(lambda x: jnp.sort(x, axis=1) + 1)")
    session.run("p = %jaxprof -o f(x)")
    assert profile(session).lines()["cell"][0] == cell


def test_the_value_is_that_of_the_cell_and_names_stay(session: Any) -> None:
    assert session.run("%%jaxprof\ny = 3\ny + 1") == 4
    assert session.shell.user_ns["y"] == 3
    session.run("%jaxprof z = 7")
    assert session.shell.user_ns["z"] == 7
    session.run("w = %jaxprof 8")
    assert session.shell.user_ns["w"] == 8
    assert session.run("%jaxprof 9;") is None


@pytest.mark.parametrize(("options", "runs"), [("", 2), ("-n 3", 6), ("--cold", 1), ("--cold -n 2", 2)])
def test_the_code_runs_so_often(session: Any, options: str, runs: int) -> None:
    session.run(f"%jaxprof {options} calls.append(1)")
    assert len(session.shell.user_ns["calls"]) == runs


def test_what_compiles_is_run_once_more_to_be_timed(session: Any) -> None:
    session.run("g = jax.jit(lambda x: x * 73)")
    session.run("%%jaxprof -v p\ncalls.append(1)\ng(x)")
    assert len(session.shell.user_ns["calls"]) == 3
    assert "compiled 1 program" in str(session.shell.user_ns["p"])


def test_code_that_awaits_and_magics_inside_work(session: Any) -> None:
    session.run("import asyncio")
    assert session.run("%%jaxprof\nawait asyncio.sleep(0, 5)") == 5
    assert session.run("%%jaxprof\n%%jaxtime -q\nf = 4\nf") == 4


@pytest.mark.parametrize(
    ("cell", "keyword"),
    [
        ("def g():\n    %jaxprof return calls.append(1)\ng()", "return"),
        ("for i in range(3):\n    %jaxprof calls.append(1); break", "break"),
        ("def g():\n    if True:\n        %jaxprof --cold return calls.append(1)\ng()", "return"),
    ],
)
def test_code_that_leaves_before_its_end_is_refused_before_it_runs(session: Any, cell: str, keyword: str) -> None:
    session.run("calls = []")
    said = f"but {keyword} would leave it in the first run. Nothing was run. Write y = %jaxprof"
    with pytest.raises(UsageError, match=said):
        session.run(cell)
    assert session.shell.user_ns["calls"] == []
    session.run("for _ in [1]:\n    %jaxprof -q -n 1 f(x)\n    break")


def test_an_error_comes_through_at_its_line_and_the_profiler_is_free(session: Any) -> None:
    error = session.run("%%jaxprof\na = 1\nb = a / 0", fails=ZeroDivisionError)
    traceback = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    assert traceback.tb_lineno == 3
    session.run("%jaxprof 1")


def test_an_error_in_a_recorded_run_shows_what_was_recorded_before(session: Any) -> None:
    session.run("def fails():\n    calls.append(jnp.sort(x))\n    if len(calls) == 7: raise ValueError")
    session.run("jnp.sort(x)")
    session.run("%jaxprof -n 5 -v p fails()", fails=ValueError)
    assert (profile(session).error, profile(session).runs) == ("ValueError", 1)


def test_somebodys_own_profile_is_left_alone_and_nothing_is_run(session: Any, tmp_path: Path) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        session.run("%jaxprof calls.append(1)", fails=NotMeasured)
    finally:
        jax.profiler.stop_trace()
    assert session.shell.user_ns["calls"] == []


def test_a_recording_within_a_recording_is_refused_and_the_outer_one_goes_on(session: Any) -> None:
    session.run("import jaxmagic")
    session.run(
        "%%jaxprof --cold -v p\ntry:\n    jaxmagic.profile(jnp.sort, x)\n"
        "except jaxmagic.NotMeasured as error:\n    told = str(error)\njnp.sort(x)"
    )
    assert session.shell.user_ns["told"].startswith("jaxmagic is already profiling; profiles cannot be nested")
    assert profile(session).operation_times


@pytest.mark.parametrize("options", ["", "-n 3"])
def test_what_is_donated_and_not_assigned_fails_with_what_to_do(session: Any, options: str) -> None:
    session.run("step = jax.jit(lambda s: s + 1, donate_argnums=0)\ns = jnp.ones(100)")
    error = session.run(f"%jaxprof {options} -v p t = step(s)", fails=Exception)
    assert "Reassign it, as in state = step(state)" in "".join(error.__notes__)
    assert "Reassign it, as in state = step(state)" in " ".join(session.report.split())
    session.run(f"s = jnp.ones(100)\n%jaxprof {options} -v p s = step(s)")
    assert profile(session).error is None


def test_nothing_is_left_behind(session: Any, session_state: Any) -> None:
    session.run("g = jax.jit(jnp.sort)\n_ = g(x).block_until_ready()")
    session.run("%jaxprof -q g(x);")
    before = session_state() | {"names": set(session.shell.user_ns)}
    session.run("%jaxprof -q g(x);")
    session.run("%jaxprof -q 1/0", fails=ZeroDivisionError)
    after = session_state() | {"names": set(session.shell.user_ns)}
    names = after.pop("names") - before.pop("names")
    assert {each for each in names if "jaxmagic" in each} == set()
    assert after == before


def test_the_record_is_in_the_history_and_can_be_saved_and_read(session: Any, tmp_path: Path) -> None:
    session.run("%jaxprof -q jnp.sort(x)")
    record = jaxmagic.last()
    assert isinstance(record, Profile)
    assert record.code == "jnp.sort(x)"
    assert jaxmagic.load(record.save(tmp_path / "profile.json")) == record


def test_a_recording_is_kept_where_that_is_asked_for_and_the_report_tells_how_to_open_it(
    session: Any, tmp_path: Path
) -> None:
    session.run(f"%jaxprof --all --logdir '{tmp_path}' --label first jnp.sort(x)")
    record = jaxmagic.last()
    assert isinstance(record, Profile)
    assert str(record.kept).startswith(str(tmp_path / "first" / "plugins"))
    folder = str(tmp_path / "first")
    report = "".join(session.report.split())
    assert f"xprof--logdir{folder}" in report
    assert f"tensorboard--logdir{folder}" in report


def test_a_trace_for_perfetto_has_the_operations_that_were_recorded(session: Any, tmp_path: Path) -> None:
    session.run(f"%jaxprof --all --perfetto {tmp_path}/trace.json.gz jnp.sort(x)")
    record = jaxmagic.last()
    assert isinstance(record, Profile)
    trace = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))
    names = {each["name"] for each in trace["traceEvents"]}
    assert {each.name for each in record.operation_times} <= names
    assert "".join(f"Written for Perfetto: {tmp_path}/trace.json.gz.".split()) in "".join(session.report.split())


def test_a_trace_that_cannot_be_written_in_the_end_is_a_note(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jaxmagic.profiling.verbs.write", full)
    session.run(f"%jaxprof --perfetto {tmp_path}/trace.json -v p jnp.sort(x)")
    assert profile(session).operation_times
    assert any("No space left" in str(each) for each in profile(session).notes)


@pytest.mark.parametrize(
    "options",
    ["--label a/b --logdir {}", "--label a", "--logdir {}/file", "--logdir ''", "--perfetto {}/none/trace.json"],
)
def test_nothing_is_run_where_a_recording_cannot_be_kept(session: Any, tmp_path: Path, options: str) -> None:
    (tmp_path / "file").write_text("in the way")
    error = session.run(f"%jaxprof {options.format(tmp_path)} calls.append(1)", fails=UsageError)
    assert "Nothing was run" in str(error) or "--logdir as well" in str(error)
    assert session.shell.user_ns["calls"] == []


def test_a_compilation_in_any_of_the_runs_is_what_was_not_expected(session: Any) -> None:
    session.run("import jax, jax.numpy as jnp\nf, x = jax.jit(lambda x: x * 97), jnp.ones(7)")
    with pytest.raises(AssertionError, match="expected no compilation, got 1 compiled program"):
        session.run("%jaxprof -q --expect-no-compile f(x)")
    session.run("%jaxprof -q --expect-no-compile f(x)")
    with pytest.raises(AssertionError, match="expected no compilation"):
        session.run("%jaxprof -q --cold -n 2 --expect-no-compile jax.jit(lambda x: x * 101)(x)")


def test_for_how_long_is_recorded_is_an_option(session: Any, capsys: pytest.CaptureFixture[str]) -> None:
    session.run("import jax, jax.numpy as jnp; f = jax.jit(lambda x: jnp.sort(x @ x)); x = jnp.ones((100, 100))")
    session.run("from jaxmagic.profiling.capture import profiler_session as profiler")
    session.run("%%jaxprof -q --most 20ms -v p\ny = f(x)\nwhile profiler._recording:\n    y = f(x)")
    assert session.run("p.runs") is None
    assert "recordings end after 20.0 ms" in session.run("' '.join(map(str, p.notes))")
    session.run("%jaxprof -q --most 1min -v p f(x)")
    assert session.run("p.runs") == 1


def test_a_recording_ends_after_so_many_events(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[EventRate] = []

    def made(allowed: Any) -> EventRate:
        rates.append(EventRate(allowed, repeat(0.0)))  # as soon as the first run has compiled
        return rates[-1]

    monkeypatch.setattr("jaxmagic.profiling.capture.run.EventRate", made)
    session.shell.user_ns["rates"] = rates
    session.run("import jax, jax.numpy as jnp; f = jax.jit(lambda x: jnp.sort(x @ x)); x = jnp.ones((100, 100))")
    session.run("from jaxmagic.profiling.capture import profiler_session as profiler")
    until = "rates[-1].per_s is None and rates[-1]._thread.is_alive() or profiler._recording"
    session.run(f"%%jaxprof -q --most-events 10 -v p\ny = f(x)\nwhile {until}:\n    y = f(x).block_until_ready()")
    assert "about 10 events of this code, to stay readable" in session.run("' '.join(map(str, p.notes))")


def test_a_profiler_of_the_code_s_own_is_let_start(session: Any, tmp_path: Path) -> None:
    session.shell.user_ns["folder"] = tmp_path
    session.run("%%jaxprof\nwith jax.profiler.trace(folder):\n    y = jnp.sin(1.0)")
    assert "The code starts JAX's profiler itself" in " ".join(session.report.split())
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_a_profiler_that_the_code_leaves_running_is_left_alone(session: Any, tmp_path: Path) -> None:
    session.shell.user_ns["folder"] = tmp_path
    session.run("%%jaxprof\njax.profiler.start_trace(folder)\ny = jnp.sin(1.0)")
    jax.profiler.stop_trace()
    assert "the code ran once, and nothing was recorded" in " ".join(session.report.split())
