"""``%%jaxcompare`` in a real shell."""

from __future__ import annotations

import re
import traceback
from typing import Any

import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic.magics.declare import declared

pytestmark = pytest.mark.clock

QUICK = "--budget 60ms"


def test_candidates_are_compared_and_the_report_has_a_row_for_each(session: Any) -> None:
    session.run(f"%%jaxcompare {QUICK}\nz = x + 1\none: f(z)\ntwo: z * 2\nthree: (\n    f(z)\n)")
    report = session.report
    for words in ("\n  one    ", "\n  two    ", "\n  three  ", "baseline", "first call", "in shuffled order"):
        assert words in report
    assert "All outputs are equal." in report
    assert "z" not in session.shell.user_ns


def test_the_record_is_returned_bound_and_kept_without_its_values(session: Any) -> None:
    record = session.run(f"%%jaxcompare -o -q -v same {QUICK} --baseline two\none: f(x)\ntwo: x * 2")
    assert isinstance(record, jaxmagic.Comparison)
    assert record is session.shell.user_ns["same"]
    assert list(record) == ["one", "two"]
    assert record.baseline == "two"
    assert record.candidate("one").code == "f(x)"
    assert record.values["one"].shape == (8, 8)
    assert jaxmagic.last() == record
    assert jaxmagic.last().values == {}
    assert session.published == []


def test_the_memory_is_that_of_a_call_of_one_jitted_function(session: Any) -> None:
    cell = (
        "%%jaxcompare -oq -r 4 --check none\nimport jax\nz, pair = x + 1, (x,)\ng = jax.jit(lambda x, n=1: x @ x)\n"
        "once: g(z)\nunpacked: g(*pair, n=2)\nlibrary: jax.numpy.dot(z, z)\n"
        "more: g(z) + 1\nargument: g(z * 2)\nnested: g(g(z))\npython: sum(pair)\nnothing: 1"
    )
    record = session.run(cell)
    known = {each.label: each.memory is not None for each in record.candidates}
    assert known == {
        **dict.fromkeys(("once", "unpacked", "library"), True),
        **dict.fromkeys(("more", "argument", "nested", "python", "nothing"), False),
    }
    assert record.candidate("once").memory.argument_bytes == 8 * 8 * 4


def test_a_derivative_of_a_jitted_function_has_a_memory_of_its_own(session: Any) -> None:
    cell = "import jax\nf = jax.jit(lambda x: (x @ x).sum())\none: f(x)\nother: f(x + 1)"
    record = session.run(f"%%jaxcompare -oq -r 4 --check none --modes forward,grad\n{cell}")
    known = {each.label: each.memory is not None for each in record.candidates}
    assert known == {"one": True, "one grad": True, "other": False, "other grad": False}
    assert record.candidate("one grad").memory.output_bytes == 8 * 8 * 4  # the gradient, and not the loss


def test_r_is_the_number_of_rounds(session: Any) -> None:
    record = session.run("%%jaxcompare -oq -r 7\none: 1\ntwo: 1")
    assert record.stopped_by == "count"
    assert len(record.candidate("one").latency.samples_ns) == len(record.again.samples_ns) == 7


def test_work_of_twice_the_length_is_slower(session: Any, work: Any) -> None:
    session.shell.user_ns["work"] = work
    record = session.run("%%jaxcompare -oq -r 12 --check none\none: work()\ntwo: (work(), work())")
    assert record["two"].verdict in ("slower", "too noisy to tell")
    assert record["two"].ratio.value > 1.2


def test_outputs_are_checked_and_a_mismatch_is_told_but_timed(session: Any) -> None:
    record = session.run(f"%%jaxcompare -o {QUICK}\none: {{'w': f(x), 'n': 1}}\ntwo: {{'w': f(x) + 1, 'n': 1}}")
    check = record.candidate("two").check
    assert (check.passed, check.leaf, check.largest_error) == (False, "['w']", 1.0)
    assert "two does not compute what one does at ['w']: off by up to 1 (" in session.published[-1]["text/plain"]
    assert "with a different output" in session.published[-1]["text/plain"]
    assert "with a different output" in session.published[-1]["text/html"]


