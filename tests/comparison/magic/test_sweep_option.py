"""``%%jaxcompare`` with ``--sweep``, ``--modes`` and ``--per``, in a real shell."""

from __future__ import annotations

import re
import traceback
from typing import Any

import jax.numpy as jnp
import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic.comparison.magic.sweep_option import MOST_POINTS, read_sweep
from jaxmagic.magics.declare import declared

pytestmark = pytest.mark.clock

QUICK = "-r 6 --budget 15s"


def test_the_cell_runs_once_for_each_value_with_the_variable_in_scope(session: Any) -> None:
    session.run("seen = []")
    record = session.run(
        f"%%jaxcompare -o -v s {QUICK} --sweep n=2**1,2**3 --sweep k=1,2\n"
        "seen.append((n, k))\nz = jnp.ones((n, k))\none: f(z) * k\ntwo: (z + z) * k"
    )
    assert isinstance(record, jaxmagic.Sweep)
    assert session.shell.user_ns["seen"] == [(2, 1), (2, 2), (8, 1), (8, 2)]
    assert [(each.name, each.numbers) for each in record.variables] == [("n", (2.0, 8.0)), ("k", (1.0, 2.0))]
    assert all(list(each.comparison) == ["one", "two"] for each in record.points)
    assert record.points[0].comparison.candidate("one").check is None
    assert record.points[0].comparison.candidate("two").check.passed
    assert session.shell.user_ns["s"] is record
    assert not {"n", "k", "z"} & set(session.shell.user_ns)
    assert jaxmagic.last() == record
    assert re.search(r"\n  n  k +one", session.report)


def test_one_candidate_is_enough_for_a_curve(session: Any) -> None:
    record = session.run(f"%%jaxcompare -oq {QUICK} --sweep n=1,2\none: jnp.ones(n)")
    assert record.labels == ("one",)


def test_an_error_is_told_and_the_sweep_goes_on(session: Any) -> None:
    record = session.run(f"%%jaxcompare -o {QUICK} --sweep n=1,0,2\na = 1 / n\none: a\ntwo: a * 1")
    assert [each.comparison is None for each in record.points] == [False, True, False]
    assert "Failed at n=0: setup: ZeroDivisionError: division by zero" in session.report


def test_what_fails_everywhere_points_at_the_users_line(session: Any) -> None:
    error = session.run("%%jaxcompare --sweep n=1,2\na = n\none: a / 0\ntwo: a / 0", fails=ZeroDivisionError)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.lineno, last.line) == (3, "one: a / 0")
    assert "Every point of the sweep failed; this is the error of the first." in error.__notes__


def test_a_derivative_is_timed_beside_its_function(session: Any) -> None:
    session.run("def loss(w, x):\n    return jnp.sum((w @ x) ** 2)\njitted = jax.jit(loss)\nw = jnp.ones((8, 8))")
    record = session.run(
        f"%%jaxcompare -o {QUICK} --modes forward,grad,value_and_grad\neager: loss(w, x)\njit: jitted(w, x)"
    )
    assert list(record) == [
        f"{label}{mode}" for label in ("eager", "jit") for mode in ("", " grad", " value_and_grad")
    ]
    slope = record.values["jit grad"]
    assert slope.tolist() == session.run("jax.grad(loss)(w, x)").tolist()
    assert record.candidate("jit grad").check.like == "eager grad"
    assert all(each.check.passed for each in record.candidates if each.check is not None)
    assert record.candidate("eager grad").check is None or record.candidate("eager grad").check.like == "eager grad"
    assert record.candidate("jit grad").code == "grad of jitted(w, x)"
    # It compiles once, with the first call, and not with every call.
    assert record.candidate("jit grad").first_call.compile_ns > 0
    assert record.candidate("jit grad").conditions.compilations == ()


def test_one_function_with_two_modes_is_a_comparison(session: Any) -> None:
    session.run("def loss(w):\n    return jnp.sum(w)")
    assert list(session.run(f"%%jaxcompare -oq {QUICK} --modes forward,grad\nloss: loss(x)")) == ["loss", "loss grad"]


def test_throughput_counts_what_the_user_says(session: Any) -> None:
    record = session.run(f"%%jaxcompare -o {QUICK} --per items=len(z)\nz = jnp.ones(50)\none: f(z)\ntwo: z * 2")
    one = record.candidate("one")
    assert (one.work.kind, one.work.amount) == ("items", 50.0)
    samples = record.to_frame("samples").query("label == 'one' and kind == 'latency'")
    assert one.throughput == pytest.approx(50 / samples["call_ns"].median() * 1e9)
    assert "items/s" in session.report
    error = session.run("%%jaxcompare --per bytes=-1\none: 1\ntwo: 2", fails=UsageError)
    assert "--per bytes=: expected a positive number, got -1" in str(error)


