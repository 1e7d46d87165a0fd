"""What a mistake of usage prints: what is wrong, what was found, what to write, and none of our frames."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic import testing
from jaxmagic.comparison.record.candidate import Work
from jaxmagic.drawing.to_svg import draw
from jaxmagic.runtime.jax_version import keeps_lines
from jaxmagic.testing import (
    assert_faster,
    assert_healthy,
    assert_max_compiles,
    assert_no_compile,
    assert_no_regression,
)
from jaxmagic.tracebacks import of_the_user
from jaxmagic.xla.hlo import HloModule
from jaxmagic.xla.schedule import flattened_schedule

PACKAGE = Path(jaxmagic.__file__).parent

#: As many characters as six lines of 80 columns have.
MOST_CHARACTERS = 6 * 80


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxtimeit -n0 f(x)", "-n: expected a positive integer, got '0'"),
        ("%jaxprof --logdir", "--logdir: expected a folder, got nothing. Write for example --logdir runs"),
        (
            "%jaxtimeit --save f(x)",
            "%jaxtimeit has nothing to run: --save took f(x) as its file. Write the statement after it: "
            "%jaxtimeit --save run.json f(x).",
        ),
        ("%jaxtimeit -q --against 'a b.json'", "%jaxtimeit has nothing to run: --against took a b.json as its file."),
        (
            "%jaxtimeit --setup f(x)",
            "%jaxtimeit has nothing to run: --setup took f(x) as its code. Write the statement",
        ),
        (
            "%jaxprof --logdir f(x)",
            "%jaxprof has nothing to run: --logdir took f(x) as its folder. Write the statement after it: "
            "%jaxprof --logdir runs f(x).",
        ),
        ("%jaxprof --perfetto f(x)", "%jaxprof has nothing to run: --perfetto took f(x) as its file."),
        ("%jaxtimeit -r 4", "%jaxtimeit has nothing to run. Write the statement after it: %jaxtimeit f(x), or put"),
        ("%jaxtimeit --save", "--save: expected a file, got nothing. Write for example --save run.json"),
        (
            "%%jaxcompare --check\na: 1\nb: 1",
            "--check: expected allclose, equal, none, or a tolerance RTOL or RTOL,ATOL, got nothing. Write",
        ),
        (
            "%%jaxcompare --check no\na: 1\nb: 1",
            "--check: expected allclose, equal, none, or a tolerance SHARE%, RTOL or RTOL,ATOL, got 'no'",
        ),
        (
            "%%jaxcompare --atol 1e-3\na: 1\nb: 1",
            "there is no option --atol. Write --check RTOL or --check RTOL,ATOL.",
        ),
        (
            "%%jaxcompare --sweep n=1:10\na: n\nb: n",
            "--sweep n=1:10: expected Python, got '1:10'. Write --sweep 'n=range(1, 10)'",
        ),
        ("%jaxtime --nope f(x)", "there is no option --nope."),
        ("%jaxmem --map yes f(x)", "--map: expected no value, got 'yes'. Write --map or --no-map"),
        (
            "%%jaxcompare --sweep m=64, 128 --budget 100ms\na: m\nb: m",
            "--sweep: expected a value without spaces, got m=64, 128. Write --sweep m=64,128, or put the value in ",
        ),
        (
            "%jaxprof --label a f(x)",
            "--label: expected --logdir as well, got only --label a. Write for example --logdir runs.",
        ),
        (
            "%jaxprof --logdir runs --label .. f(x)",
            "--label: expected the name of a folder, got '..'. Write for example",
        ),
        ("%jaxtimeit -p 99 f(x)", "-p: expected an integer from 1 to 9, got '99'"),
        ("%jaxtimeit --save . f(x)", "--save: expected a file that can be written, got '.'. This is a folder; name"),
        (
            "%jaxtimeit --save none/a.json f(x)",
            "--save: expected a file that can be written, got 'none/a.json'. There",
        ),
        (
            "%jaxtimeit --against none.json f(x)",
            "--against: expected a saved record, got 'none.json'. There is no such",
        ),
        ("%jaxmem --pprof=none/x f(x)", "--pprof: expected a file that can be written, got 'none/x'. There is no"),
        (
            "%jaxprof --perfetto . f(x)",
            "--logdir or --perfetto: expected paths that can be written, got '.'. This is",
        ),
        (
            "%jaxdoctor --only f(x)",
            "%jaxdoctor --only: expected code after it, got none. Write --only recompile f(x)",
        ),
        (
            "%%jaxcompare --sweep n=float16\na: n\nb: n",
            "--sweep n=float16: expected Python values, but name 'float16' is not defined. Write for example",
        ),
        (
            "%%jaxcompare --sweep n=[]\na: n\nb: n",
            "--sweep n: expected at least one value, got none. Write for example --sweep n=64,256",
        ),
        ("%%jaxcompare --sweep n=1,1\na: n\nb: n", "--sweep n: expected different values, got 1 twice. Write for"),
        (
            "%%jaxcompare --per items=many\na: 1\nb: 1",
            "--per items=: expected a number, but name 'many' is not defined",
        ),
        (
            "%%jaxcompare --per 'items=('\na: 1\nb: 1",
            "--per items=: expected Python code, got '(': '(' was never closed",
        ),
        ("%%jaxcompare --each 'y = '\na: 1\nb: 1", "--each: expected Python code, got 'y = ': invalid syntax."),
        ("%jaxtimeit --setup 'f(x' 1", "--setup: expected Python code, got 'f(x': "),
        ("%jaxtime -h f(x)", "%jaxtime -h: expected nothing after it, got 'f(x)'. It prints the help."),
        ("%%jaxcompare\na:\nb: 1", "%%jaxcompare: expected an expression after the label a, got nothing. Write a: f"),
        (
            "%%jaxcompare\ntwo words:  # no\nb: 1",
            "%%jaxcompare: expected an expression after the label 'two words', got",
        ),
        ('%%jaxcompare\n"": 1\nb: 1', "%%jaxcompare: expected text in the quotes of a label, got none. Write "),
    ],
)
def test_a_wrong_option_takes_one_line(session: Any, cell: str, message: str) -> None:
    error = session.run(cell, fails=UsageError)
    assert type(error) is UsageError  # IPython shows no frames of it
    assert str(error).startswith(message)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxprof f", "f was not called: %jaxprof f(x)\n"),
        ("%jaxprof sum([1, 2])", "No JAX program ran in " if keeps_lines() else "No device time was recorded"),
        ("%jaxtime -h", "%jaxtime [-h] [-q] "),
    ],
)
def test_a_report_of_nothing_begins_with_why(session: Any, capsys: Any, cell: str, message: str) -> None:
    session.run(cell)
    assert (session.report if session.published else capsys.readouterr().out).startswith(message)


@pytest.mark.parametrize("line", ["f(x) -q", "f(x) -qo", "-v t f(x) -q -o"])
@pytest.mark.parametrize("magic", ["jaxtime", "jaxtimeit"])
def test_a_name_that_may_be_an_option_behind_the_code_is_told(session: Any, magic: str, line: str) -> None:
    flags = line.partition("f(x) ")[2]
    error = session.run(f"%{magic} {line}", fails=NameError)
    (told,) = error.__notes__
    assert told.startswith(f"If -{error.name} is an option: options come before the code. Write {flags} ")


@pytest.mark.parametrize(
    "cell", ["%jaxtime f(x) - q", "%jaxtime f(x) -p", "%jaxtime q -f(x)", "%%jaxtime\n1\nf(x) -q"]
)
def test_any_other_name_that_does_not_exist_keeps_its_error(session: Any, cell: str) -> None:
    assert not hasattr(session.run(cell, fails=NameError), "__notes__")


def test_a_candidate_that_is_no_python_is_shown_at_its_line(session: Any) -> None:
    error = session.run("%%jaxcompare\na: f(x\nb: f(x)", fails=SyntaxError)
    assert (error.msg, error.lineno, error.text.strip()) == ("'(' was never closed", 2, "a: f(x")
    assert error.filename.startswith("<ipython-input-")


def test_a_command_that_wants_a_cell_says_so(session: Any) -> None:
    error = session.run("%jaxcompare", fails=UsageError)
    assert str(error).startswith("jaxcompare runs a cell: write %%jaxcompare on its first line, and")


def wrong(call: Any, kind: type[Exception]) -> str:
    """The message of a call that is refused; its traceback has this file's call, and ours at most in a wrapper."""
    with pytest.raises(kind) as caught:
        call()
    stack = traceback.extract_tb(caught.value.__traceback__)
    ours = [each.name for each in stack if Path(each.filename).is_relative_to(PACKAGE)]
    assert ours in ([], ["shown"])
    assert stack[-1].name in ("<lambda>", "shown")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("function", [lambda x: x, abs, np.sin, int, jax.jit(lambda x: x)])
