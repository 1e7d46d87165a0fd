"""`%jaxtime` in a real shell: everything that people rely on in `%time`, and what they miss in it."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from IPython.core.error import UsageError

import jaxmagic
from jaxmagic.timing.record import Timing


def lines_of(error: BaseException) -> list[tuple[str, int]]:
    """The frames of a traceback that are in cells: the source line and its number."""
    return [
        (frame.line, frame.lineno or 0)
        for frame in traceback.extract_tb(error.__traceback__)
        if "ipython-input" in frame.filename or "ipykernel" in frame.filename
    ]


# --- the value ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["%jaxtime f(x)", "%%jaxtime\nf(x)", "%%jaxtime\nz = 1\nf(x)  # the value"])
def test_the_value_is_displayed_and_stored(session: Any, cell: str) -> None:
    assert session.run(cell).shape == (8, 8)
    assert session.run("_").shape == (8, 8)
    assert "Wall time:" in session.report


@pytest.mark.parametrize(
    "cell", ["%jaxtime f(x);", "%jaxtime f(x); # quiet", "%%jaxtime\nf(x);", "%%jaxtime\ny = f(x)"]
)
def test_a_semicolon_or_an_assignment_shows_no_value_but_the_report(session: Any, cell: str) -> None:
    assert session.run(cell) is None
    assert "Wall time:" in session.report
    assert len(session.published) == 1


def test_the_value_can_be_assigned(session: Any) -> None:
    session.run("z = %jaxtime f(x)")
    assert session.run("z.shape") == (8, 8)
    session.run("a, b = %jaxtime (1, 2)")
    assert session.run("a + b") == 3


def test_assignments_reach_the_namespace(session: Any) -> None:
    session.run("%jaxtime first = f(x)")
    session.run("%%jaxtime\nsecond = first + 1\ndef helper(): return second")
    assert session.run("helper().shape") == (8, 8)


def test_assignments_reach_a_functions_locals(session: Any) -> None:
    session.run(
        "def g(a):\n"
        "    for _ in range(2):\n"
        "        %jaxtime b = f(a)\n"
        "        c = %jaxtime -q b + 1\n"
        "    return b.shape, c.shape"
    )
    assert session.run("g(x)") == ((8, 8), (8, 8))
    assert "b" not in session.shell.user_ns
    assert len(session.published) == 2


def test_a_function_with_the_magic_and_unicode_locals_in_a_loop(session: Any) -> None:
    session.run(
        "def g():\n    maß = 3\n    r = [0]\n    for i in range(3):\n        r = %jaxtime -q maß + i\n    return r"
    )
    assert session.run("g()") == 5


@pytest.mark.parametrize("magic", ["jaxtime", "jaxmem --no-map"])
def test_a_function_that_is_only_named_was_not_called(session: Any, magic: str) -> None:
    session.run("made = lambda: f\ntable = {'f': f}")
    session.run(f"%{magic} --all f;")
    assert "f was not called, so nothing ran. Write for example f(x)." in " ".join(session.report.split())
    assert "Nothing compiled." not in session.report
    for code in ("made()", "x", "table['f']"):
        session.run(f"%{magic} --all {code};")
        assert "was not called" not in session.report


@pytest.mark.parametrize("magic", ["jaxtime", "jaxtimeit -r 2 -n 1", "jaxmem --no-map --all", "jaxprof", "jaxdoctor"])
def test_a_call_in_quotes_was_not_called(session: Any, magic: str) -> None:
    told = "Nothing was called: this is text. Write the statement without its quotes."
    session.run(f"%{magic} 'f(x)';")
    assert " ".join(session.report.split()).count(told) == 1


def test_other_text_calls_nothing_without_quotes_either(session: Any) -> None:
    for code in ("'a text'", "'f'", "f('f(x)')", "f'{f(x)}'", "'f(x'"):
        session.run(f"f = lambda x: x\nx = 3\n%jaxtime {code};")
        assert "Nothing was called" not in session.report


def test_text_is_verbatim(session: Any) -> None:
    session.run("n = 3")
    assert session.run("%jaxtime f'{n}  {n}'") == "3  3"
    assert session.run('%jaxtime "a   b"') == "a   b"
    assert session.run("%jaxtime '$n {n}'") == "$n {n}"


def test_double_dash_ends_the_options(session: Any) -> None:
    session.run("q = 3")
    assert session.run("%jaxtime -- -q") == -3


def test_a_minus_is_a_minus(session: Any) -> None:
    assert session.run("%jaxtime -x[0, 0]") == -1


@pytest.mark.parametrize("cell", ["%%jaxtime\n# a comment", "%%jaxtime\nfrom __future__ import annotations"])
def test_a_cell_without_a_statement_has_nothing_to_run(session: Any, cell: str) -> None:
    assert "nothing to run" in str(session.run(cell, fails=UsageError))


def test_a_line_without_a_statement_has_nothing_to_run(session: Any) -> None:
    assert "only a comment" in str(session.run("%jaxtime # a comment", fails=UsageError))


def test_a_generator_that_is_unpacked_has_run(session: Any) -> None:
    session.run("%jaxtime a, *b = (n for n in range(3))")
    assert "has not run" not in session.report
    session.run("%jaxtime g = (n for n in range(3))")
    assert "has not run" in session.report
    session.run("%jaxtime a, b = f(x), 1")
    assert session.run("b") == 1


def test_comments_are_allowed(session: Any) -> None:
    assert session.run("%%jaxtime -q # a comment\n# another\n3") == 3
    assert session.run("%jaxtime 4 # a comment") == 4


def test_a_statement_may_be_continued_with_backslashes(session: Any) -> None:
    assert session.run("for i in range(1):\n    %jaxtime z = 1 + \\\n        2\nz") == 3


def test_nested_magics_and_commands_work(session: Any, capfd: Any) -> None:
    session.run("%jaxtime !echo from a shell")
    assert "from a shell" in capfd.readouterr().out
    session.run("%%jaxtime\n%%capture out\nprint('captured')")
    assert session.run("out.stdout") == "captured\n"
    session.run("%%capture out\n%%jaxtime\nprint('inside')\n")
    assert "inside" in session.run("out.stdout")
    session.run("%%jaxtime\nhere = %pwd\nwhere = here")
    assert session.run("where") == session.run("%pwd")


def test_nested_jaxtimes_measure_both(session: Any) -> None:
    assert session.run("%%jaxtime -v outer\n%jaxtime -v inner f(x)\n5") == 5
    assert session.run("outer.wall_ns > inner.wall_ns")
    session.run("%%jaxtime -v outer\n%%jaxtime -v inner\nz = 1")
    assert session.run("outer.wall_ns > inner.wall_ns")


def test_await_works_in_lines_and_cells(session: Any) -> None:
    session.run("import asyncio")
    assert session.run("%%jaxtime\nawait asyncio.sleep(0)\n5") == 5
    assert session.run("%jaxtime await asyncio.sleep(0, 'slept')") == "slept"
    session.run("w = %jaxtime -q await asyncio.sleep(0, 'slept')")
    assert session.run("w") == "slept"
    assert session.run("%jaxtime if w: await asyncio.sleep(0); w = 'compound'") is None
    assert session.run("w") == "compound"
    session.run("async def numbers():\n    yield 1\n    yield 2")
    assert session.run("%jaxtime [n async for n in numbers()]") == [1, 2]
    session.run("async def g():\n    v = %jaxtime await asyncio.sleep(0, 'inside')\n    return v")
    assert session.run("await g()") == "inside"


def test_future_imports_work(session: Any) -> None:
    session.run("%%jaxtime\nfrom __future__ import annotations\ndef g(a: nonsense): return 1")
    assert session.run("g.__annotations__") == {"a": "nonsense"}


def test_ast_transformers_of_others_apply(session: Any) -> None:
    import ast

    class Negate(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.AST:
            return ast.copy_location(ast.Constant(-node.value), node) if type(node.value) is int else node

    transformer = Negate()
    session.shell.ast_transformers.append(transformer)
    try:
        assert session.run("%jaxtime 5") == -5
        assert session.run("%%jaxtime\n6") == -6
    finally:
        session.shell.ast_transformers.remove(transformer)


@pytest.mark.parametrize(
    ("interactivity", "cell", "shown"),
    [
        ("last_expr", "%%jaxtime\n1\n2", [2]),
        ("all", "%%jaxtime\n1\n2", [1, 2]),
        ("none", "%%jaxtime\n1\n2", []),
        ("last_expr_or_assign", "%%jaxtime\nz = 7", [7]),
    ],
)
def test_what_is_displayed_is_the_shells_choice(
    session: Any, interactivity: str, cell: str, shown: list[int]
) -> None:
    displayed: list[Any] = []
    session.shell.ast_node_interactivity = interactivity
    hook = session.shell.displayhook
    update = hook.update_user_ns
    hook.update_user_ns = lambda result: (displayed.append(result), update(result))
    try:
        session.run(cell)
    finally:
        hook.update_user_ns = update
        session.shell.ast_node_interactivity = "last_expr"
    assert displayed == shown


def test_a_namespace_full_of_odd_names_is_no_obstacle(bare: Any) -> None:
    bare.run("%load_ext jaxmagic")
    bare.run("time = min = jax = display = options = len = str = None; __import__('builtins')")
    assert bare.run("%jaxtime 3") == 3
    bare.run("del len, str, min")


def test_no_name_of_ours_stays_in_the_namespace(session: Any) -> None:
    before = set(session.shell.user_ns)
    session.run("%jaxtime f(x)")
    session.run("z = %jaxtime f(x)")
    session.run("%jaxtime 1/0", fails=ZeroDivisionError)
    session.run("%%jaxtime --no-raise-error\n1/0")
    session.run("%jaxtime --max-time 1ns 1", fails=AssertionError)
    new = {name for name in set(session.shell.user_ns) - before if not name.lstrip("_").isdigit()}
    assert new - {"z", "_", "__", "___"} <= {"_i", "_ii", "_iii"} | {name for name in new if name.startswith("_i")}


def test_no_name_of_ours_stays_in_a_class(session: Any) -> None:
    session.run("import enum\nclass Colour(enum.Enum):\n    %jaxtime -q RED = 1\n    %jaxtime -q 3\n    BLUE = 2")
    assert session.run("list(Colour.__members__)") == ["RED", "BLUE"]
    assert session.run("[name for name in vars(Colour) if 'jaxmagic' in name]") == []


def test_the_value_is_not_kept_alive(session: Any) -> None:
    session.run("import weakref\nclass Big: pass")
    session.run("%%jaxtime\nbig = Big()\nseen = weakref.ref(big)\nNone")
    session.run("del big")
    session.run("import gc; gc.collect();")
    assert session.run("seen() is None")


def test_a_function_does_not_keep_the_value_alive_either(session: Any) -> None:
    session.run(
        "import gc, weakref\nclass Big: pass\n"
        "def g():\n    big = %jaxtime -q Big()\n    seen = weakref.ref(big)\n    del big\n    gc.collect()\n"
        "    return seen() is None"
    )
    assert session.run("g()")


# --- source, errors ----------------------------------------------------------------------------------------------


def test_a_traceback_shows_the_cells_own_lines(session: Any) -> None:
    error = session.run("%%jaxtime -q\na = 1\nb = a / 0", fails=ZeroDivisionError)
    assert lines_of(error) == [("b = a / 0", 3)]


def test_a_traceback_of_a_line_magic_points_at_its_line(session: Any) -> None:
    error = session.run("a = 1\n%jaxtime -q a / 0", fails=ZeroDivisionError)
    assert [number for _, number in lines_of(error)] == [2]


def test_getsource_finds_functions_of_the_cell(session: Any) -> None:
    session.run("%%jaxtime -q\n\ndef g(a):\n    return a + 1  # here")
    assert session.run("import inspect\ninspect.getsource(g)") == "def g(a):\n    return a + 1  # here\n"


def test_hlo_metadata_points_to_the_cells_lines(session: Any) -> None:
    session.run("%%jaxtime -q\n\n@jax.jit\ndef g(a):\n    return jnp.sin(a)")
    text = session.run("g.lower(x).compile().as_text()")
    name = session.run("g.__wrapped__.__code__.co_filename")
    assert name in text
    # JAX 0.8 writes it at the operation, newer versions into a table of locations.
    assert "source_line=5" in text or "line=5 end_line=5" in text


def test_what_compiles_in_a_block_has_the_line_of_its_call(session: Any) -> None:
    session.run("def both(n):\n    g(jax.numpy.ones(n))\n    return g(jax.numpy.ones(n + 1))")
    session.run(
        "g = jax.jit(lambda x: x * 3)\nfrom functools import partial\n\n%jaxtime -q -v block g(jax.numpy.ones(61))\n"
    )
    session.run("%%jaxtime -v block\ng(jax.numpy.ones(62))\n[\n    g(jax.numpy.ones(n)) for n in [63]]\nboth(64)")
    calls = [each.called_at for each in session.shell.user_ns["block"].compilations if each.function == "<lambda>"]
    places = [each.rpartition(":") for each in calls]
    assert [line for *_, line in places] == ["2", "4", "2", "3"]
    assert places[0][0] == places[1][0] != places[2][0] == places[3][0]
    told = " ".join(str(session.shell.user_ns["block"]).split())
    assert all(f"called at {each}" in told for each in calls)


def test_a_single_statement_needs_no_line_of_its_call(session: Any) -> None:
    session.run("g = jax.jit(lambda x: x * 5)")
    session.run("%jaxtime -v alone g(jax.numpy.ones(65))")
    assert [each.called_at for each in session.shell.user_ns["alone"].compilations if not each.eager] == [None]
    assert "called at" not in session.report


def test_the_times_are_shown_before_the_exception(session: Any) -> None:
    session.run("%%jaxtime\nf(x)\n1/0", fails=ZeroDivisionError)
    assert "ended with ZeroDivisionError" in session.report


@pytest.mark.parametrize("magic", ["jaxtime", "jaxmem"])
def test_a_name_that_does_not_exist_is_an_error_without_a_report(session: Any, magic: str) -> None:
    for code, error in (("nosuch(x)", NameError), ("x.nosuch", AttributeError), ("import nosuch", ImportError)):
        session.run(f"%{magic} -v record {code}", fails=error)
        assert session.published == []
        assert session.shell.user_ns.pop("record") is not None


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "SystemExit"])
def test_an_interrupt_and_an_exit_go_through_even_where_errors_do_not(session: Any, error: str) -> None:
    session.run(f"%jaxtime --no-raise-error exec('raise {error}')", fails=BaseException)
    assert error in session.report


def test_no_raise_error_goes_on(session: Any) -> None:
    assert session.run("%%jaxtime --no-raise-error\n1/0") is None
    assert "ended with ZeroDivisionError" in session.report


def test_a_syntax_error_is_at_the_users_line(session: Any) -> None:
    error = session.run("a = 1\n%jaxtime f(", fails=SyntaxError)
    assert error.lineno == 2
    assert "run_line_magic" not in (error.text or "")
    error = session.run("%%jaxtime\na = 1\nb = = 2", fails=SyntaxError)
    assert (error.lineno, error.text.strip()) == (3, "b = = 2")


# --- options -----------------------------------------------------------------------------------------------------


def test_quiet_shows_no_report(session: Any) -> None:
    assert session.run("%jaxtime -q 3") == 3
    assert session.published == []


def test_v_binds_the_record(session: Any) -> None:
    session.run("%jaxtime -q -v t f(x)")
    record = session.run("t")
    assert isinstance(record, Timing)
    assert record.code == "f(x)"
    session.run("def g():\n    %jaxtime -q -v mine f(x)\n    return mine.code")
    assert session.run("g()") == "f(x)"
    assert session.run("'mine' in globals()") is False
    session.run("%jaxtime -q -v t 1/0", fails=ZeroDivisionError)
    assert session.run("t.error") == "ZeroDivisionError"
    session.run("ip = get_ipython()\ndef called():\n    ip.run_line_magic('jaxtime', '-q -v t 2')\ncalled()")
    assert session.run("t.code") == "2"


def test_o_returns_the_record_in_place_of_the_value(session: Any) -> None:
    assert isinstance(session.run("%jaxtime -o f(x)"), Timing)
    session.run("t = %jaxtime -o f(x)")
    assert session.run("t.code") == "f(x)"
    assert isinstance(session.run("%jaxtime -o z = 3"), Timing)
    assert session.run("z") == 3
    assert isinstance(session.run("%jaxtime -o f(x)\n"), Timing)
    assert session.run("_.code") == "f(x)"


def test_fetch_is_a_line_of_its_own(session: Any) -> None:
    session.run("%jaxtime --fetch f(x);")
    assert "Fetch:" in session.report


def test_expect_no_compile_fails_with_the_report(session: Any) -> None:
    assert session.run("%jaxtime --expect-no-compile f(x).shape") == (8, 8)
    error = session.run("%jaxtime --expect-no-compile jax.jit(lambda x: x + 47)(x)", fails=AssertionError)
    assert "expected no compilation, got 1 compiled program" in str(error)
    assert "first call" in str(error)


def test_tracing_alone_is_no_compilation_that_was_not_expected(session: Any) -> None:
    session.run("%jaxtime --expect-no-compile jax.eval_shape(lambda x: x * 3, x)")
    assert "traced only, not compiled" in session.report
    session.run("%jaxtime --expect-no-compile jax.jit(lambda x: x * 5).lower(x)")
    assert "lowered only, not compiled" in session.report


def test_max_time_fails_with_the_report(session: Any) -> None:
    error = session.run("%jaxtime --max-time 1ns f(x)", fails=AssertionError)
    assert "expected at most 1 ns, got" in str(error)
    assert "Wall time" in str(error)
    assert session.run("%jaxtime --max-time 10min 3") == 3


def test_the_codes_own_error_comes_before_a_broken_expectation(session: Any) -> None:
    session.run("%jaxtime --max-time 1ns 1/0", fails=ZeroDivisionError)


def test_explain_adds_five_lines(session: Any) -> None:
    session.run("%jaxtime --explain f(x);")
    assert "\n  How: drain work in flight" in session.report


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxtime", "nothing to run. Write the statement after it"),
        ("%jaxtime -q", "nothing to run"),
        ("%%jaxtime\n", "empty"),
        ("%%jaxtime -q f(x)\n1", "expected options only, got 'f\\(x\\)'"),
        ("%jaxtime --bogus f(x)", "no option --bogus"),
        ("%%jaxtime --bogus\nf(x)", "no option --bogus"),
        ("%jaxtime --max-time soon f(x)", "a time with a unit"),
        ("%jaxtime -z f(x)", "no option -z"),
    ],
)
def test_a_wrong_option_says_what_to_write(session: Any, cell: str, message: str) -> None:
    error = session.run(cell, fails=UsageError)
    import re

    assert re.search(message, str(error))


def test_help_is_made_from_the_parser(session: Any) -> None:
    from jaxmagic.magics.declare import declared

    for option in ("-q", "-v NAME", "--fetch", "--expect-no-compile", "--max-time TIME", "--no-raise-error"):
        assert option in declared("jaxtime").__doc__


# --- settings, reports -------------------------------------------------------------------------------------------


def test_settings_are_configured_once(session: Any) -> None:
    session.run("%config JaxMagics.form = 'line'")
    session.run("%config JaxMagics.digits = 5")
    session.run("%jaxtime f(x);")
    assert set(session.published[-1]) == {"text/plain"}
    assert "\n" not in session.report


def test_a_wrong_setting_is_refused(session: Any, caplog: Any) -> None:
    session.run("%config JaxMagics.form = 'loud'")
    assert "'loud'" in caplog.text
    assert session.shell.magics_manager.registry["JaxMagics"].form == "rich"


def test_one_output_with_text_and_html(session: Any) -> None:
    session.run("%jaxtime jax.jit(lambda x: x + 53)(x);")
    assert len(session.published) == 1
    assert set(session.published[0]) == {"text/plain", "text/html"}


def test_the_cells_text_is_on_the_record(session: Any) -> None:
    session.run("%%jaxtime -q -v t\n# a comment\na = f( x )\na  +  1")
    assert session.run("t.code") == "a = f( x )\na  +  1"
    assert jaxmagic.last().code == "a = f( x )\na  +  1"


@pytest.mark.parametrize("code", ["@jax.jit\ndef g(a):\n    return a", "@jax.jit\n\n@jax.vmap\nclass C:\n    pass"])
def test_decorators_are_a_part_of_the_text(session: Any, code: str) -> None:
    session.run("class jax_:\n    jit = vmap = staticmethod(lambda given: given)")
    code = code.replace("jax.", "jax_.")
    session.run(f"%%jaxtime -q -v t\n# a comment\n{code}")
    assert session.run("t.code") == code


def test_a_cell_run_again_is_named_as_the_cause(session: Any) -> None:
    cell = "%%jaxtime -q -v t\n@jax.jit\ndef again(a):\n    return a * 59\nagain(x)"
    session.run(cell)
    assert session.run("t.compilations[0].cause.kind") == "first call"
    session.run(cell)
    assert session.run("t.compilations[0].cause.kind") == "new function"


@pytest.mark.parametrize("magic", ["%jaxtime -q", "%jaxtimeit -q -r 4", "%jaxmem -q"])
@pytest.mark.parametrize("result", ["[key, [0] * 20]", "{**{str(i): jnp.ones(3) for i in range(20)}, 'key': key}"])
def test_a_typed_key_in_a_large_result_does_not_say_whether_it_is_ready(
    session: Any, magic: str, result: str
) -> None:
    session.run("key = jax.random.key(0)")
    session.run(f"{magic} -v t {result}")
    assert session.run("t") is not None
