"""``%jaxtimeit`` in a real shell: its dialect is that of ``%timeit``."""

from __future__ import annotations

import re
import traceback
from dataclasses import replace
from html import unescape
from typing import Any

import jax
import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic import units
from jaxmagic.benchmarking.record.process_noise import ProcessNoise, ProgramNoise
from jaxmagic.benchmarking.record.samples import Launch
from jaxmagic.benchmarking.verbs.earlier import Earlier, about_saved
from jaxmagic.magics.declare import declared

pytestmark = pytest.mark.clock

QUICK = "--budget 20ms"


def test_the_report_has_the_median_its_interval_and_both_figures(session: Any) -> None:
    assert session.run("%jaxtimeit --all --budget 100ms f(x)") is None
    report = session.report
    samples = r"( \(means of \d+ calls\))?"  # which a fast machine needs: its clock is no finer
    assert re.match(rf"\S+ \S+ per call{samples}   \(\S+ to \S+ \S+ with 95 % confidence\)\n", report)
    for words in ("samples", "half of them", "min ", "Pipelined: ", "First call: ", "Stopped "):
        assert words in report
    assert session.published[-1]["text/html"].count("<script>") == 1


def test_the_record_is_returned_bound_and_kept_by_the_history_without_its_value(session: Any) -> None:
    record = session.run(f"r = %jaxtimeit -o -q {QUICK} -v same f(x)\nr")
    assert isinstance(record, jaxmagic.Benchmark)
    assert record is session.shell.user_ns["same"]
    assert record.code == "f(x)"
    assert record.value.shape == (8, 8)
    assert jaxmagic.last() == record
    assert jaxmagic.last().value is None
    assert session.published == []


def test_a_static_report_is_its_text_and_then_its_picture(session: Any) -> None:
    session.run(f"%jaxtimeit --static {QUICK} f(x)")
    session.run(f"%%jaxcompare --static {QUICK}\none: f(x)\ntwo: f(f(x))")
    assert [list(each) for each in session.published] == [["text/plain"], ["image/png"]] * 2
    session.published.clear()
    session.run("%config JaxMagics.form = 'static'")
    session.run("%jaxtime f(x);")
    assert [list(each) for each in session.published] == [["text/plain"], ["image/png"]]


def test_n_and_r_are_those_of_timeit(session: Any) -> None:
    record = session.run("%jaxtimeit -o -q -n3 -r 5 f(x)")
    assert record.latency.evaluations == 3
    assert len(record.samples_ns) == 5
    assert record.stopped_by == "count"


def test_p_is_the_number_of_digits(session: Any) -> None:
    session.run(f"%jaxtimeit -p 6 {QUICK} f(x)")
    number = session.report.split()[0]
    assert len(re.sub(r"\D", "", number).lstrip("0")) == 6


def test_rtol_and_budget_are_on_the_record(session: Any) -> None:
    record = session.run("%jaxtimeit -oq --rtol 20% --budget 30ms f(x)")
    assert (record.rtol, record.budget_ns) == (0.2, 30_000_000)


def test_the_line_over_a_cell_is_setup_and_runs_once(session: Any) -> None:
    session.run("calls = []")
    record = session.run(
        f"%%jaxtimeit -oq {QUICK} --setup 'a = 1' b = a + 1; calls.append(b)\nc = b + 1\ncalls.append(c)\nc"
    )
    calls = session.shell.user_ns["calls"]
    assert calls.count(2) == 1
    assert calls.count(3) > 1
    assert record.value == 3
    assert "b" not in session.shell.user_ns


def test_assignments_are_local_and_begin_with_the_value_outside(session: Any) -> None:
    session.run("n = 1")
    assert session.run(f"%jaxtimeit -oq {QUICK} n = n + 1").value == 2
    assert session.shell.user_ns["n"] == 1
    session.run(f"%jaxtimeit -q {QUICK} unknown_name = 3")
    assert "unknown_name" not in session.shell.user_ns


@pytest.mark.parametrize("option", ["--setup", "--each"])
def test_an_option_that_is_no_python_is_named(session: Any, option: str) -> None:
    error = session.run(f"%jaxtimeit {option} 'f(' f(x)", fails=UsageError)
    assert str(error).startswith(f"{option}: expected Python code, got 'f(': ")


def test_the_setup_and_the_statement_share_their_names(session: Any) -> None:
    record = session.run(f"%%jaxtimeit -oq {QUICK} n = 0\nn += 1\n[n for _ in range(2)]")
    assert record.value[0] > 1