def test_a_keyword_that_is_an_option_of_another_name_is_told(function: Any) -> None:
    functions = {"a": function, "b": function}
    message = wrong(lambda: jaxmagic.compare(functions, 1, budget=1), TypeError)
    assert message == (
        "a: expected a keyword that it takes, got budget. Write budget_s=1 instead. "
        "Keywords that are not options are passed to the functions."
    )


@pytest.mark.parametrize("function", [lambda x: x, abs, np.exp, int, jax.jit(lambda x: x)])
def test_a_sweep_without_make_args_is_told(function: Any) -> None:
    message = wrong(lambda: jaxmagic.sweep({"a": function}, n=[10, 20]), TypeError)
    assert message.startswith("a: expected a keyword that it takes, got n. make_args is missing")
    assert message.endswith("sweep(f, lambda n: (jnp.ones(n),), n=[64, 256])")


def test_arguments_that_a_function_in_c_does_not_take_are_told() -> None:
    message = wrong(lambda: jaxmagic.benchmark(max, budget_s=1), TypeError)
    assert message == (
        "max: max expected at least 1 argument, got 0. Write the arguments after the function: benchmark(f, x)."
    )


@pytest.mark.parametrize(
    "verb",
    [
        lambda: jaxmagic.benchmark(int, "a"),
        lambda: jaxmagic.benchmark(int, setup=lambda: ("a",)),
        lambda: jaxmagic.compare({"a": int, "b": int}, "a"),
        lambda: jaxmagic.sweep(int, lambda n: ("a",), n=[1]),
        lambda: jaxmagic.memory(int, "a"),
        lambda: jaxmagic.profile(int, "a"),
        lambda: jaxmagic.diagnose(int, "a"),
        lambda: testing.assert_healthy(int, "a"),
    ],
)
def test_an_error_of_a_function_in_c_is_its_own(verb: Any) -> None:
    assert wrong(verb, ValueError) == "invalid literal for int() with base 10: 'a'"


def test_an_error_inside_a_function_is_its_own() -> None:
    def inner(x: int) -> int:
        return x

    def outer(x: int, budget: int = 0) -> int:
        return inner(x, budget=budget)  # type: ignore[call-arg]

    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword argument 'budget'") as caught:
        jaxmagic.compare({"a": outer, "b": outer}, 1, budget=1)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "outer"


def test_a_keyword_that_a_function_takes_is_passed() -> None:
    def takes(x: int, budget: int) -> int:
        return x + budget

    found = jaxmagic.compare({"a": takes, "b": lambda x, **more: x + more["budget"]}, 1, budget=2, budget_s=0.02)
    assert found.values == {"a": 3, "b": 3}


def test_arguments_are_refused_with_what_to_write() -> None:
    functions = {"a": lambda x: x, "b": lambda x: x}
    message = wrong(lambda: jaxmagic.compare(functions, 1, rtol="5%"), ValueError)  # type: ignore[call-overload]
    assert message == "rtol: expected a fraction between 0 and 1, got '5%'; write rtol=0.05"
    message = wrong(lambda: jaxmagic.explore(3), TypeError)
    assert message.startswith("explore(): expected a record, or nothing for the session's history, got int. Write")


def f(x: Any) -> Any:
    return x


def benchmark() -> Any:
    return jaxmagic.benchmark(f, 1, budget_s=0.01)


def wrong_inside(x: Any) -> Any:
    return f(x, x)  # type: ignore[call-arg]


