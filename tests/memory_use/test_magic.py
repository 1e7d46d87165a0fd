"""`%jaxmem` in a real shell: it runs code as `%jaxtime` does, reports its memory, and leaves nothing behind."""

from __future__ import annotations

import gc
import re
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import pytest
from IPython.core.error import UsageError
from jax._src.interpreters import pxla

import jaxmagic
from jaxmagic.memory_use.capture.pprof import read_heap
from jaxmagic.memory_use.record.live_arrays import LiveArrays
from jaxmagic.memory_use.record.memory_profile import MemoryProfile

HOSTILE = """
class Hostile:
    def __getattr__(self, name): raise RuntimeError('do not ask')
    def __eq__(self, other): raise RuntimeError('do not compare')
    def __repr__(self): return 'hostile'
class HostileDict(dict):
    def __getitem__(self, name): raise RuntimeError('do not ask')
    def __iter__(self): raise RuntimeError('do not iterate')
    def items(self): raise RuntimeError('do not list')
hostile = Hostile()
mapping = HostileDict(a=x)
loop = []; loop.append(loop)
deleted = x + 1; deleted.delete()
donating = jax.jit(lambda x: x + 1, donate_argnums=0)
def interrupt(): raise KeyboardInterrupt
import threading
def compile_beside():
    thread = threading.Thread(target=lambda: jax.block_until_ready(jax.jit(lambda x: x - 97)(x)))
    thread.start(); thread.join()
"""


@pytest.fixture(autouse=True)
def forgotten(session: Any) -> Iterator[None]:
    """Clear the shell, which IPython keeps forever: all later tests would search the values of its cells."""
    yield
    session.shell.user_ns.clear()


@pytest.fixture
def state(session_state: Any) -> Any:
    """The session, and the function with which JAX runs programs."""

    def of() -> dict[str, Any]:
        return session_state() | {"run": pxla.ExecuteReplicated.__call__}

    return of


def forget_errors(session: Any) -> None:
    """Forget the last error that IPython keeps, and so the variables of its frames."""
    session.run("import sys; sys.last_traceback = sys.last_value = sys.last_exc = None")
    session.shell.InteractiveTB.tb = None


def wide_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > 80]


# --- the value, and the report -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["%jaxmem f(x)", "%%jaxmem\nf(x)", "%%jaxmem\nz = 1\nf(x)  # the value"])
def test_the_value_is_displayed_and_stored_and_its_name_is_told(session: Any, cell: str) -> None:
    assert session.run(cell).shape == (8, 8)
    number = session.shell.execution_count - 1
    assert session.run("_").shape == (8, 8)
    assert "arrays: " in session.report.splitlines()[0].lower()
    assert f"  256 B  f32[8,8]  Out[{number}]\n" in session.report
    assert "__jaxmagic" not in session.report
    assert "__main__" not in session.report


@pytest.mark.parametrize("cell", ["%jaxmem f(x);", "%%jaxmem\nf(x);", "%%jaxmem\nz = f(x)", "z = %jaxmem f(x)"])
def test_a_semicolon_or_an_assignment_shows_no_value_but_the_report(session: Any, cell: str) -> None:
    assert session.run(cell) is None
    assert len(session.published) == 1
    assert set(session.published[0]) == {"text/plain", "text/html"}
    assert re.search(r"f32\[8,8\]  (z|\(the value\))\n", session.report)


def test_a_variable_that_is_assigned_is_what_holds_the_array(session: Any) -> None:
    session.run("%jaxmem z = [f(x), f(x) + 1]")
    assert "  256 B  f32[8,8]  z[0]\n" in session.report
    assert "  256 B  f32[8,8]  z[1]\n" in session.report
    session.run("a, b = %jaxmem (1, 2)")
    assert session.run("a + b") == 3


def test_what_an_error_keeps_alive_is_held_by_its_traceback(session: Any) -> None:
    forget_errors(session)
    session.run("def bad(s):\n    t = s * 2\n    raise ValueError('bad')")
    session.run("%jaxmem --all bad(f(x))", fails=ValueError)
    report = session.report
    assert "arrays: " in report.splitlines()[0].lower()
    assert "256 B  f32[8,8]  this ValueError: frame bad, variable s\n" in report
    assert "256 B  f32[8,8]  this ValueError: frame bad, variable t\n" in report
    assert "not found" not in report
    forget_errors(session)