def test_strict_refuses_to_time_what_computes_something_else(session: Any) -> None:
    error = session.run("%%jaxcompare --strict\none: f(x)\ntwo: f(x) + 1", fails=AssertionError)
    assert isinstance(error, jaxmagic.OutputsDiffer)
    assert session.run(f"%%jaxcompare -oq {QUICK} --strict\none: f(x)\ntwo: x * 2").candidate("two").check.passed
    assert session.run(f"%%jaxcompare -oq {QUICK} --check none\none: 1\ntwo: 2").candidate("two").check is None


def test_each_makes_what_is_donated(session: Any) -> None:
    session.run("g = jax.jit(lambda x: x + 1, donate_argnums=0)")
    record = session.run(f"%%jaxcompare -oq {QUICK} --each 'y = x.copy()'\none: g(y)\ntwo: x + 1")
    assert record.candidate("one").conditions.fresh
    session.run(f"%%jaxcompare {QUICK}\none: g(x)\ntwo: x + 1", fails=jaxmagic.DonatedTwice)


def test_an_error_points_at_the_users_line_and_names_the_candidate(session: Any) -> None:
    error = session.run("%%jaxcompare\na = 0\none: 1\ntwo: 1 / a", fails=ZeroDivisionError)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.lineno, last.line) == (4, "two: 1 / a")
    assert error.__notes__ == ["This was the candidate 'two'."]


@pytest.mark.parametrize("cell", [
    "%%jaxcompare\none: f(x)\ntwo: x * 2\nthree: nosuch(x)",
    "jaxmagic.compare({'one': f, 'two': lambda x: nosuch(x)}, x)",
    "%jaxtimeit nosuch(x)",
])  # fmt: skip
def test_a_mistake_in_a_candidate_leaves_no_report_and_no_record(session: Any, cell: str) -> None:
    session.run("import jaxmagic\njaxmagic.history().clear()")
    session.run(cell, fails=NameError)
    assert session.published == []
    assert len(jaxmagic.history()) == 0


