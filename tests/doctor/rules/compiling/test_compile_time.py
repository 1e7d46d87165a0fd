"""Long compilations are found with their lines, and the persistent cache is advised only where it helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate import hlo
from jax import lax

import jaxmagic
from jaxmagic.doctor.capture.compiled.constant_work import constant_work
from jaxmagic.doctor.record.evidence import Evidence, FunctionShare, LoweringImport
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import EquationCount, Program
from jaxmagic.doctor.rules.compiling import compile_time
from jaxmagic.doctor.rules.compiling.compile_time import RULE
from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.hlo import Sharded
from jaxmagic.xla.lines.callers import with_own_callers
from jaxmagic.xla.read_hlo import read_module


@pytest.fixture
def seen(timing: Any, compilation: Any, executable: Any) -> Any:
    """Make evidence of compilations, each given by its durations of tracing and of XLA, and of one short program."""
    plain = Program(executable=executable(), module=None, function="f", equations=())

    def make(*durations_ns: tuple[int, int], cache: Any = None, **changes: Any) -> Evidence:
        each = [
            compilation(tracing_ns=trace, lowering_ns=0, compilation_ns=xla, cache=cache)
            for trace, xla in durations_ns
        ]
        first = timing(*each)
        return Evidence(code="f(x)", first=first, observed=first, **{"programs": (plain,), **changes})

    return make


@pytest.fixture
def program(executable: Any) -> Program:
    line = Frame(function="f", file="train.py", line=7)
    return Program(
        executable=executable(),
        module=None,
        function="f",
        location="cell.py:1",
        equations=(
            EquationCount(primitive="sin", line=line, count=80),
            EquationCount(primitive="dot_general", line=line, count=80),
            EquationCount(primitive="add", line=replace(line, line=8), count=10),
        ),
    )


def kinds(finding: RuleFinding) -> list[str]:
    return [each.kind.removeprefix("doctor.") for each in finding.evidence]


def test_a_second_of_xla_counts_and_the_cache_spares_it(seen: Any) -> None:
    (finding,) = RULE.look(seen((5 * 10**8, 10**9)))
    assert finding.cost_ns == 1e9  # tracing and lowering are left
    assert finding.remedy is not None
    assert finding.remedy.facts == {"spared_ns": 10**9}
    assert "up to 1.00 s of XLA's time, less what loading takes." in str(finding.remedy)
    assert list(RULE.look(seen((5 * 10**8, 10**9 - 1)))) == []


@pytest.mark.parametrize(
    ("function", "eager"), [("_unstack", True), ("unstack", True), ("unstack", False), ("f", True)]
)
def test_a_program_that_iterates_over_an_array_is_spared_and_not_cached(
    seen: Any, compilation: Any, function: str, eager: bool
) -> None:
    long = compilation(function=function, eager=eager, tracing_ns=0, lowering_ns=0, compilation_ns=2 * 10**9)
    evidence = seen((0, 10**6))
    programs = (replace(evidence.programs[0], function=function),)
    first = replace(evidence.first, compilations=(long,))
    (finding,) = RULE.look(replace(evidence, first=first, programs=programs))
    iterates = eager and function != "f"
    assert finding.remedy is not None
    assert finding.remedy.kind == ("doctor.compile_time_iterated" if iterates else "doctor.compile_time_cache")
    assert (finding.code is None) == iterates


def test_what_iterates_over_an_array_compiles_such_a_program() -> None:
    rows = jnp.arange(7 * 3).reshape(7, 3) * 1.5
    with jaxmagic.stopwatch() as t:
        list(rows)
    assert [each.function.strip("_") for each in t.timing.compilations if each.compiled] == [
        compile_time._OF_ITERATION
    ]


def test_long_tracing_counts_from_three_seconds_on_but_no_cache_spares_it(seen: Any) -> None:
    (finding,) = RULE.look(seen((25 * 10**8, 5 * 10**8)))
    assert finding.remedy is None
    assert finding.code is None
    assert kinds(finding) == ["cache_off", "cache_too_short"]
    assert list(RULE.look(seen((25 * 10**8, 4 * 10**8)))) == []


def test_a_cache_that_is_on_is_not_advised(seen: Any) -> None:
    (finding,) = RULE.look(seen((0, 2 * 10**9), cache="miss", cache_dir="/tmp/cache"))
    assert finding.remedy is None
    assert kinds(finding) == ["cache_missed"]


@pytest.mark.parametrize(
    ("had", "why"),
    [
        (None, "it has none of the same operations, shapes, device, versions and flags."),
        (0, "its folder had no program of this name."),
        (1, "1 program of this name was there, for other operations, shapes, devices, versions of JAX, or flags."),
        (3, "3 programs of this name were there, for other operations, shapes, devices, versions of JAX, or flags."),
    ],
)
def test_what_the_folder_of_the_cache_had_is_told(seen: Any, had: int | None, why: str) -> None:
    (finding,) = RULE.look(seen((0, 2 * 10**9), cache="miss", cache_dir="/tmp/cache", cache_entries=had))
    assert str(finding.evidence[0]).endswith(f"did not have 1 program of these: {why}")


def test_a_cache_keeps_what_it_is_configured_to_keep(seen: Any) -> None:
    (finding,) = RULE.look(seen((0, 2 * 10**9), cache_least_ns=2 * 10**9))
    assert finding.remedy is not None
    (finding,) = RULE.look(seen((0, 2 * 10**9), cache_least_ns=2 * 10**9 + 1))
    assert finding.remedy is None
    assert "programs of at least 2.00 s" in str(finding.evidence[1])
    (finding,) = RULE.look(seen((3 * 10**9, 10**8), cache_least_ns=0))
    assert finding.remedy is not None
    assert finding.remedy.facts == {"spared_ns": 10**8}


def test_the_least_size_of_entries_is_named_if_the_cache_has_one(seen: Any) -> None:
    missed = {"cache": "miss", "cache_dir": "/tmp/cache"}
    (finding,) = RULE.look(seen((0, 2 * 10**9), **missed, cache_least_bytes=2**20))
    assert kinds(finding) == ["cache_missed", "cache_least_bytes"]


def test_programs_that_are_little_of_the_first_run_are_no_finding(seen: Any) -> None:
    evidence = seen((0, 10**9))
    for rest_ns, findings in ((48 * 10**9, 1), (50 * 10**9, 0)):
        first = replace(evidence.first, wait_ns=rest_ns)
        assert len(list(RULE.look(replace(evidence, first=first)))) == findings


def test_imports_to_lower_a_program_are_named_and_do_not_make_it_long(seen: Any, compilation: Any) -> None:
    imported = (LoweringImport(package="scipy", modules=159, least_ns=4 * 10**8),)
    slow = compilation(tracing_ns=0, lowering_ns=34 * 10**8, compilation_ns=0, cache=None)
    for lowering_ns, findings in ((34 * 10**8, 1), (34 * 10**8 - 1, 0)):
        evidence = seen((0, 0), lowering_imports=imported)
        each = replace(slow, lowering_ns=lowering_ns)
        first = replace(evidence.first, compilations=(each,), dispatch_ns=lowering_ns, lowering_ns=lowering_ns)
        found = list(RULE.look(replace(evidence, first=first)))
        assert len(found) == findings
    (finding,) = RULE.look(seen((0, 2 * 10**9), lowering_imports=imported))
    assert str(finding.evidence[0]) == (
        "To lower programs, JAX imported scipy (159 modules): at least 400 ms, only in the first run of a process."
    )


def test_a_program_that_calls_python_is_never_in_the_cache(seen: Any, program: Program) -> None:
    assert program.equations is not None
    calls = EquationCount(primitive="debug_callback", line=None, count=1)
    program = replace(program, equations=(*program.equations, calls))
    for cache_dir in (None, "/tmp/cache"):
        (finding,) = RULE.look(seen((0, 2 * 10**9), cache="miss", cache_dir=cache_dir, programs=(program,)))
        assert finding.remedy is None
        assert "cache_callbacks" in kinds(finding)


def test_what_a_program_calls_is_known_where_its_function_was_transformed(seen: Any, executable: Any) -> None:
    calls = EquationCount(primitive="debug_callback", line=None, count=1)
    forward = Program(
        executable=executable(name="jit__lambda"), module=None, equations=(calls,), transformed="<lambda>"
    )
    backward = Program(executable=executable(name="jit__lambda"), module=None, equations=())
    unknown = replace(backward, equations=None)
    evidence = seen((0, 2 * 10**9))
    (one,) = evidence.first.compilations

    def told(*programs: Program, **changes: Any) -> list[str]:
        first = replace(evidence.first, compilations=(replace(one, function="<lambda>", **changes),))
        (finding,) = RULE.look(replace(evidence, first=first, programs=programs))
        return [str(each) for each in (*finding.evidence[1:], finding.remedy) if each is not None]

    never = "calls Python while it runs (a callback or debug.print): this JAX never writes such a program to its"
    assert told(forward) == [f"<lambda> {never} persistent cache."]
    assert told(forward, backward) == [f"A program of <lambda> {never} persistent cache."]
    assert (
        told(unknown, backward)
        == told()
        == [
            "It is unknown whether <lambda> calls Python while it runs. JAX never writes a program that does to its "
            "persistent cache."
        ]
    )
    assert told(backward)[0].startswith("Switch on JAX's persistent cache")
    elsewhere = replace(forward, transformed_at="cell 9:1")  # another lambda
    assert told(elsewhere, backward, location="cell 3:1") == told(backward)
    assert told(elsewhere, backward, location="cell 9:1") == told(forward, backward)


def test_short_programs_that_call_python_are_not_spared(seen: Any, program: Program) -> None:
    assert program.equations is not None
    calls = EquationCount(primitive="io_callback", line=None, count=1)
    for equations in ((calls,), None):
        (finding,) = RULE.look(seen(*[(0, 10**8)] * 30, programs=(replace(program, equations=equations),)))
        assert (finding.remedy, finding.code) == (None, None)


def test_the_lines_with_most_equations_are_named(seen: Any, program: Program) -> None:
    (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(program,)))
    (about,) = [each for each in finding.evidence if each.kind == "doctor.compile_time_line"]
    assert about.facts == {"line": "train.py:7", "source": "", "equations": 160, "total": 170}


def test_equations_of_a_line_count_together_whichever_call_runs_it(seen: Any, program: Program) -> None:
    assert program.equations is not None
    summed = Frame(function="f.<locals>.<genexpr>", file="train.py", line=7)  # runs the line as f does
    own, inner, rest = program.equations
    program = replace(program, equations=(own, replace(inner, line=summed), rest))
    (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(program,)))
    told = [each.facts for each in finding.evidence if each.kind == "doctor.compile_time_line"]
    assert told == [{"line": "train.py:7", "source": "", "equations": 160, "total": 170}]


def test_short_programs_have_no_lines(seen: Any, program: Program) -> None:
    assert program.equations is not None
    program = replace(program, equations=program.equations[:1])
    (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(program,)))
    assert kinds(finding) == ["cache_off"]


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ("", "."),
        ("g", ", and 1 other program at least 1 s."),
        ("gh", ", and 2 other programs at least 1 s each."),
        ("f", ", and 1 more program of it at least 1 s."),
        ("ffg", ", and 2 more programs of it and 1 other program at least 1 s each."),
    ],
)
def test_other_long_programs_are_counted_from_the_threshold_on(seen: Any, others: str, words: str) -> None:
    evidence = seen((0, 2 * 10**9), *[(0, 10**9)] * len(others))
    compiled = evidence.first.compilations
    renamed = [replace(each, function=name) for each, name in zip(compiled, f"f{others}", strict=True)]
    (finding,) = RULE.look(replace(evidence, first=replace(evidence.first, compilations=tuple(renamed))))
    assert str(finding.found).endswith(f"2.00 s of it in XLA{words}")


def test_the_cause_is_named_if_one_function_has_several_long_programs(seen: Any) -> None:
    evidence = seen((0, 2 * 10**9), (0, 10**9))
    first, again = evidence.first.compilations
    (plain,) = evidence.programs
    evidence = replace(evidence, programs=(plain, replace(plain, function="g")))
    reason = "argument x has a different shape: f32[8] now, f32[4] before"
    cause = replace(again.cause, kind="shape", reason=reason)

    def kinds_of(*each: Any) -> list[str]:
        (finding,) = RULE.look(replace(evidence, first=replace(evidence.first, compilations=each)))
        return kinds(finding)

    assert kinds_of(first, replace(again, cause=cause)) == ["compile_time_again", "cache_off"]
    assert kinds_of(first, again) == ["cache_off"]
    assert kinds_of(first, replace(again, cause=cause, function="g")) == ["cache_off"]
    (finding,) = RULE.look(
        replace(evidence, first=replace(evidence.first, compilations=(first, replace(again, cause=cause))))
    )
    assert str(finding.evidence[0]) == f"f is compiled 2 times. The cause of the last time: {reason}."
    short = replace(again, cause=cause, compilation_ns=10**6)
    (finding,) = RULE.look(replace(evidence, first=replace(evidence.first, compilations=(first, short, short))))
    assert str(finding.evidence[0]).startswith("f is compiled 3 times.")


def test_the_cause_is_named_if_an_earlier_cell_compiled_the_function(seen: Any) -> None:
    evidence = seen((10**8, 2 * 10**9))
    (only,) = evidence.first.compilations
    reason = "argument x has a different shape: f32[8] now, f32[4] before"
    again = replace(only, cause=replace(only.cause, kind="shape", reason=reason))
    (finding,) = RULE.look(replace(evidence, first=replace(evidence.first, compilations=(again,))))
    assert kinds(finding) == ["compile_time_again", "cache_off"]
    expected = f"f had been compiled before. The cause of this compilation: {reason}."
    assert str(finding.evidence[0]) == expected
    for kind in ("eager", "transfer", "transformation", "while tracing"):  # causes of a first program as well
        other = replace(only, cause=replace(only.cause, kind=kind))
        (finding,) = RULE.look(replace(evidence, first=replace(evidence.first, compilations=(other,))))
        assert "compile_time_again" not in kinds(finding)


def test_short_programs_count_if_they_take_three_seconds_together(seen: Any) -> None:
    assert list(RULE.look(seen(*[(0, 10**8)] * 29))) == []
    (finding,) = RULE.look(seen(*[(0, 10**8)] * 29, (0, 2 * 10**8)))
    assert str(finding.found) == "30 programs of f take 3.10 s to compile together, the longest of them 200 ms."
    assert (finding.cost_ns, finding.compiles) == (3.1e9, tuple(range(30)))
    assert finding.remedy is not None
    assert finding.remedy.facts == {"spared_ns": 31 * 10**8, "off": 1}
    assert finding.code is not None
    assert finding.code.splitlines()[-2:] == [
        'jax.config.update("jax_compilation_cache_dir", "jax_cache")',
        'jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)',
    ]


def test_the_longest_of_short_programs_is_named_if_they_have_several_functions(seen: Any) -> None:
    evidence = seen(*[(0, 10**8)] * 29, (0, 2 * 10**8))
    first = replace(evidence.first.compilations[0], function="g")
    compiled = (first, *evidence.first.compilations[1:])
    (finding,) = RULE.look(replace(evidence, first=replace(evidence.first, compilations=compiled)))
    assert str(finding.found) == "30 programs take 3.10 s to compile together. The longest of them, f, takes 200 ms."


def test_short_programs_are_counted_beside_long_ones(seen: Any) -> None:
    long, short = RULE.look(seen((0, 2 * 10**9), *[(0, 10**9 - 1)] * 4))
    assert (long.compiles, short.compiles) == ((0,), (1, 2, 3, 4))


def test_a_cache_that_keeps_short_programs_is_not_advised(seen: Any, program: Program) -> None:
    short = [(0, 10**8)] * 30
    (finding,) = RULE.look(seen(*short, cache="miss", cache_dir="/tmp/cache"))
    assert finding.code is not None
    assert "cache_dir" not in finding.code
    (finding,) = RULE.look(seen(*short, cache="miss", cache_dir="/tmp/cache", cache_least_ns=0))
    assert (finding.remedy, finding.code) == (None, None)
    (finding,) = RULE.look(seen(*[(10**8, 0)] * 30))  # the time is Python's, and no cache spares it
    assert (finding.remedy, finding.code) == (None, None)


@pytest.fixture
def eager(timing: Any, compilation: Any) -> Any:
    """Make evidence of so many eager operations that take a tenth of a second each to compile."""

    def make(number: int, *others: Any, **changes: Any) -> Evidence:
        times = {"tracing_ns": 0, "lowering_ns": 0, "compilation_ns": 10**8, "cache": None, "eager": True}
        each = [compilation(function=f"op{n % 6}", **times) for n in range(number)]
        first = timing(*each, *others)
        return Evidence(code="step(x)", first=first, observed=first, **changes)

    return make


def test_eager_operations_that_take_three_seconds_together_are_to_be_jitted(eager: Any) -> None:
    (finding,) = RULE.look(eager(30))
    assert finding.rule == "compile-time"
    assert str(finding.found) == (
        "30 operations are called one by one, outside of jit, and each is compiled as a program of its own: op0, "
        "op1, op2, op3 and others. Together this takes 3.00 s."
    )
    assert (finding.cost_ns, finding.per, finding.basis) == (3e9, "first run", "measured")
    assert finding.compiles == tuple(range(30))
    assert finding.remedy is not None
    assert finding.remedy.facts["way"] == "group"
    assert finding.code is None
    assert list(RULE.look(eager(29))) == []  # short programs as others


@pytest.mark.parametrize(
    ("where", "at", "kind"),
    [
        ("/venv/lib/python3.12/site-packages/numpyro/util.py:316", 2, "doctor.compile_time_short"),
        ("train.py:316", 2, "doctor.compile_time_eager"),
        ("/venv/lib/python3.12/site-packages/numpyro/util.py:316", 3, "doctor.compile_time_eager"),
    ],
)
def test_operations_of_a_library_that_jits_by_itself_are_none_to_be_jitted(
    where: str, at: int, kind: str, eager: Any, compilation: Any, executable: Any
) -> None:
    """Only a cache spares them. Jitted functions of the user's, or at another line, tell nothing of a library."""
    line = Frame(function="<module>", file="train.py", line=2)
    loop = compilation(function="_fori_collect_loop", location=where, compilation_ns=1, eager=False)
    names = {f"op{n}": True for n in range(6)} | {"_fori_collect_loop": False}
    programs = tuple(
        Program(
            executable=executable(name=f"jit_{name}"),
            module=None,
            function=name,
            eager=is_eager,
            called_at=line if is_eager else replace(line, line=at),
        )
        for name, is_eager in names.items()
    )
    many = (*programs, *[each for each in programs if each.eager] * 4)
    (finding,) = RULE.look(eager(30, loop, programs=many))
    assert finding.found.kind == kind