def test_an_error_of_a_magic_holds_nothing_by_its_own_frames(session: Any, monkeypatch: Any) -> None:
    error = session.run("%jaxmem --before x", fails=UsageError)
    monkeypatch.setattr(sys, "last_traceback", error.__traceback__, raising=False)  # as IPython does, showing it
    session.run("%jaxmem kept = f(x)")
    assert "last traceback" not in session.report


def test_what_is_built_in_is_told_by_its_name_and_its_line(session: Any) -> None:
    session.run("params = {'w': jnp.cos(jnp.arange(800.0)).reshape(8, 100)}\ng = jax.jit(lambda x: x @ params['w'])")
    cell = session.shell.execution_count - 1
    session.run("%jaxmem --all g(x);")
    told = f"Constants, not included above: jit__lambda 3.12 KiB (3.12 KiB params['w'] at cell {cell}:2)"
    assert told in " ".join(session.report.split())


def test_the_record_can_be_had_in_each_way(session: Any) -> None:
    session.run("%jaxmem -q -v m f(x);")
    assert session.published == []
    found = session.run("m")
    assert isinstance(found, MemoryProfile)
    assert found is jaxmagic.last()
    assert found.code == "f(x)"
    (program,) = found.executables
    assert (program.name, program.ran, program.compiled) == ("jit__lambda", True, False)
    assert program.peak_bytes == 512
    shown = session.run("%jaxmem -o f(x)")
    assert isinstance(shown, MemoryProfile)
    assert [each.names for each in shown.arrays.made] == [("(the value)",)]  # the value itself is not kept
    session.run("r = %jaxmem -qo f(x)")
    assert isinstance(session.run("r"), MemoryProfile)


def test_assignments_reach_a_functions_locals_in_a_loop(session: Any) -> None:
    session.run(
        "def g(a):\n"
        "    for _ in range(2):\n"
        "        %jaxmem -q -v m b = f(a)\n"
        "        c = %jaxmem -q b + 1\n"
        "    return b.shape, c.shape, m"
    )
    first, second, found = session.run("g(x)")
    assert (first, second) == ((8, 8), (8, 8))
    assert isinstance(found, MemoryProfile)
    assert not {"b", "c", "m"} & set(session.shell.user_ns)


def test_magics_in_magics_tell_of_both(session: Any, state: Any) -> None:
    before = state()["run"]
    assert session.run("%%jaxmem -v outer\n%jaxmem -v inner f(x)\n%jaxtime -v t f(x)\n5") == 5
    assert pxla.ExecuteReplicated.__call__ is before
    assert [each.name for each in session.run("outer.executables")] == ["jit__lambda"]
    assert [each.name for each in session.run("inner.executables")] == ["jit__lambda"]
    session.run("%%jaxmem -v outer\n%%jaxmem -v inner\nz = f(x)")
    assert session.run("outer.executables[0].ran and inner.executables[0].ran")


def test_await_works(session: Any) -> None:
    session.run("import asyncio")
    assert session.run("%%jaxmem\nawait asyncio.sleep(0)\n5") == 5
    assert session.run("%jaxmem await asyncio.sleep(0, 'slept')") == "slept"
    session.run("async def g():\n    v = %jaxmem -q await asyncio.sleep(0, 'inside')\n    return v")
    assert session.run("await g()") == "inside"


def test_called_it_returns_the_value(session: Any) -> None:
    session.run("value = get_ipython().run_line_magic('jaxmem', '-v m f(x)')")
    assert session.run("value.shape") == (8, 8)
    assert session.run("m.executables[0].peak_bytes") == 512
    session.run("get_ipython().run_cell_magic('jaxmem', '-q', 'w = f(x)')")
    assert session.run("w.shape") == (8, 8)


# --- options -----------------------------------------------------------------------------------------------------


def test_all_is_all_rows(session: Any) -> None:
    session.run("kept = [jnp.full(1000 + n, 1.0) for n in range(12)]")
    session.run("%jaxmem --before --top 3")
    assert "more arrays: see %jaxmagic last" in session.report
    assert re.search(r"more arrays: see (<[^>]*>)?%jaxmagic last", session.published[-1]["text/html"])
    session.run("%jaxmem --before --all")
    assert {f"f32[{1000 + n}]" for n in range(12)} <= set(session.report.split())
    assert "more array" not in session.report