@pytest.mark.parametrize("option", ["--each '1 / a'", "--per items=1/a"])
def test_an_error_in_the_code_of_an_option_points_at_that_code(session: Any, option: str) -> None:
    error = session.run(f"%%jaxcompare -r 4 {option}\na = 0\none: 1\ntwo: 2", fails=ZeroDivisionError)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.lineno, last.line) == (1, "1 / a" if "each" in option else "1/a")


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("", "one: 1", "at least two candidates, got 1. .*: expression. %jaxtimeit f.x. measures one statement"),
        ("", "x = 1", "at least two candidates, got 0"),
        ("", "one: 1\nx = 3\ntwo: 2", "every line below the first label, got 'x = 3'. Move other code above"),
        (
            "",
            "while loop: f(x)\njit: f(x)",
            """If 'while loop' is a label, put it in quotes: "while loop": f""",
        ),
        ("", "jit: f(x)\nwith jit: f(x)", """If 'with jit' is a label, put it in quotes: "with jit": f"""),
        ("", "while loop: f(x)\na: 1\nb: 2", """loop is not defined. If 'while loop' is a label, put it"""),
        ("", "one: 1\none: 2", "expected different labels, got 'one' twice. Rename one of the two"),
        ("", "f(x)\nf(x)", "expected different labels, got 'f.x.' twice"),
        (
            "",
            "one: f(x); len(x)\ntwo: 2",
            r"one expression after the label one, got a second one, 'len\(x\)'. Write one: \(f\(x\), len\(x\)\) "
            "to time both, or write the second one on its own line.$",
        ),
        ("", "f(x)\none: 1", "at least two candidates, got 1. 'f.x.' is setup, as it is above the first label"),
        ("", "one: 1\ntwo: int = 2", "after the label two, got an assignment. .* expression: two: 2"),
        ("", "one: y = 1\ntwo: y = 2", "after the label one, got an assignment"),
        (
            "",
            "my jit: y = 1\ntwo: 2",
            "after the label 'my jit', got an assignment. .* expression: my jit: 1",
        ),
        (
            "",
            "one: 1\nfor loop: 2",
            "%%jaxcompare: .*. If 'for loop' is a label, put it in quotes: \"for loop\": 2",
        ),
        (
            "",
            "jit f = f(x)\none: 1\ntwo: 2",
            "expected label: expression, got 'jit f = f.x.' .invalid .*If 'jit f' is a label, write jit f: f.x.$",
        ),
        ("", "one: 1\nmy jit f(x)  # two", "got 'my jit f.x.' .*If 'my jit' is a label, write my jit: f.x.$"),
        (
            "",
            "one: 1\ntwo = f(x)",
            "got 'two = f.x.'. If 'two' is a label, write two: f.x.. Move other code above the first",
        ),
        ("", 'say "x": f(x)\ntwo: 2', """If 'say "x"' is a label, put it in quotes: 'say "x"': f.x.$"""),
        ("", 'two: 2\nf\'s "best": f(x)', r"""is a label, put it in quotes: 'f\\'s "best"': f.x.$"""),
        ("", 'it\'s "quoted": f(x)\ntwo: 2', r"""is a label, put it in quotes: 'it\\'s "quoted"': f.x.$"""),
        ("", "v1: old: f(x)\ntwo: 2", """If 'v1: old' is a label, put it in quotes: "v1: old": f.x.$"""),
        ("", 'say "x": y = 1\ntwo: 2', """after the label 'say "x"', got an assignment. .*: 'say "x"': 1$"""),
        ("", "n=10: 1\ntwo: 2", "If 'n=10' is a label, put it in quotes: \"n=10\": 1"),
        ("--baseline three", "one: 1\ntwo: 2", "--baseline: expected one of the labels one, two, got 'three'"),
        ("f(x)", "one: 1\ntwo: 2", "expected only options"),
        ("-n 5", "one: 1\ntwo: 2", "there is no option -n. Write one of --against, "),
        (
            "--check maybe",
            "one: 1\ntwo: 2",
            "^--check: expected allclose, .*, got 'maybe'; for example 1%$",
        ),
        ("", "one: await f()\ntwo: 2", "await cannot be repeated"),
    ],
)
def test_bad_input_says_what_to_write(session: Any, line: str, cell: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        session.shell.run_cell_magic("jaxcompare", line, cell)


@pytest.mark.parametrize("below", ["one: 1 --budget 1s\ntwo: 2", "one: 1\ntwo: 2\n--budget 1s"])
def test_options_below_the_first_line_are_told(session: Any, below: str) -> None:
    error = session.run(f"%%jaxcompare\n{below}", fails=UsageError)
    assert str(error) == "--budget: options come on the first line. Write %%jaxcompare --budget 1s"


@pytest.mark.parametrize("below", ["one: 1 --budget\ntwo: 2", "one: 1 --nothing 1s\ntwo: 2", "one: (\ntwo: 2"])
def test_what_may_be_a_difference_is_python(session: Any, below: str) -> None:
    session.run("budget = 1")
    result = session.shell.run_cell(f"%%jaxcompare -r 3\n{below}")
    error = result.error_before_exec or result.error_in_exec
    assert error is None or isinstance(error, SyntaxError)


def test_labels_may_be_words_expressions_and_anything_in_quotes(session: Any) -> None:
    cell = 'python loop: f(x)\n"it\'s: jit": (\n    f(x)\n)\njit(f): f(x)  # a: b\nnp.dot: x * 2\nx + x'
    record = session.run(f"%%jaxcompare -oq {QUICK} --baseline 'jit(f)'\n{cell}")
    assert list(record) == ["python loop", "it's: jit", "jit(f)", "np.dot", "x + x"]
    assert [each.code.split() for each in record.candidates][:3] == [["f(x)"]] * 3
    assert record.baseline == "jit(f)"


def test_without_labels_the_expressions_at_the_end_are_labelled_by_their_source(session: Any) -> None:
    record = session.run(f"%%jaxcompare -oq {QUICK}\n'setup'\nf(x)\nz = x\nprint(z.shape)\nf(z)\nz  *  2")
    assert list(record) == ["f(z)", "z * 2"]
    assert record.candidate("z * 2").code == "z  *  2"


def test_labels_and_expressions_without_one_may_share_a_line(session: Any) -> None:
    record = session.run("%%jaxcompare -oq -r 4 --check none\none: 1; two: 2;\nlen(x); f(x)")
    assert list(record) == ["one", "two", "len(x)", "f(x)"]


def test_an_error_below_a_label_in_quotes_points_at_the_line_as_it_was_written(session: Any) -> None:
    error = session.run('%%jaxcompare\na = 0\n"one – 1": 1\nthe other: 1 / a', fails=ZeroDivisionError)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.lineno, last.line) == (4, "the other: 1 / a")
    assert error.__notes__ == ["This was the candidate 'the other'."]