def record() -> Any:
    with jaxmagic.stopwatch() as watch:
        pass
    return watch.timing


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: jaxmagic.benchmark(),
            TypeError,
            "benchmark(): expected the arguments (fn), got none. Write benchmark(fn, *args, rtol=0.01, ",
        ),
        (
            lambda: jaxmagic.benchmark(f, 1, budget=1),
            TypeError,
            "f: expected a keyword that it takes, got budget. Write budget_s=1 instead. ",
        ),
        (
            lambda: jaxmagic.benchmark(f, 1, n=5),
            TypeError,
            "f: expected a keyword that it takes, got n. Write one of the options rtol, budget_s, ",
        ),
        (
            lambda: jaxmagic.benchmark(f),
            TypeError,
            "f: expected the arguments (x), got 0 (missing a required argument: 'x'). Write the arguments after the "
            "function: benchmark(f, x).",
        ),
        (lambda: jaxmagic.benchmark(f, 1, 2), TypeError, "f: expected the arguments (x), got 2 (too many positional"),
        (lambda: jaxmagic.benchmark(f, setup=3), TypeError, "setup: expected a function, got int. Write for example"),
        (lambda: jaxmagic.benchmark(f, setup=lambda: 3), TypeError, "setup: expected the positional arguments as a "),
        (
            lambda: jaxmagic.profile(f, 1, clod=True),
            TypeError,
            "f: expected a keyword that it takes, got clod. Write cold=True instead. ",
        ),
        (lambda: jaxmagic.memory(f), TypeError, "f: expected the arguments (x), got 0 "),
        (lambda: jaxmagic.memory_requirement(f, 1, 2), TypeError, "f: expected the arguments (x), got 2 "),
        (
            lambda: jaxmagic.diagnose(f, 1, verifi=True),
            TypeError,
            "f: expected a keyword that it takes, got verifi. Write verify=True instead. ",
        ),
        (lambda: jaxmagic.compare({"a": f}, 1), ValueError, "expected at least two candidates, got 1. Use benchmark"),
        (lambda: jaxmagic.compare({"a": f, "b": f}), TypeError, "a: expected the arguments (x), got 0 "),
        (lambda: jaxmagic.compare({"a": f, "b": f}, 1, modes="back"), ValueError, "modes: expected some of forward"),
        (lambda: jaxmagic.compare({"a": f, "b": f}, 1, baseline="c"), ValueError, "baseline: expected one of the la"),
        (lambda: jaxmagic.compare(jaxmagic.history(), 1), TypeError, "compare(): expected functions by their label"),
        (
            lambda: jaxmagic.compare(benchmark(), benchmark(), anyways=True),  # type: ignore[call-overload]
            TypeError,
            "compare(old, new): expected only anyway and measure, got anyways",
        ),
        (
            lambda: jaxmagic.profile(f, 1, logdir="runs", label="a/b"),
            ValueError,
            "label: expected the name of a folder",
        ),
        (
            lambda: jaxmagic.benchmark(f, 1, budget_s=10**400),
            ValueError,
            "budget_s: expected a positive number, got 10",
        ),
        (
            lambda: jaxmagic.stopwatch().timing,
            jaxmagic.NotMeasured,
            "There is no timing yet: it is made when the with",
        ),
        (lambda: jaxmagic.sweep(f, n=[]), ValueError, "n: expected at least one value, got none"),
        (lambda: jaxmagic.sweep(f, lambda n: (n,)), ValueError, "sweep(): expected a variable with its values, got"),
        (
            lambda: jaxmagic.sweep(f, lambda m: (m,), n=[3, 4]),
            TypeError,
            "make_args: expected a keyword that it takes, got n. Its parameters are the variables: "
            "lambda n: (jnp.ones(n),)",
        ),
        (lambda: jaxmagic.sweep(f, lambda n, m: (n,), n=[3]), TypeError, "make_args: expected the arguments (n, m)"),
        (
            lambda: jaxmagic.load("none.json"),
            FileNotFoundError,
            "Expected a file that jaxmagic.save() wrote, got none. There is no such file",
        ),
        (lambda: jaxmagic.load("."), IsADirectoryError, "[Errno 21] Expected a file, got a folder; "),
        (lambda: jaxmagic.load(3), TypeError, "load(): expected the path of a file, got int"),  # type: ignore[arg-type]
        (lambda: jaxmagic.load(__file__), jaxmagic.RecordError, f"{__file__}: not a record of jaxmagic, because it "),
        (
            lambda: jaxmagic.read_profile("none.pb"),
            FileNotFoundError,
            "Expected a recording of JAX's profiler, or its folder, got none. There is no such file",
        ),
        (lambda: jaxmagic.read_profile(__file__), jaxmagic.NotMeasured, f"{__file__} is not a recording of the JAX"),
        (lambda: jaxmagic.save("a.json", record()), TypeError, "save(): expected a record or the history, got str. "),
        (
            lambda: jaxmagic.save(jax.numpy.ones(3), "a.json"),
            TypeError,
            "save(): expected a record or the history, got jax.Array. ",
        ),
        (
            lambda: jaxmagic.benchmark(jax.numpy.ones(3)),
            TypeError,
            "benchmark(): expected a function and its arguments, got jax.Array, which",
        ),
        (
            lambda: jaxmagic.compare(jax.jit(f)),
            TypeError,
            "compare(): expected functions by their labels, or two records, got a jitted function. Write ",
        ),
        (lambda: jaxmagic.save(record(), "a.pdf"), ValueError, "a.pdf: expected a file for JSON, got the name of a "),
        (lambda: record().figure("none"), ValueError, "of: expected 'parts' for a Timing, got 'none'"),
        (lambda: record().to_frame("none"), ValueError, "of: expected one of 'timings', 'compilations', got 'none'"),
        (lambda: jaxmagic.history()[10**6], IndexError, "the history: expected an index below "),
        (lambda: jaxmagic.live(3), TypeError, "live(): expected a mapping from names to values, got int"),
        (
            lambda: jaxmagic.peaks(flops="1T"),
            ValueError,
            "flops: expected a rate per second from 1 to 1e24, got '1T'",
        ),
        (
            lambda: jaxmagic.explain_error("ValueError"),  # type: ignore[arg-type]
            TypeError,
            "explain_error(): expected an exception, got str. Write explain_error() for the last error that ",
        ),
        (
            lambda: jaxmagic.peaks(1e12),  # type: ignore[misc]
            TypeError,
            "peaks(): expected no positional argument, got 1. Write peaks(flops=..., bytes=...)",
        ),
        (
            lambda: assert_no_regression(lambda: f(1), "nothere.json"),
            FileNotFoundError,
            "[Errno 2] baseline: there is no file 'nothere.json'. "
            "Write jaxmagic.save(jaxmagic.benchmark(lambda: f(x)), 'nothere.json') to make it",
        ),
        (
            lambda: assert_no_regression(f, benchmark()),
            TypeError,
            "record: expected the arguments (x), got 0 (missing a required argument: 'x'). "
            "Write assert_no_regression(lambda: f(x), 'baseline.json')",
        ),
        (
            lambda: assert_faster(f, f),
            TypeError,
            "fn: expected the arguments (x), got 0 (missing a required argument: 'x'). Write the arguments after the "
            "functions: assert_faster(f, g, x).",
        ),
        (
            lambda: assert_faster(f, f, 1, atleast=2),
            TypeError,
            "fn: expected a keyword that it takes, got atleast. Write at_least=2 instead. ",
        ),
        (
            lambda: assert_faster(f, f, 1, confidence=3),
            TypeError,
            "fn: expected a keyword that it takes, got confidence. Write one of the options at_least, check, ",
        ),
        (
            lambda: assert_faster({"a": f, "b": f}, 1),  # type: ignore[arg-type]
            TypeError,
            "fn: expected a function, got dict. Write assert_faster(f, g, x)",
        ),
        (
            lambda: assert_faster(f, f, 1, strict=False),
            TypeError,
            "assert_faster(): expected no option strict, got False. Leave it out",
        ),
        (
            lambda: assert_no_regression("baseline.json", f),  # type: ignore[arg-type]
            TypeError,
            "record: expected a Benchmark or a function, got str. Write assert_no_regression(lambda: f(x), ",
        ),
        (
            lambda: assert_no_regression(f, record()),
            TypeError,
            "baseline: expected a Benchmark or the path of its file, got Timing. Write assert_no_regression(lambda: ",
        ),
        (
            lambda: assert_no_regression(f, "a.json", tolerence=1),  # type: ignore[call-arg]
            TypeError,
            "assert_no_regression(): expected a keyword that it takes, got tolerence=. Write tolerance instead",
        ),
        (
            lambda: assert_no_regression(f, "a.json", budget_s=1),  # type: ignore[call-arg]
            TypeError,
            "assert_no_regression(): expected a keyword that it takes, got budget_s=. Write "
            "assert_no_regression(record, baseline, tolerance=0.1, processes=None, anyway=False, measure=True)",
        ),
        (
            lambda: jaxmagic.load("a.json", "b.json"),  # type: ignore[call-arg]
            TypeError,
            "load(): expected the arguments (path), got 2. Write load(path)",
        ),
        (
            lambda: assert_no_compile(f, 1),  # type: ignore[call-arg]
            TypeError,
            "assert_no_compile(): expected no argument, got 2 arguments. It watches a block. Write with "
            "assert_no_compile(): f(x).",
        ),
        (
            lambda: assert_no_compile(f),  # type: ignore[call-arg]
            TypeError,
            "assert_no_compile(): expected no argument, got 1 argument. It watches a block. Write with ",
        ),
        (
            lambda: assert_max_compiles(),  # type: ignore[call-arg]
            TypeError,
            "assert_max_compiles(): expected the largest number of programs, got no argument. It watches a block. "
            "Write with assert_max_compiles(1): f(x).",
        ),
        (
            lambda: assert_max_compiles(f, 1),  # type: ignore[call-arg, arg-type]
            TypeError,
            "assert_max_compiles(): expected the largest number of programs, got 2 arguments. It watches a block. ",
        ),
        (
            lambda: assert_max_compiles(f),  # type: ignore[arg-type]
            TypeError,
            "assert_max_compiles(): expected the largest number of programs, got a function. It watches a block. ",
        ),
        (
            lambda: assert_max_compiles(-1),
            ValueError,
            "most: expected an integer of at least 0, got -1",
        ),
        (
            lambda: jaxmagic.stopwatch(f),  # type: ignore[call-arg]
            TypeError,
            "stopwatch(): expected no argument but fetch=, got 1 argument. It watches a block. "
            "Write with stopwatch() as t: f(x), or benchmark(f, x) to time a function.",
        ),
        (
            lambda: jaxmagic.stopwatch(label="a"),  # type: ignore[call-arg]
            TypeError,
            "stopwatch(): expected no argument but fetch=, got label=. It watches a block. ",
        ),
        (
            lambda: jaxmagic.profiler(f),  # type: ignore[call-arg]
            TypeError,
            "profiler(): expected no argument, got 1 argument. It watches a block. "
            "Write with profiler() as p: f(x), or profile(f, x) to profile a function.",
        ),
        (
            lambda: jaxmagic.benchmark(jax.jit(f), 1.0, budget="5s"),
            TypeError,
            "f: expected a keyword that it takes, got budget. Write budget_s=5 instead. ",
        ),
        (
            lambda: jaxmagic.benchmark(jax.jit(f), 1.0, budget=5),
            TypeError,
            "f: expected a keyword that it takes, got budget. Write budget_s=5 instead. ",
        ),
        (
            lambda: jaxmagic.compare({"a": f, "b": jax.jit(f)}, 1.0, budget="5s"),
            TypeError,
            "a: expected a keyword that it takes, got budget. Write budget_s=5 instead. ",
        ),
        (
            lambda: jaxmagic.profile(jax.jit(f), 1.0, cols="no"),
            TypeError,
            "f: expected a keyword that it takes, got cols. Write cold instead. ",
        ),
        (
            lambda: jaxmagic.benchmark(f, 1, budget="soon"),
            TypeError,
            "f: expected a keyword that it takes, got budget. Write budget_s instead. ",
        ),
        (
            lambda: jaxmagic.benchmark(f, 1, budget_s="5s"),  # type: ignore[arg-type]
            ValueError,
            "budget_s: expected seconds as a number, got '5s'; write budget_s=5",
        ),
        (
            lambda: jaxmagic.compare({"a": f, "b": f}, 1, budget_s=" 0.5 "),  # type: ignore[call-overload]
            ValueError,
            "budget_s: expected seconds as a number, got ' 0.5 '; write budget_s=0.5",
        ),
        (
            lambda: jaxmagic.benchmark(f, 1, budget_s="soon"),  # type: ignore[arg-type]
            ValueError,
            "budget_s: expected a positive number, got 'soon'; for example budget_s=0.5",
        ),
        (
            lambda: jaxmagic.memory(f, 1, interval_s="10 ms"),  # type: ignore[arg-type]
            ValueError,
            "interval_s: expected seconds as a number, got '10 ms'; write interval_s=0.01",
        ),
        (
            lambda: jaxmagic.profile(f, 1, most_s="1min"),  # type: ignore[arg-type]
            ValueError,
            "most_s: expected seconds as a number, got '1min'; write most_s=60",
        ),
        (
            lambda: jaxmagic.profile(f, 1, n="3"),  # type: ignore[arg-type]
            ValueError,
            "n: expected an integer of at least 1, got '3'; write n=3",
        ),
        (
            lambda: jaxmagic.diagnose(f, 1, memory_bytes="16GiB"),  # type: ignore[arg-type]
            ValueError,
            "memory_bytes: expected an integer of at least 1, got '16GiB'; write memory_bytes=17179869184",
        ),
        (
            lambda: assert_no_regression("a.json", "b.json", "10%"),  # type: ignore[arg-type]
            ValueError,
            "tolerance: expected a number of at least 0, got '10%'; write tolerance=0.1",
        ),
        (
            lambda: jaxmagic.peaks(bytes="3TB"),  # type: ignore[arg-type]
            ValueError,
            "bytes: expected a rate per second from 1 to 1e24, got '3TB'; for example bytes=1e12",
        ),
        (
            lambda: assert_healthy(f(1)),
            TypeError,
            "assert_healthy(): expected a function and its arguments, got int, which cannot be called. "
            "Write assert_healthy(f, x), not assert_healthy(f(x)).",
        ),
        (
            lambda: jaxmagic.profile(f(1)),
            TypeError,
            "profile(): expected a function and its arguments, got int, which cannot be called. "
            "Write profile(f, x), not profile(f(x)).",
        ),
        (
            lambda: jaxmagic.sweep([f], lambda n: (n,), n=[1]),  # type: ignore[arg-type, list-item]
            TypeError,
            "sweep(): expected a function, or functions by their labels, got list. Write for example sweep({",
        ),
        *(
            (
                lambda given=given: jaxmagic.sweep(f, given, n=[1]),
                TypeError,
                f"make_args: expected a function that makes the arguments, got {type(given).__name__}. "
                "Write for example lambda n: (jnp.ones(n),)",
            )
            for given in ((1,), "a", 3)
        ),
        (
            lambda: jaxmagic.sweep(f, lambda n: (n,), n=[1], budget=1),
            TypeError,
            "budget: expected several values, got 1. Write budget_s=1 instead",
        ),
        (
            lambda: jaxmagic.sweep(f, lambda n: (n,), n=1),
            TypeError,
            "n: expected several values, got 1. Write for example n=[1]",
        ),
        (
            lambda: jaxmagic.sweep(f, lambda n: (n,), n=[1], modes=3),  # type: ignore[arg-type]
            ValueError,
            "modes: expected some of forward, grad, value_and_grad, each once, got 3",
        ),
        (
            lambda: jaxmagic.compare({"a": f, "b": f}, 1, modes=[["grad"]]),  # type: ignore[call-overload]
            ValueError,
            "modes: expected some of forward, grad, value_and_grad, each once, got ['grad']",
        ),
        (
            lambda: jaxmagic.diagnose(f, 1, only=3),  # type: ignore[arg-type]
            TypeError,
            "only: expected names of rules, got int. Write for example only=['recompile']",
        ),
        (
            lambda: setattr(record(), "wait_ns", 3),
            dataclasses.FrozenInstanceError,
            "wait_ns: Timing is immutable. Write dataclasses.replace(record, wait_ns=...) for a changed copy",
        ),
        (lambda: setattr(record(), "wall_ns", 3), dataclasses.FrozenInstanceError, "wall_ns: Timing is immutable"),
        (lambda: delattr(record(), "wait_ns"), dataclasses.FrozenInstanceError, "wait_ns: Timing is immutable"),
        (
            lambda: setattr(record().environment, "nope", 3),
            dataclasses.FrozenInstanceError,
            "nope: Environment is immutable",
        ),
        (lambda: record().save(3), TypeError, "save(): expected the path of a file, got int"),
        (lambda: record().save("none/a.json"), FileNotFoundError, "[Errno 2] There is no such folder: 'none'"),
        (lambda: jaxmagic.history().save(3), TypeError, "save(): expected the path of a file, got int"),
        (lambda: jaxmagic.stopwatch().record, jaxmagic.NotMeasured, "There is no timing yet: "),
        (
            lambda: jaxmagic.profile(f, 1, logdir=__file__),
            NotADirectoryError,
            "[Errno 20] This is a file, not a folder: ",
        ),
        (
            lambda: jaxmagic.compare("a.json", "b.json"),  # type: ignore[call-overload]
            TypeError,
            "compare(): expected functions by their labels, or two records, got str. "
            "Write compare(load(old), load(new)) for files.",
        ),
        (
            lambda: jaxmagic.profile(f, 1, logdir=3),  # type: ignore[arg-type]
            TypeError,
            "logdir: expected the path of a folder, got int",
        ),
        (
            lambda: jaxmagic.profile(f, 1, perfetto=3),  # type: ignore[arg-type]
            TypeError,
            "perfetto: expected the path of a file, got int",
        ),
        (
            lambda: jaxmagic.memory(f, 1, pprof=3),  # type: ignore[arg-type]
            TypeError,
            "pprof: expected the path of a file, got int",
        ),
        (
            lambda: jaxmagic.history()["a"],  # type: ignore[call-overload]
            TypeError,
            "the history: expected the index of a record, got str. Write history()[-1] for the last",
        ),
        (
            lambda: assert_faster(f, f, 1, at_least="2x"),  # type: ignore[arg-type]
            ValueError,
            "at_least: expected a positive number, got '2x'; for example at_least=2",
        ),
        (lambda: jaxmagic.comparee, AttributeError, "module 'jaxmagic' has no attribute 'comparee'"),
    ],
)
def test_a_wrong_call_shows_no_frame_of_ours(call: Any, kind: type[Exception], message: str) -> None:
    assert wrong(call, kind).startswith(message)