def test_each_runs_before_every_sample_and_makes_what_is_donated(session: Any) -> None:
    session.run("g = jax.jit(lambda x: x + 1, donate_argnums=0)\nmade = []")
    record = session.run(f"%jaxtimeit -oq {QUICK} --each 'fresh = x.copy(); made.append(1)' g(fresh)")
    assert record.conditions.fresh
    assert len(session.shell.user_ns["made"]) == 1 + len(record.warmup_ns) + len(record.samples_ns)
    assert "fresh" not in session.shell.user_ns
    error = session.run(f"%jaxtimeit {QUICK} g(x)", fails=jaxmagic.DonatedTwice)
    assert "--each" in str(error)


def test_it_reads_the_locals_of_a_function(session: Any) -> None:
    session.run(f"def h(local):\n    r = %jaxtimeit -oq {QUICK} f(local)\n    return r, list(locals())")
    record, names = session.run("h(x + 1)")
    assert record.value[0, 0] == 4
    assert names == ["local", "r"]


def test_nothing_of_ours_is_left_in_the_namespace(session: Any, session_state: Any) -> None:
    names, before = set(session.shell.user_ns), session_state()
    session.run(f"%jaxtimeit -q {QUICK} f(x)")
    session.run("%%jaxtimeit -q --setup 'n = 0' n += 1\nn += 1\n(f(x), 1 / (5 - n))", fails=ZeroDivisionError)
    assert {name for name in set(session.shell.user_ns) - names if not name.startswith("_")} == set()
    jaxmagic.history().clear()
    assert session_state() == before


def test_an_error_points_at_the_users_line(session: Any) -> None:
    error = session.run("%%jaxtimeit\na = 1\nb = a / 0", fails=ZeroDivisionError)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.lineno, last.line) == (3, "b = a / 0")


@pytest.mark.parametrize("line", ["--setup 'b = 1 / a'", "--each 'b = 1 / a'", "b = 1 / a"])
def test_an_error_in_the_setup_or_in_an_option_points_at_that_code(session: Any, line: str) -> None:
    session.run("a = 0")
    error = session.run(f"%%jaxtimeit {line}\nx + 1\nx + b", fails=ZeroDivisionError)
    calls = [(call.lineno, call.line) for call in traceback.extract_tb(error.__traceback__)]
    assert calls[-1] == (1, "b = 1 / a")
    assert "x + 1" not in [line for _, line in calls]


def test_a_jitted_call_without_arrays_is_folded(session: Any) -> None:
    session.run("k = jax.jit(lambda: jnp.ones(10).sum())")
    record = session.run(f"%jaxtimeit -oq {QUICK} k()")
    assert "folded" in [each.kind for each in record.warnings]
    assert not session.run(f"%jaxtimeit -oq {QUICK} f(x)").conditions.folded