def test_a_label_that_is_no_name_has_derivatives_and_points(session: Any) -> None:
    cell = "%%jaxcompare -oq -r 4 --modes forward,grad --sweep n=1,2\nthe sum: (lambda x: x.sum() * n)(x)"
    assert [each.label for each in session.run(cell).curves] == ["the sum", "the sum grad"]


def test_an_annotated_assignment_in_the_setup_is_one(session: Any) -> None:
    record = session.run("%%jaxcompare -oq -r 4\nif True:\n    y: int\n    z: int = 3\none: z\ntwo: z + 0")
    assert record.values == {"one": 3, "two": 3}
    assert session.run("%jaxtimeit -oq -r 4 --each 'z: int = 3' z").value == 3


def test_other_mistakes_of_syntax_are_pythons(session: Any) -> None:
    for cell in (
        "if True\n    x = 1\none: 1\ntwo: 2",
        "one: 1\ntwo: (2",
        "two words\na: 1\nb: 2",
        "for i in 3: pass pass\none: 1\ntwo: 2",
    ):
        session.run(f"%%jaxcompare\n{cell}", fails=SyntaxError)


def test_what_compiles_in_the_rounds_is_told(session: Any) -> None:
    record = session.run("%%jaxcompare -o -r 6 --check none\none: jax.jit(lambda x: x + 1)(x)\ntwo: x")
    assert "recompiled" in [each.kind for each in record.warnings]
    assert "compiled while samples were taken" in " ".join(session.report.split())
    assert "compiled while samples were taken" in session.published[-1]["text/html"]


def test_nothing_of_ours_is_left_in_the_session(session: Any, session_state: Any) -> None:
    session.run(f"%%jaxcompare -q {QUICK}\none: f(x)\ntwo: x * 2")
    jaxmagic.history().clear()
    names, before = set(session.shell.user_ns), session_state()
    session.run(f"%%jaxcompare -q {QUICK}\none: f(x)\ntwo: x * 2")
    session.run("%%jaxcompare -q\none: f(x)\ntwo: 1 / 0", fails=ZeroDivisionError)
    jaxmagic.history().clear()
    assert {name for name in set(session.shell.user_ns) - names if not name.startswith("_")} == set()
    assert session_state() == before


@pytest.mark.parametrize(("given", "sentence"), [
    ("1e-3", "with rtol=0.001 and atol=0 allowed"),
    ("1e-3,1e-6", "with rtol=0.001 and atol=1e-06 allowed"),
    ("'1e-3, 1e-6'", "with rtol=0.001 and atol=1e-06 allowed"),
    ("1e-3, 1e-6", "with rtol=0.001 and atol=1e-06 allowed"),
])  # fmt: skip
def test_a_given_tolerance_is_named_in_the_report(session: Any, given: str, sentence: str) -> None:
    record = session.run(f"%%jaxcompare -o -r 4 --check {given}\none: x\ntwo: x * 1.0005")
    assert record.candidate("two").check.passed
    assert sentence in " ".join(session.report.split())
    record = session.run(f"%%jaxcompare -o -r 4 --check {given}\none: x\ntwo: x * 1.002")
    assert not record.candidate("two").check.passed
    assert sentence in " ".join(session.report.split())