def test_a_record_beside_another_one_is_told(executable: Any) -> None:
    message = wrong(lambda: jaxmagic.explore(executable(), 3), TypeError)
    assert message == (
        "explore(): expected a memory profile or a program to compare with, got int. "
        "Write for example explore(jaxmagic.memory(f, x), jaxmagic.memory(g, x))"
    )


def test_a_file_for_the_other_verb_is_told_which(tmp_path: Path) -> None:
    path = jaxmagic.save(record(), tmp_path / "last.json")
    assert wrong(lambda: jaxmagic.read_profile(path), jaxmagic.NotMeasured) == (
        f"{path} is a saved record, not a recording: open it with jaxmagic.load('{path}')."
    )
    path.write_text('{"traceEvents": []}')
    assert "is not a recording of the JAX profiler" in wrong(
        lambda: jaxmagic.read_profile(path), jaxmagic.NotMeasured
    )
    recording = tmp_path / "host.xplane.pb"
    recording.write_bytes(b"\x0a\xff")
    for given, kind in ((recording, jaxmagic.RecordError), (tmp_path, IsADirectoryError)):
        assert f"open it with jaxmagic.read_profile('{given}')" in wrong(lambda g=given: jaxmagic.load(g), kind)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["week.json", "other.json"], "There is no such file. Its folder has week.json. Write the path of one in "),
        (["b.json", "a.json", "a.txt"], "There is no such file. Its folder has a.json, b.json. Write"),
        (
            [f"{each}.json" for each in "dcba"],
            "There is no such file. Its folder has a.json, b.json, c.json, …. Write",
        ),
        (["a.txt"], "There is no such file, and none in its folder ends in .json. Write"),
    ],
)
def test_a_file_that_does_not_exist_is_told_with_those_that_may_be_meant(
    tmp_path: Path, names: list[str], told: str
) -> None:
    for name in names:
        (tmp_path / name).touch()
    message = wrong(lambda: jaxmagic.load(tmp_path / "wek.json"), FileNotFoundError)
    assert message.startswith(f"Expected a file that jaxmagic.save() wrote, got none. {told}")
    assert message.endswith(f"in place of '{tmp_path}/wek.json'.")
    message = wrong(lambda: jaxmagic.read_profile(tmp_path / "wek.xplane.pb"), FileNotFoundError)
    assert "There is no such file, and none in its folder ends in .xplane.pb. Write" in message
    message = wrong(lambda: jaxmagic.load(tmp_path / "none/wek.json"), FileNotFoundError)
    assert f"There is no folder '{tmp_path}/none'. Write" in message