def test_top_is_how_many_rows_there_are(session: Any) -> None:
    session.run("%jaxmem --all --top 2 [f(x), f(x) + 1, f(x) - 1, f(x) / 2];")
    assert session.report.count("f32[8,8]  (the value)") == 2
    assert "… and 2 more arrays: see to_frame()" in session.report
    assert "more programs: see to_frame()" in session.report
    assert "… and 2 more arrays: see to_frame()" in session.published[0]["text/html"]


def test_without_a_map_the_sums_are_known(session: Any) -> None:
    session.run("%jaxmem --no-map -v m f(x);")
    (program,) = session.run("m.executables")
    assert program.allocations is None
    assert program.peak_bytes == 512
    assert "peaks at step" not in session.report
    session.run("%jaxmem --map f(x);")
    assert "peaks at step" in session.report


def test_the_interval_is_that_of_the_samples(session: Any) -> None:
    session.run("%jaxmem --all --interval 250ms -v m f(x);")
    assert session.run("m.timeline.interval_ns") == 250_000_000
    assert "every 250 ms at best" in session.report


def test_the_copy_to_the_host_is_told(session: Any) -> None:
    session.run("%jaxmem --fetch -v m f(x);")
    assert session.run("m.timing.fetch_bytes") == 256
    assert "to copy 256 B to the host" in session.report


def test_explain_explains(session: Any) -> None:
    session.run("%jaxmem --explain f(x);")
    assert session.report.count("At least: a peak between two samples is missed") == 1
    assert wide_lines(session.report) == []


def test_a_failed_expectation_shows_its_report_once(session: Any) -> None:
    error = session.run("%jaxmem --max-time 1ns f(x)", fails=AssertionError)
    assert str(error).startswith("expected at most 1 ns, got ")
    assert str(error).lower().count("arrays: ") == 1 + str(error).count("\nArrays: ")
    assert session.published == []
    error = session.run("%jaxmem --expect-no-compile jax.jit(lambda x: x + 131)(x)", fails=AssertionError)
    assert str(error).startswith("expected no compilation, got 1 compiled program.")
    assert session.run("%jaxmem --expect-no-compile --max-time 10min f(x)").shape == (8, 8)


def test_the_next_cell_runs_where_an_error_is_not_to_be_raised(session: Any) -> None:
    assert session.run("%jaxmem --no-raise-error 1/0") is None
    assert "The code ended with ZeroDivisionError; the record covers what ran until then." in session.report
    session.run("%%jaxmem --no-raise-error\nraise KeyboardInterrupt", fails=KeyboardInterrupt)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxmem --fetch", "%jaxmem --fetch has nothing to run. Write the statement after it: %jaxmem f\\(x\\)"),
        ("%jaxmem # a comment", "only a comment"),
        ("%%jaxmem f(x)\n1", "expected options only, got 'f\\(x\\)'"),
        ("%jaxmem --top 0 f(x)", "--top: expected a positive integer, got '0'"),
        ("%jaxmem --top", "--top"),
        ("%jaxmem --interval soon f(x)", "--interval: expected a time with a unit"),
        ("%jaxmem --interval 0ms f(x)", "--interval: expected a time above 0, got '0ms'"),
        ("%jaxmem --nomap f(x)", "there is no option --nomap. Did you mean --no-map"),
        ("%jaxmem -z f(x)", "no option -z"),
        (
            "%jaxmem --before f(x)",
            "--before: expected nothing after it, got code. Put the code on",
        ),
        ("%jaxmem --before --pprof", "--before: expected no option that needs a run, got --pprof"),
        ("%jaxmem --pprof= f(x)", "--pprof: expected a file name, got ''"),
        ("%%jaxmem --pprof heap.bin\n1", "expected options only, got 'heap.bin'"),
        ("%%jaxmem --before\nnever = 1", "--before: expected nothing after it, got code"),
        ("if True:\n    %jaxmem --before f(x)", "--before: expected nothing after it, got code"),
    ],
)
def test_a_wrong_option_says_what_to_write(session: Any, cell: str, message: str) -> None:
    error = session.run(cell, fails=UsageError)
    assert re.search(message, str(error))
    assert "never" not in session.shell.user_ns
    assert session.published == []