@pytest.mark.parametrize("wrong", ["-1", "nan", "inf", "1e-3,", "1e-3,-1", ",1e-3", "1,2,3", "0%", "150%"])
def test_what_is_no_tolerance_is_refused(session: Any, wrong: str) -> None:
    error = session.run(f"%%jaxcompare --check={wrong}\none: 1\ntwo: 2", fails=UsageError)
    assert f"or a tolerance SHARE%, RTOL or RTOL,ATOL, got '{wrong}'; for example 1%" in str(error)


def test_a_share_is_of_the_largest_value_of_each_output(session: Any) -> None:
    record = session.run("%%jaxcompare -o -r 4 --check 1%\none: (x, 1000 * x)\ntwo: (x * 1.005, 1000 * x * 1.009)")
    assert record.candidate("two").check.passed
    assert "at most 0.9 % of the largest value" in (said := " ".join(session.report.split()))
    assert "at [1]), with 1 % allowed." in said
    record = session.run("%%jaxcompare -o -r 4 --check 0.2%\none: (x, 1000 * x)\ntwo: (x * 1.005, 1000 * x)")
    assert not record.candidate("two").check.passed
    assert "(0.5 % of the largest value), with 0.2 % allowed." in " ".join(session.report.split())


def test_it_is_listed_with_its_options() -> None:
    text = declared("jaxcompare").parser.format_help()
    for option in ("--baseline LABEL", "--check", "--strict", "--rtol SHARE", "--budget TIME", "--each CODE"):
        assert option in text