def test_a_picture_or_a_table_that_a_record_lacks_is_told_with_those_that_it_has() -> None:
    measured = benchmark()
    assert wrong(lambda: measured.figure("nope"), ValueError) == (
        "of: expected one of 'distribution', 'order' for a Benchmark, got 'nope'. Write for example "
        "figure('distribution')"
    )
    assert wrong(lambda: measured.figure("a.png"), ValueError).endswith(
        "for a Benchmark, got 'a.png'. Write figure().savefig('a.png') for a file"
    )
    assert re.match(
        "of: expected one of .*, got 'nope'. Write for example to_frame",
        wrong(lambda: measured.to_frame("nope"), ValueError),
    )


def test_a_label_that_a_comparison_lacks_is_told(comparison: Any, sweep: Any) -> None:
    for each in (lambda: comparison["z"], lambda: comparison.candidate("z"), lambda: sweep["z"]):
        assert wrong(each, KeyError) == "\"expected one of the candidates numpy, jit, got 'z'\""


def test_a_mode_may_be_given_alone() -> None:
    import jax.numpy as jnp

    functions = {"a": jnp.sin, "b": lambda x: jnp.sin(x)}
    assert [*jaxmagic.compare(functions, 1.0, modes="grad", budget_s=0.02)] == ["a", "b"]  # type: ignore[call-overload]