# --- by call stack -----------------------------------------------------------------------------------------------

STEP = "def step(n):\n    return f(jnp.ones((n, n)))"


@pytest.mark.parametrize("cell", ["%jaxmem --all --pprof z = step(100)", "%%jaxmem --all --pprof\nz = step(100)"])
def test_what_a_call_has_put_there_is_told_by_its_lines(session: Any, cell: str) -> None:
    session.run(STEP)
    gc.collect()  # or arrays of other tests would be freed during the run
    session.run(cell)
    row = r"  39\.1 KiB  \+39\.1 KiB  step \(cell \d+:2\) ← <.*> \(cell \d+:[12]\)"
    assert re.search(rf"By call stack: .* held, \+39\.1 KiB\.\n +held .*\n{row}", session.report)
    ours = [line for line in session.report.splitlines() if "step" in line]
    assert wide_lines("\n".join(ours)) == []  # names of arrays of other tests may be wider, to tell two rows apart
    html = session.published[-1]["text/html"]
    assert html.count('<img alt="memory held, by call stack"') == 1
    assert "allocated by" in html
    session.run("%jaxmem step(100);")
    assert "By call stack" not in session.report


def test_a_run_that_frees_what_was_there_says_so(session: Any) -> None:
    session.run(f"{STEP}\nz = step(100)")
    gc.collect()
    session.run("%jaxmem --all --pprof -v m z = None")
    assert re.search(r" 0 B +-39\.1 KiB  step \(", session.report)
    assert session.run("m.heap.change_bytes") == -40_000


@pytest.mark.clock
def test_a_statement_that_was_repeated_has_no_name_of_ours(session: Any) -> None:
    session.run("kept = []\n%jaxtimeit -q -n 1 -r 2 kept.append(jnp.ones((300, 300)))")
    session.run("%jaxmem --pprof --top 99 f(x);")
    assert "  unchanged  <module> (" in session.report
    assert "jaxmagic" not in session.report


def test_two_records_can_be_subtracted(session: Any) -> None:
    session.run(STEP)
    gc.collect()
    session.run("%jaxmem -q --pprof -v first a = step(100)")
    session.run("b = step(50)")
    session.run("%jaxmem -q --pprof -v second c = step(10)")
    found = session.run("second.heap.after - first.heap.after")
    assert found.change_bytes == 10_400
    assert "allocated by" in str(found)


@pytest.mark.parametrize(
    "cell",
    [
        "%jaxmem --pprof={path} f(x);",
        "%jaxmem --pprof={path} -q f(x)",
        "%jaxmem --pprof {path} z = f(x)",
        "%%jaxmem --pprof {path}\nf(x);",
        "%%jaxmem --pprof='{path}'\nf(x);",
        "path = '{path}'\n%jaxmem --pprof=$path f(x);",
        "def g():\n    %jaxmem --pprof={path} z = f(x)\ng()",
        "get_ipython().run_line_magic('jaxmem', '--pprof={path} f(x)');",
    ],
)
def test_the_raw_profile_is_written_where_that_is_asked_for(session: Any, tmp_path: Any, cell: str) -> None:
    path = tmp_path / "heap.pb.gz"
    path.write_bytes(b"what was there")
    session.run(cell.format(path=path))
    assert read_heap(path.read_bytes()).total_bytes == jaxmagic.last().heap.after.total_bytes
    assert list(tmp_path.iterdir()) == [path]


def test_no_file_appears_that_nobody_asked_for(session: Any, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    session.run("%jaxmem --pprof f(x);")
    session.run("%jaxmem --pprof obj.prof", fails=UsageError)  # a file, but no code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none/heap.pb.gz", "There is no such folder: {path}/none. Give another path. Nothing was run."),
        (".", "This is a folder; name a file in it. Nothing was run."),
    ],
)
def test_a_file_that_cannot_be_written_is_told_before_the_code_runs(
    session: Any, tmp_path: Any, name: str, message: str
) -> None:
    error = session.run(f"%jaxmem --pprof={tmp_path}/{name} never = 1", fails=UsageError)
    assert str(error).endswith(message.format(path=tmp_path))
    assert "never" not in session.shell.user_ns
    assert session.published == []