def test_the_function_that_calls_them_is_named(eager: Any, tmp_path: Any) -> None:
    file = tmp_path / "train.py"
    file.write_text("def step(x):\n    return x * 2 + 1\n")
    ran = FunctionShare(function=Frame(function="step", file=str(file), line=1), called="", samples=1, time_ns=1)
    beside = "for x in xs:\n    losses.append(step(x).item())"
    for code in ("step(x)", beside):
        (finding,) = RULE.look(replace(eager(60, functions=(ran,)), code=code))
        assert finding.code == "step = jax.jit(step)"
        assert (finding.line, finding.source) == (f"{file}:1", "def step(x):")


@pytest.mark.parametrize(
    ("source", "code", "numbers"),
    [
        ("for k in range(9):\n    y = jnp.roll(x, k)\n", None, "k"),
        ("def step(x, k):\n    return x[:k]\n", "for i in range(9):\n    step(x, i)", "k"),
        ("for x in xs:\n    y = x[::2]\n", None, ""),
    ],
)
def test_the_number_is_named_for_whose_values_an_operation_compiles(
    eager: Any, executable: Any, tmp_path: Any, source: str, code: str | None, numbers: str
) -> None:
    file = tmp_path / "train.py"
    file.write_text(source)
    line = Frame(function="step", file=str(file), line=2)

    def made(count: int, *shapes: str) -> Any:
        inputs = tuple(Sharded(name="x", shape=each, pieces=None) for each in shapes)
        module = hlo.module(name="jit_op0", inputs=inputs)
        whole = executable(name="jit_op0")
        program = Program(executable=whole, module=module, function="op0", eager=True, called_at=line)
        evidence = eager(30, programs=(program,) * count)
        compilations = tuple(replace(each, function="op0") for each in evidence.first.compilations)
        (finding,) = RULE.look(replace(evidence, code=code, first=replace(evidence.first, compilations=compilations)))
        return finding.remedy

    told = made(10, "f32[8]")
    assert (told.kind == "doctor.per_value_remedy") == bool(numbers)
    assert not numbers or told.facts == {"line": line.location, "operations": "op0", "numbers": numbers}
    assert made(9, "f32[8]").kind == "doctor.not_jitted_remedy"