def test_a_shape_in_place_of_an_array_is_told() -> None:
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        jaxmagic.memory_requirement(lambda x: x @ x, (3, 3))
    *_, told = caught.value.__notes__  # JAX may have added one
    assert told == (
        "memory_requirement(): got (3, 3). If this is the shape of an array, write "
        "jax.ShapeDtypeStruct((3, 3), jnp.float32) in its place."
    )
    with pytest.raises(TypeError) as caught:
        jaxmagic.memory_requirement(lambda x, y: x @ y, 3.0, ())
    assert "memory_requirement" not in "".join(getattr(caught.value, "__notes__", ()))


def test_an_error_of_a_call_inside_the_function_keeps_its_words() -> None:
    with pytest.raises(TypeError, match=r"f\(\) takes 1 positional argument but 2 were given") as caught:
        jaxmagic.benchmark(wrong_inside, 1)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "wrong_inside"


def test_a_fault_of_ours_keeps_its_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jaxmagic.save(record(), tmp_path / "run.json")
    monkeypatch.setattr("jaxmagic.records.storage._decode_document", None)
    with pytest.raises(TypeError, match="not callable") as caught:
        jaxmagic.load(path)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "load"


@pytest.mark.parametrize(
    "fault",
    [lambda: flattened_schedule(HloModule("m", {}, {}, {})), lambda: draw(3), lambda: Work(kind="items", amount=-1)],
)
def test_what_no_user_has_given_keeps_its_frames(fault: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        of_the_user(fault)()
    assert Path(traceback.extract_tb(caught.value.__traceback__)[-1].filename).is_relative_to(PACKAGE)


#: What a message of usage has: what was expected and what was given, and below what to write.
_SAYS_WHAT_IS_WRONG = re.compile(r"expected .*, (got|but) ", re.S)

_SAYS_WHAT_TO_DO = re.compile(
    r"expected (one|some) of .*, got|expected names of rules \(|; for example |\b([Ww]rite|Put|Give|Use|Leave|Name|"
    r"Return|Make|Rename|Measure|Choose|Pass|Load|Delete|Read|Run|Open|Add|Time|Keep|Move|Copy) ",
    re.S,
)

#: Messages that are clearer in words of their own, which say what is wrong and what to do.
_IN_OWN_WORDS = {
    "an option that does not exist": r"(there is|has) no option .*[Ww]rite ",
    "an option behind the code": r"options come (before the code|on the first line)\. Write ",
    "nothing to run": r"has nothing to run.*(Write|Put) ",
    "a magic in another one": r"must be the outermost magic of its cell: .*Put ",
    "a line magic that needs a cell": r"jaxcompare runs a cell: write ",
    "what only works in a cell": r"await works only if .*Write ",
    "what cannot run again and again": r" cannot be repeated: .*(Time one run|Put it)",
    "a value that a magic cannot set": r"reads .* from the session, .*Write ",
    "no derivative": r"is not a function call with an argument, so .*Write ",
    "a label that is no Python": r"If .* is a label, put it in quotes",
    "records that cannot be compared": r"are from different environments: .*Measure again",
    "few samples": r"has fewer than four samples .*, which is too few .*Measure ",
    "nothing measured yet": r"(There is no timing|Nothing has been measured).*(Run|Read) ",
    "nothing to explain": r"There is no error of JAX to explain: .*Run ",
    "nothing to draw, in a figure": r"there is nothing to draw: ",
    "nothing to draw, in a view": r"(was not measured|has no .* to compare with|every candidate is hidden|"
    r"there are no runs|the memory of fewer than two candidates|this record was loaded).*(Choose|Tick|Widen|Run) ",
    "an array that is gone": r"donated or deleted an array .*Make fresh copies",
    "what a recording is instead": r"is (a saved record|compressed|empty|not a recording)|different kinds of devices",
    "what did not compile": r"Not compiled without command buffers: .*Leave ",
    "several processes of JAX": r"runs on devices of several JAX processes.*Give ",
    "what was not waited for": r"Live arrays were waited for, but .*Delete ",
    "a record that is changed": r"is immutable.*(Write|Keep)",
}  # fmt: skip

#: The kinds of errors of usage: of a magic, of a call, of a setting, and of something that was not measured.
_OF_USAGE = {
    "UsageError", "ArgumentTypeError", "TraitError", "TypeError", "ValueError", "KeyError", "IndexError",
    "LookupError", "FrozenInstanceError", "NotMeasured", "NotComparable", "DonatedTwice",
}  # fmt: skip

#: What surrounds another message, which says all of this, by the file and the beginning of the text.
_AROUND = {
    ("deliver.py", "--save:  Nothing was run."), ("deliver.py", "--against:  Nothing was run."),
    ("deliver.py", "--against: "), ("candidate_calls.py", "--."), ("sweep_option.py", "--sweep "),
    ("declare.py", ""), ("settings.py", ""), ("magic.py", "--. Nothing was run."),
    ("magic.py", "label:----logdir: . Nothing was run."), ("magic.py", "%jaxdoctor has nothing to run. "),
    ("given_arguments.py", ": expected a keyword that it takes, got . : . "),
    ("testing.py", "record: . Write assert_no_regression(lambda: f(x), 'baseline.json')"),
}  # fmt: skip

#: Errors that no user sees as they are: what cannot be sent to a process, and programs that are too large to search.
_CAUGHT = {"sending.py", "constant_work.py", "partial_sorts.py", "usage_sampler.py"}


def _is_a_check_of_fields(path: Path, function: str) -> bool:
    """Whether a function checks the fields of a record, which come from a file."""
    of_a_record = "record" in (path.stem, path.parent.name) or function == "__post_init__"
    return of_a_record and function not in ("candidate", "__getitem__")


def _texts(given: ast.AST, known: Mapping[str, list[ast.AST]], within: tuple[str, ...] = ()) -> str:
    """The text of an expression, with that of the variables and the functions of its file that it names."""
    if isinstance(given, ast.Constant):
        return given.value if isinstance(given.value, str) else ""
    if isinstance(given, ast.Name) and given.id in known and given.id not in within:
        texts = (_texts(each, known, (*within, given.id)) for each in known[given.id])
        return "".join(texts).replace("\n", "")  # what a function may use to split or to join
    return "".join(_texts(each, known, within) for each in ast.iter_child_nodes(given))


def _named(tree: ast.AST) -> dict[str, list[ast.AST]]:
    """What is assigned to each variable, outside of functions in it."""
    found: dict[str, list[ast.AST]] = {}
    for node in own_nodes(tree):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(node.value)
    return found


def _returned(tree: ast.AST) -> dict[str, list[ast.AST]]:
    """What each function of a file returns."""
    return {
        function.name: [
            each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value is not None
        ]
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
    }


def own_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or a file without those of functions in it."""
    for each in ast.iter_child_nodes(tree):
        if not isinstance(each, ast.FunctionDef | ast.Lambda):
            yield each
            yield from own_nodes(each)
        elif isinstance(each, ast.FunctionDef):
            yield from each.decorator_list


def usage_errors() -> list[Any]:
    """The text of each error of usage in the package, as far as its file has it."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name in _CAUGHT or path.relative_to(PACKAGE).parts[0] in ("drawing", "xla"):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        of_file = {**_returned(tree), **_named(tree)}
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef) or _is_a_check_of_fields(path, function.name):
                continue
            known = {**of_file, **_named(function)}
            for node in own_nodes(function):
                if isinstance(node, ast.Call) and node.args:
                    name = getattr(node.func, "id", getattr(node.func, "attr", None))
                    if name in _OF_USAGE:
                        text = "".join(_texts(each, known) for each in node.args)
                        found.append(pytest.param(path.name, text, id=f"{path.stem}:{node.lineno}"))
    return found