def test_a_disk_that_is_full_is_a_sentence_in_the_report(session: Any, tmp_path: Any, monkeypatch: Any) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jaxmagic.memory_use.verbs.write", full)
    assert session.run(f"%jaxmem --all --pprof={tmp_path}/heap.prof f(x)").shape == (8, 8)
    told = " ".join(session.report.split())
    assert "Could not write the raw heap profile: [Errno 28] No space left on device." in told
    assert "allocated by" in session.report


def test_a_broken_profile_costs_nothing_of_the_report(session: Any, tmp_path: Any, monkeypatch: Any) -> None:
    session.run("%jaxmem f(x);")
    usual = session.report.splitlines()
    monkeypatch.setattr(jax.profiler, "device_memory_profile", lambda *_: b"hello")
    session.run(f"%jaxmem --pprof={tmp_path}/heap.prof f(x);")
    told = " ".join(session.report.split())
    assert "Could not read JAX's heap profile: expected a complete pprof profile of memory" in told
    assert [line.split()[0] for line in session.report.splitlines()[:6]] == [line.split()[0] for line in usual[:6]]
    assert (tmp_path / "heap.prof").read_bytes() == b"hello"


def test_an_error_of_the_code_leaves_what_it_had_put_there_in_the_report(session: Any) -> None:
    session.run(STEP)
    session.run("%%jaxmem --all --pprof\nz = step(100)\n1/0", fails=ZeroDivisionError)
    assert re.search(r"\+39\.1 KiB  step \(", session.report)


def test_help_is_made_from_the_parser() -> None:
    from jaxmagic.magics.declare import declared

    for option in (
        "-q",
        "-v NAME",
        "--top N",
        "--no-map",
        "--interval TIME",
        "--pprof",
        "--before",
        "--max-time TIME",
    ):
        assert option in declared("jaxmem").__doc__


# --- before ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        "%jaxmem --top 10000",
        "%jaxmem --before --top 10000",
        "%jaxmem --before --top 10000 # a look",
        "%%jaxmem --before --top 10000\n# a look",
        "if True:\n    %jaxmem --before --top 10000",
    ],
)
def test_before_only_looks_and_keeps_what_it_saw(session: Any, cell: str) -> None:
    records = len(jaxmagic.history())
    assert session.run(cell) is None
    assert " alive: " in session.report
    assert re.search(r"f32\[8,8\] .* x$", session.report, re.M)
    assert "__main__" not in session.report
    assert len(session.published) == 1
    assert len(jaxmagic.history()) == records + 1
    kept = jaxmagic.last()
    assert isinstance(kept, LiveArrays)
    assert str(kept).splitlines()[0] == session.report.splitlines()[0]
    assert re.search(r"B +live arrays$", str(jaxmagic.history()), re.M)


def test_a_look_can_be_had_in_each_way(session: Any) -> None:
    session.run("%jaxmem --before -q -v looked")
    assert isinstance(session.run("looked"), LiveArrays)
    assert session.published == []
    session.run("looked = %jaxmem --before -oq")
    assert isinstance(session.run("looked"), LiveArrays)
    assert isinstance(session.run("get_ipython().run_line_magic('jaxmem', '--before -oq')"), LiveArrays)
    assert isinstance(session.run("get_ipython().run_cell_magic('jaxmem', '--before -oq', '# no code')"), LiveArrays)
    assert session.published == []
    session.run("%jaxmem --before --top 1")
    assert "more array" in session.report


@pytest.mark.parametrize(
    "option",
    ["--max-time 1s", "--expect-no-compile", "--fetch", "--explain", "--interval 5ms", "--no-map", "--pprof"],
)
def test_a_look_refuses_what_takes_a_run(session: Any, option: str) -> None:
    error = session.run(f"%jaxmem --before {option}", fails=UsageError)
    assert f"got {option.split()[0]}" in str(error)
    assert session.published == []


def test_a_look_in_a_function_sees_its_locals_and_binds_there(session: Any) -> None:
    session.run("def g():\n    inner = f(x)\n    %jaxmem --before -v looked\n    return inner, looked")
    _, looked = session.run("g()")
    assert "inner" in {name for each in looked.arrays for name in each.names}
    assert "x" in {name for each in looked.arrays for name in each.names}
    assert "looked" not in session.shell.user_ns