def test_operations_are_counted_or_unknown(session: Any) -> None:
    record = session.run(
        f"%%jaxcompare -o {QUICK} --per flops --check none\none: f(x)\ntwo: jnp.linalg.eigh(x)\nthree: x @ x\nfour: 1"
    )
    work = {each.label: each.work for each in record.candidates}
    assert work["one"].amount == 64
    assert work["two"].amount is None
    assert work["three"].amount == 2 * 8**3
    assert work["four"].amount is None
    assert "FLOP unknown: XLA does not count custom calls (" in " ".join(session.report.split())
    assert "FLOP unknown: XLA counts none" in " ".join(session.report.split())


def test_a_sweep_beside_an_earlier_one_has_at_most_fourteen_lines(session: Any, tmp_path: Any) -> None:
    path = tmp_path / "old.json"
    cell = "one: jnp.ones(n)\ntwo: jnp.zeros(n)\nthree: jnp.ones(n) + 1"
    session.run(f"%%jaxcompare -q -r 5 --check none --sweep n=4,8,16 --save '{path}'\n{cell}")
    for option, short in (("", True), ("--all", False)):
        session.run(f"%%jaxcompare {option} -r 5 --check none --sweep n=4,8,16 --against '{path}'\n{cell}")
        above = session.published[-2]["text/plain"].splitlines()
        assert above[0].startswith("Compared with")
        assert (len([*above, *session.report.splitlines()]) <= 14) == short
        assert any("more sentences about the earlier record" in each for each in above) == short
        assert any("one at n=4" in each for each in above)