def test_other_short_programs_are_counted_apart_from_eager_operations(
    eager: Any, seen: Any, compilation: Any
) -> None:
    short = compilation(tracing_ns=0, lowering_ns=0, compilation_ns=9 * 10**8, cache=None)
    (first,) = RULE.look(eager(30, short, short, short))
    assert first.compiles == tuple(range(30))
    first, others = RULE.look(eager(30, short, short, short, short))
    assert (first.compiles, others.compiles) == (tuple(range(30)), (30, 31, 32, 33))
    (together,) = RULE.look(eager(29, short))
    assert together.compiles == tuple(range(30))
    assert together.found.kind == "doctor.compile_time_short"


def test_imports_do_not_make_short_programs_long(seen: Any, compilation: Any) -> None:
    each = compilation(tracing_ns=0, lowering_ns=10**8, compilation_ns=0, cache=None)
    for least_ns, findings in ((10**8, 0), (0, 1)):
        imported = (LoweringImport(package="scipy", modules=159, least_ns=least_ns),)
        evidence = seen((0, 0), lowering_imports=imported)
        first = replace(evidence.first, compilations=(each,) * 30, dispatch_ns=3 * 10**9, lowering_ns=3 * 10**9)
        assert len(list(RULE.look(replace(evidence, first=first)))) == findings