def test_magics_and_commands_inside_are_transformed(session: Any) -> None:
    assert session.run(f"%jaxtimeit -oq {QUICK} %who_ls").value
    assert session.run(f"%jaxtimeit -oq {QUICK} f'{{1}}  {{2}}'").value == "1  2"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxtimeit", "nothing to run. Write the statement after it"),
        ("%jaxtimeit # comment", "nothing to run"),
        ("%jaxtimeit --rtol 5 f(x)", "a fraction between 0 and 1"),
        ("%jaxtimeit --budget 1 f(x)", "a time with a unit"),
        ("%jaxtimeit -n 0 f(x)", "-n: expected a positive integer, got '0'"),
        ("%jaxtimeit -z f(x)", "no option -z"),
        ("%jaxtimeit --bugdet 1s f(x)", "Did you mean --budget"),
        ("%jaxtimeit await f(x)", "await cannot be repeated"),
    ],
)
def test_bad_input_says_what_to_write(session: Any, cell: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        magic, _, rest = cell[1:].partition(" ")
        session.shell.run_line_magic(magic, rest)


def test_it_is_listed_with_its_options() -> None:
    text = declared("jaxtimeit").parser.format_help()
    for option in ("-n N", "-r R", "--rtol SHARE", "--budget TIME", "--setup CODE", "--each CODE"):
        assert option in text


def test_it_measures_what_jax_does(session: Any, work: Any) -> None:
    session.shell.user_ns["work"] = work
    record = session.run("%jaxtimeit -oq --budget 200ms work()")
    assert record.median_ns > work.truth_ns() / 4
    assert jax.numpy.isfinite(record.value).all()


def test_a_record_is_saved_and_the_next_one_put_beside_it(
    session: Any, tmp_path: Any, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    path = "old.json"
    session.run(f"%jaxtimeit -q -v record -r 6 {QUICK} --save '{path}' f(x)")
    assert jaxmagic.load(path) == session.shell.user_ns["record"]
    assert capsys.readouterr().out == ""
    session.run(f"%jaxtimeit -r 6 {QUICK} --against '{path}' f(x);")
    verdict, report = session.published
    assert "per call" in report["text/plain"]
    out = verdict["text/plain"]
    assert re.match("f.x. (is|may be|shows) ", out)
    assert capsys.readouterr().out == ""
    html = unescape(re.sub(r"(?s)<script.*?</script>|<[^>]*>", "", verdict["text/html"]))
    assert "".join(html.split()).replace("⚠", "Warning:") == "".join(out.split())
    (answer,) = re.findall(r"<b>(.*?)</b>", verdict["text/html"])  # and nothing else is set off
    assert out.replace("\n ", "").startswith(unescape(re.sub("<[^>]*>", "", answer)))
    assert path in out
    assert "The code differs" not in out
    assert all(len(line) <= 80 or path in line for line in out.splitlines())
    assert "\n  " in out


@pytest.mark.parametrize(
    ("setup", "statement", "told"),
    [
        ("x = jnp.ones((3, 5))", "f(x)", "x was f32[3,4] and is f32[3,5]"),
        ("x = x.astype(jnp.bfloat16)", "f(x)", "x was f32[3,4] and is bf16[3,4]"),
        ("x = np.ones((3, 4), 'float32')", "f(x)", "x was f32[3,4] and is f32[3,4] of NumPy"),
        ("rate = 0.25", "f(x)", "rate was 0.5 and is 0.25"),
        ("", "f(y)", "x (now y) was f32[3,4] and is f32[2]"),
        ("x = x + 1; mode = 'other'", "f(x)", None),
    ],
)
def test_inputs_that_differ_are_told_in_the_verdict_and_right_after_it(
    session: Any, tmp_path: Any, monkeypatch: Any, setup: str, statement: str, told: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    path = "old.json"
    session.run(
        "import jax, jax.numpy as jnp, numpy as np\nx, y, rate, mode = jnp.ones((3, 4)), jnp.ones(2), 0.5, 'a'\n"
        "f = jax.jit(lambda a: a * rate)"
    )
    session.run(f"%jaxtimeit -q -r 6 {QUICK} --save '{path}' f(x)")
    session.run(setup)
    session.run(f"%jaxtimeit -r 6 {QUICK} --against '{path}' {statement}")
    out = " ".join(session.published[-2]["text/plain"].split())
    if told is None:
        assert "The inputs" not in out
        assert "on other inputs" not in out
    else:
        answer, rest = re.split(" (?=The inputs)", out)
        assert re.match(rf".* {re.escape(path)}, on other inputs($|: too noisy to tell$|: inconclusive$)", answer)
        assert rest.startswith(f"The inputs differ from those in {path}: {told}.")


def test_long_text_is_not_kept(session: Any) -> None:
    session.run("import jax.numpy as jnp\nkey, mode = 'sk-0123456789abcdef0123', 'relu'")
    found = session.run("%jaxtimeit -o --budget 10ms (key, jnp.ones(3) if mode else 0)")
    assert {each.path: each.words for each in found.inputs} == {"key": "a longer text", "mode": "'relu'"}
    assert "0123456789" not in str(found.to_dict())


def test_inputs_that_the_setup_makes_are_told_as_well(session: Any, tmp_path: Any) -> None:
    path = tmp_path / "old.json"
    session.run(f"%%jaxtimeit -q -r 6 {QUICK} --save '{path}' z = jnp.ones(3)\nf(z)")
    session.run(f"%%jaxtimeit -r 6 {QUICK} --against '{path}' z = jnp.ones(4)\nf(z)")
    assert "z was f32[3] and is f32[4]." in " ".join(session.published[-2]["text/plain"].split())


def test_a_file_that_was_written_is_named_and_one_that_was_replaced(session: Any, tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "r.json"
    for told in (f"Saved in {path}.\n", f"Saved in {path}, in place of the file that was there.\n"):
        session.run(f"%jaxtimeit -r 6 {QUICK} --save '{path}' f(x)")
        assert capsys.readouterr().out == told


def test_another_statement_is_told_beside_the_verdict_and_both_above_the_report(
    session: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    path = "old.json"
    session.run(f"%jaxtimeit -q -r 6 {QUICK} --save '{path}' f(x)")
    session.run(f"%jaxtimeit --all -r 6 {QUICK} --against '{path}' f(f(x))")
    told, report = (" ".join(each["text/plain"].split()) for each in session.published)
    assert re.match(rf"f\(f\(x\)\) .*{re.escape(path)}", told)
    assert f"The code differs: 'f(x)' in {path}, 'f(f(x))' now." in told
    assert "per call" in report


@pytest.mark.parametrize("magic", ["%jaxtimeit {} ran.append(1)", "%%jaxcompare {}\none: ran.append(1)\ntwo: 2"])
def test_nothing_is_run_where_the_record_cannot_be_saved(session: Any, tmp_path: Any, magic: str) -> None:
    session.run("ran = []")
    options = f"-q -r 6 {QUICK} --save '{tmp_path}/none/record.json'"
    error = session.run(magic.format(options), fails=UsageError)
    assert "There is no such folder: " in str(error)
    error = session.run(magic.format(f"-q -r 6 {QUICK} --save '{tmp_path}/record.png'"), fails=UsageError)
    assert "--save: record.png: expected a file for JSON" in str(error)
    assert session.shell.user_ns["ran"] == []


def test_what_fails_while_saving_costs_neither_report_nor_record(
    session: Any, tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    def full(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", full)
    session.run(f"%jaxtimeit -v r -r 6 {QUICK} --save '{tmp_path}/record.json' f(x)")
    assert "--save failed (OSError: No space left on device)" in capsys.readouterr().out
    assert "per call" in session.report
    assert session.shell.user_ns["r"] == jaxmagic.last()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_several_processes_each_run_the_setup_and_what_comes_before_a_sample(session: Any) -> None:
    session.run("def scaled(x):\n    return f(x) * factor\nfactor = 3")
    options = "--processes 2 -r 6 --setup 'z = x + 1' --each 'y = z.copy()'"
    record = session.run(f"r = %jaxtimeit -o {options} scaled(y)\nr")
    assert [each.sample_count for each in record.launches] == [6, 6]
    assert record.code == "scaled(y)"
    assert "over 2 processes)" in session.report
    assert "Medians vary by" in " ".join(session.report.split())
    assert "z" not in session.shell.user_ns


@pytest.mark.slow
def test_beside_an_earlier_record_the_noise_between_processes_is_told_once(
    session: Any, tmp_path: Any, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("jaxmagic.benchmarking.verbs.earlier.noise_for", lambda *_, **__: None)
    old = tmp_path / "old.json"
    session.run(f"y = jnp.ones((100, 100))\n%jaxtimeit -q -r 6 {QUICK} --save '{old}' y.sum()")
    capsys.readouterr()
    session.run(f"%jaxtimeit --all -r 6 {QUICK} --processes 2 --against '{old}' y.sum()")
    told = " ".join(f"{session.published[-2]['text/plain']} {session.report}".split())
    assert told.count("from process to process") == 1
    shown = told.count("in 8 of 10 cases") + told.count("No difference could be found")  # if the machine is very busy
    assert shown == 1
    assert "The earlier record is from 1 process and the later one from 2 processes. " in told


def test_what_cannot_be_sent_to_a_process_is_named(session: Any) -> None:
    session.run("import threading\nlock = threading.Lock()")
    error = session.run("%jaxtimeit -q --processes 2 lock.locked()", fails=jaxmagic.LaunchError)
    assert str(error).startswith("Cannot send lock to a fresh process: TypeError: cannot pickle")


def test_the_noise_between_processes_is_saved_with_a_record_that_is_put_beside_another(
    session: Any, tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    noise = ProcessNoise(programs=(ProgramNoise(call_ns=1e4, sd=0.25),), processes=5)
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    before = session.run(f"%jaxtimeit -oq -r 6 {QUICK} --save '{old}' f(x)")
    measured = []

    def measure(*_: Any) -> Any:
        measured.append(1)
        return before.environment, noise

    monkeypatch.setattr("jaxmagic.benchmarking.capture.machine_noise.measure_noise", measure)
    session.run(f"%jaxtimeit --all -r 6 {QUICK} --against '{old}' --save '{new}' f(x)")
    assert jaxmagic.load(new).process_noise == noise
    out = " ".join(session.published[-2]["text/plain"].split())
    assert "vary by 25 % from process to process on this machine (measured)" in out
    session.run(f"%jaxtimeit -q -r 6 {QUICK} --against '{old}' f(x)")
    assert measured == [1]


def test_what_cannot_be_put_beside_it_is_refused(session: Any, tmp_path: Any, capsys: Any) -> None:
    record = session.run(f"%jaxtimeit -oq -r 6 {QUICK} f(x)")
    path = jaxmagic.save(replace(record, environment=replace(record.environment, backend="tpu")), tmp_path / "b.json")
    error = session.run(f"%jaxtimeit -q {QUICK} --against '{path}' print('called')", fails=UsageError)
    assert str(error).startswith("--against: The records are from different environments: backend was 'tpu' and is")
    assert str(error).endswith("Nothing was run.")
    assert "called" not in capsys.readouterr().out
    session.run(f"%jaxtimeit -r 6 {QUICK} --anyway --against '{path}' f(x)")
    out = " ".join(session.published[-2]["text/plain"].split())
    assert "Compared although the environments differ: backend was 'tpu' and is 'cpu'." in out
    jaxmagic.save(record.first_call, path)
    with pytest.raises(UsageError, match=r"expected a Benchmark, which this magic makes, got a Timing\..* --save\.$"):
        session.shell.run_line_magic("jaxtimeit", f"--against '{path}' f(x)")
    with pytest.raises(
        UsageError, match=r"got '.*none\.json'\. There is no such file.* Name a file .* Nothing was run\."
    ):
        session.shell.run_line_magic("jaxtimeit", f"--against '{tmp_path / 'none.json'}' f(x)")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no record", "not a record of jaxmagic, because it is not JSON"),
        ('{"format": "jaxmagic", "version": 99}', 'field "version": expected at most'),
    ],
)
@pytest.mark.parametrize("magic", ["jaxtimeit", "jaxcompare"])
def test_a_file_that_is_no_record_is_a_mistake_of_usage(
    magic: str, text: str, reason: str, session: Any, tmp_path: Any
) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    begin = f"--against: expected a saved record, got {path}: {reason}"
    with pytest.raises(UsageError) as caught:
        if magic == "jaxtimeit":
            session.shell.run_line_magic(magic, f"--against '{path}' f(x)")
        else:
            session.shell.run_cell_magic(magic, f"--against '{path}'", "a: f(x)\nb: f(x)")
    assert str(caught.value).startswith(begin)
    assert str(caught.value).endswith(". Nothing was run.")
    assert "\n" not in str(caught.value)


def test_device_adds_the_time_that_devices_worked_and_never_changes_the_headline(session: Any, tmp_path: Any) -> None:
    record = session.run(f"%jaxtimeit -o {QUICK} --device f(x)")
    assert record.device is not None
    assert "Device time: " in session.report
    assert session.report.startswith(f"{units.time(record.median_ns)} per call")
    assert record.device.call_ns is not None or record.device.problem
    assert session.run(f"%jaxtimeit -oq {QUICK} f(x)").device is None
    assert jaxmagic.load(jaxmagic.save(record, tmp_path / "device.json")) == record
    session.run(f"%jaxtimeit {QUICK} --device 1 + 1")
    assert "Device time: not measured. No device was busy." in " ".join(session.report.split())


def test_an_earlier_record_is_never_replaced_by_what_is_compared_with_it(session: Any, tmp_path: Any) -> None:
    path, link = tmp_path / "old.json", tmp_path / "link.json"
    session.run(f"%jaxtimeit -q -r 6 {QUICK} --save '{path}' f(x)")
    link.symlink_to(path)
    before = path.read_bytes()
    for other in (path, link, tmp_path / "." / "old.json"):
        error = session.run(f"%jaxtimeit -q -r 6 --save '{other}' --against '{path}' f(x)", fails=UsageError)
        assert str(error).startswith("--save: expected another file than that of --against, got ")
        assert "which would replace the earlier record. Name another one. Nothing was run." in str(error)
    assert path.read_bytes() == before


def test_too_few_samples_beside_an_earlier_record_are_a_mistake_of_usage(
    session: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("jaxmagic.benchmarking.verbs.earlier.noise_for", lambda *_, **__: None)
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    session.run(f"%jaxtimeit -q -r 6 {QUICK} --save '{old}' f(x)")
    line = f"%jaxtimeit -r 2 {QUICK} --save '{new}' --against '{old}' f(x)"
    assert str(session.run(line, fails=UsageError)).startswith("--against: The later record has fewer than four")
    assert len(jaxmagic.load(new).samples_ns) == 2  # it is kept and shown all the same
    assert "median of 2 samples" in session.report


def test_a_file_with_too_few_samples_is_refused_before_anything_runs(
    session: Any, tmp_path: Any, capsys: Any
) -> None:
    path = tmp_path / "few.json"
    session.run(f"%jaxtimeit -r 2 {QUICK} --save '{path}' f(x)")
    saved = " ".join(capsys.readouterr().out.split())
    assert "It has fewer than four samples or rounds, too few for --against: measure it again with more" in saved
    error = session.run(f"%jaxtimeit {QUICK} --against '{path}' print('called')", fails=UsageError)
    assert f"--against: The record in {path} has fewer than four samples or rounds per process" in str(error)
    assert str(error).endswith("number of samples (-r). Nothing was run.")
    assert "called" not in capsys.readouterr().out


def test_a_file_of_several_processes_with_few_samples_needs_as_many_processes(
    session: Any, tmp_path: Any, capsys: Any
) -> None:
    path = tmp_path / "few.json"
    session.run(f"r = %jaxtimeit -oq -r 6 {QUICK} f(x)")
    launch = Launch(sample_count=2, first_call_ns=9, compile_ns=0, stopped_by="count")
    few = replace(session.shell.user_ns["r"], launches=(launch,) * 3)
    jaxmagic.save(few, path)
    error = session.run(f"%jaxtimeit {QUICK} --against '{path}' print('called')", fails=UsageError)
    assert "too few beside a record of fewer than three processes. Measure the other one with" in str(error)
    assert "--processes 3 (processes=3)" in str(error)
    assert "called" not in capsys.readouterr().out
    (told,) = about_saved(few)
    assert "can only compare it with three processes or more (--processes 3)." in told
    assert about_saved(session.shell.user_ns["r"]) == []
    Earlier(few, str(path), anyway=False).require_comparable(processes=3)


def test_q_is_silent_also_about_an_earlier_record(session: Any, tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "old.json"
    session.run(f"%jaxtimeit -q -r 6 {QUICK} --save '{path}' f(x)")
    session.run(f"%jaxtimeit -q -r 6 {QUICK} --against '{path}' f(x)")
    assert capsys.readouterr().out == ""
    assert session.published == []


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("%jaxtimeit -q -r 6 -v t f(x)", "None"),
        ("value = %jaxtimeit -q -r 6 -v t f(x)", "None"),
        ("value = %jaxtimeit -oq -r 6 -v t f(x)", "Benchmark"),
    ],
)
def test_a_record_is_bound_in_the_function_that_measures(session: Any, line: str, value: str) -> None:
    session.run(f"def g():\n    value = None\n    {line}\n    return t, value")
    record, found = session.run("g()")
    assert type(record).__name__ == "Benchmark"
    assert type(found).__name__.replace("NoneType", "None") == value
    assert "t" not in session.shell.user_ns


@pytest.mark.parametrize(
    ("cell", "calls", "said"),
    [
        ("%jaxtimeit -r 99 -n 1 -v kept later()", 50, "Ended by ZeroDivisionError after 48 samples."),
        ("%%jaxcompare -r 9999 -v kept\nlater: later()\nnone: None", 5000, "until ZeroDivisionError was raised"),
    ],
)
def test_what_was_taken_before_an_exception_is_shown_bound_and_in_the_history(
    session: Any, cell: str, calls: int, said: str
) -> None:
    session.run("from itertools import count\nnumbers = count(1)")
    session.run(f"def later():\n    1 / max({calls} - next(numbers), 0)")
    before = len(jaxmagic.history())
    with pytest.raises(ZeroDivisionError):
        session.run(cell)
    assert said in " ".join(session.report.split())
    assert session.shell.user_ns["kept"].error == "ZeroDivisionError"
    assert len(jaxmagic.history()) == before + 1


def test_a_function_that_is_only_named_was_not_called(session: Any) -> None:
    session.run("f = abs")
    session.run("%jaxtimeit -r 2 -n 1 f")
    assert "Warning: f was not called, so nothing ran. Write for example f(x)." in session.report
    assert "the loop and the wait" not in session.report
    session.run("%jaxtimeit -r 2 -n 1 f(1)")
    assert "was not called" not in session.report


def test_a_function_that_returns_one_was_called(session: Any) -> None:
    found = jaxmagic.benchmark(lambda: abs, budget_s=0.01)
    assert "was not called" not in str(found)


def test_a_generator_has_not_run(session: Any) -> None:
    session.run("%jaxtimeit -r 2 -n 1 (i for i in range(3))")
    assert "generator that has not run" in " ".join(session.report.split())