@pytest.mark.parametrize(("file", "text"), usage_errors())
def test_a_mistake_of_usage_says_what_is_wrong_and_what_to_write_in_at_most_six_lines(file: str, text: str) -> None:
    assert "\n" not in text
    assert len(text) <= MOST_CHARACTERS
    if (file, text) in _AROUND:
        return
    if any(re.search(each, text, re.S) for each in _IN_OWN_WORDS.values()):
        return
    assert _SAYS_WHAT_IS_WRONG.search(text), text
    assert _SAYS_WHAT_TO_DO.search(text), text


def test_forms_and_exceptions_are_all_in_use() -> None:
    errors = [each.values for each in usage_errors()]
    assert {each for each in _AROUND if each not in errors} == set()
    unused = {
        name for name, each in _IN_OWN_WORDS.items() if not any(re.search(each, text, re.S) for _, text in errors)
    }
    assert unused == set()


def test_the_errors_of_every_subject_are_among_them() -> None:
    texts = [each.values[1] for each in usage_errors()]
    for part in ("%jaxdoctor --only: expected code after it", "modes: expected some of", "the history: expected"):
        assert any(part in each for each in texts)


#: What the message of a wrong call has: what was expected, what was given, and what to write.
_SAYS_ALL = re.compile(r"expected (.*), got .*([Ww]rite |for example |Pass )|expected (one|some) of .*, got ", re.S)