def test_a_comparison_is_saved_and_the_next_one_put_beside_it(session: Any, tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "old.json"
    session.run(f"%%jaxcompare -q -r 6 {QUICK} --save '{path}'\none: f(x)\ntwo: x * 2")
    session.run(f"%%jaxcompare --all -r 6 {QUICK} --against '{path}'\ntwo: x * 2\nthree: f(x)")
    line, basis, advice, *_ = _sentences(session)  # and the load, if other processes kept the machine busy
    assert line.startswith("two ")
    assert basis.startswith("Each record is from 1 process. Medians are assumed, not measured, to vary by ")
    assert advice == (
        "For more certainty, time the old and the new code with %jaxtimeit --processes 5, the first with --save FILE "
        "and the second with --against FILE."
    )


def test_the_times_of_candidates_stand_in_the_first_lines_beside_earlier_ones(
    session: Any, tmp_path: Any, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    cell = (
        "filter: jnp.sum(f(x) * 1 + {0} * f(x) - f(x)) + jnp.ones(3)[0]\nbatch: jnp.sum(f(x) * {0} + f(x) - f(x) * 2)"
    )
    session.run(f"%%jaxcompare -q -r 6 {QUICK} --check none --save old.json\n{cell.format(1)}")
    capsys.readouterr()
    session.run(f"%%jaxcompare -r 6 {QUICK} --check none --against old.json\n{cell.format(3)}")
    above = session.published[-2]["text/plain"].splitlines()
    assert len([*above, *session.report.splitlines()]) <= 14
    assert re.match(r"Compared with old\.json: \d ", above[0])
    assert "than in old.json" in " ".join(above) or "from old.json" in " ".join(above)
    for label in ("filter", "batch"):
        assert re.search(rf"^  {label} +\S+ [µm]?s  ", session.report, re.MULTILINE)


def test_a_record_without_any_of_the_candidates_is_refused_before_they_run(session: Any, tmp_path: Any) -> None:
    path = tmp_path / "old.json"
    session.run("ran = []")
    session.run(f"%%jaxcompare -q -r 4 --save '{path}'\none: 1\ntwo: 2")
    cell = "four: ran.append(4)\nfive: ran.append(5)"
    error = session.run(f"%%jaxcompare --against '{path}'\n{cell}", fails=UsageError)
    assert str(error) == (
        f"--against {path}: expected a candidate of the file (one, two), got 'four', 'five'. Give a candidate the "
        "label that it had before. Nothing was run."
    )
    session.run(f"%%jaxcompare -q -r 4 --sweep n=1,2 --save '{path}'\nfour: n")
    error = session.run(f"%%jaxcompare --sweep n=3 --against '{path}'\nfour: ran.append(n)", fails=UsageError)
    assert f"--against {path}: expected a point of the file in --sweep, such as n=1, got none." in str(error)
    assert session.shell.user_ns["ran"] == []


def _sentences(session: Any) -> list[str]:
    """Return the sentences about an earlier record, each on one line."""
    return str(session.published[-2]["text/plain"]).replace("\n  ", " ").splitlines()


def test_what_differs_in_the_code_is_told_by_its_candidate_or_for_all(
    session: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    path = "old.json"
    session.run(f"%%jaxcompare -q -r 6 {QUICK} --save '{path}'\ny = x\none: f(y)\ntwo: y * 2")
    session.run(f"%%jaxcompare --all -r 6 {QUICK} --against '{path}'\ny = x\none: f(y)\ntwo: y * 3")
    told = [line for line in _sentences(session) if line.startswith("The code")]
    assert told == [f"The code of two differs: 'y * 2' in {path}, 'y * 3' now."]
    session.run(f"%%jaxcompare --all -r 6 {QUICK} --against '{path}'\ny = x + 1\ntwo: y * 2\none: f(y)")
    told = [line for line in _sentences(session) if line.startswith("The code")]
    assert told == [f"The code differs: 'y = x' in {path}, 'y = x + 1' now."]
    session.run(f"%%jaxcompare -r 6 {QUICK} --against '{path}'\ny = x[:1]\ntwo: y * 2\none: f(y)")
    assert re.match(
        rf"The inputs differ from those in {path}: y was f32\[\S+\] and is \S+\.$", _sentences(session)[1]
    )


@pytest.mark.parametrize(
    "cell",
    [
        "%jaxtime -w f(x);",
        f"%jaxtimeit -w {QUICK} f(x)",
        f"%%jaxcompare -w {QUICK}\none: f(x)\ntwo: x * 2",
        "%%jaxcompare -w -r 6 --budget 20s --sweep n=1,2\none: jnp.ones(n)",
    ],
)
def test_w_opens_a_view_beside_the_report(session: Any, cell: str) -> None:
    session.run(cell)
    report, view = session.published[-2:]
    does = "keeps" if cell.startswith("%jaxtime ") else "hides"  # its view lists runs
    assert re.search(rf'data-beside="[\w-]+-below-{does}"', report["text/html"])
    assert "application/vnd.jupyter.widget-view+json" not in report
    assert "application/vnd.jupyter.widget-view+json" in view


def test_profiles_are_compared_where_that_is_asked_for(session: Any) -> None:
    session.run("x = jnp.ones((100, 100))")
    plain = session.run("%%jaxcompare -q -o -r 2\na: jnp.sort(x)\nb: x + 1")
    assert [each.profile for each in plain.candidates] == [None, None]
    found = session.run("%%jaxcompare -q -o -r 2 --profile\na: jnp.sort(x)\nb: x + 1")
    assert all(each.profile is not None and each.profile.runs == 3 for each in found.candidates)
    assert "Device time per call" in str(found)


def test_a_candidate_that_was_not_called_is_noted(session: Any) -> None:
    session.run("%%jaxcompare --budget 20ms\na: abs\nb: abs(-1)")
    assert "Warning: a: abs was not called, so nothing ran." in " ".join(session.report.split())