def test_a_look_opens_a_view_of_the_arrays(session: Any) -> None:
    session.run("%jaxmem --before -qw")
    (bundle,) = session.published
    assert "application/vnd.jupyter.widget-view+json" in bundle


# --- what grows --------------------------------------------------------------------------------------------------


def test_what_grows_in_three_runs_is_suspected(session: Any) -> None:
    session.run("losses = []")
    for _ in range(2):
        session.run("%jaxmem losses.append(f(x))")
        assert "leak" not in session.report
    session.run("%jaxmem losses.append(f(x))")
    told = " ".join(session.report.split())
    assert "Warning: losses[*] kept growing over the last 3 records, by 512 B to 768 B (3 arrays): a leak?" in told
    assert "losses.clear()" in told


@pytest.mark.parametrize("cell", ["big = f(x); big", "f(x)", "[f(x)]"])
@pytest.mark.parametrize("later", [[], ["1", "2"], ["del _, Out[{}]"]])
def test_the_advice_for_the_value_of_a_cell_frees_it(session: Any, cell: str, later: list[str]) -> None:
    value = session.run(cell)
    alive = weakref.ref(value[0] if isinstance(value, list) else value)
    del value
    number = session.shell.execution_count - 1
    session.run("%jaxmem")
    told = f"IPython has more names for Out[{number}], also hidden ones: %xdel _{number} deletes all names"
    assert told in " ".join(session.report.split())
    for each in later:
        session.run(each.format(number))
    assert alive() is not None
    session.run(f"%xdel _{number}")
    assert alive() is None


def test_the_advice_for_what_ipython_keeps_after_a_reset_frees_it(session: Any) -> None:
    alive = weakref.ref(session.run("f(x)"))
    session.run("%reset -f out")
    session.run("%jaxmem")
    assert alive() is not None
    told = "IPython keeps values without a name, as after %reset -f out. To free them: "
    code = " ".join(session.report.split()).partition(told)[2].partition("'].")[0]
    assert code.startswith("del get_ipython().user_ns_hidden['_")
    session.run(f"{code}']")  # IPython 7 keeps the value under two names
    assert alive() is None