#: Arguments with which each public function would run, so that another one can be wrong.
_RIGHT = {"fn": f, "than": f, "candidates": {"a": f, "b": f}, "make_args": lambda n: (n,), "most": 1, "baseline": "a"}


class Unfit:
    """What no function takes."""


def _public() -> dict[str, Any]:
    functions = {name: getattr(jaxmagic, name) for name in jaxmagic.__all__}
    functions |= {
        name: getattr(jaxmagic.testing, name) for name in dir(jaxmagic.testing) if name.startswith("assert_")
    }
    return {
        name: each for name, each in functions.items() if inspect.isfunction(each) and not name.endswith("extension")
    }


def _wrong_arguments() -> list[Any]:
    """For each public function, a call with too much, and one for each parameter that is not a switch."""
    found = []
    for name, function in _public().items():
        found.append(pytest.param(function, (Unfit(),) * 9, {}, id=f"{name}-surplus"))
        taken = inspect.signature(function).parameters.values()
        required = [each for each in taken if each.default is each.empty and each.kind.name.startswith("POSITIONAL")]
        for wrong in taken:
            if wrong.annotation == "bool" or wrong.kind.name.startswith("VAR_"):
                continue
            args = [Unfit() if each is wrong else _RIGHT.get(each.name, "a") for each in required]
            keywords = {} if wrong in required else {wrong.name: Unfit()}
            if name == "sweep":
                args = [args[0], keywords.pop("make_args", _RIGHT["make_args"])]
                keywords["n"] = [1]
            elif required and required[0].name in ("fn", "candidates") and wrong.name != "setup":
                args.append(1)
            if name == "explain_error":
                args = [keywords.pop("error", ValueError())]
            found.append(pytest.param(function, args, keywords, id=f"{name}-{wrong.name}"))
    return found


@pytest.mark.parametrize(("function", "args", "keywords"), _wrong_arguments())
def test_every_public_function_says_what_it_expected_what_it_got_and_what_to_write(
    function: Any, args: Any, keywords: Any
) -> None:
    def call() -> None:
        function(*args, **keywords)

    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    stack = traceback.extract_tb(caught.value.__traceback__)
    assert [each.name for each in stack if Path(each.filename).is_relative_to(PACKAGE)] in ([], ["shown"])
    message = str(caught.value)
    assert _SAYS_ALL.search(message), message
    assert len(message) <= 6 * 80
    assert "\n" not in message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: jaxmagic.compare(b), "compare(): expected two records, got 1. Write compare(old, new)"),
        (lambda b: jaxmagic.compare(b, b, b), "compare(): expected two records, got 3. Write compare(old, new)"),
        (
            lambda b: jaxmagic.compare(b, 3),
            "expected two records of the same kind, got Benchmark and int. Measure both with the same function",
        ),
        (
            lambda b: jaxmagic.compare(b, b, rtol=0.1),
            "compare(old, new): expected only anyway and measure, got options that say how to measure. Both records "
            "have already been measured. Leave these options out.",
        ),
        (
            lambda b: jaxmagic.explore(b, b),
            "explore(): expected a memory profile or a program as the first of several, got Benchmark. "
            "Write explore(record) for one record.",
        ),
        (lambda b: b.save(), "save(): expected the arguments (path), got none. Write save(path)"),
        (lambda b: b.figure("order", 3), "figure(): expected the arguments (of), got 2. Write figure(of=None)"),
    ],
)
def test_a_record_in_a_wrong_place_is_told(call: Any, message: str) -> None:
    measured = benchmark()
    assert wrong(lambda: call(measured), TypeError) == message


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "digits = 99",
            "digits: expected an integer from 1 to 9, got 99. Write for example %config JaxMagics.digits = 3",
        ),
        ("digits = 'a'", "digits: expected an integer from 1 to 9, got 'a'. Write for example"),
        (
            "form = 'html'",
            "form: expected one of 'rich', 'text', 'line', 'static', got 'html'. Write for example %config ",
        ),
        ("colour = 3", "colour: expected True or False, got 3. Write for example %config JaxMagics.colour = True"),
        ("error_hint = None", "error_hint: expected True or False, got None. Write for example"),
        (
            "peak_bytes = '3TB'",
            "peak_bytes: expected a rate per second from 1 to 1e24, or 0 for the default, got '3TB'. "
            "Write for example %config JaxMagics.peak_bytes = 1e12",
        ),
    ],
)
def test_a_setting_that_is_refused_says_what_to_write(
    session: Any, caplog: pytest.LogCaptureFixture, setting: str, message: str
) -> None:
    session.run(f"%config JaxMagics.{setting}")
    assert message in caplog.text


@pytest.mark.parametrize(
    "cell",
    [
        "%%jaxcompare --baseline zz\n" + "\n".join(f'"{"a long label " * 5}{number}": 1' for number in range(12)),
        f"%%jaxcompare --baseline {'z' * 300}\na: 1\nb: 2",
        f"%%jaxcompare --sweep n={'1' * 400}:3\na: n\nb: n",
        f"%%jaxcompare --sweep n=3^{'1' * 400}\na: n\nb: n",
        f"%%jaxcompare --sweep n=unknown_{'x' * 400}\na: n\nb: n",
    ],
)
def test_a_message_stays_short_whatever_it_quotes(session: Any, cell: str) -> None:
    with pytest.raises(UsageError) as caught:
        session.run(cell)
    assert len(str(caught.value)) <= MOST_CHARACTERS


def test_few_of_many_candidates_are_offered() -> None:
    compared = jaxmagic.compare({f"candidate {number:03}" * 3: abs for number in range(9)}, 1, budget_s=0.05)
    with pytest.raises(KeyError, match="candidate 005.*, …, got 'x'") as caught:
        compared["x"]
    assert len(str(caught.value)) <= MOST_CHARACTERS