TABLE = np.random.default_rng(0).normal(size=(40, 25)).astype("f4")


def with_constant_work(program: Program, function: Any) -> Program:
    """Give a program the equations and the instructions of a function."""
    x = jnp.ones(25)
    compiled = jax.jit(function).lower(x).compile()
    module = with_own_callers(
        read_module(compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto())
    )
    return replace(program, module=module, constant_work=constant_work(jax.make_jaxpr(function)(x)))


def test_what_xla_computed_while_compiling_is_named_instead_of_the_cache(seen: Any, program: Program) -> None:
    folded = with_constant_work(program, lambda x: x + jnp.sort(TABLE, axis=0)[0])
    (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(folded,)))
    assert kinds(finding)[:2] == ["compile_time_constant", "compile_time_constant_unknown"]
    assert finding.evidence[0].facts == {
        "line": folded.constant_work[0].line.location,
        "source": "folded = with_constant_work(program, lambda x: x + jnp.sort(TABLE, axis=0)[0])",
    }
    assert str(finding.remedy) == "Compute this part once outside of f, and pass the result as an argument."
    assert finding.code is None


def test_what_the_compiled_program_still_computes_was_not_folded(seen: Any, program: Program) -> None:
    def function(x: Any) -> Any:
        return x + lax.sort(x * TABLE, dimension=0)[0]

    kept = with_constant_work(program, function)
    folded = with_constant_work(program, lambda x: x + lax.sort(jnp.asarray(TABLE), dimension=0)[0])
    (work,) = [each for each in folded.constant_work if each.primitive == "sort"]
    line = replace(work.line, line=function.__code__.co_firstlineno + 1)
    for at, told in ((line, False), (replace(line, line=1), True)):
        changed = replace(kept, constant_work=(replace(work, line=at),))
        (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(changed,)))
        assert ("compile_time_constant" in kinds(finding)) == told


def test_programs_whose_instructions_are_unknown_may_have_folded_nothing(seen: Any, program: Program) -> None:
    unread = replace(with_constant_work(program, lambda x: x + jnp.sort(TABLE, axis=0)[0]), module=None)
    (finding,) = RULE.look(seen((0, 2 * 10**9), programs=(unread,)))
    assert "compile_time_constant" not in kinds(finding)


def test_layers_of_a_model_are_named_at_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    nn = pytest.importorskip("flax.linen")
    monkeypatch.setattr(compile_time, "_LEAST_NS", 1)

    class Deep(nn.Module):  # type: ignore[misc, name-defined]
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for _ in range(50):
                x = nn.Dense(8)(x)
            return x

    model = Deep()
    params = model.init(jax.random.key(0), jnp.ones((2, 8)))
    found = jaxmagic.diagnose(jax.jit(model.apply), params, jnp.ones((2, 8)), only="compile-time").findings
    lines = [each for each in found[0].evidence if each.kind == "doctor.compile_time_line"]
    assert lines[0].facts["source"] == "x = nn.Dense(8)(x)"