@pytest.mark.parametrize("before", [[], ["%jaxmem --bogus"], ["%jaxdoctor"], ["%jaxdoctor --bogus", "%jaxdoctor"]])
@pytest.mark.parametrize("further", [False, True])
def test_the_advice_for_the_last_traceback_frees_what_it_holds(
    session: Any, before: list[str], further: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(session.shell, "showtraceback")  # IPython keeps the traceback that it shows
    session.run("def bad(s):\n    t = s * 2\n    refs.append(weakref.ref(t))\n    t.reshape(7, 7)")
    session.run("import weakref; refs = []; bad(x)", fails=TypeError)
    for each in before:
        session.shell.run_cell(each, store_history=True)
    session.run("%jaxmem")
    told = " ".join(session.report.split())
    freed = "refs[0]() is None"
    ((line, collect),) = re.findall(r"run (import gc, .* = None), and (gc.collect\(\))", told)
    session.run(f"import gc; {collect}")
    assert session.run(freed) is False
    if further:
        session.run("1 / 0", fails=ZeroDivisionError)
    else:
        session.run(line)
    session.run(collect)
    assert session.run(freed) is True
    forget_errors(session)


def test_values_of_cells_are_suspected_where_they_are_kept(session: Any) -> None:
    for _ in range(3):
        session.run("%jaxmem f(x)")
    assert "Warning: Out[*] kept growing over the last 3 records" in session.report
    assert "%xdel _3 deletes every name" in " ".join(session.report.split())


def test_values_that_are_thrown_away_are_not_suspected(session: Any) -> None:
    for size in (8, 16, 32):
        session.run(f"%jaxmem f(jnp.ones({size}));")
    assert "leak" not in session.report


# --- what is left behind -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ("%jaxmem -q f(x);", None),
        ("%%jaxmem -q\nf(x)\nNone", None),
        ("%jaxmem f(x);", None),
        ("%jaxmem -q 1/0", ZeroDivisionError),
        ("%jaxmem -q f(", SyntaxError),
        ("%jaxmem --bogus 1", Exception),
        ("%jaxmem -q interrupt()", KeyboardInterrupt),
        ("%jaxmem -q raise SystemExit", SystemExit),
        ("%jaxmem -q --max-time 1ns f(x)", AssertionError),
        ("%jaxmem -q --no-raise-error f(deleted)", None),
        ("%jaxmem -q hostile;", None),
        ("%jaxmem -q mapping;", None),
        ("%jaxmem -q loop;", None),
        ("%jaxmem -q [deleted];", None),
        ("%jaxmem -q d = donating(jnp.ones(3)); del d", None),
        ("%jaxmem -q jax.random.key(0);", None),
        ("%jaxmem -q (n for n in range(3));", None),
        ("%jaxmem -q compile_beside()", None),
        ("%jaxmem --pprof -q f(x);", None),
        ("%jaxmem --pprof -q 1/0", ZeroDivisionError),
        ("%jaxmem --pprof -q interrupt()", KeyboardInterrupt),
        ("%jaxmem --before -q", None),
        ("%jaxmem --before f(x)", UsageError),
        ("%%jaxmem -q\n%jaxmem -q f(x);\n%jaxmem -q 1/0", ZeroDivisionError),
        ("%%jaxmem --no-raise-error -q\n%jaxmem -q 1/0", None),
        ("for i in range(3):\n    %jaxmem -q f(x)", None),
        ("for i in range(3):\n    %jaxmem -q if i == 1: break", None),
        ("def g():\n    %jaxmem -q f(x)\n    return 1/0\ng()", ZeroDivisionError),
        ("@jax.jit\ndef traced(x):\n    %jaxmem -q y = x + 1\n    return y\ntraced(1.0);", None),
    ],
)
def test_the_session_is_as_before(session: Any, state: Any, cell: str, error: Any) -> None:
    session.run(HOSTILE)
    session.run("%jaxmem -q f(x);")
    session.run("%reset -f out")
    before = state()
    session.run(cell, fails=error)
    forget_errors(session)
    session.run("%reset -f out")
    assert state() == before
    assert not [name for name in session.shell.user_ns if name.startswith("__jaxmagic")]
    assert session.run("%jaxmem -q 1 + 1") == 2