def test_sweeps_are_saved_and_put_beside_each_other(session: Any, tmp_path: Any) -> None:
    path = tmp_path / "old.json"
    cell = "one: jnp.ones(n)\ntwo: jnp.zeros(n)"
    session.run(f"%%jaxcompare -q --check none {QUICK} --sweep n=1,2 --save '{path}'\n{cell}")
    session.run(f"%%jaxcompare --check none {QUICK} --sweep n=2,3 --against '{path}'\n{cell}")
    printed = session.published[-2]["text/plain"]
    assert "one at n=2" in printed
    assert "two at n=2" in printed
    assert "n=1" not in printed
    error = session.run(f"%%jaxcompare {QUICK} --against '{path}'\none: 1\ntwo: 1", fails=UsageError)
    assert "expected a Comparison, which this magic makes, got a Sweep. Name a file" in str(error)
    assert f"or write %%jaxcompare --sweep n=64,256 --against {path}." in str(error)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("n=1,2", (1, 2)),
        ("n=1,2,", (1, 2)),
        ("n=range(2, 5)", (2, 3, 4)),
        ("n=[2, 3]", (2, 3)),
        ("n=two", ("two",)),
        ("n=base**2", (9,)),
        ("n=jnp.float32,jnp.bfloat16", (jnp.float32, jnp.bfloat16)),
        ("n=jnp.float32", (jnp.float32,)),
        ("n=jnp.array(3)", (3,)),
    ],
)
def test_values_are_python_of_the_session(session: Any, text: str, values: tuple[Any, ...]) -> None:
    session.run("base, two = 3, 'two'")
    (found,) = read_sweep(session.shell, [text])
    assert (found.variable.name, found.values) == ("n", values)


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("--sweep n", "one: n", "expected a variable with its values"),
        ("--sweep n=", "one: n", "expected a variable with its values"),
        ("--sweep 2n=1", "one: 1", "expected a variable with Python values"),
        ("--sweep n=1,,2", "one: n", "expected a variable with Python values"),
        ("--sweep n=1,1", "one: n", "n: expected different values, got 1 twice"),
        ("--sweep n=[]", "one: n", "n: expected at least one value, got none"),
        ("--sweep n=1,2 --sweep n=3", "one: n", "expected each variable once, got n twice"),
        ("--sweep n=1)#", "one: n", "expected a variable with Python values"),
        ("--sweep n=2^4,2^6", "one: n", "for a power, as in 2\\*\\*4"),
        ("--sweep n=1,2", "n = 3\none: n", "expected a variable that the cell does not assign, got n"),
        ("--sweep n=1,2", "z = 3\nn: z", "expected a variable that the cell uses, got n"),
        ("--per items=10**400", "one: 1\ntwo: 2", "expected a positive number"),
        ("--budget 0s", "one: 1\ntwo: 2", "expected a time above 0"),
        ("", "one: (yield 1)\ntwo: 2", "yield cannot be repeated"),
        ("", "yield 3\none: 1\ntwo: 2", "yield cannot be repeated"),
        ("", "return 3\none: 1\ntwo: 2", "return cannot be repeated"),
        ("--sweep n=1,2", "one: m", "expected a variable that the cell uses, got n"),
        (f"--sweep n=range({MOST_POINTS + 1})", "one: n", f"at most {MOST_POINTS} points, got {MOST_POINTS + 1}"),
        ("--sweep n=1, 2", "one: n", "put the value in quotes"),
        ("--modes grad", "one: f(x)\ntwo: x * 2", "two is not a function call with an argument"),
        (
            "--modes back",
            "one: f(x)\ntwo: x",
            "--modes: expected some of forward, .* got 'back'. Write for example",
        ),
        ("--per volts=3", "one: f(x)\ntwo: x", "expected items=N, bytes=N or flops"),
        ("--per items", "one: f(x)\ntwo: x", "expected items=N, bytes=N or flops"),
    ],
)
def test_bad_input_says_what_to_write(session: Any, line: str, cell: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        session.shell.run_cell_magic("jaxcompare", line, cell)


def test_the_options_are_listed() -> None:
    text = declared("jaxcompare").parser.format_help()
    for option in ("--sweep NAME=VALUES", "--modes MODES", "--per WORK"):
        assert option in text


def test_names_of_the_users_are_not_hidden_by_ours(session: Any) -> None:
    session.run("def each():\n    return 1\ndef body1():\n    return 2\ndef setup():\n    return 3")
    record = session.run(f"%%jaxcompare -oq {QUICK} --check none\na: each()\nb: body1()\nc: setup()")
    assert record.values == {"a": 1, "b": 2, "c": 3}
    assert session.run("%jaxtimeit -oq -r 6 each()").value == 1
    assert session.run(f"%%jaxcompare -oq {QUICK} --sweep each=4,5\nz = each\na: z * each").labels == ("a",)


def test_the_setup_may_begin_with_the_value_that_a_name_has_outside(session: Any) -> None:
    session.run("numbers = list(range(10))")
    record = session.run(
        f"%%jaxcompare -oq {QUICK} --sweep n=1,2\nnumbers = numbers[:n]\na: sum(numbers)\nb: len(numbers)"
    )
    assert all(each.comparison is not None for each in record.points)
    assert session.shell.user_ns["numbers"] == list(range(10))


def test_a_derivative_of_what_is_another_object_every_time_compiles_once(session: Any) -> None:
    record = session.run(f"%%jaxcompare -oq {QUICK} --modes grad\na: jax.jit(lambda x: x.sum())(x)\nb: jnp.sum(x)")
    assert record.candidate("a").conditions.compilations == ()


def test_operations_of_all_that_an_expression_calls_are_counted(session: Any) -> None:
    session.run("square = jax.jit(lambda a: a @ a)")
    record = session.run(
        f"%%jaxcompare -oq {QUICK} --per flops --check none\n"
        "a: square(square(x))\nb: jnp.sum(square(x))\nc: jnp.sum(x @ x)\nd: square(x @ x)\ne: square(x)[0]"
    )
    amounts = {each.label: each.work.amount for each in record.candidates}
    product = 2 * 8**3
    assert amounts == {"a": 2 * product, "b": product + 63, "c": product + 63, "d": 2 * product, "e": product}


def test_an_interrupt_keeps_what_was_measured_and_shows_it(session: Any) -> None:
    record = session.run(
        f"%%jaxcompare -o {QUICK} --sweep n=1,2,3\nif n == 2:\n    raise KeyboardInterrupt\none: n\ntwo: n * 1"
    )
    assert (len(record), record.stopped_by) == (1, "interrupt")
    assert "Measured 1 of 3 points: interrupted." in session.report


@pytest.mark.parametrize("values", ["n=range(2,5)", "'n=[2, 3, 4]'", "'n=range(2, 5)'", "n=2,3,4"])
def test_the_values_of_a_variable_are_any_python_that_can_be_iterated_over(session: Any, values: str) -> None:
    session.run(
        f"%%jaxcompare -q -v swept -r 2 --check none --sweep {values}\nz = jnp.ones(n)\none: f(z)\ntwo: z + 1"
    )
    assert session.shell.user_ns["swept"].variables[0].numbers == (2.0, 3.0, 4.0)