@pytest.mark.parametrize(
    "where",
    [
        "magics.block.Block._result",
        "timing.capture.stopwatch.Stopwatch._make_record",
        "memory_use.capture.run.MemoryWatch._make_record",
        "memory_use.capture.run.list_live_arrays",
        "memory_use.capture.run.describe",
        "memory_use.capture.run.snapshot",
        "memory_use.capture.run.HeapWatch.start",
        "memory_use.capture.run.HeapWatch.stop",
        "memory_use.capture.run.watch",
        "memory_use.capture.run.MemorySampler.start",
        "memory_use.capture.run.MemorySampler._make_record",
    ],
)
def test_an_interrupt_in_one_of_our_own_lines_is_an_interrupt(
    session: Any, state: Any, monkeypatch: Any, where: str
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        patch.undo()
        raise KeyboardInterrupt

    session.run("%jaxmem -q 1")
    before = state()
    with monkeypatch.context() as patch:
        patch.setattr(f"jaxmagic.{where}", interrupt)
        session.run("%jaxmem --pprof f(x)", fails=KeyboardInterrupt)
    forget_errors(session)
    assert not [name for name in session.shell.user_ns if name.startswith("__jaxmagic")]
    assert state() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_comes_up_while_the_work_is_waited_for_is_raised_behind_the_report(
    session: Any, state: Any, monkeypatch: Any, error: type[BaseException]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    session.run("%jaxmem -q 1")
    before = state()
    with monkeypatch.context() as patch:
        patch.setattr("jaxmagic.timing.capture.completion.Completion.wait", fail)
        session.run("%jaxmem -v m f(x)", fails=error)
    forget_errors(session)
    assert f"The code ended with {error.__name__}" in session.report
    assert session.run("m.timing.error") == error.__name__
    assert session.run("m.timeline is not None")
    assert state() == before


def test_an_array_lives_no_longer_than_without_the_magic(session: Any) -> None:
    session.run("%jaxmem -q w = f(x)")
    there = weakref.ref(session.shell.user_ns["w"])
    session.run("del w")
    assert there() is None


# --- odd input ---------------------------------------------------------------------------------------------------


def test_a_namespace_of_many_names_and_hostile_objects_is_looked_through(session: Any) -> None:
    session.run(HOSTILE)
    session.shell.user_ns.update((f"name_{number}", [number]) for number in range(100_000))
    session.run("%jaxmem -v m z = f(x)")
    assert session.run("m.arrays.made")[0].shape == "f32[8,8]"
    notes = session.run("m.arrays.notes")
    assert session.run("m.arrays.search_complete") or any(
        each.kind == "memory_use.search_cut_short" for each in notes
    )


def test_an_array_over_four_devices_counts_on_each(session: Any) -> None:
    session.run(
        "import numpy as np\nfrom jax.sharding import Mesh, NamedSharding, PartitionSpec\n"
        "mesh = Mesh(np.array(jax.local_devices()[:4]), ('i',))\n"
        "%jaxmem --all -v m w = jax.device_put(np.ones((64, 16), 'float32'), NamedSharding(mesh, PartitionSpec('i')))"
    )
    (made,) = session.run("m.arrays.made")
    assert made.names == ("w",)
    assert [size for _, size in made.device_bytes] == [1024] * 4
    assert "By device: cpu:0 " in session.report
    assert wide_lines(session.report) == []


def test_an_array_that_was_donated_is_gone(session: Any) -> None:
    session.run(HOSTILE)
    session.run("w = jnp.ones((64, 64))\n%jaxmem --all -v m w = donating(w)")
    assert session.report.startswith("A program needs 16.0 KiB; arrays: ")
    assert ", unchanged in total; " in session.report
    (program,) = session.run("m.executables")
    assert program.alias_bytes == 64 * 64 * 4
    assert "- alias" in session.report


def test_a_function_that_is_traced_makes_no_array(session: Any) -> None:
    session.run("@jax.jit\ndef traced(a):\n    %jaxmem -v m b = a * 2\n    return b\ntraced(x)")
    assert "No new array was alive when all work was done." in session.report


def test_a_report_is_not_wider_than_a_terminal(session: Any) -> None:
    session.run("def a_function_with_a_name_that_is_rather_long(x): return (jnp.tanh(x @ x) + 1).sum()")
    session.run("configuration = {'optimizer_state': {'first_moment': {}}}")
    session.run(
        "%jaxmem configuration['optimizer_state']['first_moment']['w'] = "
        "jax.jit(a_function_with_a_name_that_is_rather_long)(x)"
    )
    assert wide_lines(session.report) == []


def test_settings_hold(session: Any) -> None:
    session.run("%config JaxMagics.form = 'line'")
    session.run("%jaxmem f(x);")
    assert set(session.published[-1]) == {"text/plain"}
    assert "\n" not in session.report
    session.run("%jaxmem --before")
    assert "\n" not in session.report


def test_jax_arrays_that_nobody_names_are_told_as_such(session: Any) -> None:
    held = jax.numpy.ones((3, 5, 2, 9))  # a shape that no other test keeps
    session.run("%jaxmem --before --top 10000")
    (row,) = [line for line in session.report.splitlines() if "f32[3,5,2,9]" in line]
    assert row.endswith("no name found")
    del held


def test_an_argument_that_was_donated_is_named(session: Any) -> None:
    session.run("g = jax.jit(lambda x: x + 1, donate_argnums=0)\nz = jnp.ones(500)")
    session.run("%jaxmem w = g(z)")
    assert "still named: z (f32[500], 1.95 KiB)" in " ".join(session.report.split())
    session.run("import jaxmagic")
    assert session.run("jaxmagic.last().arrays.deleted[0].names") == ("z",)


def test_a_name_that_runs_nothing_is_told_and_a_property_that_runs_is_not(session: Any) -> None:
    session.run("class Data:\n    @property\n    def made(self):\n        return x + 1\ndata = Data()")
    session.run("%jaxmem x;")
    assert session.report.startswith("Reading x runs nothing. %jaxmem alone lists all arrays")
    session.run("%jaxmem f;")
    assert session.report.startswith("f was not called, so nothing ran.")
    session.run("%jaxmem data.made;")
    assert "runs nothing" not in session.report
    session.run("%jaxmem nowhere", fails=NameError)
    assert "runs nothing" not in session.report
